// Random problems for `inlay fuzz`, each made from a seed and a number alone: the same everywhere.
#pragma once
#include <inlay/planner/candidate.h>

#include <cstdint>
#include <random>
#include <string>

#include "fuzz/drawn_copy.h"

namespace inlay::lab {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t number) : engine_(seed * 0x9E3779B97F4A7C15u + number) {}
  std::int64_t below(std::int64_t n) { return std::int64_t(engine_() % std::uint64_t(n)); }
  std::int64_t between(std::int64_t first, std::int64_t last) { return first + below(last - first + 1); }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

// Rank 0 to 8, elements of 1 to 16 bytes, at most `most` elements: nested modes in any order, with and without gaps between
// them, backwards, repeated in the source, empty, any base that the elements allow.
DrawnCopy draw_copy(Random& random, std::int64_t most);
// Matrices, up to two batch modes around them.
DrawnCopy draw_transpose(Random& random, std::int64_t most);

// A copy, the plan for it at one pair of addresses, and another pair at which it is to run.
struct FuzzedCopy {
  DrawnCopy copy;
  int candidate = -1;  // index into planner::candidates() of a candidate that is forced; -1: the planner chooses
  problem::Tiling
      tiling;  // of the forced candidate: a tile that fills its shared memory; no modes: the candidate chooses
  std::int64_t src_shift = 0, dst_shift = 0;  // bytes from the addresses of the plan to those of the run

  bool agrees() const { return src_shift % planner::kPlanAlignment == 0 && dst_shift % planner::kPlanAlignment == 0; }
  std::string text() const;
};
inline constexpr std::int64_t kMostShift = 4096;  // bytes

FuzzedCopy draw_fuzzed_copy(Random& random, bool transpose, std::int64_t most);
// The plan of a drawn case on `device`; `planned`: the copy at the plan's addresses.
planner::Plan plan_of(FuzzedCopy const& fuzzed, problem::Copy const& planned, planner::Device const& device);

// A copy whose grid has about as many blocks as a grid holds, at addresses where nothing lies.
problem::Copy draw_large_copy(Random& random, planner::Device const& device);

// An operand of a drawn GEMM: modes (batch, rows, cols), strides in elements, base in elements from a buffer's aligned start
// to the lowest element.
struct DrawnMatrix {
  std::int64_t extent[3], stride[3], base;

  std::int64_t elements() const;  // of a buffer, from its start to behind the highest element
  std::int64_t first() const;     // the first element's offset in the buffer
  Tensor view(float* buffer, bool batched) const;
};
struct FuzzedGemm {
  std::int64_t L, M, N, K;
  DrawnMatrix a, b, d;
  float alpha, beta;
  Compute compute;
  bool batched, with_workspace;
  int candidate = -1;       // index into planner::candidates() of a candidate that is forced; -1: the planner chooses
  std::int64_t shift[3]{};  // of A, B and D: elements from the addresses of the plan to those of the run

  bool agrees() const;
  problem::Gemm problem(float* A, float* B, float* D) const;
  std::string text() const;
};
// At most `most` multiply-adds.
FuzzedGemm draw_fuzzed_gemm(Random& random, std::int64_t most);
planner::Plan plan_of(FuzzedGemm const& fuzzed, problem::Gemm const& planned, planner::Device const& device);

// Empty, or why a launch of the plan at these operands' addresses would be rejected: the plan is wrong then.
std::string rejected_launch(planner::Plan const& plan, planner::Operands const& operands,
                            planner::Device const& device);

}  // namespace inlay::lab
