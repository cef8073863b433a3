// What the demo and the report share.
#pragma once
#include <string>

#include "problems/problem.h"
#include "verify/replay_check.h"

namespace inlay::lab {

// Where a kernel is shown: its check result comes from a size that fits no tile, its counts from one that fits them all, its time
// from what is measured.
template <class C>
struct Shown {
  C ragged, full, measured;
};
Shown<TransposeCase> shown_cases(Entry<Copy> const& entry);
Shown<GemmCase> shown_cases(Entry<Gemm> const& entry);

// In one or two words; what failed is told by `inlay verify`.
std::string short_check_result(Replayed const& ragged, Replayed const& full);

}  // namespace inlay::lab
