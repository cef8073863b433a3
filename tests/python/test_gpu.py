"""Tensors of torch and of others against torch's own results. Skipped without torch and a GPU."""
import concurrent.futures
import contextlib
import io
import os
import random
import unittest

try:
    import torch

    HAS_GPU = torch.cuda.is_available()
except ImportError:
    HAS_GPU = False
import documented
import inlay
from test_cpu import Exported, Interface

TYPES = ("float32", "float16", "bfloat16", "float64", "int64", "uint8", "int16", "bool", "complex64", "complex128",
         "float8_e4m3fn", "float8_e5m2")


def numbers(shape, dtype, seed=0):
    """Bytes drawn at random, seen as dtype."""
    generator = torch.Generator("cuda").manual_seed(seed)
    size = torch.empty(0, dtype=dtype).element_size()
    count = 1
    for n in shape:
        count *= n
    raw = torch.randint(0, 2 if dtype == torch.bool else 256, (count * size,), dtype=torch.uint8, device="cuda",
                        generator=generator)
    return raw.view(dtype).reshape(shape)


def same_bytes(a, b):
    def flat(t):
        return t.reshape(-1).contiguous().view(torch.uint8)

    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(flat(a), flat(b))


class Case(unittest.TestCase):
    def assert_same(self, found, expected):
        self.assertTrue(same_bytes(found, expected), f"{found.shape} {found.stride()} {found.dtype}")


@unittest.skipUnless(HAS_GPU, "there is no torch with a GPU")
class Copies(Case):
    def test_permutes_what_torch_permutes(self):
        draw = random.Random(20)
        for i in range(300):
            rank = draw.randint(1, 6)
            shape = [draw.choice((1, 2, 3, 5, 8, 17, 33, 64)) for _ in range(rank)]
            axes = draw.sample(range(rank), rank)
            x = numbers(shape, getattr(torch, draw.choice(TYPES)), i)
            with self.subTest(shape=shape, axes=axes, dtype=x.dtype):
                self.assert_same(inlay.permute(x, axes), x.permute(axes).contiguous())
                self.assert_same(inlay.permute(x, [a - rank for a in axes]), x.permute(axes).contiguous())

    def test_copies_between_any_strides(self):
        x = numbers((40, 50, 60), torch.float32)
        for src in (x[::2, 1:, ::3], x.transpose(0, 2)[5:], x[:, :1].expand(40, 50, 60), x[:0]):
            wide = torch.zeros([2 * n + 1 for n in src.shape], device="cuda")
            dst = wide[tuple(slice(1, None, 2) for _ in src.shape)]
            self.assertIs(inlay.copy(dst, src), dst)
            self.assert_same(dst, src)
            self.assertEqual(int((wide != 0).sum()), int((dst != 0).sum()))

    def test_transposes_and_makes_contiguous(self):
        x = numbers((3, 40, 50), torch.float16)
        self.assert_same(inlay.transpose(x), x.mT.contiguous())
        self.assert_same(inlay.contiguous(x.permute(2, 0, 1)), x.permute(2, 0, 1).contiguous())
        self.assertIs(inlay.contiguous(x), x)
        self.assertTrue(inlay.contiguous(x.mT).is_contiguous())

    def test_copies_lists(self):
        src = [numbers((30 + i % 2, 20), torch.float32, i).t() for i in range(20)]
        dst = [torch.empty(s.shape, device="cuda") for s in src]
        inlay.copy_list(dst, src)
        for d, s in zip(dst, src):
            self.assert_same(d, s)
        inlay.copy_list([], [])

    def test_refuses(self):
        x = torch.zeros(4, 5, device="cuda")
        for error, pattern, call in (
            (ValueError, "shape", lambda: inlay.copy(x, x.t())),
            (ValueError, "overlap", lambda: inlay.copy(x, x)),
            (ValueError, "permute|axes|mode", lambda: inlay.permute(x, (0, 0))),
            (ValueError, "axes has an entry 4294967296 for 2 modes", lambda: inlay.permute(x, (1, 2**32), x)),
            (ValueError, "D has 3 matrices along mode 0, where A and B have one",
             lambda: inlay.matmul(x, x.t(), torch.empty(3, 4, 4, device="cuda"))),
            (ValueError, "axes has 3 entries, and the source 2 modes", lambda: inlay.permute(x, (0, 1, 2), x)),
            (ValueError, "the source lies on the CPU", lambda: inlay.copy(x, torch.zeros(4, 5))),
            (ValueError, "the destination lies on the CPU", lambda: inlay.copy(torch.zeros(4, 5), x)),
            (ValueError, "overlap", lambda: inlay.copy(x[:1].expand(4, 5), torch.ones(4, 5, device="cuda"))),
            (ValueError, "lazy view, is_conj", lambda: inlay.permute(x.to(torch.complex64).conj(), (1, 0))),
            (ValueError, "lazy view, is_neg", lambda: inlay.permute(x.to(torch.complex64).conj().imag, (1, 0))),
            (ValueError, "type|bytes", lambda: inlay.copy(x, torch.zeros(4, 5, device="cuda", dtype=torch.float64))),
            (ValueError, "of f32, the source of i32: a copy does not convert", lambda: inlay.copy(x, torch.ones(4, 5, device="cuda", dtype=torch.int32))),
            (ValueError, "of bf16, the source of f16", lambda: inlay.copy(x.bfloat16(), x.half())),
            (ValueError, r"axes is \(0, 2\), and x has 2 modes", lambda: inlay.permute(x, (0, 2))),
            (TypeError, "axes is 1; it is a sequence", lambda: inlay.permute(x, 1, 0)),
            (ValueError, "lies on the CPU", lambda: inlay.permute(torch.zeros(4, 5), (1, 0))),
            (ValueError, "one type", lambda: inlay.matmul(x.half(), x.t())),
            (ValueError, "K is 5 in A and 4 in B", lambda: inlay.matmul(x, x)),
            (TypeError, "neither __dlpack__", lambda: inlay.copy(x, [1, 2])),
        ):
            with self.subTest(pattern), self.assertRaisesRegex(error, pattern):
                call()


@unittest.skipUnless(HAS_GPU, "there is no torch with a GPU")
class Gemms(Case):
    def whole(self, *shape):
        return torch.randint(-8, 9, shape, device="cuda").float()

    def test_multiplies_what_torch_multiplies(self):
        draw = random.Random(21)
        torch.backends.cuda.matmul.allow_tf32 = False
        for _ in range(100):
            m, n, k = (draw.choice((1, 3, 8, 32, 33, 100, 257, 512)) for _ in range(3))
            batch = draw.choice(((), (1,), (3,), (2, 3), (4, 1)))
            a, b = self.whole(*batch, m, k), self.whole(*batch, k, n)
            if draw.random() < .5:
                a = a.mT.contiguous().mT
            if draw.random() < .5:
                b = b.mT.contiguous().mT
            with self.subTest(m=m, n=n, k=k, batch=batch):
                self.assertTrue(torch.equal(inlay.matmul(a, b), a @ b))  # zeros may differ in their sign

    def test_multiplies_halves(self):
        for dtype in (torch.bfloat16, torch.float16):
            for m, n, k in ((300, 513, 257), (64, 64, 64), (1, 1000, 77)):
                a, b = self.whole(m, k).to(dtype), self.whole(k, n).to(dtype)
                self.assertTrue(torch.equal(inlay.matmul(a, b), (a.double() @ b.double()).to(dtype)))

    def test_broadcasts(self):
        a, b = self.whole(5, 1, 20, 30), self.whole(3, 30, 40)
        self.assert_same(inlay.matmul(a, b), a @ b)
        self.assert_same(inlay.matmul(a[0, 0], b), a[0, 0] @ b)
        self.assert_same(inlay.matmul(a, b[0]), a @ b[0])

    def test_takes_heads_of_attention(self):
        q, k = (self.whole(3, 70, 5, 33).transpose(1, 2) for _ in range(2))
        self.assert_same(inlay.matmul(q, k.mT), q @ k.mT)

    def test_scales_and_adds(self):
        a, b, c = self.whole(40, 30), self.whole(30, 50), self.whole(40, 50)
        expected = 2 * (a @ b) - c
        self.assertIs(inlay.matmul(a, b, c, alpha=2, beta=-1), c)
        self.assert_same(c, expected)

    def test_adds_and_activates(self):
        functions = {None: lambda x: x, "relu": torch.relu, "silu": torch.nn.functional.silu, "gelu_erf": torch.nn.functional.gelu,
                     "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh")}
        for dtype, of_result in ((torch.float32,) * 2, (torch.bfloat16,) * 2, (torch.float16,) * 2, (torch.bfloat16, torch.float32)):
            a, b = (self.whole(*shape).to(dtype) for shape in ((70, 40), (40, 90)))
            for c in (self.whole(90), self.whole(70, 1), self.whole(70, 90)):
                for name, function in functions.items():
                    out = torch.empty(70, 90, device="cuda", dtype=of_result)
                    inlay.matmul(a, b, out, alpha=1 / 64, beta=.5, c=c.to(of_result), activation=name)
                    expected = function((a.double() @ b.double()) / 64 + .5 * c.double())
                    unit = torch.finfo(of_result).eps
                    self.assertTrue(bool(((out - expected).abs() <= unit * expected.abs() + 2e-5).all()), (dtype, name))
        self.assert_same(inlay.matmul(a.float(), b.float(), c=c[0]), a.float() @ b.float() + c[0])

    def test_multiplies_groups(self):
        for dtype in (torch.bfloat16, torch.float16):
            for k in (64, 61):
                a, b = self.whole(300, k).to(dtype), self.whole(4, k, 72).to(dtype)
                ends = torch.tensor([100, 100, 137, 290], dtype=torch.int32, device="cuda")
                out = torch.full((300, 72), 5, device="cuda", dtype=dtype)
                self.assertIs(inlay.grouped_matmul(a, b, ends, out, alpha=2, activation="relu"), out)
                expected = torch.full_like(out, 5)
                for group, (first, end) in enumerate(((0, 100), (100, 100), (100, 137), (137, 290))):
                    expected[first:end] = torch.relu(2 * (a[first:end].float() @ b[group].float())).to(dtype)
                self.assert_same(out, expected)
                self.assert_same(inlay.grouped_matmul(a, b, ends)[:290], inlay.grouped_matmul(a, b.mT.contiguous().mT, ends)[:290])
                with self.assertRaisesRegex(ValueError, "group_ends has elements of type i64"):
                    inlay.grouped_matmul(a, b, ends.long())

    def test_is_accurate(self):
        a, b = torch.randn(300, 5000, device="cuda"), torch.randn(5000, 200, device="cuda")
        exact, scale = a.double() @ b.double(), a.abs().double() @ b.abs().double()
        for compute in ("fp32", "fp32_blocked", "split_safe", "split_fast"):
            error = ((inlay.matmul(a, b, compute=compute) - exact).abs() / scale).max().item()
            self.assertTrue(error < 5000 * 2**-24)

    def test_multiplies_slices(self):
        a, b = torch.randn(1100, 1030, device="cuda"), torch.randn(1030, 1200, device="cuda")
        exact, bias = a.double() @ b.double(), torch.randn(1200, device="cuda")
        for compute in ("split_safe", "split_fast"):
            result = inlay.matmul(a, b, compute=compute)
            self.assertTrue((result - exact).norm() < 1e-6 * exact.norm())
            with_bias = inlay.matmul(a, b, c=bias, activation="relu", compute=compute)
            self.assertTrue((with_bias - torch.relu(exact + bias)).norm() < 1e-6 * exact.norm())
            if torch.cuda.get_device_capability() != (9, 0):
                continue
            packed = inlay.pack_b(b, compute)
            self.assert_same(inlay.matmul(a, b, compute=compute, packed_b=packed), result)
            batch = a.reshape(11, 100, 1030)
            self.assert_same(inlay.matmul(batch, b, compute=compute, packed_b=packed), inlay.matmul(batch, b, compute=compute))
            with self.assertRaisesRegex(ValueError, "a packed B is for split_safe or split_fast"):
                inlay.matmul(a, b, packed_b=packed)


@unittest.skipUnless(HAS_GPU, "there is no torch with a GPU")
class Documentation(Case):
    def test_runs(self):
        def floats(*shape):
            return torch.randn(shape, device="cuda")

        shown = {"inlay": inlay, "torch": torch, "x": floats(4, 5, 6, 7), "a": floats(64, 80), "b": floats(80, 96), "bias": floats(96),
                 "tokens": floats(64, 80).half(), "experts": floats(3, 80, 96).half(),
                 "group_ends": torch.tensor([10, 30, 64], dtype=torch.int32, device="cuda"), "dst": floats(5, 6), "src": floats(6, 5).t(), "dsts": [floats(5, 6), floats(5, 6)], "srcs": [floats(6, 5).t(), floats(6, 5).t()]}
        ran = 0
        for file in "README.md", "docs/06_python.md":
            for block in documented.blocks(file):
                if "inlay.distributed" not in block:
                    with self.subTest(file=file, block=block), contextlib.redirect_stdout(io.StringIO()):
                        exec(block, dict(shown))
                    ran += 1
        self.assertEqual(ran, 4)


@unittest.skipUnless(HAS_GPU, "there is no torch with a GPU")
class Streams(Case):
    def test_waits_for_the_current_stream(self):
        x, out = torch.zeros(2000, 2000, device="cuda"), torch.empty(2000, 2000, device="cuda")
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            x.fill_(7)
            inlay.permute(x, (1, 0), out)
            result = out.clone()
        stream.synchronize()
        self.assertTrue(bool((result == 7).all()))

    def test_takes_a_stream(self):
        x = torch.zeros(2000, 2000, device="cuda")
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
            x.fill_(7)
        out = torch.empty(2000, 2000, device="cuda")
        inlay.permute(x, (1, 0), out, stream=stream.cuda_stream)
        a, b = torch.ones(64, 20000, device="cuda"), torch.ones(20000, 96, device="cuda")  # K is split: a workspace
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(50_000_000)
        product = inlay.matmul(a, b, stream=stream.cuda_stream)
        own = inlay.permute(x, (1, 0), stream=stream.cuda_stream)
        for _ in range(20):  # what the current stream allocates now must be no memory that the other stream still uses
            torch.full((4 << 20,), float("nan"), device="cuda")
        stream.synchronize()
        self.assertTrue(bool((out == 7).all()) and bool((own == 7).all()))
        self.assertTrue(bool((product == 20000).all()))

    def test_is_captured(self):
        x = numbers((300, 200), torch.float32)
        a, b = torch.randint(-8, 9, (300, 200), device="cuda").float(), torch.randint(-8, 9, (200, 300), device="cuda").float()
        out, product = torch.empty(200, 300, device="cuda"), torch.empty(300, 300, device="cuda")
        inlay.permute(x, (1, 0), out), inlay.matmul(a, b, product)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            inlay.permute(x, (1, 0), out)
            inlay.matmul(a, b, product)
        out.zero_(), product.zero_()
        graph.replay()
        torch.cuda.synchronize()
        self.assert_same(out, x.t().contiguous())
        self.assert_same(product, a @ b)

    def test_runs_in_threads(self):
        def work(seed):
            x = numbers((100 + seed, 77), torch.float32, seed)
            return all(same_bytes(inlay.permute(x, (1, 0)), x.t().contiguous()) for _ in range(50))

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(work, range(8))), [True] * 8)

    def test_says_that_cuda_does_not_survive_a_fork(self):
        inlay.permute(torch.zeros(2, 3, device="cuda"), (1, 0))
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                inlay.copy(1, 2)
            except RuntimeError as error:
                os.write(write, str(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(write)
        self.assertIn("does not survive a fork", os.read(read, 1000).decode())


@unittest.skipUnless(HAS_GPU, "there is no torch with a GPU")
class Operators(Case):
    def setUp(self):
        import inlay.torch  # noqa: F401

    def test_give_what_torch_gives(self):
        x, a, b = numbers((3, 40, 50), torch.float16), torch.ones(40, 30, device="cuda"), torch.ones(30, 50, device="cuda")
        self.assert_same(torch.ops.inlay.permute(x, [2, 0, -2]), x.permute(2, 0, 1).contiguous())
        out = torch.empty(50, 3, 40, device="cuda", dtype=torch.float16)
        self.assertIsNone(torch.ops.inlay.permute.out(x, [2, 0, 1], out=out))
        self.assert_same(out, x.permute(2, 0, 1).contiguous())
        self.assert_same(torch.ops.inlay.matmul(a, b, alpha=2), 2 * (a @ b))
        product = torch.ones(40, 50, device="cuda")
        torch.ops.inlay.matmul.out(a, b, out=product, beta=5)
        self.assert_same(product, a @ b + 5)
        torch.ops.inlay.copy_(product.t(), torch.zeros(50, 40, device="cuda"))
        self.assertEqual(float(product.abs().sum()), 0)

    def test_pass_opcheck(self):
        x, a, b = torch.randn(3, 4, 5, device="cuda", requires_grad=True), torch.randn(4, 6, device="cuda"), torch.randn(6, 5, device="cuda")
        for op, args, kwargs in (
            (torch.ops.inlay.permute.default, (x, [2, 0, 1]), {}),
            (torch.ops.inlay.permute.out, (x.detach(), [2, 0, 1]), {"out": torch.empty(5, 3, 4, device="cuda")}),
            (torch.ops.inlay.copy_.default, (torch.empty(6, 4, device="cuda"), a.t()), {}),
            (torch.ops.inlay.matmul.default, (a, b), {"alpha": 2.0}),
            (torch.ops.inlay.matmul.out, (a, b), {"out": torch.empty(4, 5, device="cuda"), "compute": "fp32_blocked"}),
        ):
            with self.subTest(str(op)):
                torch.library.opcheck(op, args, kwargs)

    def test_have_derivatives(self):
        x = torch.randn(3, 4, 5, device="cuda", dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda t: torch.ops.inlay.permute(t, [1, -1, 0]), (x,)))

    def test_are_compiled_and_exported(self):
        def f(x, y):
            z = torch.ops.inlay.permute(x + 1, [1, 0]) * 2
            torch.ops.inlay.copy_(y, z)
            return torch.ops.inlay.matmul(y, x), y.sum()

        x, y = torch.randint(-4, 5, (64, 48), device="cuda").float(), torch.zeros(48, 64, device="cuda")
        expected = ((x + 1).t() * 2 @ x, ((x + 1) * 2).sum())
        for way in (torch.compile(f, fullgraph=True), torch.export.export(Wrapped(f), (x, y)).module()):
            for found, wanted in zip(way(x, torch.zeros_like(y)), expected):
                self.assertTrue(torch.equal(found, wanted))


if HAS_GPU:

    class Wrapped(torch.nn.Module):
        def __init__(self, f):
            super().__init__()
            self.f = f

        def forward(self, *args):
            return self.f(*args)


class Array:
    """A tensor by one protocol alone."""

    def __init__(self, tensor, protocol):
        self.tensor, self.protocol, self.streams = tensor, protocol, []
        self.shape = tensor.shape

    def __getattr__(self, name):
        if name == "__cuda_array_interface__" and self.protocol == "interface":
            return self.tensor.__cuda_array_interface__
        if name in ("__dlpack__", "__dlpack_device__") and self.protocol in ("dlpack", "old dlpack"):
            return getattr(self, "_" + name.strip("_"))
        raise AttributeError(name)

    def _dlpack_device(self):
        return self.tensor.__dlpack_device__()

    def _dlpack(self, stream=None, **more):
        if self.protocol == "old dlpack" and more:
            raise TypeError("unexpected keyword argument")
        self.streams.append(stream)
        return self.tensor.__dlpack__(stream=stream, **more)


@unittest.skipUnless(HAS_GPU, "there is no torch with a GPU")
class Protocols(Case):
    def test_takes_each(self):
        x = numbers((70, 90), torch.float32)[:, 1::2]
        for protocol in ("interface", "dlpack", "old dlpack"):
            out = torch.empty(45, 70, device="cuda")
            with self.subTest(protocol):
                inlay.permute(Array(x, protocol), (1, 0), Array(out, protocol))
                self.assert_same(out, x.t().contiguous())

    def test_refuses_vectors(self):
        with self.assertRaisesRegex(ValueError, "elements of 4 bytes|8 bytes"):
            inlay.copy(Exported(), Exported(lanes=2))
        with self.assertRaisesRegex(ValueError, "gemm takes f32, bf16 and f16"):
            inlay.matmul(Exported(lanes=2, shape=(2, 3)), Exported(lanes=2, shape=(3, 2)), Exported(shape=(2, 2)))

    def test_ignores_strides_of_one_element(self):
        x = torch.tensor([1., 2., 3.], device="cuda")
        one, y = torch.ones(1, 1, device="cuda"), torch.empty(1, 3, device="cuda")
        for row in (Interface((1, 3), (2**63 - 1, 4), x.data_ptr()), Interface((1, 3), (-7, 4), x.data_ptr()),
                    x.as_strided((1, 3), (2**61, 1)), x.as_strided((1, 3), (0, 1))):
            self.assert_same(inlay.copy(y.zero_(), row), x[None])
            self.assert_same(inlay.matmul(one, row, y.zero_()), x[None])

    def test_takes_what_is_empty(self):
        x = torch.empty(2, 0, 3, device="cuda")
        self.assertIs(inlay.contiguous(x), x)
        inlay.copy(x, Interface((2, 0, 3)))

    def test_tells_the_producer_the_stream(self):
        x, out = Array(numbers((7, 9), torch.float32), "dlpack"), torch.empty(9, 7, device="cuda")
        inlay.permute(x, (1, 0), out)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            inlay.permute(x, (1, 0), out)
        inlay.permute(x, (1, 0), Array(out, "dlpack"), stream=stream.cuda_stream)
        self.assertEqual(x.streams, [1, stream.cuda_stream, stream.cuda_stream])
        torch.cuda.synchronize()

    def test_multiplies_without_torchs_allocator(self):
        a, b = (torch.randint(-8, 9, (200, 3000), device="cuda").float() for _ in range(2))
        out = torch.empty(200, 200, device="cuda")
        inlay.matmul(Array(a, "dlpack"), Array(b.t(), "dlpack"), Array(out, "dlpack"))
        self.assert_same(out, a @ b.t())

    def test_orders_consumers_of_an_array(self):
        x = torch.zeros(2000, 2000, device="cuda")
        torch.cuda.synchronize()
        producer, consumer = torch.cuda.Stream(), torch.cuda.Stream()
        with torch.cuda.stream(producer):
            torch.cuda._sleep(50_000_000)
            x.fill_(7)
            made = inlay.permute(Array(x, "dlpack"), (1, 0), stream=producer.cuda_stream)
        with torch.cuda.stream(consumer):
            result = torch.from_dlpack(made).clone()
        consumer.synchronize()
        self.assertTrue(bool((result == 7).all()))

    def test_takes_cupy(self):
        try:
            import cupy
        except ImportError:
            self.skipTest("there is no CuPy")
        x = cupy.arange(35, dtype=cupy.float32).reshape(5, 7)
        self.assertTrue(bool((inlay.permute(x, (1, 0)) == x.T).all()))
        self.assertTrue(bool((inlay.matmul(x, x.T) == x @ x.T).all()))
        with cupy.cuda.Stream(non_blocking=True):
            y = cupy.arange(4_000_000, dtype=cupy.float32).reshape(2000, 2000)
            self.assertTrue(bool((inlay.permute(y, (1, 0)) == y.T).all()))

    def test_makes_outputs(self):
        x = numbers((70, 90), torch.bfloat16)
        found = inlay.permute(Array(x, "dlpack"), (1, 0))
        self.assertIsInstance(found, inlay.Array)
        self.assert_same(torch.from_dlpack(found), x.t().contiguous())
        again = torch.from_dlpack(found)
        del found
        self.assert_same(again, x.t().contiguous())
        a = torch.ones(30, 40, device="cuda")
        self.assert_same(torch.from_dlpack(inlay.matmul(Array(a, "dlpack"), Array(a.t(), "dlpack"))), a @ a.t())
        self.assertEqual(inlay.permute(Array(x[:0], "dlpack"), (1, 0)).shape, (90, 0))

    def test_takes_jax(self):
        try:
            import jax
            import jax.numpy as jnp
        except ImportError:
            self.skipTest("there is no JAX")
        try:
            x = jnp.arange(35, dtype=jnp.float32).reshape(5, 7)
            if x.device.platform != "gpu":
                self.skipTest("JAX has no GPU")
        except RuntimeError as error:
            self.skipTest(str(error))
        self.assertTrue(bool((jax.dlpack.from_dlpack(inlay.permute(x, (1, 0))) == x.T).all()))

    def test_why(self):
        x, out = torch.zeros(4096, 4096, device="cuda"), torch.empty(4096, 4096, device="cuda")
        self.assertIn("chosen: ", inlay.why(out, x.t()))
        self.assertIn("gemm of M 4096", inlay.why(x, x, out))


if __name__ == "__main__":
    unittest.main()
