"""The commands of the lab that need no GPU, through libinlay_lab.so."""
from __future__ import annotations

import ctypes
import json
import pathlib
import threading

_lock = threading.Lock()
_function = None


def _library():
    global _function
    if _function is None:
        library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("libinlay_lab.so")))
        _function = library.inlay_lab
        _function.restype = ctypes.c_int
        _function.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), *[ctypes.POINTER(ctypes.c_void_p)] * 2]
    return _function


_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]
_free.restype = None


def run(*words: str) -> str:
    """What the command prints. Raises ValueError with its complaint."""
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{word!r} is no text")
    argv = [b"inlay", *(w.encode() for w in words)]
    texts = [ctypes.c_void_p(), ctypes.c_void_p()]
    with _lock:
        status = _library()(len(argv), (ctypes.c_char_p * (len(argv) + 1))(*argv, None), *map(ctypes.byref, texts))
    out, complaint = (ctypes.string_at(t).decode() for t in texts)
    for t in texts:
        _free(t)
    if status:
        raise ValueError(complaint.strip().removeprefix("inlay: "))
    return out


def _options(options: dict) -> list[str]:
    """{"transa": "t", "whole": True} -> ["--transa", "t", "--whole"]"""
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            words += [flag, ",".join(map(str, value))]
        elif value is not False and value is not None:
            words += [flag, str(value)]
    return words


def kernels() -> list[dict]:
    """Every kernel: its name, its idea, the tutorial step that it reproduces."""
    return json.loads(run("list", "--json"))


def explain(kernel: str, **options) -> dict:
    """The memory accesses of a kernel and its predicted time, from a replay on the CPU.

    The options are those of `python -m inlay explain --help`: rows, cols, elem, m, n, k, transa, transb, device (the GPU here,
    or else an H200) and others.
    """
    return json.loads(run("explain", kernel, *_options(options), "--json"))


def layout(expression: str, **options) -> dict:
    """Offsets, banks and bank conflicts of a layout in CuTe's notation, such as "Swizzle<3,3,3> o (8,64):(64,1)".

    The options are those of `python -m inlay layout --help`: elem, access, threads, vector, suggest, whole.
    """
    return json.loads(run("layout", expression, *_options(options), "--json"))


class BankGrid:
    """A picture of the bank of each element. A notebook shows it."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path) -> None:
        pathlib.Path(path).write_text(self.svg)


def bank_grid(*layouts: str, elem: int | None = None) -> BankGrid:
    """The bank of each element of one layout or several, in CuTe's notation. elem: bytes of an element."""
    return BankGrid(run("draw", "banks", *layouts, *_options({"elem": elem})))
