#include "verify/replay_check.h"

#include <fmt/format.h>
#include <inlay/explain/explanation.h>
#include <inlay/registry/rounding.h>

#include <algorithm>

#include "usage_error.h"

namespace inlay::lab {
namespace {

// The replay checks every access: larger problems take very long and show no other errors than smaller ones.
constexpr std::int64_t kMostElements = std::int64_t(1) << 24;
constexpr double kMostGemms = 1 << 28;

}  // namespace

void* filled(Recorder& recorder, OperandBuffer const& x, unsigned seed, Numbers numbers) {
  if (x.numbers == DType{}) return recorder.allocate(x.name, x.bytes(), x.elem_bytes, seed);
  return registry::allocate_numbers(recorder, x.name, std::size_t(x.elements), x.numbers, seed, numbers);
}

void refuse_long_replay(std::vector<OperandBuffer> const& operands, double fma) {
  std::int64_t most = 0;
  for (OperandBuffer const& x : operands) most = std::max(most, x.elements);
  if (most > kMostElements)
    throw UsageError(fmt::format("a replay on the CPU takes at most {} elements, not {}", kMostElements, most));
  if (fma > kMostGemms)
    throw UsageError(
        fmt::format("a replay on the CPU takes at most {} multiplications of whole tiles, not {}", kMostGemms, fma));
}

Replayed concluded(Recorder const& recorder) {
  Counts const counts = explain::counted(recorder);
  if (recorder.finding_count == 0) return {"ok", counts};
  replay::Finding const& first = recorder.findings.front();
  return {fmt::format("FAILED: {}: {}", name_of(first.check), first.sentence), counts};
}

}  // namespace inlay::lab
