// A variant replayed on the CPU, thread by thread, with every check.
#pragma once
#include <string>

#include "cases.h"
#include "replay/registry.h"

namespace inlay::lab {

struct Replayed {
  std::string verdict;  // "ok", "rejected: ...", "FAILED: ..."
  Cost cost;            // counted, not predicted
  bool failed() const { return verdict.starts_with("FAILED"); }
};

Replayed replay_on_cpu(Entry<Move> const& entry, Case const& c);

}  // namespace inlay::lab
