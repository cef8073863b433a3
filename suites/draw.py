"""Draws cases for `inlay bench` by a seed, so that nobody tunes for cases that he has seen.

    draw.py copy --seed N... [--count 300]   a list of copies on stdout: suites/wild.json is --seed 18
    draw.py gemm --seed N... [--count 300]   a list of GEMMs: suites/gemm/wild.json is --seed 19
    draw.py few --seed N [--count 60]        a list of GEMMs with 1 to 8 rows or columns: suites/gemm/thin_drawn.json is --seed 4303
    draw.py batch --seed N [--count 60]      a list of batches: suites/gemm/batched_drawn.json is --seed 4304
    draw.py half --seed N [--count 150]      a list of GEMMs in bf16 and f16: suites/gemm/half_drawn.json is --seed 4301,
                                             suites/gemm/half_wild.json is --seed 20 --count 300
    draw.py half_batch --seed N [--count 60] a list of batches in bf16 and f16
    draw.py permute SOURCE FOLDER            the published benchmark cases, a file for each of their suites

Several seeds give their lists one after the other, each of --count cases. The development set:
suites/copy/judge.json is copy --seed 4101 4102 --count 150, suites/gemm/judge.json is gemm --seed 4201 4202 --count 150.

A third of the copies has more than 64 MB a side; they are spread evenly over the classes below. Of 300 GEMMs 100 are large,
100 of middle size, 60 thin and 40 tiny.
"""
import argparse
import collections
import json
import math
import pathlib
import random

ELEMENTS = (1, 2, 3, 4, 6, 8, 12, 16)


def extent(rng, low, high):
    """Log-uniform; a third are powers of two or their neighbours, a third primes."""
    n = max(1, round(math.exp(rng.uniform(math.log(low), math.log(high)))))
    kind = rng.randrange(3)
    if kind == 0:
        n = 2 ** round(math.log2(n)) + rng.choice((-1, 0, 0, 1))
    elif kind == 1:
        while n > 2 and any(n % d == 0 for d in range(2, math.isqrt(n) + 1)):
            n += 1
    return max(1, n)


def product(numbers):
    return math.prod(numbers)


def fill_up(rng, sizes, bytes_wanted, element, at):
    """The extent number `at` so that all have about as many bytes."""
    rest = product(sizes[:at] + sizes[at + 1 :]) * element
    sizes[at] = max(1, round(bytes_wanted / rest * rng.uniform(0.8, 1.2)))


def packed(extents):
    strides, n = [], 1
    for e in extents:
        strides.append(n)
        n *= e
    return strides


def two_dimensional(rng, bytes_wanted, element):
    sizes = [extent(rng, 200, 40000), 1]
    fill_up(rng, sizes, bytes_wanted, element, 1)
    return {"sizes": sizes, "perm": [1, 0]}


def narrow(rng, bytes_wanted, element):
    sizes = [rng.randint(2, 64), 1]
    fill_up(rng, sizes, bytes_wanted, element, 1)
    return {"sizes": sizes if rng.random() < 0.5 else sizes[::-1], "perm": [1, 0]}


def small_batch(rng, bytes_wanted, element):
    sizes = [extent(rng, 2, 256), extent(rng, 2, 256), 1]
    fill_up(rng, sizes, bytes_wanted, element, 2)
    return {"sizes": sizes, "perm": [1, 0, 2]}


def general(rng, bytes_wanted, element):
    rank = rng.randint(3, 8)
    each = (bytes_wanted / element) ** (1 / rank)
    sizes = [extent(rng, max(2, each / 4), each * 4) for _ in range(rank)]
    fill_up(rng, sizes, bytes_wanted, element, rng.randrange(rank))
    perm = list(range(rank))
    rng.shuffle(perm)
    return {"sizes": sizes, "perm": perm}


def rows(rng, bytes_wanted, element):
    """The fastest mode stays so: attention heads, pixels, windows."""
    sizes = [extent(rng, 3, 512), extent(rng, 2, 512), extent(rng, 2, 512), 1]
    fill_up(rng, sizes, bytes_wanted, element, 3)
    perm = [0] + rng.sample([1, 2, 3], 3)
    return {"sizes": sizes, "perm": perm}


def pitched(rng, bytes_wanted, element):
    """Rows with gaps, on one side or both, sometimes backwards or repeated."""
    case = rng.choice((two_dimensional, general, rows))(rng, bytes_wanted, element)
    extents = case["sizes"]
    to = [extents[k] for k in case["perm"]]
    source, destination = packed(extents), packed(to)
    gap = lambda: rng.choice((1, 2, 3, 8, 16, 100))
    if rng.random() < 0.7:
        source = packed([extents[0] + gap()] + extents[1:])
    if rng.random() < 0.5:
        destination = packed([to[0] + gap()] + to[1:])
    special = rng.random()
    k = rng.randrange(len(extents))
    if special < 0.2:
        source[k] = -source[k]
    elif special < 0.4 and extents[k] <= 64:
        source[k] = 0
    return case | {"src_strides": source, "dst_strides": destination}


def strided(rng, bytes_wanted, element):
    """Every n-th element, gathered or scattered."""
    n, step = extent(rng, 64, 4096), rng.randint(2, 9)
    sizes = [n, 1]
    fill_up(rng, sizes, bytes_wanted / step, element, 1)
    case = {"sizes": sizes, "perm": [0, 1]}
    strides = [step, step * n]
    return case | ({"src_strides": strides} if rng.random() < 0.7 else {"dst_strides": strides})


HIDDEN = (384, 512, 768, 1024, 1536, 2048, 4096, 5120, 8192)
TOKENS = (1, 8, 16, 77, 128, 197, 512, 1024, 2048, 4096, 6304)
WIDE = (1152, 2304, 3072, 4096, 11008, 14336, 28672, 32000, 50257)


def transformer(rng):
    """Tokens by hidden by something wide: projections, MLPs, vocabularies; and the gradients of their weights."""
    tokens, hidden, wide = rng.choice(TOKENS), rng.choice(HIDDEN), rng.choice(WIDE)
    return list(rng.choice(((tokens, wide, hidden), (tokens, hidden, wide), (hidden, wide, tokens), (tokens, hidden, hidden))))


def cube(rng, low, high):
    return [extent(rng, low, high) for _ in range(3)]


def thin(rng):
    mnk = cube(rng, 64, 16384)
    for k in rng.sample(range(3), rng.choice((1, 1, 2))):
        mnk[k] = rng.randint(1, 63)
    return mnk


# Of each, how many of 300; how its extents are drawn and their least; between which numbers of floating-point operations.
PRODUCTS = {
    "large": (100, lambda rng: cube(rng, 64, 16384), 64, 1e9, 2e12),
    "middle": (100, lambda rng: cube(rng, 32, 2048), 1, 1e7, 1e9),
    "thin": (60, thin, 1, 1e4, 2e12),
    "tiny": (40, lambda rng: cube(rng, 1, 96), 1, 0, 1e7),
}


def dressed(rng, name, mnk):
    """Operand transposes and factors; now and then pitches, rows with gaps between their elements, a batch."""
    m, n, k = mnk
    transa, transb = rng.choice(("nn", "nt", "tn", "tt"))
    case = {"class": name, "m": m, "n": n, "k": k, "transa": transa, "transb": transb}
    columns = {"a": m if transa == "t" else k, "b": k if transb == "t" else n, "d": n}
    if rng.random() < 0.15:
        gap = rng.choice((1, 3, 4, 8, 64))
        case |= {f"ld{x}": columns[x] + gap for x in sorted(rng.sample("abd", rng.randint(1, 3)))}
    elif rng.random() < 0.08:
        case |= {f"inc_{x}": rng.choice((2, 3)) for x in sorted(rng.sample("abd", rng.randint(1, 2)))}
    if rng.random() < 0.25:
        case |= rng.choice(({"alpha": 2.5}, {"beta": 1}, {"alpha": -1, "beta": 0.5}))
    if name in ("middle", "tiny") and rng.random() < 0.2:
        case["batch"] = rng.choice((2, 3, 8, 12, 64, 96))
    return case


def draw_products(seed, count):
    rng = random.Random(seed)
    cases = []
    for name, (of_300, make, least, low, high) in PRODUCTS.items():
        found = 0
        while found < round(of_300 * count / 300):
            mnk = transformer(rng) if name != "tiny" and rng.random() < 0.25 else make(rng)
            case = dressed(rng, name, mnk)
            m, n, k = mnk
            batch = case.get("batch", 1)
            if min(mnk) < least or (name == "thin" and min(mnk) > 63) or not low <= 2 * m * n * k * batch <= high:
                continue
            if 4 * 3 * (m * k + k * n + m * n) * batch > 8e9:  # rows may have gaps of two elements
                continue
            cases.append(case)
            found += 1
    return cases


CLASSES = collections.OrderedDict(
    two_dimensional=two_dimensional, narrow=narrow, small_batch=small_batch, general=general, rows=rows, pitched=pitched,
    strided=strided)


def draw_few(seed, count):
    """A large operand of 1 to 1024 MB, stored along either mode, times 1 to 8 vectors; half of the GEMMs have one vector."""
    rng = random.Random(seed)
    cases = []
    for i in range(count):
        elements = math.exp(rng.uniform(math.log(1 << 18), math.log(1 << 28)))
        k = extent(rng, 64, min(65536, elements / 64))
        long, few = max(64, round(elements / k)), 1 if i % 2 else rng.randint(2, 8)
        m, n = (long, few) if rng.randrange(2) else (few, long)
        cases.append({"class": "one vector" if few == 1 else "2 to 8 vectors", "m": m, "n": n, "k": k,
                      "transa": rng.choice("nt"), "transb": rng.choice("nt")})
    return cases


def draw_batches(seed, count, halves=False):
    """Batches without gaps of 1 to 512 MB; a third each has extents of 2 to 32, of 16 to 160, of 64 to 768, half of them
    multiples of 4 or, of halves, of 8."""
    vector, element = (8, 2) if halves else (4, 4)
    rng = random.Random(seed)
    cases = []
    for i in range(count):
        name, low, high = (("small", 2, 32), ("middle", 16, 160), ("large", 64, 768))[i % 3]
        m, n, k = (extent(rng, low, high) for _ in range(3))
        if rng.randrange(2):
            m, n, k = (vector * -(-e // vector) for e in (m, n, k))
        each = element * (m * k + k * n + m * n)
        batch = max(2, round(math.exp(rng.uniform(math.log(1 << 20), math.log(1 << 29))) / each))
        case = {"class": name, "m": m, "n": n, "k": k, "transa": rng.choice("nt"), "transb": rng.choice("nt"), "batch": batch}
        if halves:
            aligned = m % 8 == n % 8 == k % 8 == 0
            case |= {"class": f"{name}, {'multiples of 8' if aligned else 'others'}", "type": rng.choice(("bf16", "f16"))}
        cases.append(case)
    return cases


def draw_half_batches(seed, count):
    return draw_batches(seed, count, halves=True)


def draw_halves(seed, count):
    """GEMMs of 1 GFLOP and more; every second one has extents that are multiples of 8."""
    rng = random.Random(seed)
    cases = []
    while len(cases) < count:
        aligned = len(cases) % 2 == 0
        mnk = transformer(rng) if rng.random() < 0.25 else cube(rng, 64, 8192)
        m, n, k = ((e + 7) // 8 * 8 for e in mnk) if aligned else mnk
        if 2 * m * n * k < 1e9 or min(m, n, k) < 64 or aligned != (m % 8 == n % 8 == k % 8 == 0):
            continue
        cases.append({"class": "aligned" if aligned else "unaligned", "m": m, "n": n, "k": k, "type": rng.choice(("bf16", "f16")),
                      "transa": rng.choice("nt"), "transb": rng.choice("nt"), "kernels": ["gemm"]})
    return cases


def sane(case):
    bytes_here = product(case["sizes"]) * case["elem_bytes"]
    span = lambda strides, extents: sum(abs(s) * (e - 1) for s, e in zip(strides, extents)) * case["elem_bytes"]
    to = [case["sizes"][k] for k in case["perm"]]
    spans = [span(case.get("src_strides", packed(case["sizes"])), case["sizes"]),
             span(case.get("dst_strides", packed(to)), to)]
    return 4096 <= bytes_here <= 4 << 30 and max(spans) < 6 << 30


def draw(seed, count):
    rng = random.Random(seed)
    cases = []
    while len(cases) < count:
        i = len(cases)
        name = list(CLASSES)[i % len(CLASSES)]
        low, high = [(4096, 1 << 20), (1 << 20, 64 << 20), (64 << 20, 1 << 30)][i // len(CLASSES) % 3]
        element = rng.choice(ELEMENTS)
        wanted = math.exp(rng.uniform(math.log(low), math.log(high)))
        if high == 1 << 30 and rng.random() < 0.1:
            wanted = rng.uniform(1 << 30, 3.5 * (1 << 30))
        case = {"class": name} | CLASSES[name](rng, wanted, element) | {"elem_bytes": element}
        unit = element & -element
        if rng.random() < 0.25:
            case["base_src"] = unit * rng.randrange(1, 64)
        if rng.random() < 0.25:
            case["base_dst"] = unit * rng.randrange(1, 64)
        if sane(case):
            cases.append(case)
    return cases


def published(source, folder):
    suites = collections.defaultdict(list)
    for record in json.loads(pathlib.Path(source).read_text()):
        for element in record["elem_bytes"]:
            case = {"class": record["id"], "sizes": record["sizes"], "perm": record["perm"], "elem_bytes": element}
            for key in ("src_strides", "dst_strides"):
                if key in record:
                    case[key] = record[key]
            suites[record["suite"]].append(case)
    for name, cases in suites.items():
        (pathlib.Path(folder) / f"{name}.json").write_text(listed(cases))


def listed(cases):
    return "[\n" + ",\n".join("  " + json.dumps(case) for case in cases) + "\n]\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    for what in ("copy", "gemm"):
        drawn = commands.add_parser(what)
        drawn.add_argument("--seed", type=int, nargs="+", required=True)
        drawn.add_argument("--count", type=int, default=300)
    others = {"few": draw_few, "batch": draw_batches, "half": draw_halves, "half_batch": draw_half_batches}
    for what in others:
        drawn = commands.add_parser(what)
        drawn.add_argument("--seed", type=int, required=True)
        drawn.add_argument("--count", type=int, default=150 if what == "half" else 60)
    permute = commands.add_parser("permute")
    permute.add_argument("source")
    permute.add_argument("folder")
    args = parser.parse_args()
    if args.what in ("copy", "gemm"):
        one = draw if args.what == "copy" else draw_products
        print(listed([case for seed in args.seed for case in one(seed, args.count)]), end="")
    elif args.what in others:
        print(listed(others[args.what](args.seed, args.count)), end="")
    else:
        published(args.source, args.folder)
