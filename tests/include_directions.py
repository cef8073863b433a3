"""Who may include whom: greps the includes of every room against DESIGN's table. usage: include_directions.py ROOT"""
import pathlib
import re
import sys

ROOMS = "problem plan kernels block replay explain".split()
STD = r"[a-z_0-9]+"  # <vector>, <cstdint>
CUDA = r"cuda\.h|cuda_runtime_api\.h"
ALLOWED = {  # room -> what may stand in an include line
    "include/inlay": rf"{STD}|{CUDA}|inlay/.*|cuda/std/mdspan|dlpack\.h",
    "src/problem": rf"{STD}|inlay/.*|problem/.*",
    "src/plan": rf"{STD}|{CUDA}|inlay/.*|problem/.*|plan/.*|fmt/.*|(move|gemm)_variants\.h",
    "src/block": rf"{STD}|{CUDA}|inlay/error\.h|problem/(move|gemm)\.h|plan/device\.h|block/.*|cute/.*|cutlass/.*",
    "src/kernels": r"problem/.*|plan/.*|block/(block|[a-z]+_ops)\.h|cute/.*|kernels/([a-z]+_(tile|grid)|sgemm_[a-z]+|split_reduce)\.h",
    "src/replay": rf"{STD}|csignal|sys/.*|unistd\.h|{CUDA}|inlay/banks\.h|plan/(variant|traffic)\.h|block/(block|tensor_map)\.h|replay/.*|cute/.*|boost/.*",
    "src/explain": rf"{STD}|inlay/banks\.h|replay/recorder\.h|explain/.*",
    "src": rf"{STD}|inlay/.*|problem/.*|plan/.*",
}

root = pathlib.Path(sys.argv[1])
bad = []
for room, allowed in ALLOWED.items():
    for file in sorted((root / room).glob("*")):
        if not file.is_file():
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found = re.match(r'#include [<"](.*)[>"]', line)
            if found and not re.fullmatch(allowed, found[1]):
                bad.append(f"{file.relative_to(root)}:{number}: {room} may not include {found[1]}")
    if not list((root / room).glob("*.*")):
        bad.append(f"{room}: there is nothing to look at")
print("\n".join(bad) or "every include goes the right way")
sys.exit(bool(bad))
