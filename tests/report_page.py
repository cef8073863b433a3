"""The page that `inlay report` writes holds every kernel and needs nothing from elsewhere. usage: report_page.py INLAY PAGE [--browser]

PAGE is such a page. With --browser a Chromium loads it, without a word on its console; exit code 77 where none is installed.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

inlay, file, in_browser = sys.argv[1], pathlib.Path(sys.argv[2]), "--browser" in sys.argv[3:]
root = pathlib.Path(__file__).parent.parent
browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
XHTML = "{http://www.w3.org/1999/xhtml}"
failed = []


def expect(holds, sentence):
    if not holds:
        failed.append(sentence)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def source_of(kernel):
    return "inlay's own" if kernel["source"] == "inlay" else f"after {kernel['source']}"


def header_of(name):
    """The kernel's own header, or that of its family where a list has it as an instance."""
    lists = [*(root / "src/kernels").rglob("*.def"), *(root / "tutorial").rglob("*.def")]
    family = next((m[1] for file in lists if (m := re.search(rf"INLAY_INSTANCE\({name}, (\w+),", file.read_text()))), name)
    return next(h for file in lists if (h := file.parent / f"{family}.h").exists())


def check_sections(page, kernels):
    sections = {s.get("id"): s for s in page.iter(XHTML + "section")}
    for kernel in kernels:
        section = sections.get(kernel["name"])
        if section is None:
            failed.append(f"{kernel['name']} has no section")
            continue
        said, code = text_of(section), [text_of(x) for x in section.iter(XHTML + "code")]
        source = " ".join(header_of(kernel["name"]).read_text().split())
        for what, holds in (("its idea", " ".join(kernel["idea"].split()) in said), ("where it comes from", source_of(kernel) in said),
                            ("a check", "replayed on a CPUok" in said), ("its memory accesses", "Memory accesses" in said),
                            ("a prediction", re.search(r"predicted[\d.]+ (ms|µs)", said)), ("its code", source in code), ("what a thread does", any("CUTE_DEVICE void operator()(Block" in x for x in code)),
                            ("a picture", section.find(".//{http://www.w3.org/2000/svg}svg") is not None)):
            expect(holds, f"the section of {kernel['name']} lacks {what}")


def check_folded(page):
    """Of each step its name, idea and figures show; the rest is one click away. What is wide has a box to scroll in."""
    boxes = {id(x) for box in page.iter(XHTML + "div") if box.get("class") == "scroll" for x in box.iter()}
    for section in page.iter(XHTML + "section"):
        if section.get("class") != "step":
            continue
        name, folds = section.get("id"), section.findall(XHTML + "details")
        expect(len(folds) == 1 and folds[0].get("open") is None and folds[0][0].tag == XHTML + "summary", f"{name} is not folded")
        folded = {id(x) for fold in folds for x in fold.iter()}
        for tag in "table", "pre", "figure":
            expect(all(id(x) in folded for x in section.iter(XHTML + tag)), f"a {tag} of {name} is not folded")
        expect(all(id(x) not in folded for x in section.iter(XHTML + "dl")), f"the figures of {name} are folded")
    for table in page.iter(XHTML + "table"):
        expect(id(table) in boxes, f"a table has no box to scroll in: {text_of(table)[:60]}")


def check_counters(page):
    """Counters that are no counts have units."""
    stalls = 0
    for row in page.iter(XHTML + "th"):
        name, unit = text_of(row), text_of(row[0]) if len(row) else ""
        stalls += name.startswith("stalled: ")
        expect("stall" not in name or unit == "warps for each issue", f"a stall has no unit: {name}")
        expect("percent" not in name and (not name.startswith(("lsu pipe", "fma pipe")) or unit == "%"), f"a share has no unit: {name}")
    expect(stalls > 20, f"the page has {stalls} figures of stalls")


def check_pictures(page):
    """A pipeline has several tiles on their way."""
    pipelines = [f for f in page.iter(XHTML + "figure") if text_of(f).startswith("The stages of the pipeline")]
    expect(len(pipelines) > 5, f"the page has {len(pipelines)} pictures of pipelines")
    for figure in pipelines:
        tiles = {t for t in map(text_of, figure.iter("{http://www.w3.org/2000/svg}text")) if t.isdigit()}
        expect(len(tiles) > 1, f"an empty picture: {text_of(figure)[:90]}")


def check_recorded(page):
    """The sections say what was measured, at the ladders' sizes."""
    for file, case, rate in ("transpose.json", "32768x32768", "gbps"), ("sgemm.json", "4096x4096x4096", "tflops"):
        rows = json.loads((root / "results/h200" / file).read_text())["rows"]
        for kernel in ("transpose_06_smem_swizzled", "sgemm_09_thread_tile"):
            row = next((r for r in rows if (r["kernel"], r["case"], r.get("elem_bytes", 4), r.get("transa", "n") + r.get("transb", "n")) == (kernel, case, 4, "nn")), None)
            if row:
                said = text_of(page.find(f".//*[@id='{kernel}']"))
                expect(f"{row['ms_median']:.3f} ms" in said, f"the section of {kernel} does not say {row['ms_median']:.3f} ms")


def check_closed(page, text):
    """Nothing comes from elsewhere, and every link on the page has an end."""
    ids = [x.get("id") for x in page.iter() if x.get("id")]
    expect(len(ids) == len(set(ids)), f"ids that occur twice: {sorted({i for i in ids if ids.count(i) > 1})}")
    for element in page.iter():
        expect(not element.tag.endswith("}script"), "there is a script")
        for name, value in element.attrib.items():
            name = name.rpartition("}")[2]
            if name == "href":
                ok = value[1:] in ids if value[0] == "#" else value == "data:," or (element.tag == XHTML + "a" and value.startswith("http"))
                expect(ok, f"a link leads to {value}")
            expect(name not in ("src", "srcset", "data", "poster", "action") and not name.startswith("on"), f"an element has {name}={value}")
            expect("url(" not in value, f"an element has {name}={value}")
    for style in page.iter(XHTML + "style"):
        expect(not re.search(r"url\(|@import|https?:", style.text), "the style sheet brings something from elsewhere")
    expect(len(text) < 3_200_000, f"the page has {len(text)} bytes")


def check_in_browser(file, scratch, kernels):
    def load(page, width, *options):
        return run(browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={scratch}/profile", f"--window-size={width},900",
                   "--enable-logging=stderr", *options, "--dump-dom", page.as_uri())
    loaded = load(file, 1280)
    expect(loaded.returncode == 0, f"{browser} ends with {loaded.returncode}: {loaded.stderr[-400:]}")
    for kernel in kernels:
        expect(f'id="{kernel["name"]}"' in loaded.stdout, f"{kernel['name']} is not in the page that was loaded")
    for line in loaded.stderr.splitlines():
        expect("CONSOLE" not in line, f"the console says: {line}")
    # A copy that tells how high and wide it is, and how wide with all its steps open, and what sticks out of a box. It is in
    # a frame: a window cannot be as narrow as a phone.
    copy, frame = scratch / "copy.html", scratch / "frame.html"
    tell = """onload = () => {
      const e = document.documentElement, high = e.scrollHeight, all = what => [...document.querySelectorAll(what)];
      all('details').forEach(x => x.open = true);
      const cut = all('main *').filter(x => !x.closest('.scroll, pre') && x.getBoundingClientRect().right - 1 > e.clientWidth);
      const wide = all('.scroll').filter(x => x.querySelector('table') !== null && x.scrollWidth - 1 > x.clientWidth);
      parent.postMessage([high, e.clientWidth, e.scrollWidth, cut.length, wide.map(x => x.ariaLabel).join() || 'none'].join(' '), '*') }"""
    copy.write_text(file.read_text().replace("</body>", f"<script>{tell}</script></body>"))
    for width in (1280, 390):
        frame.write_text("<title>-</title><script>onmessage = e => document.title = e.data</script>"
                         f"<iframe src='{copy.as_uri()}' width='{width}' height='800'></iframe>")
        title = re.search(r"<title>(.*?)</title>", load(frame, 1400, "--virtual-time-budget=5000").stdout)
        told = title[1].split(" ", 4) if title else []
        if len(told) != 5:
            failed.append(f"in {width} pixels the page tells nothing")
            continue
        high, window, wide, cut, scrolled = told
        expect(int(high) < 512 * len(kernels), f"in {width} pixels the page is {high} high")
        expect(window == wide and cut == "0", f"in {width} pixels the page is {wide} wide, {cut} elements are cut")
        expect(scrolled == "none", f"in {width} pixels these tables are wider than the page: {scrolled}")


if in_browser and not browser:
    print("no Chromium is installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    scratch = pathlib.Path(folder)
    kernels = json.loads(run(inlay, "list", "--json").stdout)
    if in_browser:
        check_in_browser(file, scratch, kernels)
    else:
        text = file.read_text()
        page = xml.etree.ElementTree.fromstring(text)
        check_sections(page, kernels)
        check_folded(page)
        check_counters(page)
        check_pictures(page)
        check_recorded(page)
        check_closed(page, text)
        refused = run(inlay, "report", "--out", str(scratch / "nowhere" / "report.html"))
        expect(refused.returncode == 1 and "cannot be written" in refused.stderr, f"a file that cannot be written: {refused}")
print("\n".join(failed) or "every kernel has its section, and nothing comes from elsewhere")
sys.exit(bool(failed))
