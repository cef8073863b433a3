"""PyTorch's copies between layouts on the cases of `inlay bench copy`, in the lab's schema: permute(...).contiguous(), or
dst.copy_(view) where the destination has strides of its own; eager and compiled.

usage: torch_copy.py SUITE... [--samples 15] [--no-compile] [--count N] [--json FILE]

SUITE is a file such as suites/wild.json; --count N takes N of its cases, evenly spread. Measured as torch_transpose.py
measures. Elements of 3, 6 and 12 bytes are units with a mode of their own, as PyTorch has none. It has no negative strides.
"""
import argparse
import dataclasses
import json
import math
import pathlib
import sys

import torch

import torch_transpose as common
from provenance import provenance

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "suites"))
from draw import packed  # noqa: E402


@dataclasses.dataclass
class Case:
    """Modes in the suites' order, the fastest first; strides in elements, bases in bytes."""
    sizes: list
    perm: list
    elem_bytes: int
    src_strides: list = None
    dst_strides: list = None
    base_src: int = 0
    base_dst: int = 0
    group: str = ""

    def __post_init__(self):
        self.unit = self.elem_bytes & -self.elem_bytes
        self.per_element = self.elem_bytes // self.unit
        self.to = [self.sizes[k] for k in self.perm]
        self.source = self.src_strides or packed(self.sizes)
        self.destination = self.dst_strides or packed(self.to)

    @property
    def elements(self):
        return math.prod(self.sizes)

    @property
    def packed_destination(self):
        return self.destination == packed(self.to) and self.base_dst % self.unit == 0 and not self.base_dst

    def row(self, suite):
        e = self.elem_bytes
        case = "x".join(map(str, self.sizes)) + ":" + "-".join(map(str, self.perm))
        return {"suite": suite, "case": case, "class": self.group, "extents": self.sizes, "perm": self.perm,
                "src_strides": [s * e for s in self.source], "dst_strides": [s * e for s in self.destination],
                "base_src": self.base_src, "base_dst": self.base_dst, "bytes": self.elements * e}


class Pair:
    """Flat buffers of units, and the case's views of one shape, the destination's slowest mode first."""

    def __init__(self, case):
        dtype = common.DTYPE[case.unit]
        units = lambda extents, strides: (sum(s * (e - 1) for s, e in zip(strides, extents)) + 1) * case.per_element
        n_src, n_dst = units(case.sizes, case.source), units(case.to, case.destination)
        offset_src, offset_dst = case.base_src // case.unit, case.base_dst // case.unit
        most = max(n_src + offset_src, case.elements * case.per_element)
        self.src_flat = torch.randint(1, 127, (most * case.unit,), dtype=torch.uint8, device="cuda").view(dtype)
        self.dst_flat = torch.empty(max(n_dst + offset_dst, case.elements * case.per_element), dtype=dtype, device="cuda")
        shape = [*reversed(case.to), case.per_element]
        strides = lambda all: [*(s * case.per_element for s in reversed(all)), 1]
        self.src = self.src_flat.as_strided(shape, strides([case.source[k] for k in case.perm]), offset_src)
        self.dst = self.dst_flat.as_strided(shape, strides(case.destination), offset_dst)


def candidates(case, compiles):
    n = case.elements * case.per_element
    functions = {"torch_copy": lambda pair: pair.dst_flat[:n].copy_(pair.src_flat[:n])}
    copied = lambda src: src.contiguous() if not src.is_contiguous() else src.clone()
    into = lambda dst, src: dst.copy_(src)
    for name, wrapped in common.wrappers(compiles).items():
        if name == "torch_max_autotune":
            continue
        if case.packed_destination:
            functions[name] = lambda pair, f=wrapped(copied): f(pair.src)
        else:
            functions[name] = lambda pair, f=wrapped(into): f(pair.dst, pair.src)
    return functions


def verified(function, name, pair, case):
    try:
        for _ in range(3):
            pair.dst_flat.view(torch.uint8).fill_(0xA5)
            got = function(pair)
    except Exception as error:
        return "rejected: " + str(error).splitlines()[0][:120]
    right = torch.equal(got, pair.src_flat[: got.numel()] if name == "torch_copy" else pair.src)
    return "ok" if right else "FAILED: the result is wrong"


def cases_of(file):
    for problem in json.loads(file.read_text()):
        problem.pop("kernels", None)
        problem["group"] = problem.pop("class", "")
        yield Case(**problem)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("suites", nargs="+", type=pathlib.Path)
    options.add_argument("--samples", type=int, default=15)
    options.add_argument("--no-compile", action="store_true")
    options.add_argument("--count", type=int)
    options.add_argument("--json", type=pathlib.Path)
    options = options.parse_args()
    options.host = False
    if not torch.cuda.is_available():
        sys.exit("torch_copy.py needs a GPU that PyTorch can use.")
    torch._dynamo.config.cache_size_limit = 4096
    report = provenance() | {"rows": []}
    for suite in options.suites:
        options.suite = suite.stem
        cases = list(cases_of(suite))
        step = max(1, len(cases) // options.count) if options.count else 1
        for case in cases[::step]:
            if min(case.source + case.destination) < 0:
                continue  # PyTorch has none
            for row in common.measure(case, options, Pair, candidates, verified):
                report["rows"].append(row)
                numbers = f"{row['ms_median']:9.4f} ms  {row['of_copy']:.3f} of copy_" if row["ms_median"] else ""
                print(f"{suite.stem} {row['case']:>30} {case.elem_bytes:>2} B  {row['kernel']:14} {row['check']} {numbers}", flush=True)
            torch.cuda.empty_cache()
            if options.json:
                options.json.write_text(common.listed(report))


if __name__ == "__main__":
    main()
