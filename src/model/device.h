// The properties of a GPU that the planner and the time model use, from the driver and from datasheets.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace inlay::model {

// The defaults are those of the table's first row, an H200. 1 GB = 10^9 B.
struct Device {
  std::string name = "H200";       // as on the command line; if the GPU is not in the table, the driver's name
  std::string in_driver = "H200";  // words of the driver's name that identify the GPU
  int id = 0;                      // device ordinal of the CUDA runtime

  // Known to the driver, which is asked for the current GPU; so are shared_bytes and max_threads.
  int compute_capability = 90;  // 10 * major + minor
  int sm_count = 132;
  std::int64_t l2_bytes = 60 << 20;
  std::int64_t memory_bytes = std::int64_t(141) << 30;
  bool pageable_access = false;  // to host memory that CUDA does not know

  // From the table; of a GPU that is not in it, an H200's, scaled.
  double peak_gbps = 4800;       // datasheet; 0: the GPU is not in the table
  double copy_gbps = 4286;       // of a large copy, bytes read plus bytes written
  double l2_gbps = 5600;         // sectors between the SMs and the L2
  double clock_ghz = 1.98;       // highest SM clock sustained under load
  int fma_lanes = 128;           // fp32 multiply-adds per SM and clock
  int mma_rate = 1358;           // multiply-adds of mma.sync per SM and clock: bf16 or f16, sums in fp32
  int wgmma_rate = 2048;         // the same of wgmma; 0: there is none
  int shared_bytes = 227 << 10;  // per SM, available to blocks
  int max_threads = 2048;        // per SM
  double launch_us = 1.0;        // time per launch of back-to-back kernels that load and store a word per thread
  double load_ns = 332;          // latency of a load from idle DRAM
  std::string source = "datasheet; copy and clock measured here";
  bool is_scaled = false;  // the GPU is not in the table

  bool has_tma() const { return compute_capability >= 90; }
};

std::span<Device const> devices();
// GB/s each way that stores over NVLink reach to other GPUs of the host, together; 0: there is no NVLink, or it is
// unknown.
double link_gbps(Device const& device);
// The device with this name, or whose in_driver words occur in it; null if it is not in the table.
Device const* find_device(std::string_view name);

// A GPU that the table lacks: an H200's rates, scaled by its multiprocessors and by the bandwidth of its memory, 0 if
// that is unknown.
Device scaled_device(std::string_view name, int compute_capability, int sm_count, double dram_gbps);

// The current GPU: the properties that the driver knows from the driver, all others from the table. Queried once per
// device. Throws Error if there is no GPU.
Device const& current_device();

}  // namespace inlay::model
