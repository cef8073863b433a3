#!/usr/bin/env bash
# Everything that results/ holds of one GPU: tests, sanitizer, benches, peers. usage: bench/measure.sh OUT [STEP...]
# Needs a finished build (with the target tiles); PyTorch only for the step torch. Compiles nothing.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$1; shift
steps=${*:-tests large sanitizer bench tiles torch}
mkdir -p "$out"
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64  # where cuBLAS lies on a machine that did not build
cases=32768x32768:4,16384x16384:4,16384x16384:8,16384x16384:16,8192x8192:4,1024x1024:4,10007x10009:4
status=0
for step in $steps; do
  echo "== $step"
  case $step in
    tests) build/tests/test_gpu --gtest_brief=1 ;;
    large)  # more than 2^31 elements, and more than 2^31 bytes at odd sizes
      build/inlay verify --rows 65537 --cols 40009 --elem 1 && build/inlay verify --rows 65536 --cols 40064 --elem 1 &&
        build/inlay verify --rows 40000 --cols 60000 --elem 4 ;;
    sanitizer)
      for tool in memcheck racecheck; do
        compute-sanitizer --tool $tool --error-exitcode 9 build/inlay verify --rows 208 --cols 144 || status=1
        compute-sanitizer --tool $tool --error-exitcode 9 build/inlay verify --rows 61 --cols 149 --batch 2 || status=1
      done ;;
    bench) build/inlay bench transpose --cases $cases --json "$out/transpose.json" ;;
    tiles) build/bench/tiles | tee "$out/tiles.md" ;;
    torch) python3 bench/torch_transpose.py --cases $cases --json "$out/torch.json" ;;
    *) echo "measure.sh: there is no step '$step'" >&2; false ;;
  esac || { echo "step $step failed" >&2; status=1; }
done
exit $status
