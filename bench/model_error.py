"""How far the predicted times are from measured ones: all rows of results files, not those that were fitted.

    model_error.py predict SUITE... --device H100-SXM --out FILE   every kernel on the cases of suites: no GPU is needed
    model_error.py judge RESULT... [--predicted FILE]              median, 90th percentile and worst of |predicted / measured - 1|
    model_error.py draw --seed N                                   the cases of suites/blind.json and suites/gemm/blind.json

`judge` asks `inlay explain` for the device that the file names, or takes what `predict` said beforehand. Suites are files.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import statistics
import subprocess

root = pathlib.Path(__file__).resolve().parent.parent
MOVE = {"rows": "rows", "cols": "cols", "batch": "batch", "elem_bytes": "elem", "pitch": "pitch", "pitch_dst": "pitch-dst",
        "base_src": "base-src", "base_dst": "base-dst"}
PRODUCT = {key: key for key in ("m", "n", "k", "transa", "transb", "batch", "alpha", "beta", "lda", "ldb", "ldd", "compute")}
NAIVE = re.compile(r"naive|copy_00")
# Kernels by name: all but the public functions, the baselines, and the copy kernels for any layout, which the ladders lack.
KERNEL = re.compile(r"(copy_(?!tiled|direct|interleave|deinterleave)|transpose_|sgemm_)")


def shape_of(row):
    """What `inlay explain` is asked, as pairs, for a row of a results file."""
    extents = [int(x) for x in row["case"].split("x")]
    shape = {"batch": row.get("batch", 1)}
    if "transa" in row:
        shape |= dict(zip("mnk", extents)) | {key: row[key] for key in PRODUCT if key in row}
    else:
        size = row["elem_bytes"]
        shape |= {"rows": extents[0], "cols": extents[1], "elem": size}
        for key, flag in (("pitch_src", "pitch"), ("pitch_dst", "pitch-dst"), ("base_src", "base-src"), ("base_dst", "base-dst")):
            shape[flag] = row.get(key, 0) // size
    return tuple(sorted(shape.items()))


def explained_ms(inlay, device, kernel, shape):
    """Milliseconds, or None where the kernel does not take the problem."""
    command = [inlay, "explain", kernel, "--json", "--device", device, *(f"--{key}={value}" for key, value in shape)]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode not in (0, 2):
        raise SystemExit(f"{' '.join(command)}: {said.stderr.strip()}")
    return json.loads(said.stdout)["time_us"] / 1000 if said.returncode == 0 else None


def all_explained(inlay, device, asked):
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda a: explained_ms(inlay, device, *a), asked))


def predict(args):
    names = re.findall(r"^(?:copy|transpose|sgemm)_\w+", subprocess.run([args.inlay, "list"], capture_output=True, text=True).stdout, re.M)
    asked = []
    for suite in args.suites:
        for case in json.loads(pathlib.Path(suite).read_text()):
            flags = PRODUCT if "transa" in case else MOVE
            shape = tuple(sorted((flags[key], value) for key, value in case.items() if key in flags))
            # A copy's row is one contiguous run of as many bytes, which says nothing about this shape.
            asked += [(name, shape) for name in names if name.startswith("sgemm" if "transa" in case else "transpose")]
    rows = [dict(shape) | {"kernel": name, "predicted_ms": ms}
            for (name, shape), ms in zip(asked, all_explained(args.inlay, args.device, asked)) if ms is not None]
    text = ",\n".join(json.dumps(row) for row in rows)
    pathlib.Path(args.out).write_text(f'{{"device": "{args.device}",\n"rows": [\n{text}\n]}}\n')
    print(f"{args.out}: {len(rows)} predictions")


def key_of(kernel, shape):
    """Pitches and bases that follow from the extents are left out."""
    s = dict(shape)
    if s.get("pitch") == s.get("cols"):
        s.pop("pitch", None)
    if s.get("pitch-dst") == s.get("rows"):
        s.pop("pitch-dst", None)
    return kernel, tuple(sorted((k, v) for k, v in s.items() if v != 0 and (k, v) != ("batch", 1)))


def tell(what, pairs):
    if not pairs:
        return
    off = sorted(pairs, key=lambda pair: abs(pair[0]))
    sizes = [abs(x) for x, _ in off]
    p90 = sizes[min(len(sizes) - 1, int(.9 * len(sizes)))]
    within = sum(x <= .15 for x in sizes)
    print(f"{what:34} {len(off):5} rows  median {100 * statistics.median(sizes):5.1f} %  p90 {100 * p90:5.1f} %  "
          f"worst {100 * off[-1][0]:+6.1f} % ({off[-1][1]})  within 15 %: {within}")


def judge(args):
    beforehand = None
    if args.predicted:
        told = json.loads(pathlib.Path(args.predicted).read_text())
        beforehand = {key_of(r["kernel"], [(k, v) for k, v in r.items() if k not in ("kernel", "predicted_ms")]): r["predicted_ms"]
                      for r in told["rows"]}
    kinds = {"copies": [], "gemms": []}
    for file in args.results:
        data = json.loads(pathlib.Path(file).read_text())
        device = args.device or data["device"].removeprefix("NVIDIA ").split()[0]
        rows = [r for r in data["rows"] if r["check"] == "ok" and r.get("ms_median") and KERNEL.match(r["kernel"])]
        rows = [r for r in rows if not r["kernel"].startswith("copy") or "x" in r["case"] and shape_is_contiguous(r)]
        asked = [(r["kernel"], shape_of(r)) for r in rows]
        times = [beforehand.get(key_of(*a)) for a in asked] if beforehand is not None else all_explained(args.inlay, device, asked)
        for row, (name, shape), ms in zip(rows, asked, times):
            if ms is not None:
                kind = "gemms" if "transa" in row else "copies"
                size = f" {row['elem_bytes']} B" if kind == "copies" else f" {row['transa'] + row['transb']}"
                kinds[kind].append((ms / row["ms_median"] - 1, f"{name} {row['case']}{size}"))
    for kind, pairs in kinds.items():
        tell(kind, pairs)
        tell(f"{kind} without naive steps", [p for p in pairs if not NAIVE.search(p[1])])
    tell("all", kinds["copies"] + kinds["gemms"])


def shape_is_contiguous(row):
    """Whether a copy's row was timed on the case itself: it is, but for pitches, one run of whole vectors."""
    extents = [int(x) for x in row["case"].split("x")]
    size = row["elem_bytes"]
    return extents[0] * extents[1] * size % 16 == 0 and row.get("pitch_src", extents[1] * size) == extents[1] * size and not row.get("base_src")


def draw(args):
    """Both ladders at one size each, then extents of even logarithms: every other case whole vectors, the rest ragged."""
    chance = random.Random(args.seed)

    def extents(low, high, names, whole):
        drawn = [round(low * (high / low) ** chance.random()) for _ in names]
        return dict(zip(names, [(x + 15) // 16 * 16 for x in drawn] if whole else drawn))

    copies = [{"rows": 16384, "cols": 16384, "elem_bytes": 4}]
    copies += [extents(60, 20000, ("rows", "cols"), i % 2) | {"elem_bytes": 2 ** (i % 5)} for i in range(15)]
    gemms = [{"m": 4096, "n": 4096, "k": 4096, "transa": "n", "transb": b} for b in "nt"]
    gemms += [extents(60, 5000, "mnk", i // 4 % 2) | {"transa": "nt"[i // 2 % 2], "transb": "nt"[i % 2]} for i in range(16)]
    for name, cases in (("blind.json", copies), ("gemm/blind.json", gemms)):
        text = ",\n".join(json.dumps(case | {"kernels": "all"}) for case in cases)
        (root / "suites" / name).write_text(f"[\n{text}\n]\n")


parser = argparse.ArgumentParser()
parser.add_argument("--inlay", default=str(root / "build/inlay"))
commands = parser.add_subparsers(required=True)
command = commands.add_parser("predict")
command.add_argument("suites", nargs="+")
command.add_argument("--device", required=True)
command.add_argument("--out", required=True)
command.set_defaults(run=predict)
command = commands.add_parser("judge")
command.add_argument("results", nargs="+")
command.add_argument("--predicted")
command.add_argument("--device", help="of the table; default: the file's")
command.set_defaults(run=judge)
command = commands.add_parser("draw")
command.add_argument("--seed", type=int, required=True)
command.set_defaults(run=draw)
args = parser.parse_args()
args.run(args)
