# One kernel file is one variant. From its name come a launching unit (nvcc), a replaying unit (g++) and a line of the
# registry; kernels of one family share a unit, four at most, since a unit's headers cost more than a kernel.
set(INLAY_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(INLAY_KERNELS_PER_UNIT 4)

# Writes only what changed, so that nothing is rebuilt for a look.
function(inlay_write path content)
  file(CONFIGURE OUTPUT ${path} CONTENT "${content}" @ONLY)
endfunction()

# inlay_kernel_units(PROBLEM VERB...): the problem's type is its name capitalised.
function(inlay_kernel_units problem)
  string(SUBSTRING ${problem} 0 1 first)
  string(TOUPPER ${first} first)
  string(SUBSTRING ${problem} 1 -1 P)
  set(P ${first}${P})
  set(note "// Written by cmake/InlayKernels.cmake from the names in src/kernels.\n")

  set(stems)
  foreach(verb IN LISTS ARGN)
    file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/kernels
         ${PROJECT_SOURCE_DIR}/src/kernels/${verb}_[0-9][0-9]_*.h)
    list(APPEND stems ${files})
  endforeach()
  list(TRANSFORM stems REPLACE "\\.h$" "")
  list(SORT stems)

  # The family is the last family header that a kernel includes.
  set(families)
  foreach(stem IN LISTS stems)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/kernels/${stem}.h includes REGEX "#include \"kernels/")
    if(NOT includes)
      message(FATAL_ERROR "src/kernels/${stem}.h includes no family header (kernels/tile_grid.h at least).")
    endif()
    list(GET includes -1 family)
    string(REGEX REPLACE ".*kernels/(.*)\\.h\"" "\\1" family "${family}")
    list(APPEND families ${family})
    list(APPEND of_${family} ${stem})
  endforeach()
  list(REMOVE_DUPLICATES families)

  set(run_units)
  set(replay_units)
  foreach(family IN LISTS families)
    list(LENGTH of_${family} all)
    math(EXPR last "(${all} - 1) / ${INLAY_KERNELS_PER_UNIT}")
    math(EXPR share "(${all} + ${last}) / (${last} + 1)")  # even shares
    foreach(n RANGE ${last})
      math(EXPR first "${n} * ${share}")
      list(SUBLIST of_${family} ${first} ${share} chunk)
      set(includes)
      set(runs)
      set(replays)
      foreach(stem IN LISTS chunk)
        string(APPEND includes "#include \"kernels/${stem}.h\"\n")
        string(APPEND runs "void ${stem}::run(${P} const& problem, Device const& device, void* workspace, cudaStream_t stream) {\n"
                           "  launch_${problem}<${stem}::Kernel>(problem, device, workspace, stream);\n}\n")
        string(APPEND replays "void ${stem}::replay(${P} const& problem, Recorder& recorder) {\n"
                              "  recorder.kernel = \"${stem}\";\n"
                              "  inlay::replay::replay_${problem}<${stem}::Kernel>(problem, recorder);\n}\n"
                              "void ${stem}::sample(${P} const& problem, Recorder& recorder) {\n"
                              "  recorder.kernel = \"${stem}\";\n"
                              "  inlay::replay::sample_${problem}<${stem}::Kernel>(problem, recorder);\n}\n")
      endforeach()
      set(unit ${INLAY_GENERATED}/${problem}_${family}_${n})
      inlay_write(${unit}_run.cu "${note}#include \"block/launch.h\"\n#include \"${problem}_variants.h\"\n${includes}\nnamespace inlay::kernels {\n${runs}}  // namespace inlay::kernels\n")
      inlay_write(${unit}_replay.cpp "${note}#include \"replay/host_block.h\"\n#include \"${problem}_variants.h\"\n${includes}\nnamespace inlay::kernels {\n${replays}}  // namespace inlay::kernels\n")
      list(APPEND run_units ${unit}_run.cu)
      list(APPEND replay_units ${unit}_replay.cpp)
    endforeach()
  endforeach()

  # Facts, the registry and the declarations.
  set(includes)
  set(declared)
  set(variants)
  set(entries)
  set(stubs)
  foreach(stem IN LISTS stems)
    string(APPEND includes "#include \"kernels/${stem}.h\"\n")
    string(APPEND declared "namespace ${stem} {\nextern Info<${P}> const* const facts;\n"
                           "void run(${P} const&, Device const&, void* workspace, cudaStream_t);\n"
                           "void replay(${P} const&, Recorder&);\n"
                           "void sample(${P} const&, Recorder&);\n}\n")
    string(APPEND variants "Info<${P}> const* const ${stem}::facts = &${stem}::info;\n")
    string(APPEND entries "      {{kernels::${stem}::facts, kernels::${stem}::run}, kernels::${stem}::replay,\n       kernels::${stem}::sample},\n")
    string(APPEND stubs "void ${stem}::run(${P} const&, Device const&, void*, cudaStream_t) {\n"
                        "  throw Error(\"${stem} cannot be launched: this build was made without nvcc\");\n}\n")
  endforeach()
  if(INLAY_NVCC)
    set(stubs)
  endif()
  inlay_write(${INLAY_GENERATED}/${problem}_variants.h
    "${note}#pragma once\n#include \"plan/variant.h\"\n\nnamespace inlay {\nclass Recorder;\n}\nnamespace inlay::kernels {\n${declared}}  // namespace inlay::kernels\n")
  inlay_write(${INLAY_GENERATED}/${problem}_info.cpp
    "${note}#include \"${problem}_variants.h\"\n${includes}\nnamespace inlay::kernels {\n${variants}${stubs}}  // namespace inlay::kernels\n")
  inlay_write(${INLAY_GENERATED}/${problem}_registry.cpp
    "${note}#include \"replay/registry.h\"\n#include \"${problem}_variants.h\"\n\nnamespace inlay {\nstd::span<Entry<${P}> const> ${problem}_variants() {\n  static Entry<${P}> const entries[] = {\n${entries}  };\n  return entries;\n}\n}  // namespace inlay\n")
  list(APPEND INLAY_STEMS ${stems})
  list(APPEND INLAY_RUN_UNITS ${run_units})
  list(APPEND INLAY_REPLAY_UNITS ${replay_units})
  list(APPEND INLAY_INFO_UNITS ${INLAY_GENERATED}/${problem}_info.cpp)
  list(APPEND INLAY_REGISTRY ${INLAY_GENERATED}/${problem}_registry.cpp)
  return(PROPAGATE INLAY_STEMS INLAY_RUN_UNITS INLAY_REPLAY_UNITS INLAY_INFO_UNITS INLAY_REGISTRY)
endfunction()
