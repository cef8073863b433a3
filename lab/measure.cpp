#include "measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "buffer_pairs.h"
#include "plan/device.h"
#include "timing.h"

namespace inlay::lab {

std::vector<Row> measure(Case const& c, std::vector<Contender> const& contenders, int samples, cudaStream_t stream,
                         Progress& progress) {
  Device const& device = current_device();
  BufferPairs const buffers(c, device.l2_bytes, stream);

  std::vector<Row> rows;
  std::vector<Contender const*> right;
  for (Contender const& contender : contenders) {
    progress.say(fmt::format("{} at {} bytes: verifying {}", c.name(), c.elem_bytes, contender.name));
    Row& row = rows.emplace_back();
    row.measured = c, row.variant = contender.name;
    row.verdict = verdict(contender, buffers.dst(0), buffers.src(0), stream);
    if (row.ok()) right.push_back(&contender);
  }

  auto const spreads = time_interleaved(right, buffers, samples, stream, progress);
  std::size_t timed = 0;
  double limit = 0;  // GB/s
  for (Row& row : rows) {
    if (!row.ok()) continue;
    auto const [ms, iqr] = spreads[timed];
    row.ms_median = ms, row.ms_iqr = iqr;
    row.gbps = 1e-6 * right[timed++]->bytes() / ms;
    if (row.variant == kMemcpy || row.variant == kVectorCopy) limit = std::max(limit, *row.gbps);
  }
  for (Row& row : rows) {
    if (row.gbps && limit > 0) row.of_copy = *row.gbps / limit;
    if (row.gbps && device.peak_gbps > 0) row.of_peak = *row.gbps / device.peak_gbps;
  }
  return rows;
}

}  // namespace inlay::lab
