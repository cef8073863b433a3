# One kernel file is one variant. From its name, and from what its `info` says (.family, .ptxas), come a launching unit
# (nvcc), a replaying unit (g++) and a line of the registry. Families with the same compiler options share units: what their
# kernels instantiate of CuTe is most of a compilation, and kernels in one unit share it (8 kernels: 65 s, in three units 114).
set(INLAY_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(INLAY_KERNELS_PER_UNIT 10)

# Headers of a room are included as <inlay/ROOM/...> here, as they are where they are installed.
set(INLAY_ROOMS problem plan block kernels replay registry explain)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/rooms/inlay)
foreach(room IN LISTS INLAY_ROOMS)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${room} ${PROJECT_BINARY_DIR}/rooms/inlay/${room} SYMBOLIC)
endforeach()

# Writes only what changed, so that nothing is rebuilt for a look.
function(inlay_write path content)
  file(CONFIGURE OUTPUT ${path} CONTENT "${content}" @ONLY)
endfunction()

# What a kernel file says of itself in `.field = "..."`; empty if nothing.
function(inlay_info file field result)
  file(STRINGS ${file} line REGEX "^ *\\.${field} = \"")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" value "${line}")
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# inlay_kernel_units(TYPE VARIANT FOLDER SAMPLES VERB...)
#   TYPE      the problem's type; files and functions have its name in lower case
#   VARIANT   what makes a variant of a file's Kernel: ByElement, or nothing; of a verb of its own where that says VERB=VARIANT
#   FOLDER    of src/kernels
#   SAMPLES   the header of parts/ that says how blocks are sampled, where a family has none; none: kernels have no replay
function(inlay_kernel_units P variant folder samples)
  string(TOLOWER ${P} problem)
  set(note "// Written by cmake/InlayKernels.cmake from the files in src/kernels/${folder}.\n")
  set(from ${PROJECT_SOURCE_DIR}/src/kernels/${folder})

  set(stems)
  foreach(verb IN LISTS ARGN)
    string(REGEX MATCH "=(.*)" own "${verb}")
    set(own "${CMAKE_MATCH_1}")
    string(REGEX REPLACE "=.*" "" verb "${verb}")
    set(variant_of_${verb} "${variant}")
    if(own)
      set(variant_of_${verb} ${own})
    endif()
    file(GLOB files CONFIGURE_DEPENDS RELATIVE ${from} ${from}/${verb}_[0-9][0-9]_*.h)
    list(APPEND stems ${files})
  endforeach()
  list(TRANSFORM stems REPLACE "\\.h$" "")
  list(SORT stems)

  set(families)
  foreach(stem IN LISTS stems)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${from}/${stem}.h)
    inlay_info(${from}/${stem}.h family family)
    if(NOT family)
      message(FATAL_ERROR "src/kernels/${folder}/${stem}.h has no line .family = \"...\" in its info.")
    endif()
    list(APPEND families ${family})
    list(APPEND of_${family} ${stem})
  endforeach()
  list(REMOVE_DUPLICATES families)

  # Units: families one after the other, as long as their options are the same and the unit has room. Those that need Hopper
  # are apart, so that the other units compile for any GPU.
  set(units)
  set(number -1)
  foreach(family IN LISTS families)
    list(GET of_${family} 0 stem)
    inlay_info(${from}/${stem}.h ptxas ptxas)
    set(hopper FALSE)
    if(family MATCHES "^(tma_tile|ring|cluster)$")
      set(hopper TRUE)
    endif()
    list(LENGTH of_${family} all)
    set(filled 0)
    if(number GREATER_EQUAL 0)
      list(LENGTH unit_${number} filled)
    endif()
    math(EXPR filled "${filled} + ${all}")
    if(number LESS 0 OR filled GREATER INLAY_KERNELS_PER_UNIT OR NOT "${ptxas}" STREQUAL "${ptxas_${number}}" OR
       NOT hopper STREQUAL hopper_${number})
      math(EXPR number "${number} + 1")
      list(APPEND units ${number})
      set(unit_${number})
      set(samplings_${number})
      set(ptxas_${number} "${ptxas}")
      set(hopper_${number} ${hopper})
    endif()
    list(APPEND unit_${number} ${of_${family}})
    set(sampling ${folder}/${family}_samples.h)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/src/kernels/${sampling})
      set(sampling parts/${samples})
    endif()
    list(APPEND samplings_${number} ${sampling})
  endforeach()

  set(usings "using namespace problem;\nusing namespace planning;\n")
  set(run_units)
  set(replay_units)
  foreach(number IN LISTS units)
    set(includes)
    set(runs)
    set(replays)
    foreach(stem IN LISTS unit_${number})
      set(V ${stem}::Kernel)
      string(REGEX MATCH "^[a-z]+" verb ${stem})
      if(variant_of_${verb})
        set(V ${variant_of_${verb}}<${stem}::Kernel>)
      endif()
      string(APPEND includes "#include <inlay/kernels/${folder}/${stem}.h>\n")
      string(APPEND runs "void ${stem}::run(${P} const& problem, Device const& device, void* workspace, cudaStream_t stream) {\n"
                         "  launch_variant<${V}>(problem, device, workspace, stream);\n}\n"
                         "void ${stem}::prepare(${P} const& problem, Device const& device, void* workspace) {\n"
                         "  prepare_variant<${V}>(problem, device, workspace);\n}\n")
      foreach(how "replay_variant<${V}>(problem, device, recorder, info.chain)" "sample_variant<${V}>(problem, device, recorder)")
        string(REGEX MATCH "^[a-z]+" verb ${how})
        string(APPEND replays "void ${stem}::${verb}(${P} const& problem, Device const& device, Recorder& recorder) {\n"
                              "  recorder.kernel = \"${stem}\";\n"
                              "  registry::${how};\n}\n")
      endforeach()
    endforeach()
    string(REPLACE "-" "_" options "${ptxas_${number}}")  # a unit's name ends with the options of ptxas
    set(unit ${INLAY_GENERATED}/${problem}_${number}${options})
    inlay_write(${unit}_run.cu "${note}#include <inlay/kernels/parts/launch_variant.h>\n#include \"${problem}_variants.h\"\n${includes}\nnamespace inlay::kernels {\n${runs}}  // namespace inlay::kernels\n")
    list(APPEND run_units ${unit}_run.cu)
    if(NOT hopper_${number})
      list(APPEND INLAY_ANY_GPU_UNITS ${unit}_run.cu)
    endif()
    if(ptxas_${number})
      set_property(SOURCE ${unit}_run.cu PROPERTY COMPILE_OPTIONS "-Xptxas=${ptxas_${number}}")
    endif()
    if(samples)
      list(REMOVE_DUPLICATES samplings_${number})
      list(TRANSFORM samplings_${number} REPLACE "(.+)" "#include <inlay/kernels/\\1>\n")
      string(JOIN "" sampling ${samplings_${number}})
      inlay_write(${unit}_replay.cpp "${note}#include <inlay/registry/replay_variant.h>\n${sampling}#include \"${problem}_variants.h\"\n${includes}\nnamespace inlay::kernels {\n${replays}}  // namespace inlay::kernels\n")
      list(APPEND replay_units ${unit}_replay.cpp)
    endif()
  endforeach()

  # Facts, the registry and the declarations.
  set(includes)
  set(declared)
  set(facts)
  set(entries)
  set(stubs)
  foreach(stem IN LISTS stems)
    string(APPEND includes "#include <inlay/kernels/${folder}/${stem}.h>\n")
    # A predicted time, of those that have one: naming the others' does not compile.
    file(STRINGS ${from}/${stem}.h timed REGEX "^ *\\.seconds = ")
    set(seconds)
    if(timed)
      set(seconds "double predicted_seconds(${P} const&, Device const&);\n")
      string(APPEND facts "double ${stem}::predicted_seconds(${P} const& problem, Device const& device) { return info.seconds(problem, device); }\n")
    endif()
    string(APPEND declared "namespace ${stem} {\n${seconds}extern Info<${P}> const* const facts;\n"
                           "void run(${P} const&, Device const&, void* workspace, cudaStream_t);\n"
                           "void prepare(${P} const&, Device const&, void* workspace);\n"
                           "inline Variant<${P}> variant() { return {facts, run, prepare}; }\n"
                           "void replay(${P} const&, Device const&, Recorder&);\n"
                           "void sample(${P} const&, Device const&, Recorder&);\n}\n")
    string(APPEND facts "static_assert(is_complete(${stem}::info, \"${stem}\"));\n"
                        "Info<${P}> const* const ${stem}::facts = &${stem}::info;\n")
    string(APPEND entries "      {kernels::${stem}::variant(), kernels::${stem}::replay, kernels::${stem}::sample},\n")
    foreach(stub "run(${P} const&, Device const&, void*, cudaStream_t)" "prepare(${P} const&, Device const&, void*)")
      string(APPEND stubs "void ${stem}::${stub} {\n"
                          "  throw Error(\"${stem} cannot be launched: this build was made without nvcc\");\n}\n")
    endforeach()
  endforeach()
  if(INLAY_NVCC)
    set(stubs)
  endif()
  inlay_write(${INLAY_GENERATED}/${problem}_variants.h
    "${note}#pragma once\n#include <inlay/plan/variant.h>\n#include <inlay/problem/reduction.h>\n\nnamespace inlay::replay {\nclass Recorder;\n}\nnamespace inlay::kernels {\n${usings}using replay::Recorder;\n${declared}}  // namespace inlay::kernels\n")
  inlay_write(${INLAY_GENERATED}/${problem}_info.cpp
    "${note}#include \"${problem}_variants.h\"\n${includes}\nnamespace inlay::kernels {\n${facts}${stubs}}  // namespace inlay::kernels\n")
  if(samples)
    inlay_write(${INLAY_GENERATED}/${problem}_registry.cpp
      "${note}#include <inlay/registry/registry.h>\n#include \"${problem}_variants.h\"\n\nnamespace inlay::registry {\nstd::span<Entry<${P}> const> ${problem}_variants() {\n  static Entry<${P}> const entries[] = {\n${entries}  };\n  return entries;\n}\n}  // namespace inlay::registry\n")
    list(APPEND INLAY_REGISTRY ${INLAY_GENERATED}/${problem}_registry.cpp)
  endif()
  list(APPEND INLAY_RUN_UNITS ${run_units})
  list(APPEND INLAY_REPLAY_UNITS ${replay_units})
  list(APPEND INLAY_INFO_UNITS ${INLAY_GENERATED}/${problem}_info.cpp)
  return(PROPAGATE INLAY_RUN_UNITS INLAY_ANY_GPU_UNITS INLAY_REPLAY_UNITS INLAY_INFO_UNITS INLAY_REGISTRY)
endfunction()
