#include "gpu.h"

#include <fmt/format.h>

#include "buffer_pairs.h"
#include "measure.h"

namespace inlay::lab {

std::string why_no_gpu() {
  int count = 0;
  cudaError_t const status = cudaGetDeviceCount(&count);
  // What the runtime says of a missing driver and of an old one.
  if (status == cudaErrorInsufficientDriver) return "no NVIDIA driver, or one older than CUDA 13's";
  if (status != cudaSuccess) return fmt::format("the CUDA runtime says: {}", cudaGetErrorString(status));
  return count ? "" : "the driver finds none";
}

Device gpu_or_table() { return why_no_gpu().empty() ? current_device() : Device{}; }

void print_gpu_info() {
  Device const& d = current_device();
  fmt::print("{}: compute capability {}.{}, {} SMs, {} MiB of L2, {:.1f} GiB of memory\n", d.name,
             d.compute_capability / 10, d.compute_capability % 10, d.sm_count, d.l2_bytes >> 20,
             double(d.memory_bytes) / double(1 << 30));
  if (d.peak_gbps > 0)
    fmt::print("datasheet: {:.0f} GB/s\n", d.peak_gbps);
  else
    fmt::print("datasheet: this GPU is not in the device table\n");

  Case const gibibyte{16384, 16384, 1, 4};
  Stream const stream = make_stream();
  std::vector<Row> rows;
  {
    Progress progress;
    rows = measure(gibibyte, copy_limit(gibibyte), 15, stream.get(), progress);
  }
  for (Row const& row : rows)
    fmt::print("copying 1 GiB, {}: {}\n", row.variant,
               row.gbps ? fmt::format("{:.0f} GB/s read plus written", *row.gbps) : row.verdict);
}

std::string check_on_gpu(Entry<Move> const& entry, Case const& c) {
  constexpr std::int64_t kGuard = 64 << 10;  // a tile that is one row off still lands in it
  Contender const contender = variant_contender(entry, c);
  std::int64_t const src_bytes = c.source_elements() * c.elem_bytes;
  std::int64_t const dst_bytes = contender.placement.dst_elements() * c.elem_bytes;
  require_memory(c, src_bytes + dst_bytes + 2 * kGuard);
  Stream const stream = make_stream();
  DeviceMemory const src = device_memory(std::size_t(src_bytes));
  DeviceMemory const dst = device_memory(std::size_t(dst_bytes + 2 * kGuard));
  fill(src.get(), c.elem_bytes, c.source_elements(), stream.get());
  check(cudaMemsetAsync(dst.get(), kPoison, std::size_t(dst_bytes + 2 * kGuard), stream.get()));

  char* const out = dst.get() + kGuard;
  std::string const said = verdict(contender, out, src.get(), stream.get());
  if (said != "ok") return said;
  for (char const* guard : {out - kGuard, out + dst_bytes})
    if (Wrong const wrong = count_unpoisoned(guard, kGuard, stream.get()); wrong.count)
      return fmt::format("FAILED: {} bytes {} the output were overwritten", wrong.count,
                         guard < out ? "before" : "behind");
  return "ok";
}

}  // namespace inlay::lab
