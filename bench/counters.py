"""Hardware counters of every step of both ladders beside what inlay predicts of them.

usage: counters.py measure [--out FILE] [--only REGEX] [--ncu PATH] [--inlay PATH] [--timeout S]
       counters.py join RAW [--out FILE] [--inlay PATH] [--device NAME] [--times FILE...]
       counters.py check FILE
       counters.py calibrate --program PATH [--all] [--ncu PATH]

measure    runs every kernel under Nsight Compute, on the machine with the GPU, and writes what was counted (raw.json)
join       adds what `inlay explain` predicts, and times without a profiler from results files: results/h200/counters.json
check      judges such a file; the exit code is 1 if it does not hold what is demanded
calibrate  single requests of one warp, exactly as inlay/banks.h predicts them; exit code 77 where nothing can be counted
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import counters_check as checks
import counters_ncu as ncu
from provenance import provenance

PRODUCTS = [(4096, 4096, 4096), (256, 256, 64)]  # of the small one a multiprocessor has one block at most
SIZES = [  # rows, columns, bytes of an element, the kernels
    (32768, 32768, [4], ""),
    (2051, 1537, [1, 4, 8], ""),  # odd; steps of the tutorial take 4 alone
    (2064, 1552, [1, 4, 8], ""),  # no multiple of a tile, but of 16 bytes
    (100003, 37, [1, 8], "few_columns"),  # those that take neither
    (37, 100003, [1, 8], "few_rows"),
    (1003, 37, [8], "few_columns"),  # as many blocks as multiprocessors, or fewer
    (37, 1003, [8], "few_rows"),
    (528, 528, [8], "16_tma"),
    (80, 80, [1], "batch_squares"),
    (44, 44, [8], "batch_squares"),
    (31, 29, [1, 8], "batch$"),
]
SAID = re.compile(r"^(\S+)\s+(?:(\d+) B|(nn|nt|tn|tt))  (.*)$")  # a line of `inlay verify`



def check_results(lines):
    """(kernel, element bytes or layout, check) of each line of `inlay verify`."""
    return [(m[1], m[3] or int(m[2]), m[4]) for m in map(SAID.match, lines) if m]


def names_of(inlay, only):
    listed = subprocess.run([inlay, "list", "--json"], capture_output=True, text=True, check=True).stdout
    names = [v["name"] for v in json.loads(listed) if re.search(only, v["name"])]
    return [n for n in names if not n.startswith("sgemm")], [n for n in names if n.startswith("sgemm")]


def layouts_of(inlay, gemms):
    """The layout in which `inlay demo` shows a GEMM: the tutorial's last step is about nt; the others take nn if they can."""
    if not gemms:
        return {}
    said = subprocess.run([inlay, "verify", *gemms, "--m=256", "--n=256", "--k=32"],
                          capture_output=True, text=True).stdout
    if not said.startswith("on the GPU"):
        raise ncu.CannotProfile(f"inlay does not run on a GPU here: {said[:200]}")
    takes = {}
    for name, layout, check in check_results(said.splitlines()):
        if not check.startswith("rejected"):
            takes.setdefault(name, []).append(layout)
    wanted = lambda name: "nt" if name.endswith("column_major_b") else "nn"
    return {name: wanted(name) if wanted(name) in takes[name] else takes[name][0] for name in gemms if takes.get(name)}


def once(launches):
    """`inlay verify` runs a GEMM three times: the last run alone."""
    n = len(launches) // 3
    runs = [[x["kernel"] for x in launches[i * n:(i + 1) * n]] for i in range(3)]
    return launches[2 * n:] if n and 3 * n == len(launches) and runs[0] == runs[1] == runs[2] else launches


def share_out(rows, launches, told, wrong):
    """Gives every row the launches of its kernel. `rows` has one per line that `inlay verify` should have said."""
    said = {(name, of): check for name, of, check in told}
    taken = {}  # those of a kernel with several rows follow each other
    runs = lambda row: said.get((row["kernel"], row["key"]), "nothing").split(":")[0] not in ("rejected", "nothing")
    for row in rows:
        name, check = row["kernel"], said.get((row["kernel"], row["key"]), "")
        own = launches if row["alone"] else [x for x in launches if f"{len(name)}{name}" in x["kernel"]]
        share = sum(runs(r) for r in rows if r["kernel"] == name)
        if check.startswith("rejected"):
            row["skipped"] = check
        elif check != "ok" or not own or len(own) % share:
            row["failed"] = f"{check or 'it was not run'}; {len(own)} launches were counted{'; ' if wrong else ''}{wrong}"
        else:
            n, at = len(own) // share, taken.get(name, 0)
            row["launches"], taken[name] = once(own[at:at + n]), at + n
    return [{k: v for k, v in row.items() if k not in ("key", "alone")} for row in rows]


def tasks(copies, gemms):
    """What is run in one process: the arguments of `inlay verify`, and the rows that come of it. A GEMM may launch more
    kernels than its own, which do not have its name: it runs alone. Copies and transposes launch one."""
    for rows, cols, elems, which in SIZES:
        if names := [name for name in copies if re.search(which, name)]:
            yield (["verify", *names, f"--rows={rows}", f"--cols={cols}", *(f"--elem={e}" for e in elems)],
                   [{"case": f"{rows}x{cols}", "kernel": name, "elem_bytes": e, "key": e, "alone": False} for name in names for e in elems])
    for name, layout in gemms.items():
        for size in PRODUCTS:
            yield (["verify", name, *(f"--{x}={n}" for x, n in zip("mnk", size)), f"--transa={layout[0]}", f"--transb={layout[1]}"],
                   [{"case": "x".join(map(str, size)), "kernel": name, "elem_bytes": 4, "transa": layout[0], "transb": layout[1], "key": layout, "alone": True}])


def measure(options):
    profiler = ncu.find_ncu(options.ncu)
    copies, gemms = names_of(options.inlay, options.only)
    metrics = ncu.known(profiler)
    print(f"{profiler}: asked for {len(metrics)} metrics", flush=True)
    rows, begin = [], time.time()
    for arguments, expected in tasks(copies, layouts_of(options.inlay, gemms)):
        print(f"[{time.time() - begin:5.0f} s] inlay {' '.join(a for a in arguments if a not in copies)}", flush=True)
        launches, printed, wrong = ncu.profile(profiler, [options.inlay, *arguments], metrics, timeout=options.timeout,
                                               say=lambda line: print(f"          {line}", flush=True))
        rows += share_out(expected, launches, check_results(printed), wrong)
        write(options.out, {**provenance(), "clock_mhz": clock_of(rows),
                            "ncu": ncu.version_of(profiler), "rows": rows})  # after every process, so that an interrupted run keeps its rows
    failed = [row for row in rows if "failed" in row]
    for row in failed:
        print(f"{row['kernel']}, {row['case']}, {row['elem_bytes']} B: {row['failed']}")
    print(f"{sum('launches' in r for r in rows)} counted, {sum('skipped' in r for r in rows)} rejected, {len(failed)} failed: {options.out}")
    return bool(failed) or not rows


def calibrate(options):
    """Every pattern's counters are exactly those that the program predicts."""
    profiler = ncu.find_ncu(options.ncu)
    listed = subprocess.run([options.program, "--list"], capture_output=True, text=True, check=True).stdout
    counters = ncu.PLACES if options.all else list(dict.fromkeys(c for pattern in json.loads(listed) for c in pattern["predicted"]))
    metrics = ncu.known(profiler, counters, most=9)
    launches, printed, wrong = ncu.profile(profiler, [options.program], metrics, kernels="7requestI", timeout=options.timeout)
    if any("no GPU" in line for line in printed):
        raise ncu.CannotProfile("no GPU")
    patterns = json.loads("\n".join(line for line in printed if line[:1] in "[ ]"))
    if wrong or len(launches) != len(patterns):
        print(f"{len(patterns)} patterns, but {len(launches)} launches were counted: {wrong}\n" + "\n".join(printed))
        return True
    failed, compared = 0, 0
    places = {counter: ncu.place_of(counter, [x["metrics"] for x in launches]) for counter in counters}
    for pattern, launch in zip(patterns, launches):
        for counter, predicted in pattern["predicted"].items():
            measured = ncu.value_of(places[counter], launch["metrics"])
            compared += 1
            if measured != predicted:
                failed += 1
                print(f"{pattern['name']}: {counter} is {measured}, predicted {predicted}")
        if options.all:
            print(f"{pattern['name']}: " + ", ".join(f"{m} {v:g}" for m, v in launch["metrics"].items() if v and "stalled" not in m))
    for counter in counters:
        print(f"{counter}: {' + '.join(places[counter]) or 'in no counter that this ncu knows'}")
    print(f"{len(patterns)} patterns, {compared} counts, {failed} of them not as predicted")
    return failed > 0


def clock_of(rows):
    """MHz of the longest launch."""
    launches = [x["metrics"] for row in rows for x in row.get("launches", [])]
    longest = max(launches, key=lambda m: m.get("gpu__time_duration.sum", 0), default={})
    ns, cycles = longest.get("gpu__time_duration.sum"), longest.get("sm__cycles_elapsed.max")
    return round(1000 * cycles / ns, 1) if ns and cycles else None


def join(options):
    """The rows of `counters.json`: predicted beside measured."""
    raw = json.loads(pathlib.Path(options.raw).read_text())
    counted = [row for row in raw["rows"] if "launches" in row]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        explained = list(pool.map(lambda row: explain(options, row), counted))
    for row, said in zip(counted, explained):
        if isinstance(said, str):
            print(f"{row['kernel']}, {row['case']}: {said}")
    times = checks.bench_times(options.times if options.times is not None else sorted(pathlib.Path(options.out).parent.glob("*.json")))
    write(options.out, {**{key: value for key, value in raw.items() if key != "rows"},
                        **checks.joined(counted, explained, times),
                        "skipped": [row for row in raw["rows"] if "launches" not in row]})
    print(f"{len(counted)} kernels and sizes: {options.out}")
    return any(isinstance(said, str) for said in explained)


def explain(options, row):
    """What inlay predicts of a row, or why it does not."""
    extents = [int(n) for n in row["case"].split("x")]
    shape = [f"--{x}={n}" for x, n in zip("mnk" if "transa" in row else ("rows", "cols"), extents)]
    of = [f"--transa={row['transa']}", f"--transb={row['transb']}"] if "transa" in row else [f"--elem={row['elem_bytes']}"]
    asked = subprocess.run([options.inlay, "explain", row["kernel"], *shape, *of, f"--device={options.device}", "--json"],
                           capture_output=True, text=True)
    try:
        return json.loads(asked.stdout)
    except ValueError:
        return f"inlay explain says: {(asked.stderr or asked.stdout).strip()[:300]}"


def check(options):
    text, kept = checks.checked(json.loads(pathlib.Path(options.file).read_text()))
    print(text)
    return not kept


def write(file, content):
    pathlib.Path(file).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(file).write_text(json.dumps(content, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    root = pathlib.Path(__file__).resolve().parent.parent
    one = commands.add_parser("measure")
    one.set_defaults(act=measure)
    one.add_argument("--out", default="raw.json")
    one.add_argument("--only", default="", help="kernels whose names contain this regular expression")
    two = commands.add_parser("join")
    two.set_defaults(act=join)
    two.add_argument("raw")
    two.add_argument("--out", default=str(root / "results/h200/counters.json"))
    two.add_argument("--device", default="H200", help="whose prediction")
    two.add_argument("--times", nargs="*", help="results files with times without a profiler (default: all beside --out)")
    three = commands.add_parser("check")
    three.set_defaults(act=check)
    three.add_argument("file")
    four = commands.add_parser("calibrate")
    four.set_defaults(act=calibrate)
    four.add_argument("--program", required=True, help="tests/calibration, built")
    four.add_argument("--all", action="store_true", help="also print every counter that is not 0")
    for command in one, two:
        command.add_argument("--inlay", default=str(root / "build/inlay"))
    for command in one, four:
        command.add_argument("--ncu", help="default: the newest in /opt/nvidia/nsight-compute, else the one in PATH")
        command.add_argument("--timeout", type=float, default=300, help="seconds for one process")
    options = parser.parse_args()
    try:
        sys.exit(options.act(options))
    except ncu.CannotProfile as why:
        print(f"counters.py: {why}")
        sys.exit(77 if options.act.__name__ == "calibrate" else 1)


if __name__ == "__main__":
    main()
