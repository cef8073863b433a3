"""Where a result comes from: the fields with which the JSON files under results/ begin. Those of `inlay bench` have them too."""
import datetime
import os
import pathlib
import subprocess
import sys


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


def commit():
    """INLAY_COMMIT where the repository is not: a copy of its files that are measured on another machine."""
    root = pathlib.Path(__file__).resolve().parent.parent
    return os.environ.get("INLAY_COMMIT") or said("git", "-C", root, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*") or "unknown"


def provenance(command=None):
    """command: what was typed, if it is not this program with its arguments. The version of PyTorch is that of a program that uses it."""
    gpus = said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    device, driver = gpus[0].split(", ") if gpus and gpus[0].count(", ") == 1 else ("unknown", "unknown")
    cuda = said("nvcc", "--version").partition("release ")[2].partition(",")[0]
    fields = {"device": device, "driver": driver, "cuda": cuda}
    if torch := sys.modules.get("torch"):
        fields |= {"torch": torch.__version__, "cuda": torch.version.cuda}
    typed = command or " ".join(["python3", f"bench/{pathlib.Path(sys.argv[0]).name}", *sys.argv[1:]])
    return fields | {"commit": commit(), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "command": typed}
