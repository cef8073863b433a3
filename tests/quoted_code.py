"""What the documentation quotes stands where it says. usage: quoted_code.py ROOT [PRINTED]

The fenced block after a line `<!-- from PATH -->` is a piece of ROOT/PATH, line for line, at any indentation; `...` stands for
lines left out. With PRINTED, a folder, the block after `<!-- printed by NAME -->` is a piece of PRINTED/NAME.txt.
"""
import pathlib
import re
import sys
import textwrap

root = pathlib.Path(sys.argv[1])
printed = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
BLOCK = re.compile(r"^<!-- (from|printed by) (\S+) -->\n+```\w*\n(.*?)^```$", re.M | re.S)
MARK = re.compile(r"^<!-- (?:from|printed by) ", re.M)


def pieces(block):
    """The block's runs of lines between those left out, without common indentation."""
    return [textwrap.dedent(piece).strip("\n") for piece in re.split(r"^ *\.\.\.\n", block, flags=re.M)]


def stands_in(piece, text):
    """At some depth: all lines of the piece are indented alike."""
    lines, wanted = text.split("\n"), piece.split("\n")
    for start in range(len(lines) - len(wanted) + 1):
        if textwrap.dedent("\n".join(lines[start : start + len(wanted)])) == piece:
            return start + len(wanted)
    return 0


bad, seen = [], 0
for page in sorted([root / "README.md", *(root / "docs").glob("*.md")]):
    text = page.read_text()
    blocks = BLOCK.findall(text)
    if len(blocks) != len(MARK.findall(text)):
        bad.append(f"{page.name}: a mark has no block after it")
    for kind, name, block in blocks:
        file = root / name if kind == "from" else printed and printed / f"{name}.txt"
        if not file:
            continue
        seen += 1
        if not file.is_file():
            bad.append(f"{page.name}: there is no {name}")
            continue
        rest = file.read_text()
        for piece in pieces(block):
            end = stands_in(piece, rest)
            if not end:
                bad.append(f"{page.name}: this does not stand in {name} as quoted:\n{textwrap.indent(piece, '    ')}")
                break
            rest = "\n".join(rest.split("\n")[end:])
if not seen:
    bad.append("no page quotes anything")
print("\n".join(bad) or f"{seen} quotations stand where they say")
sys.exit(bool(bad))
