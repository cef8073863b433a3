"""The constants of the time model (src/model/time_model.cpp), fitted anew by least squares of the relative error. Prints them, and
how far off the times are: of the copies that were fitted, with these constants; of all recorded gemms, as the program says.

    kOverlap, kLoadConflict    copies of 16384 x 16384 (transpose_16384.json)
    kOneWave, kIssue, kTurn    small copies (small.json)
    those beside the FMAs      gemms of 8192 x 8192 x 8192 (sgemm.json)

usage: fit_model.py [--inlay PATH]
"""
import argparse
import itertools
import json
import math
import pathlib
import re
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("--inlay", default=str(root / "build/inlay"))
args = parser.parse_args()

SMS, GHZ, LANES, SCHEDULERS, LOAD_US, WARP_START = 132, 1.98, 128, 4, 0.332, 20  # of an H200, as in the program
LEFT_OUT = ("sgemm_01_naive", "sgemm_cluster", "sgemm_split_32x32")  # limited by other things at that size


def explained(kernel, **shape):
    asked = [f"--{name}={value}" for name, value in shape.items()]
    said = subprocess.run([args.inlay, "explain", kernel, "--json", "--device", "H200", *asked], capture_output=True, text=True)
    return json.loads(said.stdout) if said.returncode == 0 else None  # copies of odd sizes are timed as one long row


def rows_of(file, ours):
    """(row, what explain says of it): plain problems that are timed and coalesced."""
    for row in json.loads((root / "results/h200" / file).read_text())["rows"]:
        if row["check"] != "ok" or not row["kernel"].startswith(ours) or "naive" in row["kernel"] or row["batch"] != 1:
            continue
        extents = row["case"].split("x")
        shape = dict(zip("mnk", extents), transa=row["transa"], transb=row["transb"]) if "transa" in row else dict(rows=extents[0], cols=extents[1], elem=row["elem_bytes"])
        if x := explained(row["kernel"], **shape):
            yield row, x


def requests(x, space, way, how):
    return sum(s["requests"] for s in x["sites"] if (s["space"], s["direction"], s["mechanism"]) == (space, way, how))


def shared_excess(x, way):
    return sum(s["transactions"] - s["ideal"] for s in x["sites"] if s["space"] == "shared" and s["direction"] in way)


class Launch:
    """The launch that does the work, as in src/model/time_model.h."""

    def __init__(self, x):
        of = max(x["launches"], key=lambda l: (l["blocks"] * l["shared_bytes"], l["blocks"] * l["threads"]))
        self.each = of["blocks"] / SMS
        self.uneven = math.ceil(self.each) / self.each
        self.held = min(of["resident"], math.ceil(self.each))
        self.warps = self.held * of["threads"] / 32
        self.waves = self.each / of["resident"]
        self.starts = math.ceil(self.each) * of["threads"] / 32 * WARP_START / GHZ / 1000
        self.blocks = of["blocks"]


# ---- copies
K_LOAD_CONFLICT = float(re.search(r"kLoadConflict = (-?[.\d]+)", (root / "src/model/time_model.cpp").read_text())[1])  # what the program has


class Moved:
    def __init__(self, row, x):
        launch, r = Launch(x), x["resources"]
        clocks = launch.uneven / (SMS * GHZ * 1e3)  # microseconds for a clock of all
        self.name, self.case, self.us = row["kernel"], f"{row['case']} {row['elem_bytes']} B", 1000 * row["ms_median"]
        self.memory, self.launch, self.starts, self.waves = max(r["DRAM"], r["L2"]), r["launch"], launch.starts, launch.waves
        self.conflicts = shared_excess(x, ("load",)) * clocks
        self.l1 = r["L1"] - K_LOAD_CONFLICT * self.conflicts
        self.requests = sum(s["requests"] for s in x["sites"] if s["mechanism"] != "tma") * clocks / SCHEDULERS
        self.exposed = x["totals"]["exposed_loads"] / launch.blocks

    def off(self, overlap, load_conflict, one_wave, issue, latency):
        waiting = max(1, self.exposed) * LOAD_US + self.exposed * latency / GHZ / 1000
        l1 = self.l1 + load_conflict * self.conflicts
        share = min(one_wave, max(overlap, 1 / self.waves))
        busy = max(self.memory, l1, issue * self.requests) + share * min(self.memory, l1)
        return (self.launch + max(math.ceil(self.waves) * waiting + self.starts, waiting + busy)) / self.us - 1


def least(points, *ranges):
    return min((sum(p.off(*k) ** 2 for p in points), k) for k in itertools.product(*ranges))[1]


large = [Moved(row, x) for row, x in rows_of("transpose_16384.json", ("copy_", "transpose_")) if row["case"] == "16384x16384"]
small = [Moved(row, x) for row, x in rows_of("small.json", ("copy_", "transpose_"))]
constants = [0.1, 0.06, 0.75, 6.4, 530]
for _ in range(2):
    one = [[k] for k in constants]
    constants = list(least(large, [k / 100 for k in range(25)], [k / 100 for k in range(-4, 13)], *one[2:]))
    one = [[k] for k in constants]
    constants = list(least(small, *one[:2], [k / 20 for k in range(2, 21)], [k / 5 for k in range(10, 51)], range(100, 1001, 50)))
print("  ".join(f"{name} {value:.3g}" for name, value in zip(["kOverlap", "kLoadConflict", "kOneWave", "kIssue", "kTurn"], constants)))
for p in large + small:
    print(f"{p.name:34} {p.case:18} {p.us:9.2f} us  {100 * p.off(*constants):+6.1f} %")

# ---- gemms
NAMES = ["kSharedLoad", "kSharedStore", "kAsyncCopy", "kConflict", "kExposed", "kFewWarps"]


class Product:
    def __init__(self, row, x):
        fma, launch = x["totals"]["fma"] / LANES, Launch(x)
        self.name, self.layout, self.case, self.us = row["kernel"], row["transa"] + row["transb"], row["case"], 1000 * row["ms_median"]
        loads = requests(x, "shared", "load", "plain")
        self.beside = [n / fma for n in (loads, requests(x, "shared", "store", "plain"), requests(x, "global", "load", "cp_async"),
                                         shared_excess(x, ("load", "store")), x["totals"]["exposed_loads"] / launch.held,
                                         loads * max(0, 1 / launch.warps - 1 / 16))]
        self.told = self.us / (fma * launch.uneven / (SMS * GHZ * 1e3))  # by the time of the FMAs
        self.off = x["time_us"] / self.us - 1


def solve(rows, right):
    """Least squares by the normal equations."""
    n = len(rows[0])
    m = [[sum(r[i] * r[j] for r in rows) for j in range(n)] + [sum(r[i] * b for r, b in zip(rows, right))] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[pivot] = m[pivot], m[i]
        for r in range(n):
            if r != i:
                f = m[r][i] / m[i][i]
                m[r] = [a - f * b for a, b in zip(m[r], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


ladder = [Product(row, x) for row, x in rows_of("sgemm.json", "sgemm_") if row["suite"] == "ladder"]
fitted = [p for p in ladder if p.case == "8192x8192x8192" and p.name not in LEFT_OUT]
constants = solve([[k / p.told for k in p.beside] for p in fitted], [1 - 1 / p.told for p in fitted])
print("  ".join(f"{name} {value:.3g}" for name, value in zip(NAMES, constants)))
for p in ladder + [Product(row, x) for row, x in rows_of("small_gemms.json", "sgemm_")]:
    print(f"{p.name:26} {p.case:15} {p.layout}  {p.us:9.2f} us  {100 * p.off:+6.1f} % as the program says  {'fitted' if p in fitted else ''}")
