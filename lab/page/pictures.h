// The pictures of a kernel.
#pragma once
#include <inlay/registry/registry.h>

#include <optional>
#include <string>
#include <vector>

#include "problems/problem.h"

namespace inlay::lab::page {

struct Picture {
  std::string caption, svg;  // which has no style of its own
};

// A problem that is small enough to be seen, and that the kernel takes.
std::optional<TransposeCase> small_case(Entry<Copy> const& entry);
std::optional<GemmCase> small_case(Entry<Gemm> const& entry);

// Its way through memory, the request that costs most beyond its ideal, the stages of its pipeline: those that there are.
std::vector<Picture> pictures_of(Entry<Copy> const& entry, TransposeCase const& small);
std::vector<Picture> pictures_of(Entry<Gemm> const& entry, GemmCase const& small);

// What all of them need once.
std::string picture_style();

}  // namespace inlay::lab::page
