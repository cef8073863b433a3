// A variant replayed on the CPU, thread by thread, with every check.
#pragma once
#include <string>

#include "problems/kind.h"

namespace inlay::lab {

struct Replayed {
  std::string verdict;  // "ok", "rejected: ...", "FAILED: ..."
  Counts counts;        // of the replay
  bool ok() const { return verdict == "ok"; }
  bool failed() const { return verdict.starts_with("FAILED"); }
};

// Throws UsageError for a problem that would take too long.
void refuse_long_replay(std::vector<OperandBuffer> const& operands, double fma);
// What the checks said after a replay.
Replayed concluded(Recorder const& recorder);

// Throws UsageError for problems that would take too long. Where a recorder is given, it keeps what it recorded.
template <KindOf C>
Replayed replay_on_cpu(Entry<CanonicalOf<C>> const& entry, C const& c, Recorder& recorder) {
  auto const operands = Kind<C>::operands(c);
  refuse_long_replay(operands, Kind<C>::replayed_fma(c));
  std::vector<void*> addresses;
  for (OperandBuffer const& x : operands) {
    unsigned const seed = unsigned(addresses.size()) + 1;
    addresses.push_back(x.numbers ? recorder.allocate_integers(x.name, std::size_t(x.elements), seed)
                                  : recorder.allocate(x.name, x.bytes(), x.elem_bytes, seed));
  }
  auto const problem = Kind<C>::canonical(c, Kind<C>::exact(Kind<C>::call(c, addresses)), &entry.info());
  Device const device;
  if (Reason const reason = entry.info().rejects(problem, device)) return {"rejected: " + reason.sentence(), {}};
  recorder.allocate_workspace(entry.info().workspace(problem, device));
  entry.replay(problem, device, recorder);
  return concluded(recorder);
}
template <KindOf C>
Replayed replay_on_cpu(Entry<CanonicalOf<C>> const& entry, C const& c) {
  Recorder recorder;
  return replay_on_cpu(entry, c, recorder);
}

}  // namespace inlay::lab
