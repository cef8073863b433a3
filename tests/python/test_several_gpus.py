"""redistribute() on all GPUs of the host, two and more, against what one process computes from the whole tensor."""
import os
import unittest

try:
    import torch
    import torch.distributed as dist

    GPUS = torch.cuda.device_count() if torch.cuda.is_available() else 0
except ImportError:
    GPUS = 0
import inlay

# shape, from_dim, to_dim, permute
CASES = (
    ((64, 8, 32), 0, 1, None),
    ((64, 8, 32), 0, 0, (1, 0, 2)),
    ((48, 40, 56), 0, 0, (1, 2, 0)),
    ((130, 70), 0, 1, None),
    ((130, 70), 1, 0, None),
    ((1024, 514), 0, 0, (1, 0)),
    ((7, 5, 3), 0, 2, (2, 0, 1)),
    ((2, 9, 4), 1, 0, (0, 2, 1)),
    ((12, 6), 0, 1, (1, 0)),
    ((3, 64), 0, 1, None),
    ((64, 1), 0, 1, None),
)
TYPES = ("float32", "bfloat16", "uint8", "float8_e4m3fn", "complex128")


def of_rank(whole, mode, rank, ranks):
    from inlay.distributed import even_extents

    parts = even_extents(whole.shape[mode], ranks)
    return whole.narrow(mode, sum(parts[:rank]), parts[rank]).contiguous()


def work(rank, ranks, port):
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=ranks, device_id=torch.device("cuda", rank))
    from inlay.distributed import symmetric_empty

    def same(a, b):
        return torch.equal(a.reshape(-1).view(torch.uint8), b.contiguous().reshape(-1).view(torch.uint8))

    for name in TYPES:
        for shape, from_dim, to_dim, permute in CASES:
            dtype = getattr(torch, name)
            generator = torch.Generator("cuda").manual_seed(7)
            count = torch.Size(shape).numel() * dtype.itemsize
            whole = torch.randint(0, 256, (count,), dtype=torch.uint8, device="cuda", generator=generator).view(dtype).view(shape)
            expected = of_rank(whole.permute(permute) if permute else whole, to_dim, rank, ranks)
            x = of_rank(whole, from_dim, rank, ranks)
            size = shape[from_dim]
            case = f"{name} {shape} {from_dim} {to_dim} {permute} on rank {rank}"
            staged = inlay.redistribute(x, from_dim, to_dim, permute, size=size)
            assert staged.shape == expected.shape and same(staged, expected), "staged: " + case
            out = symmetric_empty(expected.shape, dtype)
            for _ in range(3):  # without a synchronisation between them
                out.view(torch.uint8).fill_(255) if out.numel() else None
                found = inlay.redistribute(x, from_dim, to_dim, permute, out=out, size=size)
                assert found is out and same(out, expected), "direct: " + case
    try:
        inlay.redistribute(torch.zeros(3, 4, device="cuda"), 0, 1, size=100)
        raise AssertionError("parts that are no even cut were taken")
    except ValueError as error:
        assert "give size" in str(error)
    torch.cuda.synchronize()
    dist.barrier()
    dist.destroy_process_group()


@unittest.skipUnless(GPUS > 1, "there are no two GPUs with torch")
class Redistribute(unittest.TestCase):
    def test_gives_what_one_process_computes(self):
        torch.multiprocessing.spawn(work, (GPUS, 29511), nprocs=GPUS)

    def test_copies_on_the_tensors_device(self):
        x = torch.arange(12., device="cuda:1").view(3, 4)
        torch.cuda.set_device(0)
        self.assertTrue(torch.equal(inlay.permute(x, (1, 0)), x.t()))
        self.assertTrue(torch.equal(inlay.matmul(x, x.t()), x @ x.t()))
        self.assertEqual(torch.cuda.current_device(), 0)
        with self.assertRaisesRegex(ValueError, "device"):
            inlay.copy(x, torch.zeros(3, 4, device="cuda:0"))


if __name__ == "__main__":
    unittest.main()
