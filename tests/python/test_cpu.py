"""What the package does without a GPU."""
import concurrent.futures
import os
import pathlib
import pickle
import subprocess
import sys
import unittest

import inlay

HAS_GPU_FUNCTIONS = os.environ.get("INLAY_HAS_GPU_FUNCTIONS", str(int(inlay._inlay is not None))) == "1"


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


class Import(unittest.TestCase):
    def test_imports_no_framework(self):
        modules = python("import sys, inlay; print(*sys.modules)").split()
        self.assertFalse({"torch", "numpy", "cupy", "jax"} & set(modules))

    def test_maps_no_cuda_driver(self):
        self.assertNotIn("libcuda.so", python("import inlay; print(open('/proc/self/maps').read())"))

    def test_says_its_version(self):
        self.assertRegex(inlay.__version__, r"^\d+\.\d+\.\d+$")

    def test_has_types(self):
        self.assertTrue(pathlib.Path(inlay.__file__).with_name("py.typed").exists())

    @unittest.skipUnless(HAS_GPU_FUNCTIONS, "built without nvcc")
    def test_library_and_package_agree(self):
        self.assertEqual(inlay._extension().version, inlay.__version__)

    @unittest.skipIf(HAS_GPU_FUNCTIONS, "built with nvcc")
    def test_says_why_there_are_no_gpu_functions(self):
        with self.assertRaisesRegex(RuntimeError, "has no GPU functions"):
            inlay.copy(1, 2)

    def test_exports_what_it_lists(self):
        for name in inlay.__all__:
            self.assertTrue(getattr(inlay, name).__doc__, name)


class Lab(unittest.TestCase):
    def test_lists_kernels(self):
        names = [k["name"] for k in inlay.kernels()]
        self.assertIn("transpose_01_naive_read", names)
        self.assertIn("sgemm_tma", names)
        self.assertTrue(all(k["idea"] for k in inlay.kernels()))

    def test_explains_a_kernel(self):
        found = inlay.explain("transpose_01_naive_read", rows=1024, cols=1024, elem=4, device="H200")
        self.assertEqual(found["kernel"], "transpose_01_naive_read")
        other = inlay.explain("transpose_01_naive_read", rows=2048, cols=1024)
        self.assertNotEqual(found, other)

    def test_explains_a_gemm(self):
        self.assertIn("sgemm", inlay.explain("sgemm_tma", m=1024, n=1024, k=64, transa="t")["kernel"])

    def test_computes_a_layout(self):
        plain = inlay.layout("(32,32):(32,1)", access="col")
        swizzled = inlay.layout("Swizzle<5,0,5> o (32,32):(32,1)", access="col")
        self.assertNotEqual(plain, swizzled)

    def test_draws_banks(self):
        grid = inlay.bank_grid("(8,8):(8,1)", "Swizzle<3,0,3> o (8,8):(8,1)", elem=4)
        self.assertTrue(grid._repr_svg_().lstrip().startswith("<svg"))
        self.assertIn("</svg>", grid.svg)
        self.assertEqual(pickle.loads(pickle.dumps(grid)).svg, grid.svg)

    def test_complains_in_one_sentence(self):
        with self.assertRaises(ValueError) as caught:
            inlay.explain("no_such_kernel")
        self.assertIn("no_such_kernel", str(caught.exception))
        self.assertEqual(str(caught.exception).count("\n"), 0)
        with self.assertRaisesRegex(ValueError, "nonsense"):
            inlay.layout("(8,8):(8,1)", nonsense=3)
        with self.assertRaises(ValueError):
            inlay.layout("not a layout")

    def test_works_in_threads_and_leaves_stdout_alone(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: len(inlay.kernels()), range(8)))
        self.assertEqual(set(found), {len(inlay.kernels())})
        self.assertEqual(python("import inlay; inlay.kernels(); print('mine')"), "mine")


@unittest.skipUnless(HAS_GPU_FUNCTIONS, "built without nvcc")
class Arguments(unittest.TestCase):
    """What is refused before CUDA is asked for anything."""

    def test_types(self):
        with self.assertRaisesRegex(TypeError, "the destination is of type int, which has neither"):
            inlay.copy(1, 2)
        with self.assertRaisesRegex(TypeError, "the source is of type Fake"):
            inlay.permute(Fake((2, 3)), (1, 0))
        with self.assertRaisesRegex(TypeError, "why takes dst and src, or a, b and out, not 1 tensors"):
            inlay.why(1)

    def test_shapes(self):
        with self.assertRaisesRegex(ValueError, "two modes and more, this one has 1"):
            inlay.transpose(Fake((3,)))
        with self.assertRaisesRegex(ValueError, r"the batches of \(2, 3, 4\) and \(5, 4, 3\) do not go together"):
            inlay.matmul(Fake((2, 3, 4)), Fake((5, 4, 3)))
        with self.assertRaisesRegex(ValueError, "beta is 1, and there is no out"):
            inlay.matmul(Fake((3, 4)), Fake((4, 3)), beta=1)
        with self.assertRaisesRegex(ValueError, "there is no activation 'gelu'"):
            inlay.matmul(Fake((3, 4)), Fake((4, 3)), Fake((3, 3)), activation="gelu")
        with self.assertRaisesRegex(ValueError, "there is no accuracy 'best'"):
            inlay.matmul(Fake((3, 4)), Fake((4, 3)), Fake((3, 3)), accuracy="best")

    def test_lists(self):
        with self.assertRaisesRegex(ValueError, "there are 1 destinations and 2 sources"):
            inlay.copy_list([1], [1, 2])


class Fake:
    """Something with a shape."""

    def __init__(self, shape):
        self.shape = shape


if __name__ == "__main__":
    unittest.main()
