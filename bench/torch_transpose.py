"""PyTorch's transposes on the lab's cases, in the lab's schema: src.transpose(-1, -2).contiguous(), eager and compiled, by
default and with max-autotune.

usage: torch_transpose.py [--cases 32768x32768:4,... | --suite 2d] [--samples 15] [--no-compile] [--host] [--json FILE]

A suite is a file in suites/. Where the destination has a pitch or a base, the transpose is dst.copy_(src.transpose(-1, -2)).
The suite squares is measured without torch.compile, which is slow to compile 48 of them, and with the host's time per call
of torch_eager (--no-compile and --host ask for that elsewhere).

CUDA events, warm-up, candidates in turn in every round, medians and inter-quartile ranges; the copy limit here is
Tensor.copy_ on the same bytes (row torch_copy). Work under 100 microseconds is timed as replays of a CUDA graph of
back-to-back launches that rotate over buffers worth four L2s. The results of as many launches as there are buffers are
kept alive: freed at once, each launch would get the same memory from the allocator, which then lies in the L2
(ms_one_destination has the median of that). Every candidate is verified first (no zeros of either
sign and no NaN in the data: equal is bitwise equal).
"""
import argparse
import collections
import dataclasses
import itertools
import json
import pathlib
import statistics
import sys
import time

import torch
from provenance import provenance

DEFAULT = "32768x32768:4,16384x16384:4,16384x16384:8,16384x16384:16,8192x8192:4,1024x1024:4,10007x10009:4"
DTYPE = {1: torch.uint8, 2: torch.int16, 4: torch.float32, 8: torch.float64, 16: torch.complex128}
SUITES = pathlib.Path(__file__).parent.parent / "suites"
MOST_PAIRS = 4096  # buffers of a few bytes would need millions to fill four L2s; the lab stops here too
PEAK_GBPS = {"NVIDIA H200": 4800.0}


@dataclasses.dataclass
class Case:
    """A problem of the lab: pitches and bases in elements, a pitch of 0 is that of packed rows."""
    rows: int
    cols: int
    elem_bytes: int = 4
    batch: int = 1
    pitch: int = 0
    pitch_dst: int = 0
    base_src: int = 0
    base_dst: int = 0

    def __post_init__(self):
        self.pitch = self.pitch or self.cols
        self.pitch_dst = self.pitch_dst or self.rows

    @property
    def elements(self):
        return self.batch * self.rows * self.cols

    @property
    def packed_destination(self):
        return self.pitch_dst == self.rows and not self.base_dst

    def row(self, suite):
        """The part of a result's row that says what was measured."""
        e = self.elem_bytes
        return {"suite": suite, "case": f"{self.rows}x{self.cols}", "batch": self.batch, "pitch_src": self.pitch * e,
                "pitch_dst": self.pitch_dst * e, "base_src": self.base_src * e, "base_dst": self.base_dst * e}


def cases_of(options):
    if not options.suite:
        for text in options.cases.split(","):
            shape, elem = text.split(":")
            yield Case(*map(int, shape.split("x")), int(elem))
        return
    for problem in json.loads((SUITES / f"{options.suite}.json").read_text()):
        problem.pop("kernels", None)  # ours, not PyTorch's
        yield Case(**problem)


class Pair:
    """A destination and a source: flat buffers, and the case's views of them."""

    def __init__(self, case):
        self.dst_flat = torch.empty(case.base_dst + case.batch * case.cols * case.pitch_dst, dtype=DTYPE[case.elem_bytes], device="cuda")
        source_bytes = (case.base_src + case.batch * case.rows * case.pitch) * case.elem_bytes
        # bytes below 127 make normal numbers
        self.src_flat = torch.randint(1, 127, (source_bytes,), dtype=torch.uint8, device="cuda").view(DTYPE[case.elem_bytes])
        self.dst = self.view(self.dst_flat, case.batch, case.cols, case.rows, case.pitch_dst, case.base_dst)
        self.src = self.view(self.src_flat, case.batch, case.rows, case.cols, case.pitch, case.base_src)

    @staticmethod
    def view(flat, batch, rows, cols, pitch, base):
        matrices = flat.as_strided((batch, rows, cols), (rows * pitch, pitch, 1), base)
        return matrices if batch > 1 else matrices[0]


def transposed(src):
    return src.transpose(-1, -2).contiguous()


def transposed_into(dst, src):
    return dst.copy_(src.transpose(-1, -2))


def wrappers(compiles):
    """PyTorch's ways to run a function. The graphs are made here, of all candidates alike."""
    ways = {"torch_eager": lambda f: f}
    if compiles:
        ways |= {"torch_compile": lambda f: torch.compile(f, dynamic=False),
                 "torch_max_autotune": lambda f: torch.compile(f, dynamic=False, mode="max-autotune-no-cudagraphs")}
    return ways


def candidates(case, compiles):
    """What takes a Pair and returns the result: the transposes allocate theirs, as users' code does, unless it has a pitch."""
    n = case.elements
    functions = {"torch_copy": lambda pair: pair.dst_flat[:n].copy_(pair.src_flat[:n])}
    for name, wrapped in wrappers(compiles).items():
        if case.packed_destination:
            functions[name] = lambda pair, f=wrapped(transposed): f(pair.src)
        else:
            functions[name] = lambda pair, f=wrapped(transposed_into): f(pair.dst, pair.src)
    return functions


def events(run, launches):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(2_000_000)  # a millisecond in which the host gets ahead: its time per call is not the GPU's
    start.record()
    run()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / launches


def as_graph(function, pairs, launches, alive):
    """A graph of back-to-back launches that takes the pairs in turn. While it is captured, the last `alive` results are kept."""
    graph = torch.cuda.CUDAGraph()
    results = collections.deque(maxlen=alive)
    with torch.cuda.graph(graph):
        for k in range(launches):
            results.append(function(pairs[k % len(pairs)]))
    return graph.replay


def host_us(function, pair):
    """The host's median time per call over 10^4 calls, or as many as the GPU does in a second."""
    times, deadline = [], time.perf_counter() + 1
    while len(times) < 10_000 and (not times or time.perf_counter() < deadline):
        for _ in range(256):  # so few that no call waits for a full launch queue
            begin = time.perf_counter_ns()
            function(pair)
            times.append(time.perf_counter_ns() - begin)
        torch.cuda.synchronize()
    return statistics.median(times) / 1e3


def verified(function, name, pair, case):
    """ "ok", or why there will be no number."""
    try:
        for _ in range(3):
            pair.dst_flat.view(torch.uint8).fill_(0xA5)
            # A result of its own comes from the allocator, which gives back what was freed last: poison too.
            torch.empty_like(pair.src).view(torch.uint8).fill_(0xA5)
            got = function(pair)
    except Exception as error:  # a candidate that cannot do it has no number
        return "rejected: " + str(error).splitlines()[0][:120]
    if name == "torch_copy":
        right = torch.equal(got, pair.src_flat[:case.elements])
    else:
        right = torch.equal(got.transpose(-1, -2), pair.src)
    return "ok" if right else "FAILED: the result is wrong"


def measure(case, options, pair_of=Pair, candidates=candidates, verified=verified):
    """The rows of a case, of what takes a pair of buffers."""
    torch._dynamo.reset()
    device = torch.cuda.get_device_properties(0)
    bytes_one = case.elements * case.elem_bytes
    count = max(1, -(-4 * device.L2_cache_size // (2 * bytes_one)))
    pairs = [pair_of(case) for _ in range(min(count, MOST_PAIRS))]
    functions = candidates(case, not options.no_compile)
    check_results, runs, launches, one_destination = {}, {}, {}, {}
    for name, function in functions.items():
        check_results[name] = verified(function, name, pairs[0], case)
        if check_results[name] != "ok":
            continue
        one = statistics.median(events(lambda: function(pairs[0]), 1) for _ in range(5))
        n = 1 if one >= .1 else max(len(pairs), int(1 / max(one, .002)))
        launches[name] = n
        if n > 1:
            runs[name] = as_graph(function, pairs, n, len(pairs))
            if name != "torch_copy" and case.packed_destination:
                one_destination[name] = as_graph(function, pairs, n, 0)
        else:
            runs[name] = lambda function=function, cycle=itertools.cycle(pairs): function(next(cycle))
    times, times_one_destination = ({name: [] for name in functions} for _ in range(2))
    for _ in range(options.samples + 3):
        for name in runs:
            times[name].append(events(runs[name], launches[name]))
            if name in one_destination:
                times_one_destination[name].append(events(one_destination[name], launches[name]))
    copy = statistics.median(times["torch_copy"][3:])
    for name in functions:
        row = case.row(options.suite or "2d") | {"kernel": name, "elem_bytes": case.elem_bytes, "check": check_results[name]}
        if name not in runs:  # no number without a check
            yield row | dict.fromkeys(("ms_median", "ms_iqr", "gbps", "of_copy", "of_peak"))
            continue
        t = times[name][3:]
        q = statistics.quantiles(t, n=4, method="inclusive")
        gbps = 2 * bytes_one / statistics.median(t) / 1e6
        peak = PEAK_GBPS.get(device.name)
        row |= {"ms_median": statistics.median(t), "ms_iqr": q[2] - q[0], "gbps": gbps, "of_copy": copy / statistics.median(t),
                "of_peak": gbps / peak if peak else None}
        if name in one_destination:
            row["ms_one_destination"] = statistics.median(times_one_destination[name][3:])
        if options.host and name == "torch_eager":
            row["host_us"] = host_us(functions[name], pairs[0])
        yield row


def parsed():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    problems = options.add_mutually_exclusive_group()
    problems.add_argument("--cases", default=DEFAULT)
    problems.add_argument("--suite", choices=sorted(file.stem for file in SUITES.glob("*.json")))
    options.add_argument("--samples", type=int, default=15)
    options.add_argument("--no-compile", action="store_true")
    options.add_argument("--host", action="store_true")
    options.add_argument("--json", type=pathlib.Path)
    options = options.parse_args()
    if options.suite == "squares":
        options.no_compile = options.host = True
    return options


def listed(report):
    """The report as JSON, one row a line."""
    head = json.dumps({key: value for key, value in report.items() if key != "rows"}, indent=1)[:-2]
    rows = ",\n".join("  " + json.dumps(row, separators=(",", ":")) for row in report["rows"])
    return f'{head},\n "rows": [\n{rows}\n ]\n}}\n'


def main():
    options = parsed()
    if not torch.cuda.is_available():
        sys.exit("torch_transpose.py needs a GPU that PyTorch can use.")
    report = provenance() | {"rows": []}
    for case in cases_of(options):
        for row in measure(case, options):
            report["rows"].append(row)
            numbers = f"{row['ms_median']:9.4f} ms  {row['gbps']:7.0f} GB/s  {row['of_copy']:.3f} of copy_" if row["ms_median"] else ""
            host = f"  {row['host_us']:.2f} us on the host" if "host_us" in row else ""
            batch = f"{case.batch} x " if case.batch > 1 else ""
            print(f"{batch + row['case']:>20} {case.elem_bytes:>2} B  {row['kernel']:14} {row['check']:4} {numbers}{host}", flush=True)
        torch.cuda.empty_cache()
        if options.json:  # after every case: a run that is cut short leaves what it has
            options.json.write_text(listed(report))


if __name__ == "__main__":
    main()
