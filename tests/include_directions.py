"""Which module may include which headers of the project, by folder: a new file needs no edit here.

usage: include_directions.py ROOT
"""
import pathlib
import re
import sys

# A module includes its own headers, the public ones, those of the modules named here and those of the libraries named here.
RULES = {
    "include/inlay": "cuda_runtime_api.h cuda/std/mdspan cuda/mdspan cute/ nccl\\.h nccl_device\\.h stddef.h stdint.h",
    "src/problem": "",
    "src/model": "inlay/problem/ cuda_runtime_api.h fmt/",
    "src/block": "cuda.h cute/ cutlass/",
    "src/kernels": "inlay/problem/ inlay/model/ inlay/block/ cute/ cutlass/",
    "src/planner": "inlay/problem/ inlay/model/ inlay/kernels/ cuda_runtime_api.h fmt/ nlohmann/json\\.hpp",
    "src/replay": "inlay/block/ cute/ boost/context/ sys/mman.h unistd.h",
    "src/explain": "inlay/model/ inlay/replay/",
    "src/registry": "inlay/problem/ inlay/model/ inlay/kernels/ inlay/replay/ inlay/tutorial/.*\\.def",
    "src/api": "inlay/problem/ inlay/model/ inlay/kernels/kernel_list\\.h inlay/planner/ access\\.h calls\\.h measured\\.h packed_b\\.h",
    "tutorial": "inlay/model/ inlay/block/ inlay/kernels/ cute/",
}
root = pathlib.Path(sys.argv[1])
bad, seen = [], 0
for file in sorted(f for top in ("include", "src", "tutorial") for f in (root / top).rglob("*") if f.is_file()):
    folder = str(file.parent.relative_to(root))
    module = max((m for m in RULES if (folder + "/").startswith(m + "/")), key=len, default=None)
    if not module:
        bad.append(f"{file.relative_to(root)} is in no module: the rules have no folder {folder}")
        continue
    own = "inlay/" + re.sub("^(src/|include/inlay)", "", module) + "/"
    allowed = [re.escape(own) if own != "inlay//" else "inlay/[a-z_]+\\.h$", "[a-z_0-9]+$", "inlay/[a-z_]+\\.h$", *RULES[module].split()]
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if found := re.match(r'\s*#\s*include\s*[<"](.*)[>"]', line):
            seen += 1
            if not any(re.match(item, found[1]) for item in allowed):
                bad.append(f"{file.relative_to(root)}:{number}: {module} may not include {found[1]}")
print("\n".join(bad) or f"{seen} includes, all in allowed directions")
sys.exit(bool(bad))
