// A plan for a Gemm: which variant answers it, and which operands are packed for it into a workspace. Pure: making one
// needs no GPU, allocates nothing and takes about a microsecond; the reasons are worked out when they are asked for.
#pragma once
#include <span>
#include <string>

#include "plan/plan.h"

namespace inlay {

// How a variant wants an operand to lie. One that lies otherwise is packed first: a Move brings it into the workspace,
// contiguous along m or n, its rows (one for each k) whole vectors of 16 bytes, one matrix behind the other.
enum class Lies {
  anywhere,  // nothing is packed: the variant rejects for itself
  aligned,  // contiguous along one mode, in whole vectors of 16 bytes from base to base and row to row, as TMA needs it
  along_mn,  // aligned, and contiguous along m (A) or n (B)
};

struct GemmPreference {
  Variant<Gemm> variant;
  // The choice, and so the bits, must not depend on how many matrices a batch has: `L` may only decide between variants
  // that form every sum in one chain, in the order of k.
  bool (*wanted)(Gemm const&, Device const&);
  char const* otherwise;  // why it is passed over although it could run
  Lies a = Lies::anywhere, b = Lies::anywhere;
  bool runs_without = false;  // the workspace that it wants makes it faster, and is not needed
};
std::span<GemmPreference const> gemm_preferences();

struct GemmPlan {
  Gemm gemm;
  bool may_use_workspace;
  std::span<GemmPreference const> preferences;
  Variant<Gemm> const* chosen = nullptr;  // null: nobody can, or C is empty and nobody need
  Gemm packed{};                          // what it runs, packed operands where kPresumed says
  MovePlan pack_a{}, pack_b{};            // nothing chosen: the operand is used where it lies
  std::size_t offset_a = 0, offset_b = 0,
              offset_own = 0;       // in the workspace: packed A, packed B, what the variant wants
  std::size_t workspace_bytes = 0;  // 0 without a workspace

  // A plan knows no workspace yet: it presumes one at an address where no operand lies.
  static constexpr std::uint64_t kPresumed = std::uint64_t(1) << 62;

  // The problem, what is packed and why, the choice, and every candidate in the order of preference, with its workspace
  // or its rejection. `device` is the one that the plan was made for.
  std::string why(Device const& device) const;
};

// Without a workspace nothing is packed, and only variants that can do without one are asked.
GemmPlan plan_gemm(Gemm const& gemm, Device const& device, bool may_use_workspace,
                   std::span<GemmPreference const> preferences = gemm_preferences());

// Launches what a plan says on `stream`; `workspace` has plan.workspace_bytes and begins at a multiple of 256.
void run(GemmPlan const& plan, Device const& device, void* workspace, cudaStream_t stream);

}  // namespace inlay
