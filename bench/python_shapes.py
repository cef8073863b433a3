"""Shapes that people have, from Python: x.permute(axes).contiguous(), eager and compiled, against inlay.permute(x, axes); torch.matmul
against inlay.matmul. Each result is compared with torch's before it is measured, bitwise or within a bound.

usage: python_shapes.py [--json FILE] [--svg FILE]
       python_shapes.py --table FILE [--svg FILE] [--check FILE]   the table of a recorded file, as Markdown; exit code 1 if the
                                                                   checked file has another
"""
import argparse
import json
import math
import pathlib
import statistics
import sys

from provenance import provenance

PERMUTES = (  # name, shape, axes, type
    ("heads of attention", (8, 2048, 16, 128), (0, 2, 1, 3), "bfloat16"),
    ("keys transposed", (8, 16, 2048, 128), (0, 1, 3, 2), "bfloat16"),
    ("NCHW to NHWC", (64, 256, 56, 56), (0, 2, 3, 1), "float16"),
    ("NHWC to NCHW", (64, 56, 56, 256), (0, 3, 1, 2), "float16"),
    ("images to planes", (64, 512, 512, 3), (0, 3, 1, 2), "uint8"),
    ("fp8 weights transposed", (8192, 8192), (1, 0), "float8_e4m3fn"),
    ("odd embeddings transposed", (50257, 769), (1, 0), "float32"),
    ("fp32 matrix transposed", (8192, 8192), (1, 0), "float32"),
    ("batch of small matrices", (100000, 16, 16), (0, 2, 1), "float32"),
    ("video, frames to channels", (4, 16, 3, 512, 512), (0, 2, 1, 3, 4), "bfloat16"),
    ("FFT, x to z", (384, 384, 384), (2, 1, 0), "complex64"),
    ("experts to tokens", (64, 1024, 512), (1, 0, 2), "bfloat16"),
)
GEMMS = (  # name, shape of A, shape of B, B is stored transposed
    ("square, 4096", (4096, 4096), (4096, 4096), True),
    ("odd square, 4095", (4095, 4095), (4095, 4095), True),
    ("token times weights", (1, 4096), (4096, 11008), True),
    ("batch of 64 x 64", (20000, 64, 64), (20000, 64, 64), False),
    ("batch of 8 x 8", (100000, 8, 8), (100000, 8, 8), False),
    ("scores of attention", (4, 16, 1024, 64), (4, 16, 64, 1024), True),
)


def us_of(ways, rounds=15):
    """Microseconds of each way's call on the GPU: medians of interleaved rounds, each a few calls back to back."""
    import torch

    def measure(call, calls):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(2_000_000)  # the host runs ahead
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3 / calls

    for call in ways.values():
        measure(call, 3)
    calls = {name: max(5, min(40, int(20000 / measure(call, 5)))) for name, call in ways.items()}
    times = {name: [] for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            times[name].append(measure(call, calls[name]))
    return {name: round(statistics.median(t), 2) for name, t in times.items()}


def permutes():
    import inlay
    import torch

    for name, shape, axes, type_name in PERMUTES:
        dtype = getattr(torch, type_name)
        count = math.prod(shape) * dtype.itemsize
        x = torch.randint(0, 256, (count,), dtype=torch.uint8, device="cuda").view(dtype).view(shape)
        torch._dynamo.reset()
        eager = lambda: x.permute(axes).contiguous()  # noqa: E731
        compiled_function = torch.compile(lambda t: t.permute(axes).contiguous())
        ways = {"eager": eager, "compiled": lambda: compiled_function(x), "inlay": lambda: inlay.permute(x, axes)}
        for way in ways.values():
            if not torch.equal(way().view(torch.uint8), eager().view(torch.uint8)):
                raise SystemExit(f"{name}: wrong")
        us = us_of(ways)
        yield {"case": name, "what": "permute", "shape": shape, "axes": axes, "type": type_name, "us": us,
               "gbps": round(2 * count / us["inlay"] / 1e3)}


def gemms():
    import inlay
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    for name, of_a, of_b, transposed in GEMMS:
        a = torch.randn(of_a, device="cuda")
        b = torch.randn((*of_b[:-2], of_b[-1], of_b[-2]), device="cuda").mT if transposed else torch.randn(of_b, device="cuda")
        error = (inlay.matmul(a, b) - a @ b).abs().max().item()
        if not error < 1e-5 * of_a[-1]:
            raise SystemExit(f"{name}: wrong by {error}")
        us = us_of({"eager": lambda: torch.matmul(a, b), "inlay": lambda: inlay.matmul(a, b)})
        yield {"case": name, "what": "matmul", "shape": of_a, "shape_b": of_b, "type": "float32", "us": us,
               "tflops": round(2e-6 * math.prod(of_a) * of_b[-1] / us["inlay"], 2)}


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def table(rows):
    lines = ["| case | shape, type | eager, us | compiled, us | inlay, us | x eager | x compiled |",
             "|---|---|--:|--:|--:|--:|--:|"]
    for r in rows:
        us, shape = r["us"], " x ".join(map(str, r["shape"]))
        shape += f" by {' x '.join(map(str, r['shape_b']))}" if "shape_b" in r else f", axes {' '.join(map(str, r['axes']))}"
        ours, eager, compiled = us["inlay"], us["eager"], us.get("compiled")
        cells = [r["case"], f"{shape}, {r['type']}", f"{eager:.1f}", f"{compiled:.1f}" if compiled else "–", f"{ours:.1f}",
                 f"{eager / ours:.2f}", f"{compiled / ours:.2f}" if compiled else "–"]
        lines.append(f"| {' | '.join(cells)} |")
    permuted, multiplied = ([r["us"] for r in rows if r["what"] == w] for w in ("permute", "matmul"))
    lines.append(f"| geometric mean, permutes | | | | | {geomean(u['eager'] / u['inlay'] for u in permuted):.2f} | "
                 f"{geomean(u['compiled'] / u['inlay'] for u in permuted):.2f} |")
    lines.append(f"| geometric mean, GEMMs | | | | | {geomean(u['eager'] / u['inlay'] for u in multiplied):.2f} | – |")
    return "\n".join(lines)


def bars(rows):
    """How many times as fast as eager: compiled grey, inlay green."""
    rows = [r for r in rows if r["what"] == "permute"]
    most = max(r["us"]["eager"] / min(r["us"]["inlay"], r["us"]["compiled"]) for r in rows)
    parts, width, height = [], 760, 30 * len(rows) + 40
    for i, r in enumerate(rows):
        y = 30 * i + 24
        parts.append(f'<text x="200" y="{y + 14}" text-anchor="end">{r["case"]}</text>')
        for k, (way, colour) in enumerate((("compiled", "#9aa0a6"), ("inlay", "#2e8b57"))):
            ratio = r["us"]["eager"] / r["us"][way]
            parts.append(f'<rect x="210" y="{y + 11 * k}" width="{480 * ratio / most:.1f}" height="10" fill="{colour}"/>'
                         f'<text x="{214 + 480 * ratio / most:.1f}" y="{y + 11 * k + 9}" font-size="10">{ratio:.2f}</text>')
    one = 210 + 480 / most
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">'
            f'<rect width="{width}" height="{height}" fill="white"/>'
            f'<text x="210" y="14">times as fast as x.permute(axes).contiguous(): torch.compile grey, inlay green</text>'
            f'<line x1="{one:.1f}" y1="20" x2="{one:.1f}" y2="{height - 10}" stroke="#888" stroke-dasharray="3"/>'
            + "".join(parts) + "</svg>\n")


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--json", "--svg", "--table", "--check"):
        parser.add_argument(flag, type=pathlib.Path)
    options = parser.parse_args()
    if options.table:
        recorded = json.loads(options.table.read_text())
        print(table(recorded["rows"]))
        if options.check and table(recorded["rows"]) not in options.check.read_text():
            raise SystemExit(f"{options.check} has another table")
        if options.svg:
            options.svg.write_text(bars(recorded["rows"]))
        return
    import torch

    rows = []
    for row in (*permutes(), *gemms()):
        rows.append(row)
        print(row["case"], row["us"], file=sys.stderr, flush=True)
    print(table(rows))
    recorded = provenance() | {"rows": rows}
    if options.json:
        options.json.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
