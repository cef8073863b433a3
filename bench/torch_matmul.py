"""PyTorch's bf16 matmul, eager and compiled, beside the lab's rows for the same GEMMs.

usage: torch_matmul.py LAB.json... [--count N] [--json FILE]

LAB.json: what `inlay bench gemm --json` wrote on the same GPU just before. Of its bf16 cases of one matrix, --count N takes N evenly spread.
A and B are normal random numbers, and there are as many sets of operands as exceed the L2. torch.compile is called with static shapes; it
pads operands where it predicts a gain, and returns a view of a padded result.
"""
import argparse
import json
import math
import pathlib

import torch

POOL = 256 << 20  # bytes of all sets: several times the L2


def operands(m, n, k, transa, transb):
    sets = max(2, min(32, POOL // (2 * (m * k + k * n + m * n))))
    make = lambda rows, cols, t: torch.randn(cols, rows, device="cuda", dtype=torch.bfloat16).T if t else torch.randn(
        rows, cols, device="cuda", dtype=torch.bfloat16)
    return [(make(m, k, transa == "t"), make(k, n, transb == "t")) for _ in range(sets)]


def milliseconds(f, pairs, rounds=9):
    """The median time of a call, of `rounds` graphs that each call f once for every pair."""
    for a, b in pairs[:2]:
        f(a, b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [f(a, b) for a, b in pairs]
    times = []
    for _ in range(rounds + 1):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / len(pairs))
    del kept
    return sorted(times[1:])[rounds // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab", nargs="+", type=pathlib.Path)
    parser.add_argument("--count", type=int)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    rows, ratios = [], {"eager": {}, "compiled": {}}
    for file in args.lab:
        ours = [r for r in json.loads(file.read_text())["rows"]
                if r["kernel"] == "gemm" and r["dtype"] == "bf16" and r["batch"] == 1 and r["check"] == "ok"]
        if args.count and args.count < len(ours):
            ours = [ours[i * len(ours) // args.count] for i in range(args.count)]
        for r in ours:
            m, n, k = map(int, r["case"].split("x"))
            pairs = operands(m, n, k, r["transa"], r["transb"])
            torch.compiler.reset()
            for name, f in (("eager", torch.matmul), ("compiled", torch.compile(torch.matmul, dynamic=False))):
                expected, got = pairs[0][0].float() @ pairs[0][1].float(), f(*pairs[0]).float()
                if not ((got - expected).norm() <= 4e-3 * expected.norm()):
                    raise SystemExit(f"{name} at {r['case']}: wrong")
                del expected, got
                ms = milliseconds(f, pairs)
                ratios[name].setdefault(r["class"], []).append(ms / r["ms_median"])
                rows.append({key: r[key] for key in ("suite", "case", "class", "batch", "transa", "transb", "dtype")} |
                            {"kernel": name, "ms_median": ms, "tflops": 2e-9 * m * n * k / ms, "inlay_ms": r["ms_median"]})
            del pairs
    for name, classes in ratios.items():
        for group, x in classes.items():
            print(f"gemm over {name} torch, {group}: geometric mean {math.exp(sum(map(math.log, x)) / len(x)):.3f} of {len(x)}, "
                  f"least {min(x):.3f}")
    if args.json:
        args.json.write_text(json.dumps({"torch": torch.__version__, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
