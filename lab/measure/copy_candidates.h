// Copies and transposes on the GPU: kernels, the public functions, the copy limit and cuBLAS.
#pragma once
#include <inlay/planner/plan.h>

#include "measure/candidate.h"
#include "measure/device_data.h"
#include "problems/copy_case.h"
#include "results/bench.h"

namespace inlay::lab {

using CopyLaunch = std::function<void(TransposeCall const&, cudaStream_t)>;

// C: TransposeCase or CopyCase.
template <class C>
struct CopyCandidate : Candidate<C> {
  Strided layout;      // which source byte belongs where
  std::int64_t bytes;  // read and written, which the rate counts
};

// Fills sources with words made from their positions, poisons destinations, and checks every byte of them.
class CopyChecker {
 public:
  CopyChecker(std::vector<OperandBuffer> const& operands, TransposeCall const& call, cudaStream_t stream);
  template <class C>
  CheckResult operator()(CopyCandidate<C> const& candidate) {
    poison(first_);
    auto const launch = [&](cudaStream_t s) { candidate.launch(first_[0], s); };
    if (std::string const said = attempt(candidate.name, launch, stream_); !said.empty()) return {said, {}};
    return {check_result(first_, candidate.layout), {}};
  }
  void fill(TransposeCall const& call) const;
  template <class C>
  std::string again(CopyCandidate<C> const& candidate, std::vector<TransposeCall> const& calls,
                    AllSets const& all_sets) {
    poison(calls);
    all_sets();
    return check_result(calls, candidate.layout);
  }

 private:
  void poison(std::vector<TransposeCall> const& calls) const;
  std::string check_result(std::vector<TransposeCall> const& calls, Strided const& layout) const;

  std::int64_t src_bytes_, dst_bytes_;  // of the buffers
  std::vector<TransposeCall> first_;    // the one call of the first check
  cudaStream_t stream_;
};

inline constexpr char const* kMemcpy = "cudaMemcpyAsync";
inline constexpr char const* kVectorCopy = "copy_03_vector";
inline constexpr char const* kGeam = "cublas_geam";

// A contiguous copy, by cudaMemcpyAsync and by copy_03_vector, with c.limit_bytes() read and written, rounded up to 16-byte
// vectors, between aligned addresses. The faster one is the copy limit.
template <class C>
std::vector<CopyCandidate<C>> copy_limit(C const& c);

// Which source byte belongs where, relative to the buffers of `call`.
Strided strided(Copy const& copy, TransposeCall const& call);

template <class C>
CopyCandidate<C> of_kernel(Entry<Copy> const& entry, C const& c, TransposeCall const& call);

// The copy limit, then kernels of the copy ladder on as many contiguous bytes, transposes, transpose(), cuBLAS.
std::vector<CopyCandidate<TransposeCase>> candidates(TransposeCase const& c, TransposeCall const& call,
                                                     cudaStream_t stream, std::vector<std::string> const& asked,
                                                     BenchOptions const& options);
// The copy limit, copy(), then the kernels that accept the case.
std::vector<CopyCandidate<CopyCase>> candidates(CopyCase const& c, TransposeCall const& call, cudaStream_t stream,
                                                std::vector<std::string> const& asked, BenchOptions const& options);

inline CopyChecker make_checker(TransposeCase const& c, TransposeCall const& call, cudaStream_t stream) {
  return {c.operands(), call, stream};
}
inline CopyChecker make_checker(CopyCase const& c, TransposeCall const& call, cudaStream_t stream) {
  return {c.operands(), call, stream};
}
template <class C>
bool is_baseline(CopyCandidate<C> const& x) {
  return x.name == kMemcpy || x.name == kVectorCopy;
}
template <class C>
double work(C const&, CopyCandidate<C> const& x) {
  return 1e-6 * double(x.bytes);
}
template <class C>
std::int64_t check_bytes(C const&) {
  return 0;
}
template <class C>
void add_best(C const&, std::vector<Row>&) {}
template <class C>
double peak(C const&, Device const& device, double) {
  return device.peak_gbps;
}
std::function<void(cudaStream_t)> public_call(TransposeCase const& c, TransposeCall const& call, void*, std::size_t);
std::function<void(cudaStream_t)> public_call(CopyCase const& c, TransposeCall const& call, void*, std::size_t);
template <class C>
requires std::same_as<typename C::Canonical, Copy> Operands operand_addresses(C const& c, TransposeCall const& call,
                                                                              void* workspace) {
  auto const [dst, src] = views(c, call);
  return {{dst.data, const_cast<void*>(src.data), nullptr}, workspace};
}

}  // namespace inlay::lab
