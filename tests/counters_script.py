"""bench/counters.py without Nsight Compute: what it reads, joins and judges. usage: counters_script.py ROOT"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "bench"))
sys.dont_write_bytecode = True
import counters
import counters_check as checks
import counters_ncu as ncu

failed = []


def expect_equal(what, found, wanted):
    if found != wanted:
        failed.append(f"{what}: {found!r} instead of {wanted!r}")


NAIVE, TMA = "copy_01_scalar", "transpose_14_tma"
MANGLED = {name: f"_ZN5inlay5block5entryINS_7kernels{len(name)}{name}6KernelIjEEEEvT_" for name in (NAIVE, TMA, "sgemm_tma_stream_k")}
FLAGS = "_ZN5inlay5block5entryINS_7kernels10ClearFlagsEEEvT_"
SECTORS, REQUESTS = (ncu.COUNTED[f"global_load_{x}"][0][0] for x in ("sectors", "requests"))

# As ncu prints it: chatter, a line of names, a line of units, a line per launch; digits in groups.
LOG = f'''==PROF== Connected to process 12 (/x/inlay)
==PROF== Profiling "entry": 0%....50%....100% - 9 passes
"ID","Process ID","Kernel Name","Block Size","{SECTORS}","{REQUESTS}","gpu__time_duration.sum"
"","","","","sector","","ns"
"0","12","{MANGLED[NAIVE]}","(256, 1, 1)","134,217,728","33,554,432","2,001,504"
"1","12","{MANGLED[TMA]}","(32, 1, 1)","0","n/a","2150000.5"
==PROF== Disconnected from process 12
'''


def test_parse():
    found = ncu.parse(LOG, [SECTORS, REQUESTS, "gpu__time_duration.sum", "dram__bytes_read.sum"])
    expect_equal("kernels", [x["kernel"] for x in found], [MANGLED[NAIVE], MANGLED[TMA]])
    expect_equal("metrics", [x["metrics"] for x in found],
                 [{SECTORS: 134217728, REQUESTS: 33554432, "gpu__time_duration.sum": 2001504}, {SECTORS: 0, "gpu__time_duration.sum": 2150000.5}])
    expect_equal("launches of nothing", ncu.parse("==ERROR== No kernels were profiled.\n", [SECTORS]), [])


def test_places():
    places = ncu.PLACES["async_copy_sectors"]
    only = lambda i, n: {m: n for m in places[i]}
    expect_equal("a place that counts nothing", ncu.place_of("async_copy_sectors", [{**only(0, 0), **only(1, 8)}]), places[1])
    expect_equal("nothing counted", ncu.place_of("async_copy_sectors", [{**only(0, 0), **only(1, 0)}]), places[0])
    expect_equal("nothing known", ncu.place_of("async_copy_sectors", [{}]), [])
    expect_equal("a place of two", ncu.value_of(places[0], only(0, 8)), 16)
    expect_equal("a value of nothing", ncu.value_of(places[0], {}), None)


def test_share_out():
    launch = lambda name, n: {"kernel": MANGLED.get(name, name), "metrics": {SECTORS: n}}
    rows = lambda *of, alone=False: [{"case": "c", "kernel": name, "elem_bytes": 4, "key": key, "alone": alone} for name, key in of]
    told = counters.check_results(f"on the GPU: poisoned\n{NAIVE:<34}  1 B  ok\n{NAIVE:<34}  8 B  ok\n{TMA:<34}  1 B  rejected: too odd\n"
                             f"{TMA:<34}  8 B  FAILED: 3 wrong".splitlines())
    expect_equal("check_results", told, [(NAIVE, 1, "ok"), (NAIVE, 8, "ok"), (TMA, 1, "rejected: too odd"), (TMA, 8, "FAILED: 3 wrong")])
    of = counters.share_out(rows((NAIVE, 1), (NAIVE, 8), (TMA, 1), (TMA, 8)), [launch(NAIVE, 1), launch(NAIVE, 8), launch(TMA, 5)], told, "")
    expect_equal("launches of two sizes", [[x["metrics"][SECTORS] for x in row.get("launches", [])] for row in of], [[1], [8], [], []])
    expect_equal("a rejected row", of[2]["skipped"], "rejected: too odd")
    expect_equal("a failed row", of[3]["failed"], "FAILED: 3 wrong; 1 launches were counted")
    missing = counters.share_out(rows((NAIVE, 1)), [], told, "exit code 9")
    expect_equal("a row without launches", missing[0]["failed"], "ok; 0 launches were counted; exit code 9")
    missing = counters.share_out(rows(("copy_02_smem", 1)), [], told, "")
    expect_equal("a row that was not run", missing[0]["failed"], "it was not run; 0 launches were counted")
    name = "sgemm_tma_stream_k"
    thrice = [launch(kernel, n) for n, kernel in enumerate([FLAGS, name] * 3, 1)]
    of = counters.share_out(rows((name, "tn"), alone=True), thrice, counters.check_results([f"{name:<34}   tn  ok"]), "")
    expect_equal("the last run of a GEMM", [x["metrics"][SECTORS] for x in of[0]["launches"]], [5, 6])


SITE = {"operand": "in", "space": "global", "direction": "load", "mechanism": "plain", "bytes_per_lane": 4, "requests": 100,
        "transactions": 400, "ideal": 400, "sectors": 0, "useful_bytes": 12800}
SAID = {"sites": [SITE, {**SITE, "direction": "store"}, {**SITE, "space": "shared", "transactions": 100, "ideal": 100}],
        "totals": {"global_load_sectors": 400, "global_store_sectors": 400, "shared_load_wavefronts": 100, "tma_load_bytes": 0,
                   "fma": 1280, "dram_bytes": 25600}, "time_us": 10.0}


def launches(**counts):
    """Two kernels; everything was counted in the first."""
    full = {"global_load_requests": 100, "global_load_sectors": 400, "global_store_requests": 100, "global_store_sectors": 400,
            "shared_load_wavefronts": 102, "dram_read_bytes": 12800, "dram_write_bytes": 12000, "ns": 10100, "lsu_pipe_percent": 30,
            "fma": 1280, "cycles_of_sms": 100, "stall_wait": 1.5, "stall_barrier": 0.5, "stall_drain": 0.1, **counts}
    first = {ncu.PLACES[counter][0][0]: n for counter, n in full.items()}
    return [{"kernel": MANGLED[NAIVE], "metrics": first}, {"kernel": MANGLED[TMA], "metrics": {m: 0 for m in first}}]


def file_of(*steps, case="32768x32768", kernels=(), times={}):
    """A results file of (kernel, what is predicted, what was counted)."""
    counted = [{"case": case, "kernel": name, "elem_bytes": 4, "launches": [*got, *({"kernel": k, "metrics": got[1]["metrics"]} for k in kernels)]}
               for name, _, got in steps]
    return checks.joined(counted, [said for _, said, _ in steps], times)


def test_join():
    rows = {row["counter"]: (row["predicted"], row["measured"]) for row in file_of(("a", SAID, launches()))["rows"]}
    expect_equal("rows", rows, {
        "global_load_requests": (100, 100), "global_load_sectors": (400, 400), "global_store_requests": (100, 100),
        "global_store_sectors": (400, 400), "shared_load_wavefronts": (100, 102), "dram_read_bytes": (None, 12800),
        "dram_write_bytes": (None, 12000), "dram_bytes": (25600, 24800), "time_us": (10.0, 10.1), "fma": (1280, 1280),
        "fp32_peak_percent": (None, 10.0), "lsu_pipe_percent": (None, 30), "stall_wait": (None, 1.5), "stall_barrier": (None, 0.5)})
    timed = {(row["counter"], row["predicted"], row["measured"]) for row in file_of(("a", SAID, launches()), times={("32768x32768", "a", 4): 9})["rows"]}
    expect_equal("a time without a profiler", ("bench_us", 10.0, 9) in timed, True)
    unexplained = file_of(("a", "inlay explain says: no", launches()), times={("32768x32768", "a", 4): 9})["rows"]
    expect_equal("predictions where there is none", {row["predicted"] for row in unexplained}, {None})
    with tempfile.TemporaryDirectory() as folder:
        bench = {"case": "32768x32768", "batch": 1, "pitch_src": 131072, "pitch_dst": 131072, "base_src": 0, "base_dst": 0,
                 "kernel": "a", "elem_bytes": 4, "ms_median": 0.5}
        file = pathlib.Path(folder, "transpose.json")
        file.write_text(json.dumps({"rows": [bench, {**bench, "kernel": "b", "pitch_src": 131076}, {**bench, "kernel": "c", "ms_median": None},
                                             {"case": "8x8x8", "batch": 1, "transa": "n", "transb": "t", "kernel": "d", "ms_median": 0.25},
                                             {"case": "8x8x8", "batch": 1, "transa": "n", "transb": "t", "alpha": 2, "kernel": "e", "ms_median": 0.25}]}))
        expect_equal("times of plain matrices", checks.bench_times([file]), {("32768x32768", "a", 4): 500, ("8x8x8", "d", "nt"): 250})


def test_check():
    def expect(what, file, *said, kept=False):
        text, holds = checks.checked(file)
        expect_equal(f"check on {what}", holds, kept)
        for words in said:
            if words not in text:
                failed.append(f"on {what} it does not say '{words}':\n{text}")

    def said(of=(), **totals):
        new = copy.deepcopy(SAID)
        new["totals"].update(totals), new.update(of)
        return new

    expect("what holds", file_of(("a", SAID, launches())), "sectors per request are the hardware's: 2 of 2", "1.0200 of it", "-1.0 %", kept=True)
    expect("sectors", file_of(("a", SAID, launches(global_store_sectors=401))), "a, 32768x32768, 4 B: global_store, 4.01 sectors a request, predicted 4")
    expect("fewer wavefronts", file_of(("a", SAID, launches(shared_load_wavefronts=99))), "shared_load_wavefronts 99, predicted 100")
    expect("more wavefronts", file_of(("a", SAID, launches(shared_load_wavefronts=106))), "106, predicted 100, 1.0600 of it")
    expect("wavefronts that nobody predicted", file_of(("a", SAID, launches(shared_store_wavefronts=1))), "shared_store_wavefronts 1, predicted 0")
    expect("TMA", file_of(("a", said(tma_load_sectors=2), launches())), "tma_load_bytes 0, predicted 64")
    expect("a time", file_of(("a", said({"time_us": 12.0}), launches())), "FAILED time within 15 %", "+18.8 %")
    expect("a time at another size", file_of(("a", said({"time_us": 12.0}), launches()), case="2051x1537"), kept=True)
    apart = said({"time_us": 12.0, "sites": [{**SITE, "transactions": 3200}, {**SITE, "direction": "store"}]}, global_load_sectors=3200)
    expect("the time of a naive step", file_of(("a", apart, launches(global_load_sectors=3200))), "(not checked)", "+18.8 %", kept=True)
    swapped = file_of(("a", SAID, launches()), ("b", said({"time_us": 10.5}), launches(ns=9500)))
    expect("an order", swapped, "FAILED order of steps: 0 of 1", "a 10.1 us (predicted 10.0), b 9.5 us (predicted 10.5)")
    close = file_of(("a", SAID, launches()), ("b", said({"time_us": 10.5}), launches(ns=9900)))
    expect("times that are hardly different", close, kept=True)
    polling = launches(global_load_requests=150, global_load_sectors=450)
    expect("how often a flag is read", file_of(("a", SAID, polling), kernels=[FLAGS]), "at least the model's", kept=True)
    expect("how often no flag is read", file_of(("a", SAID, polling)), "3 sectors a request, predicted 4")
    expect("too few reads of a flag", file_of(("a", SAID, launches(global_load_sectors=399)), kernels=[FLAGS]), "399, predicted 400")
    expect("what is not explained", file_of(("a", "inlay explain says: no", launches())), "FAILED predicted and measured: 0 of 1")
    expect("nothing", {"rows": [], "polling": []})


def test_command_line():
    def expect(status, *arguments, out):
        ran = subprocess.run([sys.executable, str(root / "bench/counters.py"), *arguments], capture_output=True, text=True)
        if ran.returncode != status or out not in ran.stdout + ran.stderr:
            failed.append(f"counters.py {' '.join(arguments)}: exit code {ran.returncode} instead of {status}\n{ran.stdout}{ran.stderr}")

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "counters.json")
        file.write_text(json.dumps(file_of(("a", SAID, launches()))))
        expect(0, "check", str(file), out="ok     sectors per request")
        file.write_text(json.dumps(file_of(("a", SAID, launches(global_load_sectors=500)))))
        expect(1, "check", str(file), out="FAILED sectors per request")
    expect(77, "calibrate", "--program", "nowhere", "--ncu", "/nowhere/ncu", out="there is no /nowhere/ncu")
    expect(1, "measure", "--ncu", "/nowhere/ncu", out="there is no /nowhere/ncu")
    expect(2, out="usage")


test_parse()
test_places()
test_share_out()
test_join()
test_check()
test_command_line()
print("\n\n".join(failed) or "counters are read, joined and judged as they should be")
sys.exit(bool(failed))
