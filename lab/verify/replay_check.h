// Replays a kernel on the CPU, thread by thread, with every check.
#pragma once
#include <algorithm>
#include <string>

#include <inlay/model/traffic.h>
#include <inlay/registry/rounding.h>

#include "problems/case.h"

namespace inlay::lab {

using model::Counts, registry::Numbers;

struct Replayed {
  std::string check_result;  // "ok", "rejected: ...", "FAILED: ..."
  Counts counts;             // of the replay
  bool ok() const { return check_result == "ok"; }
  bool failed() const { return check_result.starts_with("FAILED"); }
};

void* filled(Recorder& recorder, OperandBuffer const& x, unsigned seed, Numbers numbers);

// Throws UsageError for a problem whose replay would take too long.
void refuse_long_replay(std::vector<OperandBuffer> const& operands, double fma);
// The check result and the counts of a finished replay.
Replayed concluded(Recorder const& recorder);

// Replays the kernel on the case. The recorder keeps the accesses. Throws as refuse_long_replay does.
template <class C>
Replayed replay_on_cpu(Entry<typename C::Canonical> const& entry, C const& c, Recorder& recorder,
                       Numbers numbers = Numbers::whole) {
  auto const operands = c.operands();
  refuse_long_replay(operands, c.replayed_fma());
  std::vector<void*> addresses;
  for (OperandBuffer const& x : operands)
    addresses.push_back(filled(recorder, x, unsigned(addresses.size()) + 1, numbers));
  auto const problem = c.canonical(C::exact(c.call(addresses)), &entry.info());
  Device const device;
  if (Reason const reason = entry.info().rejects(problem, device)) return {"rejected: " + reason.sentence(), {}};
  recorder.allocate_workspace(entry.info().workspace(problem, device));
  entry.replay(problem, device, recorder);
  return concluded(recorder);
}
template <class C>
Replayed replay_on_cpu(Entry<typename C::Canonical> const& entry, C const& c) {
  Recorder recorder;
  return replay_on_cpu(entry, c, recorder);
}

// Replays on whole numbers and, if the result is right and the operands are numbers, on significands. Throws as
// replay_on_cpu does.
template <class C>
Replayed verify_on_cpu(Entry<typename C::Canonical> const& entry, C const& c) {
  Replayed const whole = replay_on_cpu(entry, c);
  auto const operands = c.operands();
  bool const numbers =
      std::any_of(operands.begin(), operands.end(), [](OperandBuffer const& x) { return x.numbers != DType{}; });
  if (!whole.ok() || !numbers) return whole;
  Recorder recorder;
  return replay_on_cpu(entry, c, recorder, Numbers::significands);
}

}  // namespace inlay::lab
