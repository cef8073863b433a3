# Lists of kernels (src/kernels/copy/kernels.def says what their lines mean) become compilation units: one for the GPU, one
# for the replay. Kernels of one section share a unit: what they instantiate of CuTe is most of a compilation (8 kernels in
# one unit: 65 s, in three: 114).
set(INLAY_GENERATED ${PROJECT_BINARY_DIR}/generated)

# Headers of a module are included as <inlay/MODULE/...>, here and where they are installed.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/modules/inlay)
foreach(module problem model block kernels planner replay registry explain)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${module} ${PROJECT_BINARY_DIR}/modules/inlay/${module} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/tutorial ${PROJECT_BINARY_DIR}/modules/inlay/tutorial SYMBOLIC)

# inlay_kernel_units(TYPE LIST SAMPLES)
#   TYPE     the problem's type: Copy, Gemm or Reduction
#   LIST     the list, relative to the project; its lines name headers of its folder
#   SAMPLES  the header, in <inlay/...>, that says how blocks are sampled; empty: the kernels are replayed as parts of others
# Appends to INLAY_RUN_UNITS and INLAY_REPLAY_UNITS of the library or, for a list of the tutorial, to INLAY_STEP_RUN_UNITS and
# INLAY_STEP_REPLAY_UNITS; and to INLAY_ANY_GPU_UNITS if the unit compiles for compute capability 8.0. Steps without GPU code are defined
# where they are replayed.
function(inlay_kernel_units type list samples)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${list})
  get_filename_component(folder ${list} DIRECTORY)
  string(REGEX REPLACE "^src/" "" folder ${folder})  # as in <inlay/...>
  string(REPLACE "/" "_" prefix ${folder})
  string(REGEX REPLACE "^kernels_" "" prefix ${prefix})
  set(role KERNEL)
  set(of "")
  set(on_gpu ${INLAY_NVCC})
  if(folder MATCHES "^tutorial")
    set(role STEP)
    set(of STEP_)
    set(on_gpu ${INLAY_GPU_STEPS})
  endif()
  file(STRINGS ${PROJECT_SOURCE_DIR}/${list} lines REGEX "^INLAY_")
  set(units)
  foreach(line IN LISTS lines)
    if(line MATCHES "^INLAY_UNIT\\(([a-z0-9_]+), \"(.*)\", ([0-9]+)\\)$")
      set(unit ${prefix}_${CMAKE_MATCH_1})
      if(NOT unit IN_LIST units)
        list(APPEND units ${unit})
      endif()
      set(ptxas_${unit} ${CMAKE_MATCH_2})
      set(arch_${unit} ${CMAKE_MATCH_3})
    elseif(line MATCHES "^INLAY_KERNEL\\(([a-z0-9_]+)\\)$")
      set(name ${CMAKE_MATCH_1})
      string(APPEND includes_${unit} "#include <inlay/${folder}/${name}.h>\n")
    elseif(line MATCHES "^INLAY_INSTANCE\\(([a-z0-9_]+), ([a-z0-9_]+), ([A-Za-z0-9_]+)\\)$")
      set(name ${CMAKE_MATCH_1})
      string(APPEND includes_${unit} "#include <inlay/${folder}/${CMAKE_MATCH_2}.h>\n")
      string(APPEND instances_${unit} "INLAY_DEFINE_INSTANCE(${name}, ${CMAKE_MATCH_2}, ${CMAKE_MATCH_3})\n")
    else()
      message(FATAL_ERROR "${list}: '${line}' is none of INLAY_UNIT(name, \"ptxas options\", arch), INLAY_KERNEL(name), "
                          "INLAY_INSTANCE(name, family, values)")
    endif()
    if(NOT line MATCHES "^INLAY_UNIT")
      string(APPEND runs_${unit} "INLAY_DEFINE_${role}(${type}, ${name})\n")
      string(APPEND replays_${unit} "INLAY_DEFINE_REPLAY(${type}, ${name})\n")
    endif()
  endforeach()

  set(note "// Written by cmake/InlayKernels.cmake from ${list}.\n")
  foreach(unit IN LISTS units)
    if(role STREQUAL "STEP" AND NOT on_gpu)
      string(PREPEND includes_${unit} "#include <inlay/kernels/common/launch_kernel.h>\n")
      string(APPEND replays_${unit} "${runs_${unit}}")
    endif()
    if(samples)
      set(content "${note}#include <inlay/registry/replay_kernel.h>\n#include <inlay/${samples}>\n${includes_${unit}}\n${instances_${unit}}${replays_${unit}}")
      file(CONFIGURE OUTPUT ${INLAY_GENERATED}/${unit}_replay.cpp CONTENT "${content}" @ONLY)  # written if it changed
      list(APPEND INLAY_${of}REPLAY_UNITS ${INLAY_GENERATED}/${unit}_replay.cpp)
    endif()
  endforeach()

  set(extension cu)
  if(NOT on_gpu AND role STREQUAL "STEP")
    set(units)
  elseif(NOT on_gpu)  # what each kernel says of itself, and no launches: one unit for all
    get_filename_component(stem ${list} NAME_WE)
    set(all ${prefix}_${stem}_all)
    foreach(unit IN LISTS units)
      string(APPEND includes_${all} "${includes_${unit}}")
      string(APPEND instances_${all} "${instances_${unit}}")
      string(APPEND runs_${all} "${runs_${unit}}")
    endforeach()
    set(units ${all})
    set(extension cpp)
  endif()
  foreach(unit IN LISTS units)
    set(run ${INLAY_GENERATED}/${unit}.${extension})
    set(content "${note}#include <inlay/kernels/common/launch_kernel.h>\n${includes_${unit}}\n${instances_${unit}}${runs_${unit}}")
    file(CONFIGURE OUTPUT ${run} CONTENT "${content}" @ONLY)
    list(APPEND INLAY_${of}RUN_UNITS ${run})
    if(on_gpu AND arch_${unit} LESS_EQUAL 80)
      list(APPEND INLAY_ANY_GPU_UNITS ${run})
    endif()
    if(on_gpu AND ptxas_${unit})
      set_property(SOURCE ${run} PROPERTY COMPILE_OPTIONS "-Xptxas=${ptxas_${unit}}")
    endif()
  endforeach()
  return(PROPAGATE INLAY_RUN_UNITS INLAY_REPLAY_UNITS INLAY_STEP_RUN_UNITS INLAY_STEP_REPLAY_UNITS INLAY_ANY_GPU_UNITS)
endfunction()

# What nvcc compiles: its PTX is kept, in which a test reads what each kernel accesses, and what ptxas says of it; and few units at a time,
# because one takes the device compiler up to 6 GB.
function(inlay_compile_kernels target)
  if(INLAY_NVCC)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--keep --keep-dir=${INLAY_PTX} -Xptxas=-v>)
    set_target_properties(${target} PROPERTIES JOB_POOL_COMPILE library CUDA_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/keep_ptxas.sh)
  endif()
endfunction()

# These sources of a target are compiled as one unit: what they include takes most of the time of each.
function(inlay_one_unit target name)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${name})
endfunction()
