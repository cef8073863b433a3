"""The tables that summarise the development set. usage: judge_figures.py [--check FILE.md | --write FILE.md], where FILE is docs/05_results.md

The suites are drawn by seeds; README quotes others, which are drawn when they are measured (front.py). Reads results/h200/judge_copy.json,
judge_gemm.json and judge_torch.json, and for comparison the tuned suites in copy.json and sgemm.json. Prints the tables.
With --check it fails if the text between `<!-- judge -->` and `<!-- /judge -->` differs; with --write it replaces that text.
"""
import argparse
import json
import pathlib
import statistics
import sys

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "results" / "h200"
BEGIN, END = "<!-- judge -->\n", "<!-- /judge -->"
SIZES = [("below 1 MB", 0, 1e6), ("1 to 64 MB", 1e6, 64e6), ("above 64 MB", 64e6, float("inf"))]
GEMM_CLASSES = ["tiny", "middle", "thin", "large"]


def read_rows(name):
    return json.loads((RESULTS / name).read_text())["rows"]


def copy_key(row):
    """Identifies a copy in both files."""
    strides = tuple(row["src_strides"]), tuple(row["dst_strides"])
    return row["case"], row["elem_bytes"], strides, row["base_src"], row["base_dst"]


def mean(values):
    return f"{statistics.geometric_mean(values):.2f}"


def summary(values):
    """Number of cases, geometric mean, median and minimum, as four cells."""
    return f"{len(values)} | {mean(values)} | {statistics.median(values):.2f} | {min(values):.2f}"


def faster_baselines(speeds):
    """How many baselines are faster than inlay, of how many, and by which factor in the geometric mean."""
    faster = [speed for speed in speeds if speed < 1]
    return f"{len(faster)} of {len(speeds)}" + (f", {1 / statistics.geometric_mean(faster):.2f} x" if faster else "")


def copy_table():
    torch = {(copy_key(row), row["kernel"]): row["ms_median"] for row in read_rows("judge_torch.json")}
    copies = [row for row in read_rows("judge_copy.json") if row["kernel"] == "copy"]
    tuned = [row for row in read_rows("copy.json") if row["kernel"] == "copy" and row["suite"] == "ttc57"]
    assert all(row["check"] == "ok" for row in copies + tuned)
    text = "| `inlay::copy` | cases | of copy limit | median | least | x torch.compile | torch.compile faster "
    text += "| torch eager faster |\n"
    text += "|---|--:|--:|--:|--:|--:|--:|--:|\n"
    text += f"| tuned: 57 published permutations, 4 and 8 B | {summary([row['of_copy'] for row in tuned])} | – | – | – |\n"
    groups = [("drawn, all", copies)]
    groups += [(f"drawn, {name}", [row for row in copies if low <= row["bytes"] < high]) for name, low, high in SIZES]
    groups += [(f"drawn, {e} B an element", [row for row in copies if row["elem_bytes"] == e]) for e in (1, 8)]
    for name, rows in groups:
        compiled, eager = (
            [torch[copy_key(row), kernel] / row["ms_median"] for row in rows if torch.get((copy_key(row), kernel))]
            for kernel in ("torch_compile", "torch_eager")
        )
        text += f"| {name} | {summary([row['of_copy'] for row in rows])} | {mean(compiled)} | "
        text += f"{faster_baselines(compiled)} | {faster_baselines(eager)} |\n"
    return text


def gemm_table():
    drawn = [row for row in read_rows("judge_gemm.json") if row["of_cublas"] is not None]
    tuned = [row for row in read_rows("sgemm.json") if row["suite"] in ("squares", "odd") and row["of_cublas"]]
    gemms = [row for row in drawn if row["kernel"] == "gemm"]
    tuned = [row for row in tuned if row["kernel"] == "gemm"]
    groups = [("tuned: squares, even and odd", tuned), ("drawn, all", gemms)]
    groups += [(f"drawn, {name}", [row for row in gemms if row["class"] == name]) for name in GEMM_CLASSES]
    large = [row for row in gemms if min(map(int, row["case"].split("x")[:3])) >= 1024]
    groups += [("drawn, M, N and K of 1024 and more", large)]
    groups += [("drawn, all, without a workspace", [row for row in drawn if row["kernel"] == "gemm_no_workspace"])]
    text = "| `inlay::gemm` | cases | x cuBLAS | median | least | cuBLAS faster |\n|---|--:|--:|--:|--:|--:|\n"
    for name, rows in groups:
        assert rows and all(row["check"] == "ok" for row in rows)
        speeds = [row["of_cublas"] for row in rows]
        text += f"| {name} | {summary(speeds)} | {faster_baselines(speeds)} |\n"
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
        return f"the figures of {file} are not those of {RESULTS}; it should be\n{table}"
    return None


sys.exit(main())
