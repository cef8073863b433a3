"""The host's time of a call from Python, in microseconds: inlay, and torch's own way.

usage: python_calls.py [--host build/bench/host] [--json FILE]      host: the program that measures calls from C++
"""
import argparse
import json
import statistics
import subprocess
import time

import inlay.torch
import torch
from provenance import provenance


def median_us(call, rounds=15, calls=400):
    """Calls that only queue: the GPU is idle before each round, and its queue never full."""
    times = []
    for _ in range(rounds + 2):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(times[2:])


x = torch.randn(64, 64, device="cuda")
out, c = torch.empty(64, 64, device="cuda"), torch.empty(64, 64, device="cuda")
rows = {
    "inlay.permute(x, (1, 0), out)": lambda: inlay.permute(x, (1, 0), out),
    "inlay.permute(x, (1, 0))": lambda: inlay.permute(x, (1, 0)),
    "inlay.copy(out, x)": lambda: inlay.copy(out, x),
    "inlay.matmul(x, x, c)": lambda: inlay.matmul(x, x, c),
    "x.permute(1, 0).contiguous()": lambda: x.permute(1, 0).contiguous(),
    "out.copy_(x.t())": lambda: out.copy_(x.t()),
    "torch.matmul(x, x, out=c)": lambda: torch.matmul(x, x, out=c),
    "torch.ops.inlay.permute.out(x, (1, 0), out=out)": lambda: torch.ops.inlay.permute.out(x, (1, 0), out=out),
    "torch.ops.inlay.permute(x, (1, 0))": lambda: torch.ops.inlay.permute(x, (1, 0)),
}
parser = argparse.ArgumentParser()
parser.add_argument("--host"), parser.add_argument("--json")
options = parser.parse_args()
found = {name: round(median_us(call), 2) for name, call in rows.items()}
if options.host:
    said = subprocess.run([options.host], check=True, capture_output=True, text=True).stdout
    for row in json.loads(said[said.index("["):]):
        if row["case"] in ("copy of rank 2", "gemm of one launch"):
            found[f"C++, {row['case']}"], found[f"its launches alone, {row['case']}"] = row["call_us"], row["bare_us"]
for name, us in found.items():
    print(f"{us:8.2f}  {name}")
if options.json:
    with open(options.json, "w") as f:
        json.dump(provenance() | {"us": found}, f, indent=1)
