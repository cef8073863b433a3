// Products on the GPU: variants, the public function with and without what it may use, cuBLAS.
#pragma once
#include <inlay/plan/plan.h>

#include "measure/on_device.h"
#include "problems/gemm_case.h"
#include "results/bench.h"

namespace inlay::lab {

struct GemmContender : Contender<GemmCase> {};
using GemmLaunch = std::function<void(GemmCall const&, cudaStream_t)>;

inline constexpr char const* kCublas = "cublas";
inline constexpr char const* kGemmWithout = "gemm_no_workspace";
inline constexpr char const* kGemmTwoLevel = "gemm_two_level";

template <>
struct OnDevice<GemmCase> {
  using Contender = GemmContender;
  static GemmContender of_variant(Entry<Gemm> const& entry, GemmCase const& c, GemmCall const& call) {
    return {{entry.info().name, launch_of(entry, c, call)}};
  }
  // cuBLAS, then variants, the public function, others' products. Throws UsageError where the build has no cuBLAS.
  static std::vector<GemmContender> contenders(GemmCase const& c, GemmCall const& call, cudaStream_t stream,
                                               std::vector<std::string> const& asked, BenchOptions const& options);
  // On whole numbers: gemm_check.h.
  static CheckOf<GemmCase> check(GemmCase const& c, GemmCall const& call, cudaStream_t stream);
  static bool is_yardstick(GemmContender const& x) { return x.name == kCublas; }
  static double work(GemmCase const& c, GemmContender const&) { return 1e-9 * c.operations(); }
  static std::int64_t check_bytes(GemmCase const& c) {
    return std::int64_t(Kind<GemmCase>::operands(c).back().bytes());
  }
  // Uniform values; C as beta has it.
  static void fill(GemmCase const& c, GemmCall const& call, cudaStream_t stream);
  // On the values that are there; all are held against cuBLAS's.
  static void add_errors(GemmCase const& c, GemmCall const& call, std::vector<GemmContender> const& contenders,
                         std::vector<Row>& rows, cudaStream_t stream);
  // 128 fused multiply-adds a clock on each multiprocessor, two operations each.
  static double peak(Device const& device, double clock_mhz) { return 1e-6 * device.sm_count * 128 * 2 * clock_mhz; }
  static std::function<void(cudaStream_t)> public_call(GemmCase const& c, GemmCall const& call, void* workspace,
                                                       std::size_t bytes);
  static Operands in_order(GemmCase const& c, GemmCall const& call, void* workspace);
};

}  // namespace inlay::lab
