// What the time model knows of a GPU: a few numbers, each with its source.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace inlay {

struct Gpu {
  char const* name;        // of the command line
  char const* in_driver;   // occurs in the name that the driver gives
  int compute_capability;  // 10 * major + minor
  int sm_count;
  double clock_ghz;  // the highest that the SMs keep under load
  int fma_lanes;     // fp32 multiply-adds of an SM in a clock
  double dram_gbps;  // of a large copy, bytes read plus bytes written, 1 GB = 10^9 B
  double l2_gbps;    // sectors between the SMs and the L2
  int shared_bytes;  // of an SM, for blocks
  int max_threads;   // of an SM
  double launch_us;  // a kernel whose threads load and store a word, among others like it
  double load_ns;    // a load from the DRAM that nothing else is in the way of
  char const* source;
};

std::span<Gpu const> gpus();
// By its name, or by a part of the driver's name; null when it is not in the table.
Gpu const* find_gpu(std::string_view name);

}  // namespace inlay
