#include "explain/gpu.h"

namespace inlay {

// Lanes, SMs, clocks, L2 and shared memory: the vendor's datasheets and architecture papers. Copies: H200 and H100 PCIe as
// measured (results/h200/transpose.json; results/published.json, JustCopy), RTX 3090 as the best of the published transposes there;
// the others at the H200's share of the datasheet's bandwidth, .894. L2: by the rate that large strided reads reach on the H200,
// scaled by SMs and clock. Latencies: of the order that microbenchmarks report, fitted to nothing.
std::span<Gpu const> gpus() {
  static constexpr Gpu all[] = {
      {"H200", "H200", 132, 1.98, 128, 4290, 5600, 60 << 20, 227 << 10, 2048, 800, 3.0,
       "datasheet; copy and clock measured here"},
      {"H100-SXM", "H100 80GB HBM3", 132, 1.98, 128, 2995, 5600, 50 << 20, 227 << 10, 2048, 800, 3.0, "datasheet"},
      {"H100-PCIe", "H100 PCIe", 114, 1.755, 128, 1783, 4290, 50 << 20, 227 << 10, 2048, 800, 3.0,
       "datasheet; copy as published by Colfax"},
      {"A100", "A100", 108, 1.41, 64, 1823, 3260, 40 << 20, 163 << 10, 2048, 700, 3.0, "datasheet (SXM, 80 GB)"},
      {"RTX-3090", "RTX 3090", 82, 1.695, 128, 733, 2370, 6 << 20, 99 << 10, 1536, 600, 3.0,
       "datasheet; copy as the best transpose published by Lei Mao"},
  };
  return all;
}

Gpu const* find_gpu(std::string_view name) {
  for (Gpu const& gpu : gpus())
    if (name == gpu.name || name.find(gpu.in_driver) != std::string_view::npos) return &gpu;
  return nullptr;
}

}  // namespace inlay
