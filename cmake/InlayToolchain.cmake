# CUDA: the compiler where there is one, else its headers alone (then kernels are replayed, not launched). scripts/setup
# looks in the same places and installs what is missing. CuTe: CUTLASS_DIR, else the pinned package.
file(GLOB site_packages ${PROJECT_SOURCE_DIR}/.venv/lib/python3.*/site-packages)
set(wheels "${site_packages}/nvidia/cu13")

option(INLAY_HEADERS_ONLY "Compile for the replay alone, with CUDA's headers, whatever nvcc is installed" OFF)

# Asked again in every configure run: a toolkit that arrives later makes a build with headers one with kernels.
unset(INLAY_NVCC)
foreach(candidate IN ITEMS "${CMAKE_CUDA_COMPILER}" "$ENV{CUDACXX}" "$ENV{CUDA_HOME}/bin/nvcc" "$ENV{CUDA_PATH}/bin/nvcc" nvcc
                           /usr/local/cuda/bin/nvcc "${wheels}/bin/nvcc")
  if(NOT candidate)
    continue()
  endif()
  find_program(found "${candidate}" NO_CACHE)
  if(found)
    execute_process(COMMAND ${found} --version OUTPUT_VARIABLE said ERROR_QUIET)
    if(said MATCHES "release ([0-9]+)" AND CMAKE_MATCH_1 GREATER_EQUAL 13)
      set(INLAY_NVCC ${found})
      break()
    endif()
    if(candidate STREQUAL CMAKE_CUDA_COMPILER)  # asked for by name: no other takes its place
      message(FATAL_ERROR "CMAKE_CUDA_COMPILER is ${found}, which is no nvcc of CUDA 13 or later.")
    endif()
  endif()
  unset(found)
endforeach()

set(INLAY_CUDA_INCLUDE "${wheels}/include")
if(INLAY_NVCC)
  get_filename_component(CUDAToolkit_ROOT ${INLAY_NVCC} DIRECTORY)
  get_filename_component(CUDAToolkit_ROOT ${CUDAToolkit_ROOT} DIRECTORY)
  if(INLAY_HEADERS_ONLY)
    set(INLAY_CUDA_INCLUDE "${CUDAToolkit_ROOT}/include")
    unset(INLAY_NVCC)
  endif()
endif()
if(INLAY_NVCC)
  set(CMAKE_CUDA_COMPILER ${INLAY_NVCC})
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90a)  # a Hopper GPU that is here, or none; any other that is here by its own number
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE said ERROR_QUIET)
    if(said MATCHES "^([0-9]+)\\.([0-9]+)" AND NOT CMAKE_MATCH_0 STREQUAL "9.0")
      set(CMAKE_CUDA_ARCHITECTURES ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    endif()
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  enable_language(CUDA)
  find_package(CUDAToolkit 13 REQUIRED)
  list(GET CUDAToolkit_INCLUDE_DIRS 0 INLAY_CUDA_INCLUDE)
elseif(NOT EXISTS "${INLAY_CUDA_INCLUDE}/cuda.h")
  message(FATAL_ERROR "There is neither nvcc of CUDA 13 nor CUDA's headers: run scripts/setup.")
endif()

set(cute_include "${site_packages}/cutlass_library/source/include")
if(DEFINED ENV{CUTLASS_DIR})
  set(cute_include "$ENV{CUTLASS_DIR}/include")
endif()
if(NOT EXISTS "${cute_include}/cute/tensor.hpp")
  message(FATAL_ERROR "CuTe's headers are not in ${cute_include}: run scripts/setup, or set CUTLASS_DIR.")
endif()

# -isystem: with -I, CUTLASS alone prints thousands of warnings. CUDA 13 keeps CCCL one folder down.
add_library(inlay_cute INTERFACE)
target_include_directories(inlay_cute SYSTEM INTERFACE ${cute_include} ${INLAY_CUDA_INCLUDE} ${INLAY_CUDA_INCLUDE}/cccl)
target_compile_options(inlay_cute INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)

add_library(inlay_warnings INTERFACE)
target_compile_options(inlay_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra>
                                                $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall;-Werror=all-warnings>)
