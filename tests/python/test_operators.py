"""The operators of inlay.torch without a GPU: version counters, gradients and fakes, on meta tensors and, by stand-ins that torch computes, on
the CPU. Skipped without torch."""
import unittest

try:
    import torch
except ImportError:
    torch = None
else:
    import inlay.torch  # noqa: F401

    ACTIVATIONS = {None: lambda x: x, "relu": torch.relu, "silu": torch.nn.functional.silu,
                   "gelu_erf": torch.nn.functional.gelu,
                   "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh")}

    def reference(a, b, c=None, *, alpha=1.0, beta=None, activation=None, compute="fp32"):
        x = alpha * (a @ b)
        return ACTIVATIONS[activation](x if c is None else x + (1 if beta is None else beta) * c)

    def permute(x, axes):
        return x.permute(axes).contiguous()

    def assign(out, x):
        out.copy_(x)

    stand_ins = torch.library.Library("inlay", "IMPL")
    stand_ins.impl("permute", permute, "CPU")
    stand_ins.impl("permute.out", lambda x, axes, *, out: assign(out, permute(x, axes)), "CPU")
    stand_ins.impl("copy_", assign, "CPU")
    stand_ins.impl("matmul", reference, "CPU")
    stand_ins.impl("matmul.out", lambda a, b, c=None, *, out, **options: assign(out, reference(a, b, c, **options)), "CPU")
    ops = torch.ops.inlay

    def writes(**options):
        """A name, a function that writes into `out` (2,3), and its other tensors."""
        src, a, b = torch.ones(2, 3, **options), torch.ones(2, 4, **options), torch.ones(4, 3, **options)
        return (("copy_", lambda out: ops.copy_(out, src), src), ("permute.out", lambda out: ops.permute.out(src.T, [1, 0], out=out), src),
                ("matmul.out", lambda out: ops.matmul.out(a, b, out=out), a))


@unittest.skipIf(torch is None, "there is no torch")
class Writes(unittest.TestCase):
    def test_raise_the_version(self):
        for device in ("cpu", "meta"):
            for name, write, _ in writes(device=device):
                with self.subTest(name, device=device):
                    x = torch.zeros(4, 3, device=device)
                    for out in (x[:2], x[2:].detach()):
                        before = x._version
                        self.assertIsNone(write(out))
                        self.assertEqual(x._version, before + 1)

    def test_are_seen_by_autograd(self):
        for name, write, _ in writes():
            with self.subTest(name):
                x = torch.ones(2, 3, requires_grad=True) * 1
                y = (x * x).sum()
                write(x.detach())
                with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                    y.backward()

    def test_refuse_tensors_that_require_a_gradient(self):
        for name, write, source in writes():
            leaf = torch.zeros(2, 3, requires_grad=True)
            for out in (leaf, leaf * 1):
                with self.subTest(name), self.assertRaisesRegex(RuntimeError, "requires grad"):
                    write(out)
            with torch.no_grad():
                write(leaf)
            self.assertGreater(float(leaf.detach().sum()), 0)
            source.requires_grad_()
            with self.subTest(name), self.assertRaisesRegex(RuntimeError, "requires grad"):
                write(torch.zeros(2, 3))

    def test_refuse_lazy_views(self):
        x, y = torch.zeros(2, 3, dtype=torch.complex64), torch.ones(2, 3, dtype=torch.complex64)
        for out, src, lazy in ((x.conj(), y, "is_conj"), (x.conj().imag, y.real, "is_neg")):
            for write in (lambda: ops.copy_(out, src), lambda: ops.permute.out(src.T, [1, 0], out=out)):
                with self.assertRaisesRegex(ValueError, rf"lazy view, {lazy}\(\): resolve it first"):
                    write()
        ops.copy_(x, (1j * y).conj())
        self.assertTrue(bool((x == -1j).all()))


@unittest.skipIf(torch is None, "there is no torch")
class Gradients(unittest.TestCase):
    def check(self, shapes, **options):
        generator = torch.Generator().manual_seed(7)
        tensors = [torch.randn(shape, dtype=torch.float64, generator=generator, requires_grad=True) for shape in shapes]
        with self.subTest(shapes=shapes, **options):
            self.assertTrue(torch.autograd.gradcheck(lambda *t: ops.matmul(*t, **options), tensors))
            self.assertTrue(torch.autograd.gradgradcheck(lambda *t: ops.matmul(*t, **options), tensors))

    def test_of_matmul(self):
        for activation in ACTIVATIONS:
            self.check(((3, 4), (4, 5)), alpha=.7, activation=activation)
            self.check(((3, 4), (4, 5), (5,)), alpha=-2.0, beta=.5, activation=activation)
        self.check(((2, 3, 4), (2, 4, 5), (2, 3, 5)))
        self.check(((3, 4), (2, 4, 5), (3, 1)))  # what is repeated gets the sum
        self.check(((2, 1, 3, 4), (3, 4, 5), (1, 3, 1, 5)), activation="silu")
        self.check(((3, 0), (0, 5), (5,)))

    def test_of_some_operands(self):
        a, b, c = (torch.randn(shape, requires_grad=i == 1) for i, shape in enumerate(((3, 4), (4, 5), (5,))))
        ops.matmul(a, b, c, activation="gelu_erf").sum().backward()
        self.assertEqual((a.grad, c.grad), (None, None))
        wanted, = torch.autograd.grad(reference(a, b, c, activation="gelu_erf").sum(), b)
        torch.testing.assert_close(b.grad, wanted)

    def test_of_permute(self):
        x = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda t: ops.permute(t, [1, -1, 0]), (x,)))

    def test_pass_opcheck(self):
        a, b, c = (torch.randn(shape, requires_grad=True) for shape in ((3, 4), (4, 5), (5,)))
        tests = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
        torch.library.opcheck(ops.matmul.default, (a, b, c), {"activation": "relu"}, test_utils=tests)
        torch.library.opcheck(ops.copy_.default, (torch.zeros(3, 4), a.detach()), test_utils=tests)
        torch.library.opcheck(ops.matmul.out, (a.detach(), b.detach()), {"out": torch.zeros(3, 5)}, test_utils=tests)


@unittest.skipIf(torch is None, "there is no torch")
class Fakes(unittest.TestCase):
    def test_have_the_shape_and_type_of_the_result(self):
        a, b = torch.empty(2, 1, 3, 4, dtype=torch.bfloat16, device="meta"), torch.empty(5, 4, 6, dtype=torch.bfloat16, device="meta")
        found = ops.matmul(a, b, torch.empty(6, dtype=torch.bfloat16, device="meta"))
        self.assertEqual((found.shape, found.dtype), ((2, 5, 3, 6), torch.bfloat16))
        ops.matmul.out(a, b, out=torch.empty(2, 5, 3, 6, device="meta"))
        self.assertEqual(ops.permute(a, [3, 0, 2, 1]).shape, (4, 2, 3, 1))

    def test_refuse_what_the_operators_refuse(self):
        def meta(*shape, dtype=torch.float32):
            return torch.empty(shape, dtype=dtype, device="meta")

        a, b, half = meta(3, 4), meta(4, 5), torch.float16
        for pattern, call in (
            ("operands are of type torch.float64", lambda: ops.matmul(meta(3, 4, dtype=torch.float64), meta(4, 5, dtype=torch.float64))),
            ("operands are of type torch.float32 and torch.float16", lambda: ops.matmul(a, meta(4, 5, dtype=half))),
            ("split_fast slices float32", lambda: ops.matmul(a.half(), b.half(), compute="split_fast")),
            ("no compute mode 'best'", lambda: ops.matmul(a, b, compute="best")),
            ("no activation 'gelu'", lambda: ops.matmul(a, b, activation="gelu")),
            ("K is 4 in A and 3 in B", lambda: ops.matmul(a, a)),
            (r"c of shape \(4,\) cannot be repeated", lambda: ops.matmul(a, b, meta(4))),
            (r"c of shape \(2, 3, 5\) cannot be repeated", lambda: ops.matmul(a, b, meta(2, 3, 5))),
            ("c is of type torch.float16", lambda: ops.matmul(a, b, meta(5, dtype=half))),
            ("c is of type torch.float16", lambda: ops.matmul.out(a.half(), b.half(), meta(5, dtype=half), out=meta(3, 5))),
            ("beta is 2.0, and there is no out", lambda: ops.matmul(a, b, beta=2.0)),
            (r"out has shape \(5, 3\)", lambda: ops.matmul.out(a, b, out=meta(5, 3))),
            ("out is of type torch.float16", lambda: ops.matmul.out(a, b, out=meta(3, 5, dtype=half))),
            ("elements of 2 bytes, the source of 4", lambda: ops.copy_(meta(3, 4, dtype=half), a)),
            ("elements of 2 bytes, the source of 4", lambda: ops.permute.out(a, [1, 0], out=meta(4, 3, dtype=half))),
            ("the source of torch.float32: a copy does not convert", lambda: ops.copy_(meta(3, 4, dtype=torch.int32), a)),
            (r"the destination has shape \(4, 3\)", lambda: ops.copy_(meta(4, 3), a)),
            ("no order of 2 modes", lambda: ops.permute(a, [0, 0])),
        ):
            with self.subTest(pattern), self.assertRaisesRegex(ValueError, pattern):
                call()


if __name__ == "__main__":
    unittest.main()
