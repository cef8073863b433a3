#include "verify/replay_check.h"

#include <fmt/format.h>
#include <inlay/explain/explanation.h>

#include <algorithm>

#include "usage_error.h"
#include "variants.h"

namespace inlay::lab {
namespace {

// Every access is looked at one by one: beyond this a replay takes very long and finds nothing more than a smaller.
constexpr std::int64_t kMostElements = std::int64_t(1) << 24;
constexpr double kMostProducts = 1 << 28;

// What the checks said after a replay.
Replayed concluded(Recorder const& recorder) {
  Counts const counts = explain::counted(recorder);
  if (recorder.finding_count == 0) return {"ok", counts};
  Finding const& first = recorder.findings.front();
  return {fmt::format("FAILED: {}: {}", name_of(first.check), first.sentence), counts};
}

}  // namespace

Replayed replay_on_cpu(Entry<Move> const& entry, Case const& c, Recorder& recorder) {
  if (std::int64_t const n = std::max(c.source_elements(), c.destination_elements()); n > kMostElements)
    throw UsageError(fmt::format("a replay on the CPU takes at most {} elements, not {}", kMostElements, n));
  auto const e = std::size_t(c.elem_bytes);
  void const* src = recorder.allocate("in", std::size_t(c.source_elements()) * e, c.elem_bytes, 1);
  void* dst = recorder.allocate("out", std::size_t(c.destination_elements()) * e, c.elem_bytes, 2);
  Move const move = is_copy(entry.info()) ? copy_move(c, dst, src) : transpose_move(c, dst, src);
  Device const device;
  if (Reason const reason = entry.info().rejects(move, device)) return {"rejected: " + reason.sentence(), {}};
  entry.replay(move, device, recorder);
  return concluded(recorder);
}

Replayed replay_on_cpu(Entry<Gemm> const& entry, GemmCase const& c, Recorder& recorder) {
  std::int64_t const most = std::max({c.a().elements(), c.b().elements(), c.c().elements()}) * c.batch;
  if (most > kMostElements)
    throw UsageError(fmt::format("a replay on the CPU takes at most {} elements, not {}", kMostElements, most));
  auto const padded = [](std::int64_t extent) {
    return double((extent + 127) / 128 * 128);
  };  // tiles are replayed whole
  if (double const n = padded(c.M) * padded(c.N) * double(c.K) * double(c.batch); n > kMostProducts)
    throw UsageError(
        fmt::format("a replay on the CPU takes at most {} multiplications of whole tiles, not {}", kMostProducts, n));
  auto const operand = [&](char const* name, Stored const& x, unsigned seed) {
    return recorder.allocate_integers(name, std::size_t(c.batch * x.elements()), seed);
  };
  GemmCall const call{c.alpha, c.beta, operand("A", c.a(), 1), operand("B", c.b(), 2), operand("C", c.c(), 3)};
  Gemm const gemm = gemm_of(c, with_whole_factors(call));
  Device const device;
  if (Reason const reason = entry.info().rejects(gemm, device)) return {"rejected: " + reason.sentence(), {}};
  recorder.allocate_workspace(entry.info().workspace(gemm, device));
  entry.replay(gemm, device, recorder);
  return concluded(recorder);
}

}  // namespace inlay::lab
