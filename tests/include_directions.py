"""Who may include whom: greps the includes of every room against a table in the documentation.

usage: include_directions.py ROOT [--table PAGE]
The table is the block of ROOT/docs/01_flow.md (or PAGE) that begins with the line ```includes. Its lines are

    ROOM -> ITEM ITEM ...

A room is a folder with all that is below it and in no room of its own; but of `src` itself, the files that lie there. An item
is `std` (headers of C++), a header as it stands in include lines, or, with `/` or `*` behind it, what such a header begins with.
"""
import argparse
import pathlib
import re
import sys

parser = argparse.ArgumentParser()
parser.add_argument("root", type=pathlib.Path)
parser.add_argument("--table", type=pathlib.Path)
options = parser.parse_args()
root = options.root
page = options.table or root / "docs/01_flow.md"
bad = []


def allows(item, header):
    if item == "std":
        return re.fullmatch(r"[a-z_0-9]+", header)  # <vector>, <cstdint>
    if item[-1] in "/*":
        return header.startswith(item.rstrip("*"))
    return header == item


def table_of(page):
    """room -> items; says what is wrong with the table."""
    blocks = re.findall(r"^```includes\n(.*?)^```$", page.read_text() if page.is_file() else "", re.M | re.S)
    if len(blocks) != 1:
        bad.append(f"{page.name} has {'no block' if not blocks else 'more than one block'} that begins with ```includes")
        return {}
    table = {}
    for line in filter(None, map(str.strip, blocks[0].splitlines())):
        room, arrow, items = line.partition(" -> ")
        if not arrow or not items.split() or room.split() != [room.strip()]:
            bad.append(f"{page.name}: '{line}' is no line of the table")
        elif room.strip() in table:
            bad.append(f"{page.name}: {room.strip()} stands there twice")
        else:
            table[room.strip()] = items.split()
    return table


def room_of(folder, table):
    """The room that a folder is or lies in; none for one that is in no room but `src`."""
    for at in (folder, *folder.parents):
        if str(at) in table:
            return str(at) if str(at) != "src" or folder == at else None
    return None


table = table_of(page)
seen, homeless = set(), set()
for file in sorted(f for top in ("include", "src") for f in (root / top).rglob("*") if f.is_file() and table):
    folder = file.parent.relative_to(root)
    room = room_of(folder, table)
    if not room:
        homeless.add(str(folder))
        continue
    seen.add(room)
    for number, line in enumerate(file.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*[<"](.*)[>"]', line)
        if found and not any(allows(item, found[1]) for item in table[room]):
            bad.append(f"{file.relative_to(root)}:{number}: {room} may not include {found[1]}")
bad += [f"{folder}: the table in {page.name} has no such room" for folder in sorted(homeless)]
bad += [f"{room}: the table in {page.name} has it, and it has no file" for room in table if room not in seen]
print("\n".join(bad) or f"{len(table)} rooms: every include goes the right way")
sys.exit(bool(bad))
