"""Nsight Compute: which of its counters we read, whether it knows them, and what the kernels of a command did in them."""
import csv
import glob
import os
import re
import shutil
import subprocess
import tempfile
import threading

OURS = "_ZN5inlay5block5entryI"  # the one generic entry: its name begins the mangled name of every kernel of a kernel

# cp.async is LDGSTS to the hardware: through the L1 (.ca) or past it (.cg), which ncu counts apart or together.
LDGSTS = lambda name: [[f"{unit}{name}{how}.sum" for how in hows]
                       for hows in (["_cache_access", "_cache_bypass"], [""]) for unit in ("l1tex__", "sm__sass_l1tex_", "smsp__sass_l1tex_")]

# What we call a counter -> where it may be, the surest place first; the metrics of one place are added. Names differ between
# versions of ncu, and a counter can exist and count nothing: a results file says which place was read.
COUNTED = {
    "global_load_requests": [["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"]],
    "global_load_sectors": [["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]],
    "global_store_requests": [["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]],
    "global_store_sectors": [["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"]],
    "async_copy_requests": [*LDGSTS("t_requests_pipe_lsu_mem_global_op_ldgsts"), ["smsp__inst_executed_op_ldgsts.sum"]],
    "async_copy_sectors": LDGSTS("t_sectors_pipe_lsu_mem_global_op_ldgsts"),
    "async_shared_wavefronts": LDGSTS("data_pipe_lsu_wavefronts_mem_shared_op_ldgsts"),
    "tma_load_bytes": [["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"], ["l1tex__m_xbar2l1tex_read_bytes_pipe_tma.sum"]],
    "tma_load_sectors": [["l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"],
                         ["l1tex__m_xbar2l1tex_read_sectors_pipe_tma.sum"]],
    "tma_store_bytes": [["l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"], ["l1tex__m_l1tex2xbar_write_bytes_pipe_tma.sum"]],
    "tma_store_sectors": [["l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum"],
                          ["l1tex__m_l1tex2xbar_write_sectors_pipe_tma.sum"]],
    "shared_load_wavefronts": [["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"]],
    "shared_store_wavefronts": [["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"]],
    "l2_read_sectors": [["lts__t_sectors_srcunit_tex_op_read.sum"]],
    "l2_write_sectors": [["lts__t_sectors_srcunit_tex_op_write.sum"]],
    "dram_read_bytes": [["dram__bytes_read.sum"], ["dram__bytes_op_read.sum"]],
    "dram_write_bytes": [["dram__bytes_write.sum"], ["dram__bytes_op_write.sum"]],
    "fma": [["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"], ["sm__sass_thread_inst_executed_op_ffma_pred_on.sum"]],
    "ns": [["gpu__time_duration.sum"]],
    "cycles_of_sms": [["sm__cycles_elapsed.sum"]],
    "cycles": [["sm__cycles_elapsed.max"]],
}
# In percent of what the pipe can issue: not added over kernels.
PERCENT = {
    "lsu_pipe_percent": [["sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"]],
    "fma_pipe_percent": [["sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"],
                         ["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"]],
}
STALLS = ("barrier branch_resolving dispatch_stall drain gmma imc_miss lg_throttle long_scoreboard math_pipe_throttle membar "
          "mio_throttle misc no_instruction not_selected short_scoreboard sleeping tex_throttle wait").split()
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"

PLACES = {**COUNTED, **PERCENT, **{f"stall_{reason}": [[STALL.format(reason)]] for reason in STALLS}}


class CannotProfile(Exception):
    """Nothing can be read here: no ncu, no GPU, or no permission."""


def find_ncu(given):
    """The newest of those that NVIDIA's installers put in place, else what is in PATH."""
    version = lambda path: [int(n) for n in re.findall(r"\d+", path)]
    found = given or max(glob.glob("/opt/nvidia/nsight-compute/*/ncu"), key=version, default=None) or shutil.which("ncu")
    if not found or not shutil.which(found):
        raise CannotProfile(f"there is no {given}" if given else "Nsight Compute (ncu) was not found")
    return found


def version_of(ncu):
    said = subprocess.run([ncu, "--version"], capture_output=True, text=True).stdout
    return (re.findall(r"Version (\S+)", said) or ["unknown"])[0]


def known(ncu, counters=PLACES, most=2):
    """The metrics of these counters that this ncu has for this GPU, in the first `most` places where there are any: each costs
    time. All of them if ncu does not say what it has."""
    asked = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True)
    names = set(re.findall(r"^\s*([a-z0-9]+__\w+)", asked.stdout, re.M))
    has = lambda place: [m for m in place if not names or m.split(".")[0] in names]
    return list(dict.fromkeys(m for counter in counters for place in list(filter(None, map(has, PLACES[counter])))[:most] for m in place))


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None  # "n/a"


def parse(log, metrics):
    """The launches in ncu's CSV (--page raw), in order: {"kernel": mangled name, "metrics": {name: value}}"""
    lines = [line for line in log.splitlines() if line.startswith('"')]
    table = list(csv.reader(lines))
    if not table:
        return []
    head, launches = table[0], []
    for line in table[1:]:
        cells = dict(zip(head, line))
        if not cells["ID"].isdigit():
            continue  # the line of units: ncu was asked for base units
        values = {m: number(cells.get(m, "")) for m in metrics}
        launches.append({"kernel": cells["Kernel Name"], "metrics": {m: v for m, v in values.items() if v is not None}})
    return launches


def trouble(log):
    """What ncu complains of, on a line."""
    said = re.findall(r"==(?:ERROR|WARNING)== *(.+)", log)
    return " ".join(said[-2:])


def profile(ncu, command, metrics, kernels=OURS, timeout=600, say=lambda line: None):
    """Runs a command under ncu: the launches whose mangled names contain `kernels`, what the command printed, what went wrong.

    Every launch is replayed in as many passes as its metrics need, with the caches flushed before each pass.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "log")
        run = subprocess.Popen(
            [ncu, "--clock-control", "none", "--cache-control", "all", "--replay-mode", "kernel", "--csv", "--page", "raw",
             "--print-units", "base", "--print-kernel-base", "mangled", "--kernel-name-base", "mangled", "--kernel-name",
             f"regex:{kernels}", "--metrics", ",".join(metrics), "--log-file", file, *command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "LC_ALL": "C"})
        clock = threading.Timer(timeout, run.kill)
        clock.start()
        printed = []
        for line in run.stdout:
            printed.append(line.rstrip("\n"))
            say(printed[-1])
        status = run.wait()
        clock.cancel()
        log = open(file).read() if os.path.exists(file) else ""
    unknown = [m for m in metrics if re.search(rf"[Ff]ailed to find metric.*\b{re.escape(m)}", log)]
    if unknown and len(unknown) < len(metrics):
        return profile(ncu, command, [m for m in metrics if m not in unknown], kernels, timeout, say)
    if re.search(r"ERR_NVGPUCTRPERM|LibraryNotLoaded|Failed to initialize the profiler", log):
        raise CannotProfile(f"ncu cannot read the counters here: {trouble(log)}")
    launches = parse(log, metrics)
    wrong = "" if status == 0 else f"exit code {status}" if status > 0 else f"stopped after {timeout} s"
    return launches, printed, " ".join(x for x in (wrong, trouble(log) if wrong or not launches else "") if x)


def place_of(counter, launches):
    """Which place of a counter to read, given the metrics of all launches: the one that counted anything in most of them. Never
    the one that agrees best with a prediction."""
    places = [[m for m in place if any(m in metrics for metrics in launches)] for place in PLACES[counter]]
    counted = lambda place: sum(any(metrics.get(m) for m in place) for metrics in launches)
    return max(filter(None, places), key=counted, default=[])


def value_of(place, metrics):
    """The sum of a place's metrics; None where none of them was measured."""
    values = [metrics[m] for m in place if m in metrics]
    return sum(values) if values else None
