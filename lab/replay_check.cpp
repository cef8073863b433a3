#include "replay_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "usage_error.h"
#include "variants.h"

namespace inlay::lab {
namespace {

// Every access is looked at one by one: beyond this a replay takes very long and finds nothing more than a smaller.
constexpr std::int64_t kMostElements = std::int64_t(1) << 24;

}  // namespace

Replayed replay_on_cpu(Entry<Move> const& entry, Case const& c) {
  if (std::int64_t const n = std::max(c.source_elements(), c.destination_elements()); n > kMostElements)
    throw UsageError(fmt::format("a replay on the CPU takes at most {} elements, not {}", kMostElements, n));
  Recorder recorder;
  auto const e = std::size_t(c.elem_bytes);
  void const* src = recorder.allocate("in", std::size_t(c.source_elements()) * e, c.elem_bytes, 1);
  void* dst = recorder.allocate("out", std::size_t(c.destination_elements()) * e, c.elem_bytes, 2);
  Move const move = is_copy(entry.info().name) ? copy_move(c, dst, src) : transpose_move(c, dst, src);
  if (Reason const reason = entry.info().rejects(move, Device{})) return {"rejected: " + reason.sentence(), {}};
  entry.replay(move, recorder);
  if (recorder.finding_count == 0) return {"ok", counted(recorder)};
  Finding const& first = recorder.findings.front();
  return {fmt::format("FAILED: {}: {}", name_of(first.check), first.sentence), counted(recorder)};
}

}  // namespace inlay::lab
