"""Times redistributions by torch.distributed: permute, all_to_all_single, permute; eager, and with the local work compiled.

usage: torch_redistribute.py OUT.json    a process for each GPU of this host; medians of the slowest rank, in microseconds
"""
import json
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from provenance import provenance


def transpose(P):
    return (lambda x: x.view(x.shape[0], P, -1).permute(1, 2, 0).contiguous(),
            lambda r: r.permute(1, 0, 2).reshape(r.shape[1], -1))


def heads(P):
    return (lambda x: x.view(x.shape[0], P, -1, x.shape[2]).permute(1, 0, 2, 3).contiguous(),
            lambda r: r.reshape(-1, r.shape[2], r.shape[3]))


def batched_heads(P):
    return (lambda x: x.view(x.shape[0], x.shape[1], P, -1, x.shape[3]).permute(2, 0, 3, 1, 4).contiguous(),
            lambda r: r.permute(1, 2, 0, 3, 4).reshape(r.shape[1], r.shape[2], -1, r.shape[4]))


def pencils(P):
    return (lambda x: x.view(x.shape[0], P, -1, x.shape[2]).permute(1, 2, 3, 0).contiguous(),
            lambda r: r.permute(1, 2, 0, 3).reshape(r.shape[1], r.shape[2], -1))


def rows_to_columns(P):
    return (lambda x: x.view(x.shape[0], P, -1).permute(1, 0, 2).contiguous(), lambda r: r.reshape(-1, r.shape[2]))


def experts(P):
    return (lambda x: x.view(x.shape[0], P, -1, x.shape[2]).permute(1, 2, 0, 3).contiguous(),
            lambda r: r.permute(1, 0, 2, 3).reshape(r.shape[1], -1, r.shape[3]))


# The names of bench/exchange; the shape of the whole source, and the mode that is cut.
CASES = [
    ("transpose 4096 x 4096, f32", torch.float32, (4096, 4096), 0, transpose),
    ("transpose 8192 x 8192, f32", torch.float32, (8192, 8192), 0, transpose),
    ("transpose 16384 x 16384, f32", torch.float32, (16384, 16384), 0, transpose),
    ("transpose 32768 x 32768, f32", torch.float32, (32768, 32768), 0, transpose),
    ("transpose 16384 x 16384, bf16", torch.bfloat16, (16384, 16384), 0, transpose),
    ("transpose 16384 x 16384, u8", torch.uint8, (16384, 16384), 0, transpose),
    ("heads, 16384 x 64 x 128, bf16", torch.bfloat16, (16384, 64, 128), 0, heads),
    ("heads, 4 x 8192 x 32 x 128, bf16", torch.bfloat16, (4, 8192, 32, 128), 1, batched_heads),
    ("pencils 640 to y z x, complex64", torch.complex64, (640, 640, 640), 0, pencils),
    ("rows to columns 16384 x 16384, f32", torch.float32, (16384, 16384), 0, rows_to_columns),
    ("experts 65536 x 16 x 512, bf16", torch.bfloat16, (65536, 16, 512), 0, experts),
    ("transpose 1024 x 512, f32", torch.float32, (1024, 512), 0, transpose),
]


def slowest_us(step, times):
    samples = []
    for i in range(9):
        dist.barrier()
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(times):
            step()
        end.record()
        torch.cuda.synchronize()
        t = torch.tensor([begin.elapsed_time(end) * 1e3 / times], device="cuda")
        dist.all_reduce(t, op=dist.ReduceOp.MAX)
        if i > 1:
            samples.append(t.item())
    return sorted(samples)[len(samples) // 2]


def run(rank, P, out):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=P)
    rows = []
    for name, dtype, shape, cut, functions in CASES:
        local = [e // P if k == cut else e for k, e in enumerate(shape)]
        x = torch.ones(local, device="cuda").to(dtype)
        before, after = functions(P)

        def step(before, after):
            send = before(x)
            recv = torch.empty_like(send)
            dist.all_to_all_single(recv, send)
            return after(recv)

        times = 3 if x.numel() * x.element_size() > 1 << 27 else 20
        row = {"case": name, "eager_us": round(slowest_us(lambda: step(before, after), times), 2)}
        if dtype != torch.complex64:  # which torch.compile leaves to eager code
            compiled = torch.compile(before, dynamic=False), torch.compile(after, dynamic=False)
            row["compiled_us"] = round(slowest_us(lambda: step(*compiled), times), 2)
        rows.append(row)
        del x
    if rank == 0:
        with open(out, "w") as file:
            json.dump(provenance() | {"gpus": P, "rows": rows}, file, indent=1)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(torch.cuda.device_count(), sys.argv[1]), nprocs=torch.cuda.device_count())
