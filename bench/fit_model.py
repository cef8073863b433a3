"""The constants of the time model (src/explain/model.cpp), fitted anew: least squares of the relative error over the recorded
moves of 16384 x 16384 and products of 8192 x 8192 x 8192. Prints them, and how far off every recorded product then is, fitted
or not.

usage: fit_model.py [--inlay PATH]
"""
import argparse
import json
import math
import pathlib
import re
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("--inlay", default=str(root / "build/inlay"))
args = parser.parse_args()

FITTED = "8192x8192x8192"
LEFT_OUT = ("sgemm_01_naive", "sgemm_15_cluster", "sgemm_17_narrow")  # limited by other things at that size
SMS, GHZ, LANES = 132, 1.98, 128
NAMES = ["kSharedLoad", "kSharedStore", "kAsyncCopy", "kConflict", "kExposed", "kFewWarps"]


def features(x):
    """Of a product, per clock of its multiply-adds: what each constant is multiplied with. And the share of filled waves."""
    fma = x["totals"]["fma"] / LANES
    requests = lambda space, way, how: sum(s["requests"] for s in x["sites"] if (s["space"], s["direction"], s["mechanism"]) == (space, way, how)) / fma
    excess = sum(s["transactions"] - s["ideal"] for s in x["sites"] if s["space"] == "shared") / fma
    main = max(x["launches"], key=lambda l: l["blocks"] * l["threads"])
    waves = main["blocks"] / (main["resident"] * SMS)
    warps = main["resident"] * main["threads"] / 32
    loads = requests("shared", "load", "plain")
    return [loads, requests("shared", "store", "plain"), requests("global", "load", "cp_async"), excess,
            x["totals"]["exposed_loads"] / main["resident"] / fma, loads * max(0, 1 / warps - 1 / 16)], waves / math.ceil(waves)


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


def explained(variant, **shape):
    asked = [f"--{name}={value}" for name, value in shape.items()]
    return json.loads(subprocess.run([args.inlay, "explain", variant, "--json", *asked], capture_output=True, text=True, check=True).stdout)


def rows_of(file):
    rows = json.loads((root / "results/h200" / file).read_text())["rows"]
    return [row for row in rows if row["verdict"] == "ok" and row["variant"].startswith(("sgemm_", "copy_", "transpose_"))]


# ---- moves: the busier of memory and L1, and a part of the other; conflicts of loads cost the L1 more than those of stores
K_LOAD_CONFLICT = float(re.search(r"kLoadConflict = ([.\d]+)", (root / "src/explain/model.cpp").read_text())[1])  # what the program has
moves = []
for row in rows_of("transpose_16384.json"):
    if row["case"] != "16384x16384" or row["variant"] == "transpose_01_naive_read":
        continue
    x = explained(row["variant"], rows=16384, cols=16384)
    conflicts = sum(s["transactions"] - s["ideal"] for s in x["sites"] if (s["space"], s["direction"], s["mechanism"]) == ("shared", "load", "plain"))
    conflicts /= SMS * GHZ * 1e3  # microseconds
    r = x["resources"]
    moves.append((1000 * row["ms_median"] - r["launch"], max(r["DRAM"], r["L2"]), r["L1"] - K_LOAD_CONFLICT * conflicts, conflicts))


def off(overlap, dearer):
    times = [(t, memory, l1 + dearer * conflicts) for t, memory, l1, conflicts in moves]
    return sum(((max(m, l) + overlap * min(m, l)) / t - 1) ** 2 for t, m, l in times)


best = min((off(o / 100, d / 100), o / 100, d / 100) for o in range(40) for d in range(-5, 16))
print(f"kOverlap {best[1]:.2g}  kLoadConflict {best[2]:.2g}")

# ---- products
points = []
for row in rows_of("sgemm.json"):
    if row["suite"] != "ladder":
        continue
    x = explained(row["variant"], layout=row["layout"], **dict(zip("mnk", row["case"].split("x"))))
    f, filled = features(x)
    clocks = row["ms_median"] * 1e6 * GHZ * SMS / (x["totals"]["fma"] / LANES)  # per clock of multiply-adds
    points.append((row, f, filled, clocks))
fit = [(f, filled, clocks) for row, f, filled, clocks in points if row["case"] == FITTED and row["variant"] not in LEFT_OUT]
constants = solve([[x / (c * w) for x in f] for f, w, c in fit], [(c * w - 1) / (c * w) for f, w, c in fit])
print("  ".join(f"{name} {value:.3g}" for name, value in zip(NAMES, constants)))
for row, f, filled, clocks in points:
    predicted = (1 + sum(a * b for a, b in zip(constants, f))) / filled
    what = "fitted" if row["case"] == FITTED and row["variant"] not in LEFT_OUT else ""
    print(f"{row['variant']:26} {row['case']} {row['layout']}  {row['ms_median']:9.3f} ms  {100 * (predicted / clocks - 1):+6.1f} %  {what}")
