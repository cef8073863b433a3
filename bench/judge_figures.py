"""The table of README that summarises the judging suites. usage: judge_figures.py [--check README.md | --write README.md]

The suites are drawn by seeds, and no constant of the library was fitted on them. Reads results/h200/judge_copy.json,
judge_gemm.json and judge_torch.json beside this script's folder. Prints the table; with --check it fails if the text between
`<!-- judge -->` and `<!-- /judge -->` is another one, with --write it replaces that text.
"""
import argparse
import json
import pathlib
import statistics
import sys

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results" / "h200"
BEGIN, END = "<!-- judge -->\n", "<!-- /judge -->"
SIZES = [("below 1 MB", 0, 1e6), ("1 to 64 MB", 1e6, 64e6), ("above 64 MB", 64e6, float("inf"))]
# The extents that suites/gemm/judge.json draws for each class.
GEMM_CLASSES = ["tiny", "middle", "thin", "large"]


def read_rows(name):
    return json.loads((RESULTS / name).read_text())["rows"]


def copy_key(row):
    """Identifies a copy in both files."""
    return row["case"], row["elem_bytes"], *map(tuple, (row["src_strides"], row["dst_strides"])), row["base_src"], row["base_dst"]


def summary(values):
    """Geometric mean, median and minimum, as three cells."""
    return " | ".join(f"{f(values):.2f}" for f in (statistics.geometric_mean, statistics.median, min))


def wins(speeds):
    """How many baselines are faster than inlay, of how many; and their geometric mean advantage."""
    faster = [speed for speed in speeds if speed < 1]
    return f"{len(faster)} of {len(speeds)}" + (f", by {1 / statistics.geometric_mean(faster):.2f}x" if faster else "")


def copy_table():
    torch = {}
    for row in read_rows("judge_torch.json"):
        torch[copy_key(row), row["kernel"]] = row["ms_median"]
    copies = [row for row in read_rows("judge_copy.json") if row["kernel"] == "copy"]
    assert all(row["check"] == "ok" for row in copies)

    def line(name, rows):
        cells = [name, str(len(rows)), summary([row["of_copy"] for row in rows])]
        for kernel in "torch_compile", "torch_eager":
            timed = [row for row in rows if torch.get((copy_key(row), kernel))]
            speeds = [torch[copy_key(row), kernel] / row["ms_median"] for row in timed]
            cells += [f"{statistics.geometric_mean(speeds):.2f}", wins(speeds)]
        return f"| {' | '.join(cells)} |\n"

    text = "| drawn copies | cases | share of copy bandwidth, mean | median | min | vs torch.compile | it is faster in | vs torch eager | it is faster in |\n"
    text += "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n" + line("all", copies)
    for name, low, high in SIZES:
        text += line(name, [row for row in copies if low <= row["bytes"] < high])
    return text


def gemm_table():
    gemms = [row for row in read_rows("judge_gemm.json") if row["of_cublas"] is not None]
    text = "| drawn GEMMs | cases | times the speed of cuBLAS, mean | median | min | cuBLAS is faster in |\n|---|--:|--:|--:|--:|--:|\n"
    for name in ["all", *GEMM_CLASSES, "all, without a workspace"]:
        kernel = "gemm_no_workspace" if name.endswith("workspace") else "gemm"
        rows = [row for row in gemms if row["kernel"] == kernel and (name.startswith("all") or row["class"] == name)]
        assert all(row["check"] == "ok" for row in rows)
        speeds = [row["of_cublas"] for row in rows]
        text += f"| {name} | {len(rows)} | {summary(speeds)} | {wins(speeds)} |\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    table = copy_table() + "\n" + gemm_table()
    file = options.check or options.write
    if not file:
        return print(table, end="")
    before, begin, rest = file.read_text().partition(BEGIN)
    recorded, end, after = rest.partition(END)
    if not begin or not end:
        return f"{file} has no {BEGIN.strip()} followed by {END}"
    if options.write:
        file.write_text(before + begin + table + end + after)
    elif recorded != table:
        return f"the judged figures of {file} are not those of {RESULTS}; it should be\n{table}"
    return None


sys.exit(main())
