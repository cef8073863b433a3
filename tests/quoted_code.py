"""What the documentation quotes stands where it says. usage: quoted_code.py ROOT [--printed FOLDER] [--inlay PROGRAM]

The fenced block after a line `<!-- from PATH -->` is a piece of ROOT/PATH, line for line, at any indentation; `...` stands for
lines left out. With --printed, the block after `<!-- printed by NAME -->` is a piece of FOLDER/NAME.txt. With --inlay, a block
that begins with `$ build/inlay ARGUMENTS` goes on with a piece of what the program prints; where nothing follows in the
block, the picture below it is what is printed.
"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap

parser = argparse.ArgumentParser()
parser.add_argument("root", type=pathlib.Path)
parser.add_argument("--printed", type=pathlib.Path)
parser.add_argument("--inlay")
options = parser.parse_args()
root = options.root
BLOCK = re.compile(r"^<!-- (from|printed by) (\S+) -->\n+```\w*\n(.*?)^```$", re.M | re.S)
MARK = re.compile(r"^<!-- (?:from|printed by) ", re.M)
COMMAND = re.compile(r"^```\n\$ build/inlay ([^\n]+)\n(.*?)^```$(?:\n+!\[[^\]]*\]\((\S+)\))?", re.M | re.S)


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


def left_over(block, text):
    """The first piece of the block that does not stand in the text after those before it."""
    for piece in pieces(block):
        end = stands_in(piece, text)
        if not end:
            return piece
        text = "\n".join(text.split("\n")[end:])


bad, seen = [], 0
for page in sorted([root / "README.md", *(root / "docs").glob("*.md")]):
    text = page.read_text()
    blocks = BLOCK.findall(text)
    if len(blocks) != len(MARK.findall(text)):
        bad.append(f"{page.name}: a mark has no block after it")
    for kind, name, block in blocks:
        file = root / name if kind == "from" else options.printed and options.printed / f"{name}.txt"
        if not file:
            continue
        seen += 1
        if not file.is_file():
            bad.append(f"{page.name}: there is no {name}")
        elif piece := left_over(block, file.read_text()):
            bad.append(f"{page.name}: this does not stand in {name} as quoted:\n{textwrap.indent(piece, '    ')}")
    for arguments, block, picture in COMMAND.findall(text) if options.inlay else []:
        seen += 1
        done = subprocess.run([options.inlay, *shlex.split(arguments)], capture_output=True, text=True, timeout=120)
        file = page.parent / picture if picture else None
        if done.returncode:
            bad.append(f"{page.name}: inlay {arguments}: {done.stderr.strip()}")
        elif block and (piece := left_over(block, done.stdout)):
            bad.append(f"{page.name}: inlay {arguments} does not print as quoted:\n{textwrap.indent(piece, '    ')}")
        elif not block and not (file and file.is_file() and file.read_text() == done.stdout):
            bad.append(f"{page.name}: {picture or 'no picture'} is not what inlay {arguments} prints")
if not seen:
    bad.append("no page quotes anything")
print("\n".join(bad) or f"{seen} quotations stand where they say")
sys.exit(bool(bad))
