// `inlay demo`, and the first screen of a build: the ladders, replayed.
#pragma once
#include <span>
#include <string>

#include "problems/problem.h"
#include "verify/replay_check.h"

namespace inlay::lab {

std::string demo_screen(std::span<Entry<Copy> const> copies, std::span<Entry<Gemm> const> gemms);

// The cases at which the demo and the report show a kernel.
template <class C>
struct Shown {
  C ragged;    // a multiple of no tile, for the check result
  C full;      // a multiple of all tiles, for the counts
  C measured;  // for the recorded time
};
Shown<CopyCase> shown_cases(Entry<Copy> const& entry);
Shown<GemmCase> shown_cases(Entry<Gemm> const& entry);

// "ok", "ok (aligned)" if the kernel rejects the ragged case, "rejected" or "FAILED".
std::string short_check_result(Replayed const& ragged, Replayed const& full);

}  // namespace inlay::lab
