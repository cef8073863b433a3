// The lab's own kinds of problem, for what lists all that there are.
#pragma once
#include <stdexcept>

#include "problems/copy_case.h"
#include "problems/gemm_case.h"
#include "problems/problem.h"
#include "problems/transpose_case.h"

namespace inlay::lab {

inline KindList const& own_kinds() {
  static KindList const kinds{&kAnyKind<CopyCase>, &kAnyKind<TransposeCase>, &kAnyKind<GemmCase>};
  return kinds;
}

// Calls f with the case itself.
template <class F>
auto with_case(Problem const& problem, F const& f) {
  if (auto const* c = problem.as<TransposeCase>()) return f(*c);
  if (auto const* c = problem.as<GemmCase>()) return f(*c);
  if (auto const* c = problem.as<CopyCase>()) return f(*c);
  throw std::logic_error("a problem of a kind that is not the lab's own");
}

}  // namespace inlay::lab
