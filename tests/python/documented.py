"""The Python blocks of the documentation."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(file):
    found = re.findall(r"^```python\n(.*?)^```$", (ROOT / file).read_text(), re.M | re.S)
    assert found, f"{file} has no block in Python"
    return found
