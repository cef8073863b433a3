"""Wraps the package of a build in a wheel, installs that in a fresh virtual environment, and runs the tests of tests/python there.

usage: python_package.py ROOT BUILD
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

root, build = (pathlib.Path(p).resolve() for p in sys.argv[1:3])


def run(*words, **more):
    subprocess.run([str(w) for w in words], check=True, **more)


with tempfile.TemporaryDirectory() as folder:
    here = pathlib.Path(folder)
    pip = [root / ".venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    path = {"PATH": f"{root / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"}
    run(*pip, "wheel", root, "--no-build-isolation", "--no-deps", "--wheel-dir", here,
        "--config-settings=cmake.source-dir=python/prebuilt", f"--config-settings=build-dir={here / 'build'}",
        f"--config-settings=cmake.define.INLAY_BUILD={build}", env=os.environ | path)
    (wheel,) = here.glob("*.whl")
    names = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    assert all(n.startswith("inlay/") for n in names), names
    assert {"inlay/__init__.py", "inlay/py.typed", "inlay/libinlay_lab.so"} <= names, names
    has_gpu_functions = any("_inlay" in n for n in names)
    assert has_gpu_functions == any("libinlay.so" in n for n in names), names
    assert "-cp310-abi3-" in wheel.name, wheel.name
    for library, exported in (("python/libinlay_lab.so", {"inlay_lab"}), ("python/_inlay.abi3.so", {"PyInit__inlay"})):
        if (build / library).exists():
            listed = subprocess.run(["nm", "-D", "--defined-only", build / library], check=True, capture_output=True, text=True)
            found = {line.split()[-1] for line in listed.stdout.splitlines() if " T " in line}
            assert found == exported, (library, found)
    # Loaded where there is no CUDA toolkit: its name would stand among the libraries that it needs.
    assert b"libcublas" not in (build / "python/libinlay_lab.so").read_bytes(), "libinlay_lab.so needs cuBLAS"

    run(sys.executable, "-m", "venv", "--without-pip", here / "venv")
    python = here / "venv/bin/python"
    run(*pip, "--python", python, "install", "--no-index", "--no-deps", wheel)
    run(python, "-m", "unittest", "discover", "--start-directory", root / "tests/python", "--pattern", "test_*.py",
        cwd=here, env=os.environ | {"INLAY_HAS_GPU_FUNCTIONS": str(int(has_gpu_functions))})
