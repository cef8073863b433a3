"""The numbers of compilation units and of instances of __global__ functions are those of the list. usage: build_counts.py BUILD LIST KIND

LIST has a line "KIND target units instances" for each target, KIND being headers (without nvcc), gpu or gpu-and-steps. Who adds a unit or an
instance on purpose changes the list. Beside it stands the time of compilation, in seconds and as a multiple of that of the precompiled header of the
replays, so that figures of different machines can be compared; it is shown, and nothing depends on it.
"""
import collections
import json
import pathlib
import re
import sys

build, listed, kind = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
wanted = {}
for line in listed.read_text().splitlines():
    if line.startswith(f"{kind} "):
        _, target, units, instances = line.split()
        wanted[target] = int(units), int(instances)

objects = collections.defaultdict(list)
for one in json.loads((build / "compile_commands.json").read_text()):
    if target := re.match(r"(?:.*/)?CMakeFiles/([^/]+)[.]dir/", one["output"]):
        objects[target[1]].append(one["output"])
seconds = {}
for line in (build / ".ninja_log").read_text().splitlines()[1:]:
    begin, end, _, output, _ = line.split("\t")
    seconds[output] = (int(end) - int(begin)) / 1000
reference = next((s for output, s in seconds.items() if output.endswith("inlay_steps.dir/cmake_pch.hxx.gch")), None)


def instances_of(target):
    units = [pathlib.Path(o).name.removesuffix(".cu.o") for o in objects[target] if o.endswith(".cu.o")]
    return sum(len(re.findall(r"^[.]visible [.]entry |^[.]entry |^[.]weak [.]entry ", file.read_text(), re.M))
               for unit in units if (file := build / "ptx" / f"{unit}.ptx").exists())


bad = []
print(f"{'target':<20} units  instances  compiled in s  in precompiled headers")
for target, counts in wanted.items():
    found = len(objects[target]), instances_of(target)
    time = sum(seconds.get(o, 0) for o in objects[target])
    print(f"{target:<20} {found[0]:5} {found[1]:10} {time:14.0f}" + (f" {time / reference:23.1f}" if reference else ""))
    if found != counts:
        bad.append(f"{target}: {found[0]} units and {found[1]} instances, but {listed.name} says {counts[0]} and {counts[1]}")
if not wanted:
    bad.append(f"{listed.name} has no target of kind {kind}")
print("\n".join(bad) or "as many as listed")
sys.exit(bool(bad))
