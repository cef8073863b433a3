#include "measure/gpu.h"

#include <fmt/format.h>

#include "measure/buffers.h"
#include "measure/gemm_check.h"
#include "measure/measure.h"

namespace inlay::lab {
namespace {

// Poisoned memory with a band before it and one behind, in which nothing may be written.
class Guarded {
 public:
  static constexpr std::int64_t kGuard = 64 << 10;  // a tile that is one row off still lands in it

  Guarded(std::int64_t bytes, cudaStream_t stream)
      : bytes_(bytes), memory_(device_memory(std::size_t(bytes + 2 * kGuard))), stream_(stream) {
    check(cudaMemsetAsync(memory_.get(), kPoison, std::size_t(bytes + 2 * kGuard), stream));
  }
  char* get() const { return memory_.get() + kGuard; }

  // The verdict on what lies between the bands, or on the bands.
  std::string verdict(std::string const& said) const {
    if (said != "ok") return said;
    for (char const* guard : {get() - kGuard, get() + bytes_})
      if (Wrong const wrong = count_unpoisoned(guard, kGuard, stream_); wrong.count)
        return fmt::format("FAILED: {} bytes {} the output were overwritten", wrong.count,
                           guard < get() ? "before" : "behind");
    return "ok";
  }

 private:
  std::int64_t bytes_;
  DeviceMemory memory_;
  cudaStream_t stream_;
};

}  // namespace

std::string why_no_gpu() {
  int count = 0;
  cudaError_t const status = cudaGetDeviceCount(&count);
  // What the runtime says of a missing driver and of an old one.
  if (status == cudaErrorInsufficientDriver) return "no NVIDIA driver, or one older than CUDA 13's";
  if (status != cudaSuccess) return fmt::format("the CUDA runtime says: {}", cudaGetErrorString(status));
  return count ? "" : "the driver finds none";
}

Device gpu_or_table() { return why_no_gpu().empty() ? current_device() : Device{}; }

std::string gpu_name() {
  int id = 0;
  check(cudaGetDevice(&id));
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, id));
  return p.name;
}

void print_gpu_info() {
  Device const& d = current_device();
  fmt::print("{}: compute capability {}.{}, {} SMs, {} MiB of L2, {:.1f} GiB of memory\n", gpu_name(),
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
               row.rate ? fmt::format("{:.0f} GB/s read plus written", *row.rate) : row.verdict);
}

std::string check_on_gpu(Entry<Move> const& entry, Case const& c) {
  Contender const contender = variant_contender(entry, c);
  std::int64_t const src_bytes = c.source_elements() * c.elem_bytes;
  std::int64_t const dst_bytes = contender.placement.dst_elements() * c.elem_bytes;
  require_memory(c.sentence(), src_bytes + dst_bytes + 2 * Guarded::kGuard);
  Stream const stream = make_stream();
  DeviceMemory const src = device_memory(std::size_t(src_bytes));
  Guarded const dst(dst_bytes, stream.get());
  fill(src.get(), c.elem_bytes, c.source_elements(), stream.get());
  return dst.verdict(verdict(contender, dst.get(), src.get(), stream.get()));
}

std::string check_on_gpu(Entry<Gemm> const& entry, GemmCase const& c) {
  auto const bytes = [&](Stored const& x) { return c.batch * x.elements() * 4; };
  require_memory(c.sentence(), bytes(c.a()) + bytes(c.b()) + 2 * bytes(c.c()) + 2 * Guarded::kGuard);
  Stream const stream = make_stream();
  DeviceMemory const a = device_memory(std::size_t(bytes(c.a()))), b = device_memory(std::size_t(bytes(c.b())));
  Guarded const out(bytes(c.c()), stream.get());
  auto const at = [](char* p) { return reinterpret_cast<float*>(p); };
  GemmCall const call{c.alpha, c.beta, at(a.get()), at(b.get()), at(out.get())};
  fill_operands(c, call, exact_values(c), stream.get());
  return out.verdict(ExactCheck(c, call, stream.get())(gemm_contender(entry, c, call)));
}

}  // namespace inlay::lab
