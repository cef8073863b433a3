#include "measure/measure.h"

#include <inlay/plan/device.h>

#include "measure/buffers.h"

namespace inlay::lab {

std::vector<Row> measure(Case const& c, std::vector<Contender> const& contenders, int samples, cudaStream_t stream,
                         Progress& progress) {
  BufferPairs const buffers(c, current_device().l2_bytes, stream);
  std::vector<Trial> trials;
  for (Contender const& x : contenders)
    trials.push_back({{x.name, [&](int set, cudaStream_t s) { x.launch(buffers.dst(set), buffers.src(set), s); }},
                      1e-6 * x.bytes(),
                      x.name == kMemcpy || x.name == kVectorCopy,
                      [&] { return verdict(x, buffers.dst(0), buffers.src(0), stream); }});
  auto rows = verified(c, trials, progress);
  time_right(rows, trials, buffers.count(), samples, stream, progress);
  return rows;
}

}  // namespace inlay::lab
