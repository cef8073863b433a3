# Installs inlay, then configures, builds and runs a project that replays a kernel of its own: the kernel is right, and each
# of the mistakes planted in it is found by the check that is for it.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${said}")
  endif()
endfunction()
set(work ${BUILD}/replay_consumer)
file(REMOVE_RECURSE ${work})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
set(configure ${CMAKE_COMMAND} -S ${SOURCE}/tests/replay_consumer -B ${work}/build -G Ninja -DCMAKE_BUILD_TYPE=Release
              -DCMAKE_PREFIX_PATH=${work}/prefix)
step(${configure})
step(${CMAKE_COMMAND} --build ${work}/build)

# replays(KERNEL CODE LINE...): the exit code, and what it must say.
function(replays kernel code)
  execute_process(COMMAND ${work}/build/row_sums ${kernel} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  file(WRITE ${work}/printed/${kernel}.txt "${said}")
  if(NOT status EQUAL code)
    message(SEND_ERROR "${kernel}: exit code ${status}\n${said}")
  endif()
  foreach(line IN LISTS ARGN)
    if(NOT said MATCHES "${line}")
      message(SEND_ERROR "${kernel}: no '${line}' in\n${said}")
    endif()
  endforeach()
endfunction()
set(free "shared tile load[^\n]* 1.00 +1.00  wavefronts\n")
replays(row_sums 0 "^row_sums: ok\n" "in load[^\n]* sectors +100.0 %\n" ${free})
replays(race 1 "  race: row_sums, block 0, thread [0-9]+: writes shared tile[^\n]*since the last barrier" ${free})
replays(deadlock 1 "  deadlock: row_sums, block 0: threads 0-31 wait for barrier 1 of line [0-9]+ .32 of 256 arrived.")
replays(conflict 0 "^row_sums: ok\n" "shared tile load[^\n]* 32.00 +1.00  wavefronts\n" "pad rows by 4 bytes, or Swizzle<5,0,5>")

# What docs/03_writing_a_kernel.md shows of this.
step(${PYTHON} ${SOURCE}/tests/quoted_code.py ${SOURCE} --printed ${work}/printed)

# The same kernel.h for a GPU; run where there is one.
if(NVCC)
  step(${configure} -DROW_SUMS_GPU=ON -DCMAKE_CUDA_COMPILER=${NVCC} -DCMAKE_CUDA_ARCHITECTURES=${ARCH})
  step(${CMAKE_COMMAND} --build ${work}/build --target row_sums_gpu)
  execute_process(COMMAND ${work}/build/row_sums_gpu RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT said MATCHES "^(0 of 1000 rows are wrong|no CUDA-capable device|CUDA driver version is insufficient)")
    message(FATAL_ERROR "row_sums_gpu: exit code ${status}\n${said}")
  endif()
endif()
