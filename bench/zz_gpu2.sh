mkdir -p build/c/bin build/c/share/inlay; tar -C build/c/bin -xJf build/carry/bins.tar.xz; ln -sfn $PWD/suites build/c/share/inlay/suites; ln -sfn $PWD/results build/c/share/inlay/results
export LD_LIBRARY_PATH=$PWD/build/c/bin:/usr/local/cuda/lib64:$(python3 -c "import nvidia.cu13;print(list(nvidia.cu13.__path__)[0]+'/lib')")
timeout 200 build/c/bin/test_gemm_gpu --gtest_brief=1 --gtest_filter="*split*:*Slices*:GpuGemm.EveryCand*:GpuGemm.Mult*:GpuGemm.Epil*:GpuGemm.TheSameBitsOnEvery*" 2>&1 | cut -c1-220 | tail -30
timeout 60 build/c/bin/split_gemm errors > $OUT/errors.txt; echo rc $?; timeout 100 build/c/bin/split_gemm speed > $OUT/speed.txt; echo rc $?
for a in split_fast split_safe; do timeout 60 build/c/bin/inlay bench gemm --type f32 --accuracy $a --kernels gemm --cases 4096x4096x4096:nn,4096x4096x4096:tt,4096x4096x4096:tn,4096x4096x4096:nt,300x300x300:nn,2048x2048x64:nt 2>&1 | tail -14; done
compute-sanitizer --tool memcheck timeout 100 build/c/bin/test_gemm_gpu --gtest_brief=1 --gtest_filter="*split*" 2>&1 | tail -3
