"""Predicted times and choices of fp32 GEMMs against times that were measured before: what a change of the model does, without a GPU.

usage: predicted.py [--inlay build/inlay] [--file results/h200/wild_candidates.json] [--worst 10]

FILE has the microseconds of every candidate of the planner, each GEMM with all that take it, recorded when slices of K filled one wave. Regret is
the measured time of the candidate that the program chooses now over that of the fastest; 1 is the best choice.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = re.compile(r"  (->|  ) (\w+(?: \([^)]*\))?): predicted ([\d.]+) us")


def predictions(inlay, row):
    """candidate -> predicted microseconds; the chosen candidate."""
    m, n, k = row["case"].split("x")
    command = [inlay, "why", "gemm", "--all", "--device", "H200", "--m", m, "--n", n, "--k", k]
    for key in ("batch", "transa", "transb", "alpha", "beta", "lda", "ldb", "ldd", "inc_a", "inc_b", "inc_d"):
        if key in row:
            command += ["--" + key.replace("_", "-"), str(row[key])]
    found = LINE.findall(subprocess.check_output(command, text=True))
    return {name: float(us) for _, name, us in found}, next((name for mark, name, _ in found if mark == "->"), None)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--inlay", default=ROOT / "build" / "inlay")
    options.add_argument("--file", type=pathlib.Path, default=ROOT / "results" / "h200" / "wild_candidates.json")
    options.add_argument("--worst", type=int, default=10)
    options = options.parse_args()
    errors, regrets, unknown = [], [], 0
    for row in json.loads(options.file.read_text())["rows"]:
        measured = {kernel.removeprefix("candidate "): us for kernel, us in row["us"].items() if kernel.startswith("candidate ")}
        if not measured:
            continue
        predicted, chosen = predictions(options.inlay, row)
        errors += [max(us / measured[name], measured[name] / us) - 1 for name, us in predicted.items() if name in measured]
        if chosen not in measured:
            unknown += 1
            continue
        best = min(measured, key=measured.get)
        regrets.append((measured[chosen] / measured[best], f"{row['case']} x {row['batch']}, {row['transa']}{row['transb']}: "
                        f"{chosen} {measured[chosen]:.1f} us, {best} {measured[best]:.1f} us"))
    errors.sort(), regrets.sort(reverse=True)
    print(f"predicted times of {len(errors)} candidates: off by {100 * errors[len(errors) // 2]:.0f} % in the median, "
          f"{100 * errors[len(errors) * 9 // 10]:.0f} % in the worst tenth")
    mean = math.exp(sum(math.log(regret) for regret, _ in regrets) / len(regrets))
    print(f"regret {mean:.3f} in the geometric mean of {len(regrets)} GEMMs, {regrets[0][0]:.2f} at worst; {unknown} choices were not measured")
    for regret, text in regrets[: options.worst]:
        print(f"  {regret:.2f}  {text}")


if __name__ == "__main__":
    main()
