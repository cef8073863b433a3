// Random problems for `inlay fuzz`. Each depends on a seed and a number only, so that failures can be repeated
// anywhere.
#pragma once
#include <inlay/planner/candidate.h>
#include <inlay/problem/batched_gemm.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

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

// A copy of rank 0 to 8 with at most `most` elements of 1 to 16 bytes. Its modes are nested in any order, with or
// without gaps, with negative strides, with stride 0 in the source, or empty. Bases are aligned as the elements need.
DrawnCopy draw_copy(Random& random, std::int64_t most);
// A transpose of matrices with up to two batch modes.
DrawnCopy draw_transpose(Random& random, std::int64_t most);

// A copy, how it is planned, and the addresses at which the plan runs, relative to those for which it was made.
struct FuzzedCopy {
  DrawnCopy copy;
  int candidate = -1;  // index into planner::candidates() of a candidate that is forced; -1: the planner chooses
  // What the forced candidate is configured with: a tile that fills its shared memory, or one of its tiles; open: it
  // chooses.
  model::Config config;
  std::int64_t src_shift = 0, dst_shift = 0;  // bytes from the addresses of the plan to those of the run

  bool agrees() const { return src_shift % model::kPlanAlignment == 0 && dst_shift % model::kPlanAlignment == 0; }
  std::string text() const;
};
inline constexpr std::int64_t kMostShift = 4096;  // bytes

FuzzedCopy draw_fuzzed_copy(Random& random, bool transpose, std::int64_t most);
// The plan of a drawn case on `device`; `planned`: the copy at the plan's addresses.
planner::Plan plan_of(FuzzedCopy const& fuzzed, problem::Copy const& planned, model::Device const& device);

// A copy whose grid has about as many blocks as a grid can have. Its addresses must not be accessed.
problem::Copy draw_large_copy(Random& random, model::Device const& device);

// An operand of a drawn GEMM: modes (outer batch, batch, rows, cols), strides in elements, base in elements from a
// buffer's aligned start to the lowest element.
struct DrawnMatrix {
  static constexpr int kModes = 4;
  std::int64_t extent[kModes], stride[kModes], base;
  DType type;

  std::int64_t elements() const;              // of the buffer, from its start to the highest element
  std::int64_t first() const;                 // the first element's offset in the buffer
  Tensor view(void* buffer, int rank) const;  // of the last modes
};
struct FuzzedGemm {
  enum { A, B, D, C, kOperands };
  int rank;  // 2 to 4
  std::int64_t M, N, K;
  DrawnMatrix x[kOperands];
  bool has_C;  // else C is D
  Epilogue epilogue;
  Compute compute;
  int workspace_percent;  // of what the fastest plan wants: 0, no workspace
  int candidate = -1;     // index into planner::candidates() of a candidate that is forced; -1: the planner chooses
  int columns = 0;        // of the forced candidate's tile; 0: open
  std::int64_t shift[kOperands]{};  // elements from the addresses of the plan to those of the run
  // The ends of groups of rows, of which B's batch mode has one matrix each; empty: no groups. In any order, from -9
  // on.
  std::vector<std::int32_t> ends;
  int ends_at = 0;  // their first number in its buffer

  bool agrees() const;
  // The row behind those of a group, and of all groups; without groups all rows.
  std::int64_t end_of(std::size_t group) const;
  std::int64_t rows() const { return ends.empty() ? M : end_of(ends.size() - 1); }
  std::size_t workspace_of(std::size_t wanted) const { return wanted * std::size_t(workspace_percent) / 100; }
  Tensor view(int operand, void* buffer) const { return x[operand].view(buffer, rank); }
  // ends_buffer: where the ends of groups lie.
  std::span<std::int32_t const> ends_in(void const* ends_buffer) const {
    return {static_cast<std::int32_t const*>(ends_buffer) + ends_at, ends.size()};
  }
  problem::BatchedGemm problem(void* const (&buffers)[kOperands], void const* ends_buffer) const;
  std::string text() const;
};
// The most multiply-adds of a drawn GEMM. deep: with a K above 1024, which has its own limit because K is split from
// there on; deep_in_tiles: of these with rows and columns rounded up to 128, because a tile of tensor cores computes as
// many.
struct MostFma {
  std::int64_t most, deep, deep_in_tiles;
};
FuzzedGemm draw_fuzzed_gemm(Random& random, MostFma const& limit);
planner::Plan plan_of(FuzzedGemm const& fuzzed, problem::Gemm const& planned, model::Device const& device);

// Why a launch of the plan with these operands would be rejected, which means that the plan is wrong; empty if none
// would be.
std::string rejected_launch(planner::Plan const& plan, planner::Operands const& operands, model::Device const& device);

}  // namespace inlay::lab
