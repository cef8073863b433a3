"""What Choose::measured gives: times of planned copies over those of tuned ones, from a file of `inlay bench copy --kernels copy tuned`.

usage: tuned.py FILE  (prints geometric means by the bytes of a side)
"""
import json
import math
import sys

if len(sys.argv) != 2:
    sys.exit(__doc__)
cases = {}
for row in json.load(open(sys.argv[1]))["rows"]:
    if row["check"] == "ok":
        cases.setdefault((row["case"], row["elem_bytes"], str(row["src_strides"]), row["base_src"], row["base_dst"]), {})[row["kernel"]] = row
groups = {"4 to 64 MB": [], "64 MB and more": []}
for rows in cases.values():
    if {"copy", "tuned"} <= rows.keys():
        gain = rows["copy"]["ms_median"] / rows["tuned"]["ms_median"]
        groups["64 MB and more" if rows["copy"]["bytes"] >= 2 * 64 << 20 else "4 to 64 MB"].append(gain)
for name, gains in groups.items():
    gains.sort()
    mean = math.exp(sum(map(math.log, gains)) / len(gains))
    print(f"{name}: {len(gains)} copies, planned over tuned {mean:.3f} in the geometric mean, {gains[0]:.2f} to {gains[-1]:.2f}")
