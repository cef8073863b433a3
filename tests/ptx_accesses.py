"""The accesses that stand in each kernel's PTX are those that its replay recorded, and ptxas spills nothing.

usage: ptx_accesses.py PTX_FOLDER RECORDED PTXAS ARCH
RECORDED holds lines "variant element_bytes space load|store bytes" from one interior and some edge blocks.
A generic access (no state space) or one that the replay never saw fails, and so does one that only the replay saw.
"""
import pathlib
import re
import subprocess
import sys
from collections import defaultdict

folder, recorded, ptxas, arch = sys.argv[1:]
# Of a mangled element type; others are uint128_t or a substitution for it, or a kernel that takes every element as 16 bytes.
BYTES = {"h": 1, "t": 2, "j": 4, "m": 8}
ENTRY = re.compile(r"\.entry (\S*?\d((?:copy|transpose)_\d\d_[a-z_]+?)(?:\d+)?(?:(?:4Step|6Kernel)I(N7cutlass9uint128_tE|S\d*_|[htjmo])E|4StepE)\S*?)\(")
ACCESS = re.compile(
    r"^\s*(?:@%p\d+\s+)?(ld|st)\.(?!param)(?:(?:relaxed|volatile|weak)\.)?(global|shared(?:::cta)?|local|const)?(?:\.nc)?\.?(?:(v\d)\.)?[bsuf](\d+)\b", re.M)
CP_ASYNC = re.compile(r"cp\.async\.c[ag]\.shared\.global\S* \[[^\]]*\], \[[^\]]*\], (\d+)")
BULK = re.compile(r"cp\.async\.bulk\.tensor\.\dd\.(shared|global)")


def accesses(body):
    for op, space, vector, bits in ACCESS.findall(body):
        yield (space.split("::")[0] or "generic", "load" if op == "ld" else "store", int(bits) // 8 * int((vector or "v1")[1:]))
    for size in CP_ASYNC.findall(body):
        yield ("global", "load", int(size))
        yield ("shared", "store", int(size))
    for to in BULK.findall(body):
        yield ("global", "store" if to == "global" else "load", 0)


replay = defaultdict(set)
for line in pathlib.Path(recorded).read_text().splitlines():
    name, element, space, direction, size = line.split()
    element = 16 if name.startswith("copy_03") else int(element)  # one kernel for all
    replay[name, element].add((space, direction, int(size)))

bad, seen = [], set()
for file in sorted(pathlib.Path(folder).glob("*.ptx")):
    text = file.read_text()
    entries = list(ENTRY.finditer(text))
    if text.count(".entry ") != len(entries):
        bad.append(f"{file.name}: {text.count('.entry ')} entries, {len(entries)} with a variant's name")
    for this, following in zip(entries, entries[1:] + [None]):
        key = this[2], BYTES.get(this[3], 16)
        seen.add(key)
        if key not in replay:
            if not key[0].startswith("transpose_10"):  # compiled below 4 bytes, and rejected
                bad.append(f"{key}: compiled, never replayed")
            continue
        if "_tma" in key[0] and int(re.search(r"\d+", arch)[0]) < 90:
            continue  # compiled into a trap there, and rejected
        found = set(accesses(text[this.end() : following.start() if following else None]))
        if found != replay[key]:
            bad.append(f"{key}: only in PTX {sorted(found - replay[key])}, only in the replay {sorted(replay[key] - found)}")
    said = subprocess.run([ptxas, f"-arch={arch}", "-v", file, "-o", "/dev/null"], capture_output=True, text=True, check=True).stderr
    frames = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", said)
    if len(frames) != len(entries) or any(n != "0" for frame in frames for n in frame):
        bad.append(f"{file.name}: ptxas reports a stack frame or spills: {[f for f in frames if f != ('0', '0', '0')]}")
if not seen:
    bad.append(f"there is no PTX in {folder}")
bad += [f"{key}: replayed, but in no PTX" for key in sorted(set(replay) - seen)]
print("\n".join(bad) or f"{len(seen)} kernels: the PTX accesses what the replay recorded, nothing spills")
sys.exit(bool(bad))
