"""The accesses that stand in each kernel's PTX are those that its replay recorded, and ptxas spills nothing.

usage: ptx_accesses.py BUILD RECORDED ARCH
BUILD has ptx/UNIT.ptx and, beside the object of each unit, UNIT.cu.o.ptxas: what ptxas said of it.
RECORDED holds lines "kernel element_bytes space load|store bytes" from one interior and some edge blocks, and lines
"candidate kernel": what the planner chooses among for copies is at most 110 kernels, all element sizes counted.
A generic access (no state space) or one that the replay never saw fails, and so does one that only the replay saw; and a read-only
load of a kernel that may start while the one before it writes what it reads.
"""
import pathlib
import re
import sys
from collections import defaultdict

build, recorded, arch = pathlib.Path(sys.argv[1]), *sys.argv[2:]
folder = build / "ptx"
# A symbol names its kernel, and its first template argument is the element: for most a scalar or uint128_t, for kernels
# that carry every element, or elements of 16 bytes, as one scalar, unsigned __int128 (o).
ELEMENT = re.compile(r"entryI\S*?\d[A-Za-z]+I([htjmo]|N7cutlass9uint128_tE)")
BYTES = {"h": 1, "t": 2, "j": 4, "m": 8, "o": 16, "N7cutlass9uint128_tE": 16}
PARTS = re.compile(r"ClearFlags|SumSlicesBy")  # kernels that several kernels launch beside their own
ONE_FOR_ALL = "copy_03_tiled", "copy_03_vector", "copy_contiguous"  # one kernel of 16 bytes for every element size
STEPS = {m[1] for file in (pathlib.Path(__file__).parent.parent / "tutorial").glob("*/steps.def")  # of copies: for elements of 4 bytes
         for m in re.finditer(r"^INLAY_KERNEL\(((?:copy|transpose)_\w+)\)$", file.read_text(), re.M)}
ACCESS = re.compile(
    r"^\s*(?:@%p\d+\s+)?(ld|st)\.(?!param)(?:(?:relaxed|volatile|weak)\.)?(global|shared(?:::(?:cta|cluster))?|local|const)?(?:\.nc)?(?:\.L2::cache_hint)?\.?(?:(v\d)\.)?[bsuf](\d+)\b", re.M)
CP_ASYNC = re.compile(r"cp\.async\.c[ag]\.shared\.global\S* \[[^\]]*\], \[[^\]]*\], (\d+)")
# ldmatrix and stmatrix of shared memory: a lane that has an address accesses a row of 16 bytes.
MATRIX = re.compile(r"(ld|st)matrix\.sync\S* ")
BULK = re.compile(r"cp\.async\.bulk\.tensor\.\dd\.(shared|global)")


def name_of(symbol):
    """The name that begins like a kernel's, of those that the symbol has with their lengths before them."""
    for found in re.finditer(r"\d+", symbol):
        name = symbol[found.end():found.end() + int(found[0])]
        if re.fullmatch(r"(copy|transpose|[sh]gemm)_[a-z0-9_]+", name):
            return name
    return None


def accesses(body):
    for op, space, vector, bits in ACCESS.findall(body):
        yield (space.split("::")[0] or "generic", "load" if op == "ld" else "store", int(bits) // 8 * int((vector or "v1")[1:]))
    for size in CP_ASYNC.findall(body):
        yield ("global", "load", int(size))
        yield ("shared", "store", int(size))
    for op in MATRIX.findall(body):
        yield ("shared", "load" if op == "ld" else "store", 16)
    if "wgmma.mma_async" in body:  # reads its operands in vectors
        yield ("shared", "load", 16)
    for to in BULK.findall(body):
        yield ("global", "store" if to == "global" else "load", 0)


# Units of kernel lists that were compiled: without steps on the GPU, what was left of an earlier build is not looked at.
said_of = {file.name.removesuffix(".cu.o.ptxas"): file for target in ("inlay", "inlay_tutorial")
           for file in (build / f"CMakeFiles/{target}.dir/generated").glob("*.cu.o.ptxas")}


MOST_INSTANCES = 110
replay, candidates, not_recorded, instances = defaultdict(set), set(), set(), 0
for line in pathlib.Path(recorded).read_text().splitlines():
    if line == "no steps":  # they have no GPU code
        said_of = {unit: file for unit, file in said_of.items() if not unit.startswith("tutorial_")}
        continue
    if line.startswith(("candidate ", "not_recorded ")):
        (candidates if line[0] == "c" else not_recorded).add(line.split()[1])
        continue
    name, element, space, direction, size = line.split()
    element = 16 if name in ONE_FOR_ALL else int(element)
    replay[name, element].add((space, direction, int(size)))

bad, found, parts = [], defaultdict(set), set()
for file in sorted(pathlib.Path(folder).glob("*.ptx")):
    if file.stem not in said_of:
        continue  # no unit of a kernel list
    text = file.read_text()
    entries = text.split(".entry ")[1:]
    for entry in entries:
        symbol, body = entry.split("(", 1)
        if PARTS.search(symbol):
            parts |= set(accesses(body))
            continue
        if "griddepcontrol.wait" in body and "ld.global.nc" in body:
            bad.append(f"{file.name}: {symbol} starts before the kernel before it has ended, and loads by ld.global.nc")
        name, element = name_of(symbol), ELEMENT.search(symbol)
        if not name or not (element or "gemm_" in name or name in STEPS):
            bad.append(f"{file.name}: {symbol} does not name its {'element' if name else 'kernel'}")
            continue
        instances += name in candidates and "6Listed" not in symbol  # a kernel for lists repeats one that is counted
        if name in not_recorded:
            continue  # compiled for access widths, which are wider than the elements that are replayed
        known = 16 if name in ONE_FOR_ALL else 4 if name in STEPS else {"sgemm": 4, "hgemm": 2}.get(name[:5])
        key = name, known or BYTES[element[1]]
        found[key] |= set(accesses(body))  # a kernel of Gemm has several kernels
        if key not in replay:
            bad.append(f"{key}: compiled, never replayed")
    said = said_of[file.stem].read_text()
    if "serialized" in said:
        bad.append(f"{file.name}: ptxas serializes wgmma: {said}")
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
    if len(frames) != len(entries) or any(n != "0" for frame in frames for n in frame):
        bad.append(f"{file.name}: ptxas reports a stack frame or spills: {[f for f in frames if f != ('0', '0', '0')]}")
for key in sorted(set(found) & set(replay)):
    if "_tma" in key[0] and int(re.search(r"\d+", arch)[0]) < 90:
        continue  # compiled into a trap there, and rejected
    only_ptx, only_replay = found[key] - replay[key], replay[key] - found[key] - (parts if "gemm_" in key[0] else set())
    if only_ptx or only_replay:
        bad.append(f"{key}: only in PTX {sorted(only_ptx)}, only in the replay {sorted(only_replay)}")
if not 0 < instances <= MOST_INSTANCES:
    bad.append(f"the planner chooses among {instances} kernels for moves: 1 to {MOST_INSTANCES} are wanted")
if not found:
    bad.append(f"there is no PTX in {folder}")
bad += [f"{key}: replayed, but in no PTX" for key in sorted(set(replay) - set(found))]
print("\n".join(bad) or f"{len(found)} kernels: the PTX accesses what the replay recorded, nothing spills")
sys.exit(bool(bad))
