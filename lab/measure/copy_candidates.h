// Copies between any layouts on the GPU: kernels, the public function, and the copy limit of as many sectors.
#pragma once
#include <inlay/planner/plan.h>

#include "measure/device_data.h"
#include "measure/on_device.h"
#include "problems/copy_case.h"
#include "results/bench.h"

namespace inlay::lab {

struct CopyCandidate : Candidate<CopyCase> {
  Strided moved;  // which bytes belong where
};

// Fills sources with words made from their places, poisons destinations, and checks every byte of them.
class CopyChecker {
 public:
  CopyChecker(CopyCase const& c, CopyCall const& call, cudaStream_t stream);
  CheckResult operator()(CopyCandidate const& candidate);
  void fill(CopyCall const& call) const;
  std::string again(CopyCandidate const& candidate, std::vector<CopyCall> const& calls, AllSets const& all_sets);

 private:
  void poison(std::vector<CopyCall> const& calls) const;
  std::string check_result(std::vector<CopyCall> const& calls, CopyCandidate const& candidate) const;

  std::vector<OperandBuffer> operands_;
  std::vector<CopyCall> first_;
  cudaStream_t stream_;
};

template <>
struct OnDevice<CopyCase> {
  using Candidate = CopyCandidate;
  static CopyCandidate of_kernel(Entry<Copy> const& entry, CopyCase const& c, CopyCall const& call);
  // The copy limit's, the public function, then the kernels that take the case.
  static std::vector<CopyCandidate> candidates(CopyCase const& c, CopyCall const& call, cudaStream_t stream,
                                               std::vector<std::string> const& asked, BenchOptions const& options);
  using Checker = CopyChecker;
  static void best(std::vector<Row>&) {}
  static bool is_baseline(CopyCandidate const& x);
  static double work(CopyCase const& c, CopyCandidate const&) { return 1e-6 * double(c.sector_bytes()); }
  static std::int64_t check_bytes(CopyCase const&) { return 0; }
  static double peak(Device const& device, double) { return device.peak_gbps; }
  static std::function<void(cudaStream_t)> public_call(CopyCase const& c, CopyCall const& call, void*, std::size_t);
  static Operands in_order(CopyCase const& c, CopyCall const& call, void* workspace);
};

}  // namespace inlay::lab
