// `inlay demo`: the ladders on one screen, and the path of a report that explains each step.
#pragma once
#include <filesystem>
#include <string>

#include "problems/problem.h"
#include "verify/replay_check.h"

namespace inlay::lab {

std::string demo_screen();

// `file` if it is not empty; otherwise report.html beside the program, or in the working directory if the program is
// installed or its folder is not writable.
std::filesystem::path demo_report(std::string const& file);

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
