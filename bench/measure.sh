#!/usr/bin/env bash
# Everything that results/ holds of one GPU: tests, sanitizer, benches, baselines. usage: bench/measure.sh OUT [STEP...]
# Needs a finished build (make gpu-code); PyTorch only for the steps torch*. Compiles nothing.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$1; shift
steps=${*:-tests large fuzz sanitizer_copy sanitizer bench squares small gemm counters latency torch torch_squares}
copies=$(echo suites/wild.json suites/permute/*.json | tr " " ,)
mkdir -p "$out"
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64  # where cuBLAS lies on a machine that did not build
status=0
# What a step prints is kept where it is the result: tests, sanitizer, calibration. Progress, on stderr, is shown and not
# kept; sources are named from the root of the project, wherever it was built.
kept() { "${@:2}" | sed -E 's#(^|[ (])/[^ ]*/((tests|lab|src)/)#\1\2#' | tee -a "$out/$1.txt"; return "${PIPESTATUS[0]}"; }
for step in $steps; do
  echo "== $step"
  case $step in
    tests)
      kept tests build/tests/test_gpu --gtest_brief=1 && kept tests build/tests/test_copy_gpu --gtest_brief=1 &&
        kept tests build/tests/test_gemm_gpu --gtest_brief=1 ;;
    large)  # more than 2^31 elements, and more than 2^31 bytes at odd sizes
      kept tests build/inlay verify --rows 65537 --cols 40009 --elem 1 &&
        kept tests build/inlay verify --rows 65536 --cols 40064 --elem 1 &&
        kept tests build/inlay verify --rows 40000 --cols 60000 --elem 4 ;;
    fuzz)  # ten minutes of each kind, side by side
      for kind in copy transpose gemm; do kept "fuzz_$kind" build/inlay fuzz "$kind" --seconds "${FUZZ_SECONDS:-600}" --seed "${FUZZ_SEED:-1}" & done
      failed=0; for kind in 1 2 3; do wait -n || failed=1; done; [ $failed = 0 ] ;;
    sanitizer_copy)  # copies of every kind, drawn ones too, whose plans run at other addresses
      for tool in memcheck racecheck synccheck initcheck; do
        for of in "verify copy_ transpose_ --rows 208 --cols 144" "verify copy_ transpose_ --rows 61 --cols 149 --batch 2" \
                  "fuzz copy --cases 1500" "fuzz transpose --cases 700"; do
          kept sanitizer_copy echo "##### $tool: inlay $of"
          [ "${of#verify}" = "$of" ] || of="verify $(build/inlay list | grep -oE '^(copy|transpose)_[a-z0-9_]*' | tr '\n' ' ') ${of#verify copy_ transpose_}"
          kept sanitizer_copy compute-sanitizer --tool "$tool" --error-exitcode 9 build/inlay $of || status=1
        done
      done ;;
    sanitizer)
      sanitize() { kept sanitizer compute-sanitizer --tool "$tool" --error-exitcode 9 build/inlay verify "$@" || status=1; }
      for tool in memcheck racecheck synccheck initcheck; do
        sanitize --rows 208 --cols 144
        sanitize --rows 61 --cols 149 --batch 2
        sanitize transpose_realigned transpose_06 --rows 301 --cols 523 --pitch 527 --pitch-dst 303 --base-src 3 --base-dst 1
        for transposes in "n n" "n t" "t n" "t t"; do
          steps=$(build/inlay list | grep -o '^sgemm_[a-z0-9_]*')
          # racecheck cannot follow a lane that arrives for its warp, as sgemm_tma_transposing does where it transposes B (docs/log.md)
          [ "$tool $transposes" = "racecheck t t" ] && steps=$(grep -v sgemm_tma_transposing <<<"$steps")
          sanitize $steps --m 132 --n 268 --k 300 --transa ${transposes% *} --transb ${transposes#* }
        done
        for small in "--rows 4 --cols 4 --batch 999" "--rows 1003 --cols 3" "--rows 3 --cols 1003" "--rows 7 --cols 5 --batch 333"; do
          sanitize transpose_batched $small
        done
      done ;;
    gemm) build/inlay bench gemm --suite ladder,squares,odd,shapes --host --json "$out/sgemm.json" ;;
    accurate)  # fp32 GEMMs by slices: sustained, and errors
      squares=$(for n in 1024 2048 4096 8192 16384 4095 4097 8191; do echo -n "${n}x${n}x$n:nt,"; done)
      others=$(for n in 2048 4096 8192; do for t in nn tn tt; do echo -n "${n}x${n}x$n:$t,"; done; done)
      depths=$(for K in 16 64 128 512 4096 16384; do echo -n "1024x1024x$K:nt,"; done)
      fp32="--kernels gemm gemm_split_safe gemm_split_fast"
      build/inlay bench gemm $fp32 --sustained --cases "$squares${others%,}" --json "$out/accurate.json" &&
        build/inlay bench gemm $fp32 --errors --cases "${depths%,}" --json "$out/accurate_errors.json" &&
        build/inlay bench gemm --suite sgemm_tc --errors normal,uniform --json "$out/sgemm_tc.json" &&
        build/bench/packed_b > "$out/packed_b.txt" ;;
    counters)  # of Nsight Compute
      kept calibration python3 bench/counters.py calibrate --program build/tests/calibration &&
        python3 bench/counters.py measure --out "$out/counters_raw.json" &&
        python3 bench/counters.py join "$out/counters_raw.json" --out "$out/counters.json" &&
        python3 bench/counters.py check "$out/counters.json" ;;
    bench) build/inlay bench transpose --suite 2d --host --json "$out/transpose.json" ;;
    small)  # for the time model
      build/inlay bench transpose --suite small --json "$out/small.json" &&
        build/inlay bench gemm --suite small --json "$out/small_gemms.json" ;;
    blind)  # what suites/ draws by a seed, for bench/model_error.py
      build/inlay bench transpose --suite blind --json "$out/blind_copies.json" &&
        build/inlay bench gemm --suite blind --json "$out/blind_gemms.json" ;;
    lists) build/bench/lists > "$out/lists.json" ;;
    latency) build/bench/latency | tee "$out/latency.md" ;;
    copy) build/inlay bench copy --suite "$copies" --kernels copy --json "$out/copy.json" ;;
    copy_cases) build/inlay bench copy --suite suites/copy_cases.json --kernels copy --json "$out/copy_cases.json" ;;
    python)  # the tests of the Python package that is installed, what its calls cost, and shapes that people have
      python3 -m unittest discover -s tests/python -p 'test_*.py' && python3 bench/python_calls.py --host build/bench/host --json "$out/python_calls.json" &&
        python3 bench/python_shapes.py --json "$out/python.json" ;;
    regret)  # every candidate forced on every case
      build/inlay bench copy --suite "$copies" --kernels production --json "$out/regret.json" && python3 bench/regret.py "$out/regret.json" ;;
    judge)  # what no constant was fitted on
      build/inlay bench copy --suite suites/copy/judge.json --kernels copy --json "$out/judge_copy.json" &&
        build/inlay bench gemm --suite judge --kernels gemm gemm_no_workspace gemm_split_safe gemm_split_fast --json "$out/judge_gemm.json" ;;
    judge_torch) python3 bench/torch_copy.py suites/copy/judge.json --json "$out/judge_torch.json" ;;
    torch_copy) python3 bench/torch_copy.py suites/permute/*.json suites/wild.json --json "$out/torch_copy.json" ;;
    squares) build/inlay bench transpose --suite squares --host --json "$out/squares.json" ;;
    torch) python3 bench/torch_transpose.py --suite 2d --json "$out/torch.json" ;;
    torch_squares) python3 bench/torch_transpose.py --suite squares --host --json "$out/torch_squares.json" ;;
    *) echo "measure.sh: there is no step '$step'" >&2; false ;;
  esac || { echo "step $step failed" >&2; status=1; }
done
exit $status
