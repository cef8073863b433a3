"""The lab's command line: every command runs, every mistake is one sentence and exit code 2. usage: lab_command_line.py INLAY"""
import json
import shutil
import subprocess
import sys

inlay = sys.argv[1]
failed = []


def run(*arguments):
    done = subprocess.run([inlay, *arguments], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def expect(code, *arguments, out="", err=""):
    """Runs a command; `out` and `err` must occur in what it prints."""
    got, stdout, stderr = run(*arguments)
    sentence = stderr.strip()
    if got != code or out not in stdout or err not in stderr or (code == 2 and (stdout or "\n" in sentence or not sentence)):
        failed.append(f"inlay {' '.join(arguments)}: exit {got}\n{stdout[-400:]}\n{stderr[-400:]}")
    return stdout


names = [v["name"] for v in json.loads(expect(0, "list", "--json"))]
ladder = [n for n in names if n.startswith("transpose")]
if len(ladder) < 11 or names != sorted(names):
    failed.append(f"list: {names}")
expect(0, "list", out="transpose_06_smem_swizzled")
expect(0, "info")
expect(0, "verify", "--cpu", "transpose_06_smem_swizzled", "copy_01", "--rows", "37", "--cols", "41", out="ok")
expect(0, "verify", "--cpu", "transpose_09", "--rows", "37", "--cols", "41", "--elem", "4", out="rejected: rows of 164 bytes")
expect(0, "why", "transpose", "--rows", "4096", "--cols", "1024", out="chosen: transpose_")
expect(0, "demo", out="transpose_03_smem_read_conflict")

expect(2, "verify", "transpose_6", err="did you mean")
expect(2, "verify", "--elem", "3", err="3")
expect(2, "verify", "--rows", "-5", err="-5")
expect(2, "verify", "--cols", "many")
expect(2, "verify", "--cols", "100", "--pitch", "50", err="50")
expect(2, "bench", "transpose", "--colour", "red", err="--colour")
expect(2, "nonsense", err="nonsense")
if not shutil.which("nvidia-smi"):  # no GPU here
    expect(2, "bench", "transpose", err="GPU")
else:
    expect(2, "bench", "transpose", "--rows", "1000000", "--cols", "1000000", err="bytes")

print("\n\n".join(failed) or "every command answers as it should")
sys.exit(bool(failed))
