// What the planner and the time model know of a GPU: facts of the driver and facts of datasheets, in one table.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace inlay::planner {

// The defaults are those of the table's first row, an H200. 1 GB = 10^9 B.
struct Device {
  std::string name = "H200";       // on the command line; of a GPU that the table does not know, the driver's
  std::string in_driver = "H200";  // occurs in the name that the driver gives
  int id = 0;                      // the driver's number

  // Facts that the driver knows too.
  int compute_capability = 90;  // 10 * major + minor
  int sm_count = 132;
  std::int64_t l2_bytes = 60 << 20;
  std::int64_t memory_bytes = std::int64_t(141) << 30;
  bool pageable_access = false;  // to host memory that CUDA does not know

  // Facts that it does not. All are 0 where they are unknown.
  double peak_gbps = 4800;       // datasheet
  double copy_gbps = 4286;       // of a large copy, bytes read plus bytes written
  double l2_gbps = 5600;         // sectors between the SMs and the L2
  double clock_ghz = 1.98;       // the highest that the SMs keep under load
  int fma_lanes = 128;           // fp32 multiply-adds of an SM in a clock
  int shared_bytes = 227 << 10;  // of an SM, for blocks
  int max_threads = 2048;        // of an SM
  double launch_us = 1.0;        // a kernel whose threads load and store a word, among others like it
  double load_ns = 332;          // a load from the DRAM that nothing else is in the way of
  std::string source = "datasheet; copy and clock measured here";

  bool has_tma() const { return compute_capability >= 90; }
};

std::span<Device const> devices();
// By its name, or by a part of the driver's name; null when it is not in the table.
Device const* find_device(std::string_view name);

// The current GPU: the table's facts where it has them, the driver's for the rest. They are read once per device. Throws
// Error when there is none.
Device const& current_device();

}  // namespace inlay::planner
