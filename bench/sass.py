"""What a kernel's main loop is made of, read in its SASS.

usage: sass.py FILE [REGEX] [--markdown]
FILE is a program, object or cubin; REGEX picks kernels by their mangled names. cuobjdump and nvdisasm of the CUDA toolkit must be
in PATH, or their folder in CUDA_BINARIES (PyPI has them: nvidia-cuda-cuobjdump, nvidia-cuda-nvdisasm).

The main loop is the one with the most multiplications (FFMA; HMMA and HGMMA of tensor cores) of those that hold no other loop.
A line per kernel:
  math        the loop's multiplications, and their share of its instructions
  three fresh FFMA that read three registers from the register file: none of them stood in the same slot of the instruction
              before, marked .reuse. Each costs a clock: the file gives two reads a clock.
  stalls      clocks that these and the banks cost in a model: registers lie in two banks, even and odd, each gives one read a
              clock, and one read may be left over for the next clock
  .reuse      operands read from the reuse cache, a FFMA; these three are "-" on tensor cores
  LDS         loads from shared memory in the loop
  bytes       of the loop's code; the instruction cache holds about 20 KB
  spills      local loads and stores of the whole kernel
"""
import os
import re
import subprocess
import sys
import tempfile

arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
if not arguments:
    sys.exit(__doc__)
file, wanted = arguments[0], re.compile(arguments[1] if len(arguments) > 1 else "")
folder = os.environ.get("CUDA_BINARIES")
tool = lambda name: os.path.join(folder, name) if folder else name


def disassembly():
    """The SASS of every cubin in the file."""
    with tempfile.TemporaryDirectory() as cubins:
        if open(file, "rb").read(20)[18:20] == b"\xbe\x00":  # an ELF for the machine CUDA is a cubin
            paths = [os.path.abspath(file)]
        else:
            subprocess.run([tool("cuobjdump"), "-xelf", "all", os.path.abspath(file)], cwd=cubins, check=True, capture_output=True)
            paths = [os.path.join(cubins, f) for f in sorted(os.listdir(cubins))]
        for path in paths:
            yield subprocess.run([tool("nvdisasm"), "-c", path], check=True, capture_output=True, text=True).stdout


LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);")
LABEL = re.compile(r"^(\.L_x_\d+):")
REGISTER = re.compile(r"^-?\|?R(\d+|Z)\b.*?(\.reuse)?\|?$")


def kernels(text):
    """(name, [(address, opcode, operands)], {label: index of the next instruction})"""
    for section in re.split(r"^\s*\.section\s+\.text\.", text, flags=re.M)[1:]:
        name = re.match(r"[\w$]+", section)[0]
        code, labels = [], {}
        for line in section.splitlines():
            if m := LABEL.match(line):
                labels[m[1]] = len(code)
            elif m := LINE.match(line):
                code.append((int(m[1], 16), m[2], [o.strip() for o in m[3].split(",")]))
        yield name, code, labels


def multiplications(body):
    return sum(op.split(".")[0] in ("FFMA", "HMMA", "HGMMA") for _, op, _ in body)


def main_loop(code, labels):
    loops = []
    for i, (_, opcode, operands) in enumerate(code):
        target = re.search(r"\.L_x_\d+", operands[-1]) if opcode.startswith("BRA") else None
        if target and labels.get(target[0], len(code)) <= i:
            loops.append((labels[target[0]], i + 1))
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return max(inner, key=lambda loop: multiplications(code[loop[0] : loop[1]]), default=None)


def reads(operands):
    """Per source slot: (register or None, marked .reuse)"""
    found = []
    for operand in operands[1:4]:
        m = REGISTER.match(operand)
        found.append((m[1] if m and m[1] != "Z" else None, bool(m and m[2])))
    return found


def describe(name, code, labels):
    loop = main_loop(code, labels)
    if loop is None:
        return None
    body = code[loop[0] : loop[1]]
    ffma = three = stalls = reused = 0
    waiting = [0, 0]  # reads that each bank has still to serve
    before = []
    for _, opcode, operands in body:
        if opcode == "FFMA":
            now = reads(operands)
            ffma += 1
            fresh = []
            for slot, (register, _) in enumerate(now):
                if register is None:
                    continue
                if slot < len(before) and before[slot] == (register, True):
                    reused += 1
                elif register not in fresh:
                    fresh.append(register)
            three += len(fresh) == 3
            for register in fresh:
                waiting[int(register) % 2] += 1
            wait = max(len(fresh) == 3, *(n - 2 for n in waiting))
            stalls += wait
            waiting = [max(0, n - 1 - wait) for n in waiting]
            before = now
        else:
            waiting = [max(0, n - 1) for n in waiting]
            before = [(None, False)] + before[1:]  # an address stands in the first slot, the others keep theirs
    math = multiplications(body)
    if not math:
        return None
    count = lambda start: sum(op.startswith(start) for _, op, _ in body)
    spills = sum(op.startswith(("LDL", "STL")) for _, op, _ in code)
    # The kernel's name, of those that the symbol has with their lengths before them.
    names = [name[m.end():m.end() + int(m[0])] for m in re.finditer(r"\d+", name)]
    stem = [n for n in names if re.fullmatch(r"(sgemm|hgemm|transpose|copy)_[a-z0-9_]+", n)]
    registers = [three, stalls, f"{reused / ffma:.2f}"] if ffma else 3 * ["-"]
    return [stem[0] if stem else name, len(body), math, f"{100 * math / len(body):.1f} %", *registers, count("LDS"),
            16 * len(body), spills]


HEAD = ["kernel", "instructions", "math", "share", "three fresh", "stalls", ".reuse", "LDS", "bytes", "spills"]
rows = []
for text in disassembly():
    rows += [row for k in kernels(text) if wanted.search(k[0]) and (row := describe(*k))]
if not rows:
    sys.exit(f"no kernel with a loop of multiplications in {file} matches '{wanted.pattern}'")
rows.sort(key=lambda row: row[0])
if "--markdown" in sys.argv:
    print("| " + " | ".join(HEAD) + " |\n|---" + "|--:" * (len(HEAD) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(str(x) for x in row) + " |")
else:
    width = [max(len(str(row[i])) for row in [HEAD] + rows) for i in range(len(HEAD))]
    for row in [HEAD] + rows:
        print("  ".join(str(x).ljust(w) if i == 0 else str(x).rjust(w) for i, (x, w) in enumerate(zip(row, width))))
