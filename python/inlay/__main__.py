"""python -m inlay: the commands that need no GPU, such as explain, layout and draw."""
import sys

from ._lab import run

try:
    print(run(*sys.argv[1:]), end="")
except ValueError as error:
    sys.exit(f"inlay: {error}")
