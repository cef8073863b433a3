"""Times torch's grouped GEMM of bf16 on the groups that bench/groups drew.

usage: python bench/torch_groups.py ROWS > ROWS_OF_TORCH. ROWS: what bench/groups printed, in the same session on the same GPU.
A line of the output is a JSON object: torch's median time, and by which factor inlay's recorded one is shorter.
"""
import json
import re
import sys

import torch


def milliseconds(run, launches=6, rounds=9):
    run()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for _ in range(rounds):
        run()
        begin.record()
        for _ in range(launches):
            run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / launches)
    return sorted(times)[rounds // 2]


def main(path):
    grouped_mm = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    for line in open(path):
        row = json.loads(line)
        n, k = map(int, re.search(r"rows x (\d+) x (\d+)", row["case"]).groups())
        ends = torch.tensor(row["rows"], dtype=torch.int32).cumsum(0, dtype=torch.int32).cuda()
        a = torch.randn(int(ends[-1]), k, dtype=torch.bfloat16, device="cuda")
        shape = (len(row["rows"]), k, n)
        if row["case"].endswith("along n"):
            b = torch.empty(shape, dtype=torch.bfloat16, device="cuda").normal_()
        else:
            b = torch.empty((shape[0], n, k), dtype=torch.bfloat16, device="cuda").normal_().transpose(1, 2)
        us = 1e3 * milliseconds(lambda: grouped_mm(a, b, offs=ends))
        print(json.dumps({"case": row["case"], "torch": torch.__version__, "torch_us": round(us, 1), "of_torch": round(us / row["us"], 3)}),
              flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
