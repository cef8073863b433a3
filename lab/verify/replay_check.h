// A variant replayed on the CPU, thread by thread, with every check.
#pragma once
#include <inlay/registry/registry.h>

#include <string>

#include "problems/problems.h"

namespace inlay::lab {

struct Replayed {
  std::string verdict;  // "ok", "rejected: ...", "FAILED: ..."
  Counts counts;        // of the replay
  bool failed() const { return verdict.starts_with("FAILED"); }
};

// Throw UsageError for problems that would take too long. Where a recorder is given, it keeps what it recorded.
Replayed replay_on_cpu(Entry<Move> const& entry, Case const& c, Recorder& recorder);
Replayed replay_on_cpu(Entry<Gemm> const& entry, GemmCase const& c, Recorder& recorder);
template <class P, class C>
Replayed replay_on_cpu(Entry<P> const& entry, C const& c) {
  Recorder recorder;
  return replay_on_cpu(entry, c, recorder);
}

}  // namespace inlay::lab
