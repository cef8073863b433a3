"""PyTorch's transposes on the lab's cases, in the lab's schema: src.t().contiguous(), eager and compiled.

usage: torch_transpose.py [--cases 32768x32768:4,...] [--samples 15] [--json results/h200/torch.json]

CUDA events, warm-up, contenders in turn in every round, medians and inter-quartile ranges; the copy limit here is
Tensor.copy_ on the same bytes (row torch_copy). Work under 100 microseconds is timed as replays of a CUDA graph of
back-to-back launches that rotate over buffers worth four L2s. Every contender is verified first (no zeros of either
sign and no NaN in the data: equal is bitwise equal).
"""
import argparse
import datetime
import json
import pathlib
import statistics
import sys

import torch

DEFAULT = "32768x32768:4,16384x16384:4,16384x16384:8,16384x16384:16,8192x8192:4,1024x1024:4,10007x10009:4"
DTYPE = {1: torch.uint8, 2: torch.int16, 4: torch.float32, 8: torch.float64, 16: torch.complex128}
PEAK_GBPS = {"NVIDIA H200": 4800.0}


def transposed(src):
    return src.t().contiguous()


def contenders():
    """What takes a destination and a source, and returns the result: the transposes allocate theirs, as users' code does."""
    compiled = torch.compile(transposed, dynamic=False)
    return {"torch_copy": lambda dst, src: dst.view(-1).copy_(src.view(-1)), "torch_eager": lambda dst, src: transposed(src),
            "torch_compile": lambda dst, src: compiled(src)}


def events(run, launches):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(2_000_000)  # a millisecond in which the host gets ahead: its time per call is not the GPU's
    start.record()
    run()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / launches


def as_graph(function, pairs, launches):
    """A graph of back-to-back launches that takes the pairs in turn."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for k in range(launches):
            function(*pairs[k % len(pairs)])
    return graph.replay


def measure(rows, cols, elem, samples):
    torch._dynamo.reset()
    device = torch.cuda.get_device_properties(0)
    bytes_one = rows * cols * elem
    count = max(1, -(-4 * device.L2_cache_size // (2 * bytes_one)))

    def source():  # bytes below 127 make normal numbers
        return torch.randint(0, 127, (rows, cols * elem), dtype=torch.uint8, device="cuda").view(DTYPE[elem])

    pairs = [(torch.empty(cols, rows, dtype=DTYPE[elem], device="cuda"), source()) for _ in range(count)]
    functions = contenders()
    verdicts, runs, launches = {}, {}, {}
    for name, function in functions.items():
        dst, src = pairs[0]
        dst.view(torch.uint8).fill_(0xA5)
        try:
            for _ in range(3):
                got = function(dst, src)
        except Exception as error:  # a contender that cannot do it has no number
            verdicts[name] = "rejected: " + str(error).splitlines()[0][:120]
            continue
        right = torch.equal(got, src.view(-1)) if name == "torch_copy" else torch.equal(got.t(), src)
        verdicts[name] = "ok" if right else "FAILED: the result is wrong"
        if verdicts[name] != "ok":
            continue
        one = statistics.median(events(lambda: function(dst, src), 1) for _ in range(5))
        n = 1 if one >= .1 else max(count, int(1 / max(one, .002)))
        launches[name] = n
        if n > 1:
            runs[name] = as_graph(function, pairs, n)
        else:
            runs[name] = lambda function=function, turn=iter(range(10**9)): function(*pairs[next(turn) % count])
        del got
    times = {name: [] for name in functions}
    for _ in range(samples + 3):
        for name in runs:
            times[name].append(events(runs[name], launches[name]))
    copy = statistics.median(times["torch_copy"][3:])
    for name in functions:
        row = {"suite": "2d", "case": f"{rows}x{cols}", "batch": 1, "pitch_src": cols * elem, "pitch_dst": rows * elem, "base_src": 0, "base_dst": 0,
               "variant": name, "elem_bytes": elem, "verdict": verdicts[name]}
        if name not in runs:  # no number without a verdict
            yield row | dict.fromkeys(("ms_median", "ms_iqr", "gbps", "of_copy", "of_peak"))
            continue
        t = times[name][3:]
        q = statistics.quantiles(t, n=4, method="inclusive")
        gbps = 2 * bytes_one / statistics.median(t) / 1e6
        peak = PEAK_GBPS.get(device.name)
        yield row | {"ms_median": statistics.median(t), "ms_iqr": q[2] - q[0], "gbps": gbps, "of_copy": copy / statistics.median(t),
                     "of_peak": gbps / peak if peak else None}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cases", default=DEFAULT)
    options.add_argument("--samples", type=int, default=15)
    options.add_argument("--json", type=pathlib.Path)
    options = options.parse_args()
    if not torch.cuda.is_available():
        sys.exit("torch_transpose.py needs a GPU that PyTorch can use.")
    rows = []
    for case in options.cases.split(","):
        shape, elem = case.split(":")
        for row in measure(*map(int, shape.split("x")), int(elem), options.samples):
            rows.append(row)
            numbers = f"{row['ms_median']:9.4f} ms  {row['gbps']:7.0f} GB/s  {row['of_copy']:.3f} of copy_" if row["ms_median"] else ""
            print(f"{row['case']:>12} {elem:>2} B  {row['variant']:14} {row['verdict']:4} {numbers}", flush=True)
        torch.cuda.empty_cache()
    if options.json:
        report = {"device": torch.cuda.get_device_name(0), "date": datetime.date.today().isoformat(),
                  "command": "python3 " + " ".join(sys.argv), "torch": torch.__version__, "rows": rows}
        options.json.write_text(json.dumps(report, indent=1) + "\n")


main()
