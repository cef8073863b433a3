"""Predicted beside measured, and what is demanded of the two."""
import collections
import json
import pathlib

import counters_ncu as ncu

SHOWN = {"32768x32768", "4096x4096x4096"}  # the sizes whose times are checked
TIME, ORDER, WAVEFRONTS = 0.15, 0.05, 1.05
PEAK_FMA = 128  # of a multiprocessor in a clock

REQUESTS = {  # whose requests: space, direction, mechanism of the sites
    "global_load": ("global", "load", "plain"),
    "global_store": ("global", "store", "plain"),
    "async_copy": ("global", "load", "cp_async"),
}
TOTALS = ["global_load_sectors", "global_store_sectors", "async_copy_sectors", "tma_load_bytes", "tma_load_sectors", "tma_store_bytes",
          "tma_store_sectors", "shared_load_wavefronts", "shared_store_wavefronts", "fma", "dram_bytes"]


def of_row(row):
    """What tells rows of a case and kernel apart: operand transposes or element bytes."""
    return row["transa"] + row["transb"] if "transa" in row else row.get("elem_bytes")


def predicted(said):
    """{counter: count} of what `inlay explain --json` says."""
    counts = {name: said["totals"].get(name) for name in TOTALS}
    counts["time_us"] = said["time_us"]
    for name, kind in REQUESTS.items():
        counts[f"{name}_requests"] = sum(s["requests"] for s in said["sites"] if (s["space"], s["direction"], s["mechanism"]) == kind)
    for what in ("requests", "sectors"):  # the hardware's counts of loads hold those of cp.async
        if counts[f"async_copy_{what}"] is not None:
            counts[f"global_load_{what}"] += counts[f"async_copy_{what}"]
    for way in ("load", "store"):  # TMA's bytes are counted in whole sectors
        if counts[f"tma_{way}_sectors"] is not None:
            counts[f"tma_{way}_bytes"] = 32 * counts[f"tma_{way}_sectors"]
    return counts


def coalesced(said):
    """No access to global memory takes more than twice the sectors that its bytes need."""
    return all(s["transactions"] <= 2 * s["ideal"] for s in said["sites"] if s["space"] == "global" and s["mechanism"] != "tma")


def measured(launches, places):
    """{counter: count} over the kernels of a kernel; pipes and stalls are those of the longest."""
    metrics = [x["metrics"] for x in launches]
    of = lambda counter, launch: ncu.value_of(places[counter], launch)
    total = lambda counter: None if any(of(counter, m) is None for m in metrics) else sum(of(counter, m) for m in metrics)
    counts = {counter: total(counter) for counter in ncu.COUNTED}
    parts = counts["dram_read_bytes"], counts["dram_write_bytes"]
    counts["dram_bytes"] = None if None in parts else sum(parts)
    ns, fma, cycles = counts.pop("ns"), counts["fma"], counts.pop("cycles_of_sms")
    counts.pop("cycles")
    counts["time_us"] = None if ns is None else ns / 1000
    if fma and cycles:
        counts["fp32_peak_percent"] = 100 * fma / (PEAK_FMA * cycles)
    longest = max(metrics, key=lambda m: of("ns", m) or 0)
    counts.update({counter: of(counter, longest) for counter in ncu.PERCENT})
    stalls = {f"stall_{reason}": of(f"stall_{reason}", longest) or 0 for reason in ncu.STALLS}
    counts.update({name: stalls[name] for name in sorted(stalls, key=stalls.get)[-2:][::-1] if stalls[name]})
    return counts


def bench_times(files):
    """{(case, kernel, element bytes or layout): microseconds} of plain matrices, timed without a profiler."""
    times = {}
    for file in files:
        for row in json.loads(pathlib.Path(file).read_text()).get("rows", []):
            plain = row.get("batch") == 1 and not any(row.get(x) for x in ("base_src", "base_dst", "alpha", "beta", "lda", "ldb", "ldd", "inc_a", "inc_b", "inc_d"))
            if plain and "pitch_src" in row:
                rows, cols = (int(n) for n in row["case"].split("x"))
                plain = row["pitch_src"] == cols * row["elem_bytes"] and row["pitch_dst"] == rows * row["elem_bytes"]
            if plain and row.get("ms_median") and "compute" not in row:
                times[row["case"], row["kernel"], of_row(row)] = 1000 * row["ms_median"]
    return times


def joined(counted, explained, times):
    """The rows of a results file, which metrics of ncu they are, and which kernels wait for a flag."""
    places = {counter: ncu.place_of(counter, [x["metrics"] for row in counted for x in row["launches"]]) for counter in ncu.PLACES}
    rows, polling = [], set()
    for row, said in zip(counted, explained):
        about = {key: row[key] for key in ("case", "kernel", "elem_bytes", "transa", "transb") if key in row}
        known = predicted(said) if isinstance(said, dict) else {}  # else why there is none
        counts = measured(row["launches"], places)
        bench = times.get((row["case"], row["kernel"], of_row(row)))
        if bench is not None:
            counts["bench_us"] = bench
            if known:
                known["bench_us"] = known["time_us"]
        for counter, count in counts.items():
            if count or known.get(counter):
                rows.append({**about, "counter": counter, "predicted": known.get(counter), "measured": count})
                if counter in ("time_us", "bench_us") and known:
                    rows[-1]["coalesced"] = coalesced(said)
        if any("ClearFlags" in x["kernel"] for x in row["launches"]):
            polling.add(row["kernel"])
    return {"metrics": {counter: place for counter, place in places.items() if place and not counter.startswith("stall_")},
            "polling": sorted(polling), "rows": rows}


class CheckResults:
    """What was demanded, how often, and where it did not hold; the worst of each demand."""

    def __init__(self):
        self.asked, self.broken, self.worst = collections.Counter(), collections.defaultdict(list), {}

    def demand(self, what, holds, off, sentence):
        self.asked[what] += 1
        if not holds:
            self.broken[what].append(sentence)
        if what not in self.worst or not off <= self.worst[what][0]:
            self.worst[what] = (off, sentence)

    def text(self):
        lines = []
        for what, times in self.asked.items():
            broken = self.broken[what]
            lines.append(f"{'FAILED' if broken else 'ok':<7}{what}: {times - len(broken)} of {times}")
            lines += [f"         {sentence}" for sentence in broken[:12]]
            if len(broken) > 12:
                lines.append(f"         and {len(broken) - 12} more")
            if not broken:
                lines.append(f"         the worst: {self.worst[what][1]}")
        return "\n".join(lines)


def ratio(counts, name, k):
    requests, sectors = counts.get(f"{name}_requests", (0, 0))[k] or 0, counts.get(f"{name}_sectors", (0, 0))[k] or 0
    return sectors / requests if requests else 0


def judge_counts(v, where, counts, polls):
    missing = [c for c, (p, m) in counts.items() if c in ("time_us", *TOTALS) and None in (p, m)]
    v.demand("predicted and measured", not missing, len(missing), f"{where}: {', '.join(missing) or 'nothing'} is missing")
    for name in REQUESTS:
        p, m = ratio(counts, name, 0), ratio(counts, name, 1)
        if not p and not m:
            continue
        if name == "global_load" and counts.get("async_copy_sectors", (0, 0))[0]:
            continue  # halves of sectors past the L1 are there, but in lines of five: checked by cp.async's own counter
        sentence = f"{where}: {name}, {m:.6g} sectors a request, predicted {p:.6g}"
        if polls and name == "global_load":  # how often a flag is read is not predicted
            p, m = (counts.get("global_load_sectors", (0, 0))[k] or 0 for k in (0, 1))
            v.demand("sectors of kernels that wait for a flag: at least the model's", m >= p, p - m, f"{where}: {m:.0f}, predicted {p:.0f}")
        else:
            v.demand("sectors per request are the hardware's", abs(p - m) <= 1e-9 * p, abs(p - m), sentence)
    for counter in ("tma_load_bytes", "tma_load_sectors", "tma_store_bytes", "tma_store_sectors"):
        if counter in counts:
            p, m = (x or 0 for x in counts[counter])
            v.demand("bytes and L2 sectors of TMA are the hardware's", p == m, abs(p - m), f"{where}: {counter} {m:.0f}, predicted {p:.0f}")
    for counter in ("shared_load_wavefronts", "shared_store_wavefronts"):
        if counter in counts:
            p, m = (x or 0 for x in counts[counter])
            off = m / p if p else float("inf")
            v.demand(f"shared wavefronts: model <= measured <= {WAVEFRONTS} model", p <= m <= WAVEFRONTS * p, abs(off - 1),
                     f"{where}: {counter} {m:.0f}, predicted {p:.0f}, {off:.4f} of it")


def time_of(counts):
    return counts.get("bench_us", counts.get("time_us"))


def judge_times(v, where, counts, is_coalesced):
    p, m = time_of(counts) or (None, None)
    if p and m:
        off, sentence = p / m - 1, f"{where}: {m:.1f} us, predicted {p:.1f} us, {100 * (p / m - 1):+.1f} %"
        if is_coalesced:
            v.demand(f"time within {100 * TIME:.0f} %", abs(off) <= TIME, abs(off), sentence)
        else:
            v.demand("time of naive steps (not checked)", True, abs(off), sentence)


def judge_order(v, steps):
    """Wherever two steps of a case differ in time, the model has them in that order."""
    for case in dict.fromkeys(case for case, _ in steps):
        timed = [(name, *time_of(c)) for (of, name), c in steps.items() if of == case and all(time_of(c) or [None])]
        for i, (a, pa, ma) in enumerate(timed):
            for b, pb, mb in timed[i + 1:]:
                if max(ma, mb) > (1 + ORDER) * min(ma, mb):
                    v.demand("order of steps", (pa < pb) == (ma < mb), -abs(pa / pb - 1),
                             f"{case}: {a} {ma:.1f} us (predicted {pa:.1f}), {b} {mb:.1f} us (predicted {pb:.1f})")


COLUMNS = ["kernel", "sectors ld", "", "sectors st", "", "shared ld", "shared st", "DRAM", "us", "predicted", "off"]


def table_row(name, counts):
    share = lambda x: f"{x[1] / x[0]:.3f}" if x and x[0] and x[1] is not None else "-"
    async_or_plain = "async_copy" if "async_copy_sectors" in counts else "global_load"
    p, m = time_of(counts) or (None, None)
    return [name, *(f"{ratio(counts, of, k):.3g}" for of in (async_or_plain, "global_store") for k in (0, 1)),
            *(share(counts.get(x)) for x in ("shared_load_wavefronts", "shared_store_wavefronts", "dram_bytes")),
            f"{m:.1f}" if m else "-", f"{p:.1f}" if p else "-", f"{100 * (p / m - 1):+.1f} %" if p and m else "-"]


def checked(file):
    """The table, the demands with their worst rows, and whether all of them hold."""
    groups = collections.defaultdict(lambda: collections.defaultdict(dict))
    uncoalesced = set()
    for row in file["rows"]:
        case = row["case"] if "transa" in row else f"{row['case']}, {row['elem_bytes']} B"
        name = f"{row['kernel']} {of_row(row) if 'transa' in row else ''}".strip()
        groups[case][name][row["counter"]] = (row["predicted"], row["measured"])
        if row.get("coalesced") is False:
            uncoalesced.add((case, name))
    v, text, steps = CheckResults(), "", {}
    for case, kernels in groups.items():
        table = [COLUMNS] + [table_row(name, counts) for name, counts in kernels.items()]
        width = [max(len(line[i]) for line in table) for i in range(len(COLUMNS))]
        text += f"{case}: sectors per request predicted and measured; measured / predicted of shared wavefronts and DRAM bytes\n"
        text += "".join("  ".join(f"{x:<{w}}" if i == 0 else f"{x:>{w}}" for i, (x, w) in enumerate(zip(line, width))) + "\n" for line in table)
        text += "\n"
        for name, counts in kernels.items():
            where = f"{name}, {case}"
            judge_counts(v, where, counts, name.split()[0] in file["polling"])
            if case.split(",")[0] in SHOWN:
                judge_times(v, where, counts, (case, name) not in uncoalesced and "naive" not in name)
                steps[case, name] = counts
    judge_order(v, steps)
    return text + v.text(), not any(v.broken.values()) and bool(v.asked)
