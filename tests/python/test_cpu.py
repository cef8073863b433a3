"""What the package does without a GPU."""
import ast
import concurrent.futures
import ctypes
import importlib.util
import inspect
import os
import pathlib
import pickle
import subprocess
import sys
import unittest

import documented
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


class Documentation(unittest.TestCase):
    def test_calls_what_there_is(self):
        """Functions have these names and take these arguments."""
        modules = [inlay]
        if importlib.util.find_spec("torch"):
            modules.append(importlib.import_module("inlay.distributed"))
        bound = 0
        for file in "README.md", "docs/06_python.md":
            for block in documented.blocks(file):
                for call in (node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)):
                    name = ast.unparse(call.func)
                    if name.startswith("inlay."):
                        function = getattr(inlay, name.removeprefix("inlay."))
                    elif not (function := getattr(modules[-1], name, None)):
                        continue
                    with self.subTest(file=file, call=ast.unparse(call)):
                        inspect.signature(function).bind(*call.args, **{word.arg: word.value for word in call.keywords})
                    bound += 1
        self.assertGreater(bound, 15)

    def test_runs_what_needs_no_gpu(self):
        ran = [exec(block, {"inlay": inlay}) for block in documented.blocks("docs/06_python.md") if "inlay.kernels()" in block]
        self.assertEqual(len(ran), 1)
        (line,) = [line for line in documented.blocks("README.md")[0].splitlines() if "inlay.explain" in line]
        exec(line, {"inlay": inlay})


class Lab(unittest.TestCase):
    def test_is_a_command(self):
        def said(*words):
            return subprocess.run([sys.executable, "-m", "inlay", *words], capture_output=True, text=True)

        self.assertIn("predicted: ", said("explain", "transpose_01_naive_read", "--rows", "512", "--cols", "512").stdout)
        self.assertIn("--transa", said("explain", "--help").stdout)
        wrong = said("explain", "transpose_01_naive_read", "--rwos", "5")
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.assertIn("did you mean '--rows'?", wrong.stderr)

    def test_refuses_what_is_no_text(self):
        with self.assertRaisesRegex(TypeError, "3 is no text"):
            inlay.explain(3)

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
        with self.assertRaisesRegex(ValueError, "there is no compute mode 'best'"):
            inlay.matmul(Fake((3, 4)), Fake((4, 3)), Fake((3, 3)), compute="best")
        with self.assertRaisesRegex(ValueError, r"a matrix and a batch of them, not \(3, 4\) and \(4, 3\)"):
            inlay.grouped_matmul(Fake((3, 4)), Fake((4, 3)), Fake((2,)))
        with self.assertRaisesRegex(ValueError, "beta is 1, and there is no out"):
            inlay.grouped_matmul(Fake((3, 4)), Fake((2, 4, 3)), Fake((2,)), beta=1)

    def test_lists(self):
        with self.assertRaisesRegex(ValueError, "there are 1 destinations and 2 sources"):
            inlay.copy_list([1], [1, 2])

    def test_dlpack(self):
        plain, ended = Exported(), len(Exported.ended)
        with self.assertRaisesRegex(ValueError, "the destination is read-only"):
            inlay.copy(Exported(flags=1), plain)
        with self.assertRaisesRegex(ValueError, "the source comes in version 2 of DLPack; version 1 is understood"):
            inlay.copy(plain, Exported(major=2))
        self.assertEqual(len(Exported.ended), ended + 3)  # the deleters ran

    def test_strides_that_do_not_matter(self):
        for shape, strides in (((1, 3), (2**63 - 1, 4)), ((1, 3), (2**70, 4)), ((0, 3), (3, 1)), ((3, 1), (4, -(2**64)))):
            with self.subTest(shape=shape, strides=strides):
                self.assertTrue(inlay._extension().is_row_major(Interface(shape, strides)))
        with self.assertRaisesRegex(ValueError, "the source has a stride of 7 bytes"):
            inlay._extension().is_row_major(Interface((2, 3), (7, 4)))
        with self.assertRaisesRegex(ValueError, "the source has 2 modes and 1 strides"):
            inlay._extension().is_row_major(Interface((2, 3), (4,)))

    def test_empty_arrays(self):
        for x in (Interface((0, 3)), Interface((2, 0, 3), (0, 12, 4)), Interface((3, 0), (4, 4), address=0)):
            self.assertIs(inlay.contiguous(x), x)


class Interface:
    """Floats by __cuda_array_interface__, with strides in bytes; without an address they have no memory."""

    def __init__(self, shape, strides=None, address=None):
        self.shape = shape
        self.__cuda_array_interface__ = {"shape": shape, "strides": strides, "typestr": "<f4", "data": (address, False), "version": 3}


class Exported:
    """Floats by DLPack at an address that is not read, with a deleter in Python, as that of a producer may be."""

    ended = []

    class Tensor(ctypes.Structure):
        _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                    ("flags", ctypes.c_uint64), ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                    ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                    ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]

    def __init__(self, major=1, flags=0, lanes=1, shape=(6,)):
        self.shape = shape
        self.extents = (ctypes.c_int64 * len(shape))(*shape)
        self.tensor = self.Tensor(major=major, flags=flags, data=1 << 40, device=(2, 0), ndim=len(shape), code=2, bits=32, lanes=lanes,
                                  shape=self.extents)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor_versioned", ctypes.cast(self.end, ctypes.c_void_p))

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def end(capsule):
        Exported.ended.append(capsule)


class Fake:
    """Something with a shape."""

    def __init__(self, shape):
        self.shape = shape


if __name__ == "__main__":
    unittest.main()
