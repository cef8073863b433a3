// What takes part in a measurement of products: variants, the public function with and without what it may use, cuBLAS.
#pragma once
#include <inlay/registry/registry.h>

#include <functional>
#include <string>
#include <vector>

#include "measure/trials.h"
#include "problems/gemm_cases.h"

namespace inlay::lab {

// Only enqueues, so that it can be captured into a graph.
using GemmLaunch = std::function<void(GemmCall const&, cudaStream_t)>;

struct GemmContender {
  std::string name;
  GemmLaunch launch;
};

inline constexpr char const* kCublas = "cublas";
inline constexpr char const* kGemm = "gemm";  // the public function, with the workspace that it wants
inline constexpr char const* kGemmWithout = "gemm_no_workspace";
inline constexpr char const* kGemmTwoLevel = "gemm_two_level";

// A variant on the case as it is, with a workspace of its own. `call` is one of those that it will be launched with: what a
// variant wants depends on how the operands are aligned.
GemmContender gemm_contender(Entry<Gemm> const& entry, GemmCase const& c, GemmCall const& call);

// The rows of a table: cuBLAS, then those of `typed` (names or "production"; none: all) in their order: variants, the
// public function. Throws UsageError where the build has no cuBLAS.
std::vector<GemmContender> gemm_table_rows(GemmCase const& c, GemmCall const& call,
                                           std::vector<std::string> const& typed);

}  // namespace inlay::lab
