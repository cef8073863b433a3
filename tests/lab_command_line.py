"""The lab's command line: every command runs, every mistake is one sentence and exit code 2. usage: lab_command_line.py INLAY"""
import re
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

inlay = sys.argv[1]
root = pathlib.Path(__file__).parent.parent
scratch = tempfile.TemporaryDirectory()
failed = []


def run(*arguments):
    done = subprocess.run([inlay, *arguments], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def expect(code, *arguments, out="", err=""):
    """Runs a command; `out` and `err` must occur in what it prints."""
    got, stdout, stderr = run(*arguments)
    sentence = stderr.strip()
    if got != code or out not in stdout or err not in stderr or (code == 2 and (stdout or "\n" in sentence or not sentence)):
        failed.append(f"inlay {' '.join(arguments)}: exit {got}\n{stdout[-400:]}\n{stderr[-400:]}")
    return stdout


def expect_equal(what, got, wanted):
    if got != wanted:
        failed.append(f"{what}:\n  {got!r}\ninstead of\n  {wanted!r}")


def scratch_file(name, text=""):
    file = pathlib.Path(scratch.name, name)
    file.write_text(text)
    return file


def results_file(name, *rows):
    """A results file with these rows: of_copy of 0.9 at 64x48 elements of 4 bytes where they say nothing else."""
    usual = {"case": "64x48", "batch": 1, "pitch_src": 192, "pitch_dst": 256, "base_src": 0, "base_dst": 0, "elem_bytes": 4,
             "check": "ok", "ms_median": 1, "ms_iqr": 0, "gbps": 1000, "of_copy": .9, "of_peak": .8}
    return str(scratch_file(name, json.dumps({"device": "a GPU", "date": "2026-01-01", "command": "", "rows": [usual | row for row in rows]})))


def test_compare():
    was = results_file("was.json", {"kernel": "kept"}, {"kernel": "slower"}, {"kernel": "faster"}, {"kernel": "within"},
                       {"kernel": "no_share", "of_copy": None}, {"kernel": "broken"}, {"kernel": "gone"},
                       {"kernel": "mended", "check": "FAILED: x", "of_copy": None, "gbps": None})
    now = results_file("now.json", {"kernel": "kept"}, {"kernel": "slower", "of_copy": .87}, {"kernel": "faster", "of_copy": .93},
                       {"kernel": "within", "of_copy": .883}, {"kernel": "no_share", "gbps": 970}, {"kernel": "mended"},
                       {"kernel": "broken", "check": "FAILED: y", "of_copy": None, "gbps": None})
    expect_equal("compare", expect(1, "compare", was, now).splitlines(), [
        "64 x 48, 4 B, slower: 0.900 -> 0.870 of copy", "64 x 48, 4 B, no_share: 1000.0 -> 970.0 GB/s",
        "64 x 48, 4 B, broken: was ok -> FAILED: y",
        f"2 better, 2 same, 3 worse (by more than 2 %), 1 only in {was}, 0 only in {now}"])
    expect(0, "compare", was, was, out="0 better, 8 same, 0 worse")
    expect(1, "compare", was, now, "--tolerance", "5", out="1 better, 5 same, 1 worse")  # what broke is worse at any tolerance
    moved = results_file("moved.json", *({"kernel": "kept"} | one for one in (
        {}, {"base_src": 4}, {"base_dst": 4}, {"pitch_src": 196}, {"pitch_dst": 260}, {"batch": 2}, {"elem_bytes": 8, "pitch_src": 384, "pitch_dst": 512})))
    expect(0, "compare", was, moved, out=f"0 better, 1 same, 0 worse (by more than 2 %), 7 only in {was}, 6 only in {moved}")
    gemm = {"case": "64x48x32", "transa": "n", "transb": "n", "gbps": None, "of_copy": None, "tflops": 50, "of_cublas": 1.1}
    was_fast = results_file("was_fast.json", *(gemm | one for one in ({"kernel": "gemm"}, {"kernel": "gemm", "transa": "n", "transb": "t"}, {"kernel": "gemm", "beta": 1},
                                                                        {"kernel": "no_share", "of_cublas": None})))
    now_fast = results_file("now_fast.json", *(gemm | one for one in ({"kernel": "gemm", "of_cublas": 1.0}, {"kernel": "gemm", "transa": "n", "transb": "t"},
                                                                        {"kernel": "gemm", "transa": "t", "transb": "n"}, {"kernel": "no_share", "of_cublas": None, "tflops": 48})))
    expect_equal("compare of gemms", expect(1, "compare", was_fast, now_fast).splitlines(), [
        "64 x 48 x 32, nn, gemm: 1.100 -> 1.000 of cuBLAS", "64 x 48 x 32, nn, no_share: 50.00 -> 48.00 TFLOP/s",
        f"0 better, 1 same, 2 worse (by more than 2 %), 1 only in {was_fast}, 1 only in {now_fast}"])
    sustained = results_file("sustained.json", {"kernel": "kept", "sustained": True, "clock_mhz": 1500}, {"kernel": "slower", "of_copy": .87})
    expect(1, "compare", was, sustained, out=f"0 better, 0 same, 1 worse (by more than 2 %), 7 only in {was}, 1 only in {sustained}")
    expect(2, "compare", was, was_fast, err=f"{was} and {was_fast} have no row in common")
    expect(2, "compare", was, results_file("renamed.json", {"kernel": "new"}), err="no row in common")
    expect(2, "compare", was, "nowhere.json", err="nowhere.json")
    expect(2, "compare", str(scratch_file("cut.json", "{")), was, err="cut.json")
    expect(2, "compare", was, str(scratch_file("rowless.json", "{}")), err="rowless.json")
    expect(2, "compare", was, now, "--tolerance", "-1", err="-1")


def recorded(file, case, elem_bytes):
    """The recorded rows of a contiguous case, by their kernels."""
    rows = json.loads((root / "results/h200" / file).read_text())["rows"]
    packed = [int(extent) * elem_bytes for extent in reversed(case.split("x"))]
    return {row["kernel"]: row for row in rows if (row["case"], row["elem_bytes"], row["batch"]) == (case, elem_bytes, 1)
            and [row["pitch_src"], row["pitch_dst"]] == packed and not row["base_src"] and not row["base_dst"]}


def test_draw():
    file = pathlib.Path(scratch.name, "ladder.svg")
    expect(0, "draw", "ladder", str(file), "--rows", "10007", "--cols", "10009")
    labels = [text.text for text in xml.etree.ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")]
    ours, peers = (recorded(f"{name}.json", "10007x10009", 4) for name in ("transpose", "torch"))
    values = [f"{row['of_copy']:.3f}" if row["of_copy"] else "rejected" for row in ours.values()]
    expect_equal("names and values that the ladder lacks", {*ours, *peers, *values} - set(labels), set())
    expect_equal("bars of the ladder", sum(label in ours or label in peers for label in labels), len(ours) + len(peers))
    for words in "10007 x 10009, 4 B", "NVIDIA H200, 20", "copy limit":
        if not any(words in label for label in labels):
            failed.append(f"the ladder does not say '{words}'")
    expect(2, "draw", "ladder", str(file), "--rows", "7", err="no row for 7 x 32768, 4 B")
    other = pathlib.Path(scratch.name, "other.svg")
    expect(0, "draw", "ladder", "--out", str(other), "--rows", "10007", "--cols", "10009")
    expect_equal("the ladder by --out", other.read_text(), file.read_text())
    expect_equal("the ladder on stdout", expect(0, "draw", "ladder", "--rows", "10007", "--cols", "10009"), file.read_text())
    expect(2, "draw", "ladder", str(file), "--out", str(other), err="--out")
    expect(2, "draw", "circle", str(file), err="circle")


def test_layout():
    expect(0, "layout", "Swizzle<5,0,6> o (32,64):(64,1)", out="\n   1 |  1  0  3  2  5  4")  # banks: columns xor rows
    expect(0, "layout", "(3,2):(5,1)", out="  cosize   12 elements, 48 bytes: no two elements share an offset, 6 below the cosize stay unused\n")
    expect(0, "layout", "(4,4):(0,1)", out="only 4 offsets for 16 elements")
    expect(0, "layout", "(32,200):(200,1)", out="Offsets, in elements, 16 of 32 rows, 16 of 200 columns\n")
    wide = expect(0, "layout", "(300,400):(400,1)", "--threads", "(1024,60):(60,1)", "--elem", "2")
    expect_equal("lines beyond 120 columns", [line for line in wide.splitlines() if len(line) > 120], [])
    whole = expect(0, "layout", "(32,200):(200,1)", "--whole")
    for line in "  31 | 6200 6201", "  lanes down a column  4 B each  32 x 1 lanes                  8      8         1   8 words of bank 0":
        if line not in whole:
            failed.append(f"the whole layout does not say '{line}'")
    for tile, elem, vector, answer in (("(32,32):(32,1)", "4", "4", "Swizzle<5,0,5>"), ("(32,64):(64,1)", "4", "4", "Swizzle<5,0,6>"),
                                       ("(8,64):(64,1)", "2", "16", "Swizzle<3,3,3>")):
        text = expect(0, "layout", tile, "--elem", elem, "--vector", vector, "--suggest")
        expect_equal("the first suggestion", text.partition("Suggestions (")[2].splitlines()[1].split("  ")[1], f"{answer} o {tile}")
    expect(0, "layout", "Swizzle<3,4,3> o (8,64):(64,1)", "--elem", "2", "--bytes", "--suggest", "--vector", "16", out="no more memory, as given")
    expect(0, "layout", "(32,32):(32,1)", "--suggest", "--access", "row", out="(32,32):(32,1) has no conflicts")
    expect(0, "layout", "(32,32):(32,1)", "--suggest", "--vector", "16,4", out="no swizzle and no padding is free of conflicts; the nearest:")
    expect(0, "layout", "(32,32):(33,1)", "--suggest", "--vector", "16", out="no aligned vectors of 4 elements are contiguous")
    threads = expect(0, "layout", "(8,32):(32,1)", "--threads", "((8,8),4):((32,1),8)")
    for lines in "   1 |  8  8  8  8  9  9", "16 bytes a lane: warps down, their first values across\n       0\n   0 | 4\n   1 | 4\n":
        if lines not in threads:
            failed.append(f"the partition does not say '{lines}'")
    answer = json.loads(expect(0, "layout", "Swizzle<5,0,5> o (32,32):(32,1)", "--json", "--suggest", "--access", "both", "--threads", "(32,32):(32,1)"))
    expect_equal("banks as JSON", answer["banks"], [[i ^ j for j in range(32)] for i in range(32)])
    expect_equal("wavefronts of the partition", answer["threads"]["load"], [[1] * 32])
    expect_equal("the swizzle as JSON", answer["free"][0], {"layout": "Swizzle<5,0,5> o (32,32):(32,1)", "more_bytes": 0, "excess": 0})
    code, out, err = run("layout", "(8,64)):(64,1)")
    expect_equal("a malformed expression", (code, out, err), (2, "", "inlay: at 7: expected ':' or the end, found ')'\n  (8,64)):(64,1)\n        ^\n"))
    expect(2, "layout", "(8,64):64", err="not congruent")
    expect(2, "layout", "8:1", "--elem", "3", err="--elem is 3")
    expect(2, "layout", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64)", "--elem", "4", err="--elem is 4, but the layout is one of elements of 2 bytes")
    expect(2, "layout", "Swizzle<3,1,3> o (8,64)", "--bytes", err="takes elements of 4 bytes apart")
    expect(2, "layout", "(8,8)", "--vector", "8", err="--vector was given without")
    expect(2, "layout", "(8,8)", "--vector", "2", "--suggest", err="--vector is 2")
    expect(2, "layout", "(32,8):(8,1)", "--vector", "16", "--threads", "(32,8):(8,1)", err="not contiguous in the tile")
    expect(2, "layout", "(8,8)", "--threads", "(32,3)", err="value 2 of thread 0 is element 64 of a tile of 64")
    expect(2, "layout", "(512,512)", "--suggest", err="1048576 bytes are more than the 232448")
    expect(2, "layout", "(8,8)", "--access", "diagonal", err="diagonal")
    expect(2, "layout", err="expression")
    expect(2, "layout", "(8,8)", "--sugest", err="'layout' has no option '--sugest'; did you mean '--suggest'?")
    expect(2, "layuot", err="there is no command 'layuot'; did you mean 'layout'?")
    expect(2, "draw", "layder", err="there is no command 'draw layder'; did you mean 'ladder'?")
    expect(0, out="Exit codes:")
    expect(0, "help", out="Exit codes:")
    expect(0, "help", "draw", "banks", out="--elem")


def picture(*arguments):
    """The texts of a picture that goes to standard output."""
    return ["".join(text.itertext()) for text in
            xml.etree.ElementTree.fromstring(expect(0, "draw", *arguments)).iter("{http://www.w3.org/2000/svg}text")]


def test_pictures():
    file = pathlib.Path(scratch.name, "picture.svg")
    plain, swizzled = "(32,64):(64,1)", "Swizzle<5,0,6> o (32,64):(64,1)"
    banks = [line for line in picture("banks", plain, swizzled) if len(line.split()) == 64]
    expect_equal("the published grids of banks", [[int(bank) for bank in line.split()] for line in banks],
                 [[j % 32 for j in range(64)]] * 32 + [[j % 32 ^ i for j in range(64)] for i in range(32)])
    small = "--rows", "64", "--cols", "96"
    for site in (), ("--site", "A load"):
        expect_equal("the last wavefront", picture("request", "transpose_03", *small, *site).count("wavefront 32"), 1)
    expect_equal("wavefronts of a store", picture("request", "transpose_03", *small, "--site", "A store").count("wavefront 2"), 0)
    expect_equal("hops of a tile", [word for word in picture("path", "transpose_10", *small) if word.endswith((" load", " store"))],
                 ["in load", "shared A store", "shared A load", "out store"])
    if "255" not in picture("path", "sgemm_01", "--m", "8", "--n", "32", "--k", "4"):
        failed.append("the naive step's map lacks thread 255")
    if "256 of the first block's 384 threads" not in " ".join(picture("path", "sgemm_10", "--m", "128", "--n", "256", "--k", "32")):
        failed.append("the helpers of sgemm_10 multiply")
    for kernel, stages in ("sgemm_04", 3), ("sgemm_10", 4), ("transpose_14", 1):
        expect_equal(f"stages of {kernel}", sum(word.startswith("stage ") for word in picture("timeline", kernel)), stages)
    expect(0, "draw", "path", "copy_02", *small, "--out", str(file))
    xml.etree.ElementTree.parse(file)
    expect(2, "draw", "banks", "(200,2)", err="(200,2) has 200 x 2 elements; at most 128 x 128")
    expect(2, "draw", "banks", plain, "--elem", "3", err="3")
    expect(2, "draw", "request", "transpose_03", *small, "--site", "D load", err="'D load' names none of the sites with requests: in load (4 B)")
    expect(2, "draw", "request", "copy_04", *small, err="TMA moves boxes")
    expect(2, "draw", "request", "transpose_3", err="did you mean")
    expect(2, "draw", "path", "sgemm_06", "--transa", "n", "--transb", "n", err="rejected: B's rows are not contiguous in k")
    expect(2, "draw", "timeline", "transpose_01", *small, err="transpose_01_naive_read loads nothing asynchronously")
    expect(2, "draw", "timeline", "sgemm_04", "--m", "0", err="--m is 0")
    expect(2, "draw", "path", "transpose_01", "--rows", "100000", "--cols", "100000", err="at most 16777216 elements")


def test_suite_table():
    file = scratch_file("table.md", "before\n<!-- table:h200-suite-2d -->\nold\n<!-- /table -->\nafter\n")
    expect(1, "readme", str(file), "--check", out="would change")
    expect(0, "readme", str(file), out="rewritten")
    expect(0, "readme", str(file), "--check", out="up to date")
    before, marker, _, _, *lines, closing, after = file.read_text().splitlines()
    suite = json.loads((root / "suites/2d.json").read_text())
    expect_equal("lines of the suite's table", len(lines), len(suite))
    expect_equal("around the table", (before, marker, closing, after), ("before", "<!-- table:h200-suite-2d -->", "<!-- /table -->", "after"))
    ours, peers = (recorded(f"{name}.json", "32768x32768", 4) for name in ("transpose", "torch"))
    own, limit = ours["transpose"], max(ours["cudaMemcpyAsync"]["gbps"], ours["copy_03_vector"]["gbps"])
    figures = [f"{own['ms_median']:.3f}", f"{own['gbps']:.0f}", f"{own['of_copy']:.3f}",
               *(f"{peers[name]['gbps'] / limit:.3f}" for name in ("torch_eager", "torch_compile")), f"{ours['cublas_geam']['of_copy']:.3f}"]
    expect_equal("the first line", lines[0], f"| 32768 x 32768, 4 B | {' | '.join(figures)} |")
    for case in "| 1024 x (1024 x 1024), 4 B |", "| 32768 x 32768, 4 B, pitches 32769 and 32769, bases 1 and 1 |":
        if not any(line.startswith(case) for line in lines):
            failed.append(f"the suite's table has no line {case}")
    expect(2, "readme", str(scratch_file("other.md", "<!-- table:h200-suite-3d -->\n<!-- /table -->\n")), err="'3d'")


def test_gemm_tables():
    file = scratch_file("gemms.md", "".join(f"<!-- table:h200-gemm-{name} -->\n<!-- /table -->\n" for name in ("ladder", "squares")))
    expect(0, "readme", str(file), out="rewritten")
    expect(0, "readme", str(file), "--check", out="up to date")
    text = file.read_text()
    for one in json.loads((root / "suites/gemm/squares.json").read_text()):
        case = f"| {one['m']} x {one['n']} x {one['k']}, {one['transa'] + one['transb']} | "
        if text.count(case) != 1:
            failed.append(f"the table of squares has not one line {case}")
    if "| TFLOP/s (of cuBLAS) | 4096, nn | 4096, nt | 4096, tn | 8192, nn | 8192, nt |" not in text:
        failed.append(f"the ladder's table begins {text[:200]}")
    expect(2, "readme", str(scratch_file("cubes.md", "<!-- table:h200-gemm-cubes -->\n<!-- /table -->\n")), err="'cubes'")


def test_ignored_options():
    """An option without an effect is a mistake."""
    m = "--m was given without a GEMM"
    expect(2, "verify", "transpose_03", "--m", "5", err=m)
    expect(2, "explain", "transpose_03", "--m", "5", err=m)
    expect(2, "draw", "path", "transpose_03", "--m", "5", err=m)
    expect(2, "draw", "timeline", "transpose_14", "--transa", "n", "--transb", "n", err="--transa was given without a GEMM")
    expect(2, "draw", "request", "sgemm_03", "--elem", "4", err="--elem was given without a copy")
    expect(2, "verify", "sgemm_03", "sgemm_04", "--rows", "5", err="--rows was given without a copy")
    expect(0, "verify", "--cpu", "sgemm_01", "copy_01", "--m", "5", "--rows", "5", out=" ok")
    for command in ("verify", "sgemm_03"), ("explain", "sgemm_03"), ("draw", "path", "sgemm_03"), ("bench", "gemm", "--kernels", "sgemm_03"):
        expect(2, *command, "--compute", "fp32_blocked", err="--compute fp32_blocked has no effect on sgemm_03_padded")
    expect(2, "verify", "sgemm_tma_blocked", "--compute", "fp32", err="--compute fp32 has no effect on sgemm_tma_blocked")
    expect(0, "verify", "--cpu", "sgemm_split_64x64", "sgemm_03", "--compute", "fp32_blocked", "--transa", "n", "--transb", "n", out=" ok")  # one knows both
    expect(0, "explain", "sgemm_tma_blocked", "--compute", "fp32_blocked", "--transa", "t", "--transb", "n")
    for command in ("verify", "copy_01", "copy_03_v"), ("explain", "copy_01"), ("draw", "path", "copy_01"):
        expect(2, *command, "--pitch-dst", "99999", err="--pitch-dst was given with copies alone, which pack their rows")
    expect(2, "bench", "transpose", "--kernels", "copy_0", "--host", err="--host was given without the row of transpose")
    expect(2, "why", "copy", "--sizes", "4,5", "--perm", "0,0", err="--perm is 0,0, no permutation of 0 to 1")
    expect(2, "why", "copy", "--sizes", "4,5", "--perm", "1,0", "--src-strides", "1", err="--src-strides has 1 strides for 2 extents")
    expect(2, "why", "copy", "--sizes", "4,5", "--perm", "1,0", "--dst-strides", "1,1", err="with which its elements overlap")
    expect(2, "why", "copy", "--sizes", "4,5", "--perm", "1,0", "--elem", "17", err="--elem is 17; elements have 1 to 16 bytes")
    expect(0, "why", "copy", "--sizes", "128,32,2048", "--perm", "0,2,1", "--elem", "2", out="us predicted")
    expect(2, "bench", "gemm", "--kernels", "sgemm_03", "--host", err="--host was given without the row of gemm")
    expect(2, "bench", "transpose", "--cases", "5x5:4", "--elem", "8", err="--elem was given with --cases, which name it too")
    expect(2, "bench", "gemm", "--cases", "5x5x5:nn", "--k", "5", err="--k was given with --cases")


def test_errors():
    """--errors and --sustained; what is asked wrongly is said before a GPU is looked for."""
    every = "normal, uniform, wide, scaled_rows, outliers, sparse, hilbert, orthogonal, decaying, spikes, denormals, huge_column"
    expect(2, "bench", "gemm", "--errors", "nosuch", err=f"there is no data set 'nosuch'; there are {every}")
    expect(2, "bench", "gemm", "--errors", "normal,nosuch", "--sustained", err="there is no data set 'nosuch'")
    expect(2, "bench", "gemm", "--errors", "--type", "bf16", err="--errors takes operands of f32, not bf16")
    expect(2, "bench", "gemm", "--errors", "normal", "--beta", "2", err="--errors takes a beta of 0, not 2")
    expect(2, "bench", "gemm", "--errors", "--suite", "hgemm", err="--errors takes operands of f32, not ")
    expect(2, "bench", "transpose", "--errors", err="--errors")
    expect(2, "bench", "copy", "--sustained", err="--sustained")
    expect(0, "bench", "gemm", "--help", out=f"on all: {every}")
    if not shutil.which("nvidia-smi"):
        for asked in ["--errors"], ["--errors", "normal,sparse"], ["--errors", "all", "--sustained"], ["--errors", "--cases", "5x5x5:nn"], ["--sustained"]:
            expect(2, "bench", "gemm", *asked, err="bench needs a GPU")
    else:
        file = pathlib.Path(scratch.name, "errors.json")
        expect(0, "bench", "gemm", "--cases", "70x50x90:tn", "--batch", "2", "--kernels", "gemm", "gemm_split_fast", "--errors", "--sustained", "--json", str(file))
        for row in json.loads(file.read_text())["rows"]:
            expect_equal(f"data sets of {row['kernel']}", ", ".join(row["errors"]), every)
            expect_equal(f"{row['kernel']} is sustained", (row["sustained"], row["clock_mhz"] > 100), (True, True))


def test_output():
    """What cannot be written is exit code 1, before anything is done: what takes a GPU has not looked for one."""
    nowhere = str(pathlib.Path(scratch.name, "nowhere", "file"))
    kept = scratch_file("kept.json", "as it was")
    for file in nowhere, "/dev/full", scratch.name:
        for command in (("report", "--out"), ("draw", "ladder", "--out"), ("draw", "ladder"), ("draw", "banks", "(8,8)", "--out"),
                        ("draw", "path", "copy_02", "--rows", "64", "--cols", "64", "--out"), ("draw", "request", "transpose_03", "--out"),
                        ("bench", "transpose", "--json"), ("bench", "gemm", "--json")):
            if expect(1, *command, file, err=f"inlay: {file} cannot be written: "):
                failed.append(f"{' '.join(command)} prints before it finds that {file} cannot be written")
    if not shutil.which("nvidia-smi"):
        new = pathlib.Path(scratch.name, "new.json")
        for file in new, kept:
            expect(2, "bench", "transpose", "--json", str(file), err="GPU")
        expect_equal("files that were only asked for", (new.exists(), kept.read_text()), (False, "as it was"))
    for command in ["list"], ["demo"], ["verify", "--cpu"], ["--help"], ["--version"], ["draw", "banks", "(8,8)"]:
        with open("/dev/full", "w") as full:
            done = subprocess.run([inlay, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
        expect_equal(f"inlay {' '.join(command)} on a full device", (done.returncode, done.stderr),
                     (1, "inlay: the standard output cannot be written: No space left on device\n"))
    expect(0, "--help", out="Exit codes: 0 all is well; 1 something is not: ")


def test_numbers():
    """Numbers that fit in no 64 bits are refused, wherever they stand."""
    large = "99999999999999999999"
    for command in ("verify", "--rows"), ("why", "gemm", "--m"), ("bench", "transpose", "--batch"), ("layout", "(8,8)", "--elem"), ("verify", "--elem"):
        expect(2, *command, large, err=f"{command[-1]}: {large} does not fit in 64 bits")
    expect(2, "verify", f"--batch=-{large}", err="does not fit in 64 bits")
    expect(2, "verify", "--alpha", "1e99", err="--alpha: 1e99 is no finite float")
    expect(2, "bench", "transpose", "--cases", f"{large}x5:4", err=f"{large} does not fit in 64 bits")
    for rows in 10**20, 2**63, -2**63 - 1, 2.5, "5":
        suite = scratch_file("large.json", json.dumps([{"rows": rows, "cols": 5}]))
        expect(2, "bench", "transpose", "--suite", str(suite), err="no whole number of 64 bits")
    suite = scratch_file("wide.json", json.dumps([{"rows": 5, "cols": 5, "elem_bytes": 2**32 + 4}]))
    expect(2, "bench", "transpose", "--suite", str(suite), err="elem_bytes is 4294967300, no whole number of 32 bits")


def test_names():
    expect_equal("explain --device h200", expect(0, "explain", "transpose_03", "--device", "h200"), expect(0, "explain", "transpose_03", "--device", "H200"))
    expect(0, "why", "transpose", "--rows", "4096", "--cols", "1024", "--device", "rtx-3090", out="(planned for RTX-3090)\n")
    expect(0, "why", "gemm", "--device", "a100", out="(planned for A100)\n")
    if expect(0, "why", "gemm", "--device", "a100").partition("chosen")[2] == expect(0, "why", "gemm", "--device", "H200").partition("chosen")[2]:
        failed.append("why gemm says the same of an A100 and of an H200")
    expect(2, "why", "gemm", "--device", "H2", err="there is no device 'H2' in the table, which has H200, ")
    expect(2, "explain", "swizzled", err="did you mean 'transpose_06_smem_swizzled', 'transpose_09_vector_swizzled' or 'sgemm_08_swizzled'?")
    expect(2, "explain", "sgemm_swizzled", err="did you mean 'sgemm_08_swizzled'?")
    expect(2, "explain", "transpose_6", err="did you mean 'transpose_06_smem_swizzled'?")
    expect(2, "explain", "sgemm_tc_4", err="did you mean 'sgemm_tc_04_scaled_rows'?")
    expect(2, "explain", "smem", err=" or one of ")
    expect(2, "explain", "transpsoe_06", err="did you mean 'transpose_06_smem_swizzled'?")


def test_verify():
    """It says beforehand what it will do."""
    code, out, err = run("verify", "--cpu", "transpose_01", "sgemm_01", "sgemm_02", "--rows", "9", "--cols", "7", "--m", "5")
    first, *check_results = out.splitlines()
    expect_equal("the exit code, and how many check_results", (code, len(check_results)), (0, 9))
    if ", 1 kernel of a copy x 1 case, 2 kernels of a GEMM x 4 cases: every element is compared; GEMMs once more on significands" not in first:
        failed.append(f"verify begins with {first!r}")
    expect_equal("progress where there is no terminal", err, "")
    expect(0, "verify", "--cpu", "copy_direct", "--rows", "9", "--cols", "7", out=", 1 kernel of a copy x 5 cases: ")
    expect(0, "verify", "--cpu", "sgemm_0", "--m", "9", "--n", "7", "--k", "5", out=", 9 kernels of a GEMM x 4 cases: ")  # all that begin so
    expect(0, "verify", "--cpu", "sgemm_tma", "--m", "12", "--n", "8", "--k", "5", "--transa", "t", "--transb", "n", out=", 1 kernel of a GEMM x 1 case: ")  # a whole name
    expect(1, "verify", "--cpu", "transpose_03", "--elem", "8", out="nothing was verified: these kernels reject these problems\n")
    expect(2, "verify", "--cpu", "transpose_01", "--rows", "100000", "--cols", "100000", err="at most 16777216 elements")  # before the first line
    demo = expect(0, "demo", out="transpose_03_smem_read_conflict")
    if "sgemm_01_naive                   ok           nn" not in demo:
        failed.append(f"demo prints {demo}")
    gemms = {line.split()[0]: line.split()[3:7] for line in demo.splitlines() if line.startswith("sgemm_0")}
    expect_equal("accesses of the gemms' steps 2 and 3", (gemms["sgemm_02_tiled_mma"], gemms["sgemm_03_padded"]), (["6", "4", "8", "1"], ["6", "4", "1", "1"]))
    expect_equal("lines of the demo that are too long", [line for line in demo.splitlines() if len(line) > 152], [])


def on_terminal(*arguments, **environment):
    """What a command prints where both stdout and stderr are a terminal."""
    reads, writes = pty.openpty()
    process = subprocess.Popen([inlay, *arguments], stdin=subprocess.DEVNULL, stdout=writes, stderr=writes,
                               env={k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | environment)
    os.close(writes)
    said = b""
    try:
        while more := os.read(reads, 65536):
            said += more
    except OSError:  # Linux says so that the other side is closed
        pass
    os.close(reads)
    process.wait(timeout=60)
    return said.decode().replace("\r\n", "\n")


def test_terminal():
    """Colours and progress, on a terminal alone."""
    try:
        os.close(pty.openpty()[0])
    except OSError as error:
        return print(f"not tested: colours and progress, because there are no terminals here ({error})")
    conflicts = "layout", "(32,32):(32,1)"
    plain = expect(0, *conflicts)
    coloured = on_terminal(*conflicts)
    expect_equal("without its colours", re.sub(r"\033\[\d+m", "", coloured), plain)
    expect_equal("colours", sorted(set(re.findall(r"\033\[(\d+)m", coloured))), ["0", "31", "32"])
    expect_equal("with NO_COLOR", on_terminal(*conflicts, NO_COLOR="1"), plain)
    expect_equal("on a dumb terminal", on_terminal(*conflicts, TERM="dumb"), plain)
    # Shown from the third second on, whenever a case begins; a case may take more than a second.
    long = on_terminal("fuzz", "copy", "--cpu", "--seconds", "5")
    if not re.search(r"\r\033\[Kcase \d+, \d s left.*\r\033\[K\d+ cases in ", long, re.S):
        failed.append(f"progress: {long[:600]!r}")
    if "\033" in on_terminal("fuzz", "copy", "--cpu", "--cases", "1"):  # it begins at once
        failed.append("progress before the third second")


def test_completion():
    def after(*words):
        return expect(0, "complete", *words).splitlines()

    expect_equal("commands", after("ex"), ["explain"])
    expect_equal("commands of a command", after("why", ""), ["transpose", "copy", "gemm", "redistribute"])
    expect_equal("kernels", after("explain", "sgemm_03"), ["sgemm_03_padded"])
    expect_equal("options", after("why", "gemm", "--batch-s"), ["--batch-stride-a", "--batch-stride-b", "--batch-stride-d"])
    expect_equal("options of a group", after("bench", "gemm", "--ld"), ["--lda", "--ldb", "--ldd"])
    expect_equal("devices", after("explain", "sgemm_03_padded", "--device", "RTX"), ["RTX-4090", "RTX-3090"])
    expect_equal("files", after("explain", "--out", "nowhere/"), [])
    for shell in "bash", "zsh", "fish":
        expect(0, "completion", shell, out="inlay complete ")
    expect(2, "completion", "tcsh", err="tcsh")
    asked = "_inlay; printf '%s\\n' \"${COMPREPLY[@]}\""
    script = f"PATH={pathlib.Path(inlay).resolve().parent}:$PATH; source <(inlay completion bash); COMP_WORDS=(inlay explain transpose_03); COMP_CWORD=2; {asked}"
    expect_equal("bash", subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60).stdout, "transpose_03_smem_read_conflict\n")


def test_why():
    """The five best, or all."""
    few = expect(0, "why", "gemm", "--m", "1000", "--n", "1000", "--k", "1000", out="; not compared: ")
    every = expect(0, "why", "gemm", "--m", "1000", "--n", "1000", "--k", "1000", "--all")
    lines = [[line for line in text.splitlines() if line.startswith(("     ", "  ->"))] for text in (few, every)]
    expect_equal("lines of why", (len(lines[0]), lines[0][0].startswith("  -> ")), (6, True))
    rest = re.fullmatch(r"     and (\d+) more, (\d+) of which reject the problem", lines[0][5])
    expect_equal("what why leaves out", rest and int(rest[1]), len(lines[1]) - 5)
    expect_equal("lines of both", set(lines[0][:5]) - set(lines[1]), set())
    times = [float(t) for t in re.findall(r"([\d.]+) us predicted", expect(0, "why", "transpose", "--rows", "4096", "--cols", "4096").partition("  ->")[2])]
    expect_equal("the order of predicted times", times, sorted(times))
    for command in ("explain", "sgemm_03"), ("why", "gemm"):  # both take the same GPU
        expect(0, *command, "--device", "A100", out="for A100)\n")
        if not shutil.which("nvidia-smi"):
            expect(0, *command, out="for the device table's H200: ")
    for heading in "Options of a copy:", "Options of a GEMM:":
        expect(0, "explain", "--help", out=heading)


names = [v["name"] for v in json.loads(expect(0, "list", "--json"))]
ladder, gemms = [n for n in names if n.startswith("transpose")], [n for n in names if n.startswith(("sgemm", "hgemm"))]
copies = names[:len(names) - len(gemms)]
steps = [[n for n in names if re.match(rf"{kind}_\d\d_", n)] for kind in ("copy", "transpose", "sgemm", "hgemm", "sgemm_tc")]
if len(ladder) < 11 or names != copies + gemms or steps != [sorted(s) for s in steps]:
    failed.append(f"list: {names}")
expect(0, "list", out="transpose_06_smem_swizzled")
expect(0, "info")
expect(0, "verify", "--cpu", "transpose_06_smem_swizzled", "copy_01", "--rows", "37", "--cols", "41", out="ok")
expect(1, "verify", "--cpu", "transpose_09", "--rows", "37", "--cols", "41", "--elem", "4", out="rejected: rows of 164 bytes")
both = "--rows", "37", "--cols", "41", "--pitch", "45", "--base-src", "1", "--pitch-dst", "40", "--base-dst", "3"
for line in expect(0, "verify", "--cpu", "transpose_01", "transpose_06", "copy_01", "--elem", "4", *both).splitlines()[1:]:
    if not line.endswith(" ok"):
        failed.append(f"with pitches and bases: {line}")
expect(0, "why", "transpose", *both, out="mode 0: extent 37, source stride 180 B, destination stride 4 B\n  mode 1: extent 41, source stride 4 B, destination stride 160 B")
expect(0, "why", "transpose", "--rows", "4096", "--cols", "1024", out="chosen: transpose_")
expect(0, "list", out="sgemm_01_naive")
for line in expect(0, "verify", "--cpu", "sgemm_01", "--m", "37", "--n", "41", "--k", "19", "--batch", "2", "--alpha", "2", "--beta", "-1",
                   "--lda", "45", "--ldb", "50", "--ldd", "43").splitlines()[1:]:
    if not line.endswith(" ok"):
        failed.append(f"gemms with pitches: {line}")
for kind in "copy", "transpose", "gemm":
    expect(0, "fuzz", kind, "--cpu", "--cases", "5", "--seed", "3", out="5 cases in ")
expect(2, "fuzz", err="inlay fuzz needs one of these words: copy, transpose, gemm")
expect(2, "fuzz", "copy", "--seconds", "0", err="--seconds")
expect(0, "verify", "--cpu", "sgemm_01", "--m", "5", "--transa", "t", "--transb", "t", out="sgemm_01_naive                       tt  ok")
expect(0, "why", "gemm", "--m", "512", "--n", "512", "--k", "512", "--transa", "t", "--transb", "n", out="M 512 x N 512 x K 512")
expect(0, "why", "gemm", "--no-workspace", out="chosen: sgemm_")

expect(2, "verify", "transpose_6", err="did you mean")
expect(2, "verify", "--elem", "3", err="3")
expect(2, "verify", "--rows", "-5", err="-5")
expect(2, "verify", "--cols", "many")
expect(2, "verify", "--cols", "100", "--pitch", "50", err="50")
expect(2, "verify", "--rows", "37", "--pitch-dst", "30", err="--pitch-dst is 30, less than the 37 elements of a row of the destination")
expect(2, "verify", "--pitch-dst", "-3", err="--pitch-dst is -3")
expect(2, "verify", "--base-src", "-1", err="--base-src is -1; it must not be negative")
expect(2, "verify", "--base-dst", "-2", err="--base-dst is -2; it must not be negative")
expect(2, "verify", "--base-dst", str(2**62), err=f"base {2**62}) are more than 2^62 bytes of destination")
expect(2, "bench", "transpose", "--colour", "red", err="--colour")
expect(2, "bench", "transpose", "--suite", "3d", err="there is no suite '3d'; there are 2d, blind, copy_cases, small, squares, wild")
expect(2, "bench", "transpose", "--suite", "2d", "--rows", "5", err="--rows was given with --suite")
expect(2, "bench", "transpose", "--suite", "2d", "--cases", "5x5:4", err="--cases was given with --suite")
expect(2, "verify", "--transa", "a", err="--transa is 'a'; it is n or t")
expect(2, "verify", "--m", "0", err="--m is 0; it must be at least 1")
expect(2, "verify", "--lda", "5", err="--lda is 5, less than the 67 elements of a row of A")
expect(2, "verify", "--inc-b", "0", err="--inc-b is 0; it must be at least 1")
expect(2, "verify", "--lda", "100", "--inc-a", "2", err="--lda is 100, less than the 134 elements of a row of A")
expect(2, "verify", "--batch", "5", "--batch-stride-d", "0", err="--batch-stride-d is 0: 5 matrices of 131 rows, 275 elements apart, would overlap")
expect(0, "verify", "--cpu", "sgemm_01", "--m", "5", "--n", "6", "--k", "7", "--inc-a", "2", "--inc-d", "3", "--batch", "3", "--batch-stride-b", "0", out=" ok")
expect(2, "why", "gemm", "--rows", "5", err="--rows")
expect(2, "bench", "gemm", "--suite", "2d", err="there is no suite '2d'; there are batched, batched_drawn, blind, half_batched, half_drawn, half_few_rows, half_odd, half_shapes, half_squares, half_wild, hgemm, judge, ladder, odd, sgemm_tc, shapes, small, squares, tensor, tensor_drawn, thin, thin_drawn, tiny, wild")
expect(2, "bench", "gemm", "--suite", "odd,shapes", "--m", "5", err="--m was given with --suite")
expect(2, "bench", "gemm", "--cases", "64x64:nn", err="'64x64:nn', which is no MxNxK:TRANSPOSES")
expect(2, "bench", "redistribute", "--suite", "2d", err="there is no suite '2d'; there are cases, small")
expect(2, "bench", "redistribute", "--suite", "small", "--elem", "4", err="--elem was given with --suite")
expect(2, "why", "redistribute", "--shape", "3,4,5", err="--axes is 1,0, no order of the modes 0 to 2")
expect(2, "why", "redistribute", "--from", "2", err="--from is 2; the modes are 0 to 1")
expect(2, "why", "redistribute", "--ranks", "4", "--rank", "4", err="--rank is 4; there are 4 ranks")
expect(0, "why", "redistribute", "--ranks", "8", out="limited by the link")
expect(0, "why", "redistribute", "--ranks", "8", "--shape", "64,64", out="limited by this GPU")
expect(2, "bench", "nonsense", err="nonsense")
expect(2, "nonsense", err="nonsense")
if not shutil.which("nvidia-smi"):  # no GPU here
    expect(2, "bench", "transpose", err="GPU")
    expect(2, "bench", "gemm", err="GPU")
else:
    expect(2, "bench", "transpose", "--rows", "1000000", "--cols", "1000000", err="bytes")

test_ignored_options()
test_errors()
test_output()
test_numbers()
test_names()
test_verify()
test_terminal()
test_completion()
test_why()
test_compare()
test_draw()
test_layout()
test_pictures()
test_suite_table()
test_gemm_tables()

print("\n\n".join(failed) or "every command answers as it should")
sys.exit(bool(failed))
