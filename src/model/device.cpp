#include <inlay/model/device.h>

#include <cctype>
#include <vector>

namespace inlay::model {
namespace {

// Whether `word` is a whole word of the driver's name: "A100" in "NVIDIA A100-SXM4-80GB", not "NVIDIA RTX A1000".
bool has_word(std::string_view name, std::string_view word) {
  auto const letter = [&](std::size_t at) {
    return at < name.size() && std::isalnum(static_cast<unsigned char>(name[at]));
  };
  for (auto at = name.find(word); at != name.npos; at = name.find(word, at + 1))
    if (!(at > 0 && letter(at - 1)) && !letter(at + word.size())) return true;
  return false;
}

struct Row {
  char const *name, *in_driver;
  int compute_capability, sm_count, l2_mb, memory_gb;
  double peak_gbps, copy_gbps, l2_gbps, clock_ghz;
  int fma_lanes, shared_kb, max_threads;
  char const* source;
};

// Lanes, SMs, clocks, memory and shared memory: the vendor's datasheets and architecture papers. Copies: H200 as
// measured at 16384 x 16384 (results/h200/transpose_16384.json), H100 PCIe and RTX 3090 as published
// (results/published.json: JustCopy, the best transpose); other GPUs: .893 of the datasheet's bandwidth, which is the
// H200's share. L2: estimated from published microbenchmarks of an H100, scaled by SMs and clock. Latencies of launches
// and loads: measured on an H200 (bench/latency.cu, results/h200/latency.md), used for all. If several rows match the
// driver's name, the first one counts.
constexpr Row rows[] = {
    {"H200", "H200", 90, 132, 60, 141, 4800, 4286, 5600, 1.98, 128, 227, 2048,
     "datasheet; copy and clock measured here"},
    {"H100-SXM", "H100 80GB HBM3", 90, 132, 50, 80, 3350, 2991, 5600, 1.98, 128, 227, 2048, "datasheet"},
    {"H100-PCIe", "H100 PCIe", 90, 114, 50, 80, 2039, 1783, 4290, 1.755, 128, 227, 2048,
     "datasheet; copy as published by Colfax"},
    {"H100-NVL", "H100 NVL", 90, 132, 50, 94, 3938, 3517, 5050, 1.785, 128, 227, 2048, "datasheet"},
    {"GH200-480GB", "GH200 480GB", 90, 132, 60, 96, 4000, 3572, 5600, 1.98, 128, 227, 2048, "datasheet (96 GB)"},
    {"GH200", "GH200", 90, 132, 60, 144, 4900, 4376, 5600, 1.98, 128, 227, 2048, "datasheet (144 GB)"},
    {"A100-80GB-PCIe", "A100 80GB PCIe", 80, 108, 40, 80, 1935, 1728, 3260, 1.41, 64, 163, 2048, "datasheet"},
    {"A100-40GB", "A100-SXM4-40GB", 80, 108, 40, 40, 1555, 1389, 3260, 1.41, 64, 163, 2048, "datasheet (SXM, 40 GB)"},
    {"A100-40GB-PCIe", "A100-PCIE-40GB", 80, 108, 40, 40, 1555, 1389, 3260, 1.41, 64, 163, 2048,
     "datasheet (PCIe, 40 GB)"},
    {"A100", "A100", 80, 108, 40, 80, 2039, 1821, 3260, 1.41, 64, 163, 2048, "datasheet (SXM, 80 GB)"},
    {"RTX-4090", "RTX 4090", 89, 128, 72, 24, 1008, 900, 6910, 2.52, 128, 99, 1536, "datasheet"},
    {"RTX-3090", "RTX 3090", 86, 82, 6, 24, 936, 733, 2370, 1.695, 128, 99, 1536,
     "datasheet; copy as the best transpose published by Lei Mao"},
};

// Multiply-adds of mma.sync per SM and clock, by compute capability. The architecture papers' rates, but on 9.0, where
// mma.sync reaches less than wgmma: as measured (results/h200/latency.md).
int mma_rate(int compute_capability) { return compute_capability == 90 ? 1358 : compute_capability == 80 ? 1024 : 256; }

// Links of NVLink, and what a link reaches each way: measured on two H100-SXM (18 links, 370 GB/s of the 478 that they
// signal); the same share elsewhere.
struct LinkRow {
  char const* name;
  int links;
  double link_gbps;
};
constexpr LinkRow links[] = {{"H200", 18, 20.5}, {"H100-SXM", 18, 20.5}, {"A100", 12, 19.3}, {"A100-40GB", 12, 19.3}};

Device device_of(Row const& row) {
  Device d;
  d.name = row.name, d.in_driver = row.in_driver;
  d.compute_capability = row.compute_capability, d.sm_count = row.sm_count;
  d.l2_bytes = std::int64_t(row.l2_mb) << 20, d.memory_bytes = std::int64_t(row.memory_gb) << 30;
  d.peak_gbps = row.peak_gbps, d.copy_gbps = row.copy_gbps, d.l2_gbps = row.l2_gbps, d.clock_ghz = row.clock_ghz;
  d.fma_lanes = row.fma_lanes, d.mma_rate = mma_rate(row.compute_capability),
  d.wgmma_rate = row.compute_capability == 90 ? 2048 : 0, d.shared_bytes = row.shared_kb << 10,
  d.max_threads = row.max_threads;
  d.source = row.source;
  return d;
}

}  // namespace

double link_gbps(Device const& device) {
  for (LinkRow const& row : links)
    if (device.name == row.name) return row.links * row.link_gbps;
  return 0;
}

std::span<Device const> devices() {
  static auto const all = [] {
    std::vector<Device> v;
    for (Row const& row : rows) v.push_back(device_of(row));
    return v;
  }();
  return all;
}

Device const* find_device(std::string_view name) {
  for (Device const& device : devices())
    if (name == device.name || has_word(name, device.in_driver)) return &device;
  return nullptr;
}

Device scaled_device(std::string_view name, int compute_capability, int sm_count, double dram_gbps) {
  Device d;
  double const size = double(sm_count) / d.sm_count, of_peak = d.copy_gbps / d.peak_gbps;
  d.name = d.in_driver = name, d.source = "an H200's, scaled", d.is_scaled = true;
  d.compute_capability = compute_capability, d.sm_count = sm_count;
  d.copy_gbps = dram_gbps > 0 ? of_peak * dram_gbps : d.copy_gbps * size;
  d.peak_gbps = 0, d.l2_gbps *= size;
  d.mma_rate = mma_rate(compute_capability), d.wgmma_rate = compute_capability == 90 ? d.wgmma_rate : 0;
  return d;
}

}  // namespace inlay::model
