// What the planner knows of a GPU. Peaks come from a table (CUDA 13 reports no clocks), the rest from the driver.
#pragma once
#include <cstdint>
#include <string>

namespace inlay {

struct Device {
  std::string name = "NVIDIA H200";
  int id = 0;
  int compute_capability = 90;  // 10 * major + minor
  int sm_count = 132;
  std::int64_t l2_bytes = 60 << 20;
  std::int64_t memory_bytes = std::int64_t(141) << 30;
  double peak_gbps = 4800;  // datasheet, 1 GB = 10^9 B; 0 when unknown

  bool has_tma() const { return compute_capability >= 90; }
};

// The datasheet's memory bandwidth in GB/s of a GPU by the name the driver gives it; 0 when unknown.
double datasheet_gbps(std::string const& name);

// The current GPU; facts are read once per device. Throws Error when there is none.
Device const& current_device();

}  // namespace inlay
