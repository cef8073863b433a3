"""The figures of README's first page: cases that are drawn when they are measured, and that nobody has seen before.

    front.py measure PART --seed N --inlay PROGRAM --json FILE    PART: gemms (inlay beside cuBLAS), torch (bf16 GEMMs beside
                                                                  torch.compile) or copies (beside PyTorch and CCCL; PROGRAM is
                                                                  copy_baselines, bench/CMakeLists.txt says what it is built of)
    front.py [--check README.md | --write README.md] [--picture FILE.svg]      the table of results/h200/front_*.json

A ratio is the time of the baseline over that of inlay, on one GPU, one after the other: above 1, inlay is faster. The seed is written beside the
figures. Every row that was measured is counted.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from provenance import provenance, said

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "h200"
CCCL = "commit 571f2fc, 2026-08-22"  # the checkout that copy_baselines is built of
BEGIN, END = "<!-- front -->\n", "<!-- /front -->"
SIZES = [("below 1 MB", 0, 1e6), ("1 to 64 MB", 1e6, 64e6), ("above 64 MB", 64e6, float("inf"))]


def drawn(what, seed, count, folder):
    suite = folder / f"drawn_{what}.json"
    suite.write_text(subprocess.check_output([sys.executable, ROOT / "suites" / "draw.py", what, "--seed", str(seed), "--count", str(count)], text=True))
    return suite


def rows_of(command, file):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return json.loads(file.read_text())["rows"]


def ratio(group, baseline, row, by):
    return {"group": group, "baseline": baseline, "case": row["case"] + row.get("transa", "") + row.get("transb", ""), "ratio": round(by, 4)}


def gemms(inlay, seed, folder):
    """fp32, fp32 by slices, and 16-bit GEMMs beside the fastest of cuBLAS and cublasLt."""
    all_rows = []
    measured = rows_of([inlay, "bench", "gemm", "--suite", drawn("gemm", seed, 150, folder), "--kernels", "gemm", "gemm_split_fast",
                        "--json", folder / "fp32.json"], folder / "fp32.json")
    groups = {"gemm": "fp32 GEMM", "gemm_split_fast": "fp32 GEMM by `split_fast`"}
    for row in measured:
        assert row["check"] == "ok" or "rejected" in row["check"], row
        if row["kernel"] in groups and row["of_cublas"]:
            all_rows.append(ratio(groups[row["kernel"]], "cuBLAS", row, row["of_cublas"]))
    measured = rows_of([inlay, "bench", "gemm", "--suite", drawn("half", seed + 1, 100, folder), "--json", folder / "half.json"], folder / "half.json")
    for row in measured:
        assert row["check"] == "ok" or "rejected" in row["check"], row
        if row["kernel"] == "gemm" and row["of_cublas"]:
            kind = "of multiples of 8" if row["class"] == "aligned" else "of other extents"
            all_rows.append(ratio(f"bf16 and f16 GEMM {kind}", "cuBLAS", row, row["of_cublas"]))
    return all_rows


def copy_rows(program, seed, folder):
    """Copies of drawn views beside PyTorch and CCCL, in plain launches: each begins when the one before has ended."""
    suite = folder / "drawn_copy.json"
    suite.write_text(subprocess.check_output([sys.executable, ROOT / "suites" / "draw.py", "copy", "--seed", str(seed), str(seed + 77777), "--count", "150"],
                                             text=True))
    rows_of([program, "copy", "--suite", suite, "--kernels", "copy", "plain_launches", "--json", folder / "copy.json"], folder / "copy.json")
    rows_of([sys.executable, ROOT / "bench" / "torch_copy.py", suite, "--count", "75", "--json", folder / "torch.json"], folder / "torch.json")
    return copy_ratios(folder / "copy.json", folder / "torch.json")


def copy_ratios(copies, torch):
    """The rows of the table from those that bench/copy_baselines and bench/torch_copy.py wrote."""
    key = lambda row: (row["case"], row["elem_bytes"], *row["src_strides"], *row["dst_strides"], row["base_src"], row["base_dst"])
    rows = json.loads(copies.read_text())["rows"] + json.loads(torch.read_text())["rows"]
    ours = {key(row): row for row in rows if row["kernel"] == "plain_launches"}
    names = {"torch_eager": "PyTorch, eager", "torch_compile": "torch.compile", "cccl_copy": "CCCL"}
    return [ratio("copy " + next(name for name, low, high in SIZES if low <= row["bytes"] < high), names[row["kernel"]], row,
                  row["ms_median"] / ours[key(row)]["ms_median"]) for row in rows if row["kernel"] in names and row["ms_median"]]


def torch_rows(inlay, seed, folder):
    """bf16 GEMMs, which torch.compile pads where it predicts a gain."""
    all_rows = []
    half = drawn("half", seed + 1, 100, folder)
    subprocess.run([str(inlay), "bench", "gemm", "--suite", str(half), "--json", str(folder / "half.json")], check=True, stdout=subprocess.DEVNULL)
    for row in rows_of([sys.executable, ROOT / "bench" / "torch_matmul.py", folder / "half.json", "--json", folder / "matmul.json"],
                       folder / "matmul.json"):
        if row["kernel"] == "compiled" and row["class"] == "unaligned":
            all_rows.append(ratio("bf16 GEMM of other extents", "torch.compile", row, row["ms_median"] / row["inlay_ms"]))
    return all_rows


def measure(options):
    with tempfile.TemporaryDirectory() as folder:
        part = {"gemms": gemms, "torch": torch_rows, "copies": copy_rows}[options.part]
        rows = part(options.inlay.resolve(), options.seed, pathlib.Path(folder))
    torch = said(sys.executable, "-c", "import torch; print(torch.__version__)")
    report = provenance() | {"torch": torch, "seed": options.seed} | ({"cccl": CCCL} if options.part == "copies" else {})
    listed = ",\n  ".join(json.dumps(row) for row in rows)
    options.json.write_text(json.dumps(report, indent=1)[:-2] + f',\n "rows": [\n  {listed}\n ]\n}}\n')


def recorded():
    return [json.loads((RESULTS / f"front_{part}.json").read_text()) for part in ("copies", "torch", "gemms")]


def table():
    text = "| against | what | cases | median | inlay faster | least |\n|---|---|--:|--:|--:|--:|\n"
    for report in recorded():
        order = {f"copy {name}": i for i, (name, low, high) in enumerate(SIZES)}
        kinds = dict.fromkeys((row["group"], row["baseline"]) for row in report["rows"])
        for group, baseline in sorted(kinds, key=lambda kind: order.get(kind[0], len(order))):
            values = [row["ratio"] for row in report["rows"] if (row["group"], row["baseline"]) == (group, baseline)]
            share = sum(value > 1 for value in values)
            text += f"| {baseline} | {group} | {len(values)} | {statistics.median(values):.2f} | {share} of {len(values)} | {min(values):.2f} |\n"
    notes = [f"seed {r['seed']}, {r['date'][:10]}, commit {r['commit'][:7]}" for r in recorded()]
    copies, torch, gemm = recorded()
    return text + (f"\nTime of the baseline over that of inlay: above 1, inlay is faster. Cases drawn when they were measured, on one {gemm['device'].removeprefix('NVIDIA ')} "
                   f"(driver {gemm['driver']}, CUDA {gemm['cuda']}, PyTorch {torch['torch']}): copies, in launches that wait for one another, by {notes[0]}; torch.compile's GEMMs by {notes[1]}; cuBLAS's, the fastest of its algorithms, by {notes[2]}. CCCL is cuda::experimental::copy of {copies['cccl']}.\n")


def picture(file):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "inlay"
    import matplotlib.pyplot as plt

    transposes = {row["kernel"]: row for row in json.loads((RESULTS / "transpose.json").read_text())["rows"]
                  if row["case"].startswith("32768x32768") and row["elem_bytes"] == 4 and row["kernel"].startswith("transpose_") and row["of_copy"]}
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained")
    steps = sorted(name for name in transposes if name.split("_")[1].isdigit())
    speeds = [transposes[name]["of_copy"] for name in steps]
    left.bar(range(len(steps)), speeds, color="#4477aa")
    for i, name in enumerate(steps):
        text = said(str(ROOT / "build" / "inlay"), "explain", name, "--rows", "32768", "--cols", "32768", "--device", "H200")
        predicted_ms = float(re.search(r"predicted: ([0-9.]+) ms", text)[1])
        speed = speeds[i] * transposes[name]["ms_median"] / predicted_ms
        left.plot([i - 0.4, i + 0.4], [speed, speed], color="black", lw=1.5, label="predicted" if i == 0 else None)
    left.set_xticks(range(len(steps)), [name.removeprefix("transpose_") for name in steps], rotation=60, ha="right", fontsize=7)
    left.legend(fontsize=7), left.set_ylabel("of the copy limit"), left.set_title("Steps of the tutorials: transpose of 32768 x 32768 floats", fontsize=9)
    for report in recorded():
        line = lambda row: ("copy" if row["group"].startswith("copy") else row["group"].replace("`", ""), row["baseline"])
        for group, baseline in dict.fromkeys(line(row) for row in report["rows"] if row["baseline"] != "PyTorch, eager"):
            values = sorted(row["ratio"] for row in report["rows"] if line(row) == (group, baseline))
            right.plot([(i + 0.5) / len(values) for i in range(len(values))], values, label=f"{group}: {baseline}", lw=1.5)
    right.axhline(1, color="black", lw=1), right.set_yscale("log", base=2), right.set_ylim(0.25, 8)
    right.set_yticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"])
    right.set_xlabel("share of the drawn cases"), right.set_ylabel("baseline's time over inlay's")
    right.set_title("All drawn cases, sorted: above the line inlay is faster", fontsize=9), right.legend(fontsize=6)
    figure.savefig(file, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    commands = parser.add_subparsers(dest="command")
    command = commands.add_parser("measure")
    command.add_argument("part", choices=("gemms", "torch", "copies"))
    command.add_argument("--seed", type=int, required=True)
    command.add_argument("--inlay", type=pathlib.Path, required=True)
    command.add_argument("--json", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if options.command:
        return measure(options)
    if options.picture:
        picture(options.picture)
    file = options.check or options.write
    if not file:
        return print(table(), end="") if not options.picture else None
    before, begin, rest = file.read_text().partition(BEGIN)
    written, end, after = rest.partition(END)
    if not begin or not end:
        return f"{file} has no {BEGIN.strip()} followed by {END}"
    if options.write:
        file.write_text(before + begin + table() + end + after)
    elif written != table():
        return f"the figures of {file} are not those of {RESULTS}; it should be\n{table()}"
    return None


if __name__ == "__main__":
    sys.exit(main())
