// Checks and measures redistributions between the GPUs of this host, which store to each other's memory without NCCL.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "problems/sharded_case.h"

namespace inlay::lab {

struct Redistributed {
  ShardedCase problem;
  int ranks = 0;
  double wrong = 0;  // elements, of the launched and the captured calls together
  double bytes_to_others = 0;
  double us = 0, captured_us = 0,
         engine_us = 0;  // medians of the slowest rank; the copy engine moves the bytes for others
  double predicted_us = 0;
};

// "2 x NVIDIA H200", or "2 ranks on one NVIDIA H200".
std::string redistribution_devices();

// Runs the cases on all GPUs, a rank each, or two ranks on the only one, and calls `done` after each. Throws UsageError
// for GPUs without peer access or memory for the cases.
void redistribute_on_gpus(std::vector<ShardedCase> const& cases, std::function<void(Redistributed const&)> const& done);
// The same without measuring, and `rounds` rounds of each that are not synchronised; `wrong` is of all of them.
void check_redistributions(std::vector<ShardedCase> const& cases, int rounds,
                           std::function<void(Redistributed const&)> const& done);

}  // namespace inlay::lab
