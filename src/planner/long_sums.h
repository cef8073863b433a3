// Sums longer than a kernel counts: slices of K are added in fp32, one after the other.
#pragma once
#include <inlay/planner/candidate.h>

namespace inlay::planner {

// The most indices of K that one launch sums, and those of a slice of more. On FMA units a register adds many numbers
// and rounds each time: short slices keep within 2^-18 of the sum. The slices' addresses agree modulo kPlanAlignment.
constexpr std::int64_t most_K(DType type) { return std::int64_t(1) << (type == f32 ? 26 : 30); }
constexpr std::int64_t part_K(DType type) { return std::int64_t(1) << (type == f32 ? 24 : 29); }

// Whether K may be cut into such parts: neither is an operand packed, nor do rows lie in groups.
constexpr bool takes_parts(Gemm const& g) { return !g.packed_operand() && !g.groups; }
constexpr bool is_long_sum(Gemm const& g) { return g.K() > most_K(g.A.type); }
// Whether slices on tensor cores would be too long without a workspace for them.
bool may_be_long_sum(Gemm const& g);

// The plan of such a GEMM in parts, which add to D if that is f32, else to a copy of D in fp32 in the workspace.
// Without a candidate if there is no such workspace, or if a part does not run as a whole.
Plan plan_long_sums(Gemm const& gemm, Device const& device, WorkspaceLimit limit, std::span<Candidate<Gemm> const> all);

// Bytes of that copy; 0: D is f32.
std::size_t bytes_of_long_sums(Gemm const& gemm);

}  // namespace inlay::planner
