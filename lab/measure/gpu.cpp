#include "measure/gpu.h"

#include <fmt/format.h>

#include "measure/copy_candidates.h"
#include "measure/gemm_candidates.h"
#include "measure/guarded.h"
#include "measure/measure.h"

namespace inlay::lab {

void print_gpu_info() {
  Device const& d = current_device();
  fmt::print("{}: compute capability {}.{}, {} SMs, {} MiB of L2, {:.1f} GiB of memory\n", gpu_name(),
             d.compute_capability / 10, d.compute_capability % 10, d.sm_count, d.l2_bytes >> 20,
             double(d.memory_bytes) / double(1 << 30));
  if (d.peak_gbps > 0)
    fmt::print("datasheet: {:.0f} GB/s\n", d.peak_gbps);
  else
    fmt::print("datasheet: this GPU is not in the device table\n");

  CopyCase const gibibyte = transpose_case(16384, 16384);
  Stream const stream = make_stream();
  std::vector<Row> rows;
  {
    Progress progress;  // its line is erased before the rows are printed
    rows = measure<CopyCase>(
        gibibyte, [&](CopyCall const&, cudaStream_t) { return copy_limit(gibibyte); }, {}, stream.get(), progress);
  }
  for (Row const& row : rows)
    fmt::print("copying 1 GiB, {}: {}\n", row.kernel,
               row.rate ? fmt::format("{:.0f} GB/s read plus written", *row.rate) : row.check_result);
}

template <class C>
std::string check_on_gpu(Entry<typename C::Canonical> const& entry, C const& c) {
  return check_between_guards(entry, c);
}
template std::string check_on_gpu(Entry<Copy> const&, CopyCase const&);
template std::string check_on_gpu(Entry<Gemm> const&, GemmCase const&);

}  // namespace inlay::lab
