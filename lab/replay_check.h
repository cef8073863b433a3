// A variant replayed on the CPU, thread by thread, with every check.
#pragma once
#include <string>

#include "problems.h"
#include "replay/registry.h"

namespace inlay::lab {

struct Replayed {
  std::string verdict;  // "ok", "rejected: ...", "FAILED: ..."
  Cost cost;            // counted, not predicted
  bool failed() const { return verdict.starts_with("FAILED"); }
};

// Throw UsageError for problems that would take too long.
Replayed replay_on_cpu(Entry<Move> const& entry, Case const& c);
Replayed replay_on_cpu(Entry<Gemm> const& entry, GemmCase const& c);

}  // namespace inlay::lab
