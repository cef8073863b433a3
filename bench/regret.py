"""How much time the planner's choices cost: the public function against the fastest kernel of the same table.

usage: regret.py FILE [--suite NAME] [--worst 10]

FILE is of `inlay bench copy --json FILE` or `inlay bench gemm --kernels gemm --regret --json FILE`, whose tables have a row for each
candidate, all measured in turn. 1 is the best choice. Below 5 us half a microsecond is forgiven. Of GEMMs it also says by how much the
predicted times of candidates are off.
"""
import argparse
import collections
import json
import math
import pathlib

YARDSTICKS = "cudaMemcpyAsync", "copy_03_vector"  # measured on a contiguous copy


def regrets(rows):
    """suite -> [(regret, the public function's row, the fastest kernel's)]"""
    cases = collections.defaultdict(dict)
    for row in rows:
        if row["check"] == "ok" and row["kernel"] not in YARDSTICKS:
            if "transa" in row and not row["kernel"].startswith(("gemm", "candidate ")) or row["kernel"] == "gemm_no_workspace":
                continue
            key = json.dumps([row.get(k) for k in ("suite", "extents", "perm", "src_strides", "dst_strides", "base_src", "base_dst",
                                                   "elem_bytes", "case", "transa", "transb", "dtype", "batch", "lda", "ldb", "ldd",
                                                   "inc_a", "inc_b", "inc_d", "batch_stride_a", "batch_stride_b", "batch_stride_d", "compute")])
            cases[key][row["kernel"]] = row
    found = collections.defaultdict(list)
    for case in cases.values():
        chosen = case.pop("copy", None) or case.pop("gemm", None)
        if not chosen or not case:
            continue
        best = min(case.values(), key=lambda row: row["ms_median"])
        forgiven = 5e-4 if best["ms_median"] < 5e-3 else 0
        regret = max(1.0, (chosen["ms_median"] - forgiven) / best["ms_median"])
        found[chosen["suite"]].append((regret, chosen, best))
    return found


def errors(rows):
    """By how much the predicted times of candidates are off, as factors of at least 1, sorted."""
    ratios = [row["predicted_ms"] / row["ms_median"] for row in rows if row["check"] == "ok" and "predicted_ms" in row]
    return sorted(max(r, 1 / r) for r in ratios)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=pathlib.Path)
    options.add_argument("--suite")
    options.add_argument("--worst", type=int, default=10)
    options = options.parse_args()
    rows = json.loads(options.file.read_text())["rows"]
    if off := errors(rows):
        print(f"predicted times of {len(off)} candidates: off by {100 * (off[len(off) // 2] - 1):.0f} % in the median, "
              f"{100 * (off[len(off) * 9 // 10] - 1):.0f} % in the worst tenth")
    for suite, cases in sorted(regrets(rows).items()):
        if options.suite not in (None, suite):
            continue
        mean = math.exp(sum(math.log(regret) for regret, _, _ in cases) / len(cases))
        cases.sort(key=lambda case: -case[0])
        print(f"{suite}: regret {mean:.3f} in the geometric mean of {len(cases)} cases, {cases[0][0]:.2f} at worst")
        for regret, chosen, best in cases[: options.worst]:
            kind = f"{chosen['elem_bytes']} B" if "elem_bytes" in chosen else f"{chosen['transa']}{chosen['transb']} {chosen['dtype']}"
            print(f"  {regret:.2f}  {chosen['case']} {kind}: {1e3 * chosen['ms_median']:.2f} us, "
                  f"{best['kernel']} {1e3 * best['ms_median']:.2f} us")


if __name__ == "__main__":
    main()
