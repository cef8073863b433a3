#include "explain/gpu.h"

#include <cctype>

namespace inlay {
namespace {

// A whole word of the driver's name: "A100" is in "NVIDIA A100-SXM4-80GB", not in "NVIDIA RTX A1000".
bool has_word(std::string_view name, std::string_view word) {
  auto const letter = [&](std::size_t at) {
    return at < name.size() && std::isalnum(static_cast<unsigned char>(name[at]));
  };
  for (auto at = name.find(word); at != name.npos; at = name.find(word, at + 1))
    if (!(at > 0 && letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

}  // namespace

// Lanes, SMs, clocks and shared memory: the vendor's datasheets and architecture papers. Copies: H200 as measured at
// 16384 x 16384 (results/h200/transpose_16384.json), H100 PCIe and RTX 3090 as published (results/published.json:
// JustCopy, the best transpose); the others at the H200's share of the datasheet's bandwidth, .893. L2: of the order
// that published microbenchmarks give for an H100, scaled by SMs and clock. Launches and loads: an H200's
// (bench/latency.cu, results/h200/latency.md), for all.
std::span<Gpu const> gpus() {
  static constexpr Gpu all[] = {
      {"H200", "H200", 90, 132, 1.98, 128, 4286, 5600, 227 << 10, 2048, 1.0, 332,
       "datasheet; copy and clock measured here"},
      {"H100-SXM", "H100 80GB HBM3", 90, 132, 1.98, 128, 2991, 5600, 227 << 10, 2048, 1.0, 332, "datasheet"},
      {"H100-PCIe", "H100 PCIe", 90, 114, 1.755, 128, 1783, 4290, 227 << 10, 2048, 1.0, 332,
       "datasheet; copy as published by Colfax"},
      {"A100", "A100", 80, 108, 1.41, 64, 1821, 3260, 163 << 10, 2048, 1.0, 332, "datasheet (SXM, 80 GB)"},
      {"RTX-3090", "RTX 3090", 86, 82, 1.695, 128, 733, 2370, 99 << 10, 1536, 1.0, 332,
       "datasheet; copy as the best transpose published by Lei Mao"},
  };
  return all;
}

Gpu const* find_gpu(std::string_view name) {
  for (Gpu const& gpu : gpus())
    if (name == gpu.name || has_word(name, gpu.in_driver)) return &gpu;
  return nullptr;
}

}  // namespace inlay
