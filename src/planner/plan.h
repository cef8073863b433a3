// A plan: the kernel launches that solve a problem, and the workspace that they share. Making one needs no GPU
// and takes a few microseconds; it allocates no memory but that of chunks and of a long sum's parts.
#pragma once
#include <inlay/model/kernel_info.h>
#include <inlay/model/symbolic.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

namespace inlay::planner {
using namespace model;

// The most bytes of workspace that a plan may need: true, as many as it wants; false, none.
struct WorkspaceLimit {
  std::size_t bytes;
  WorkspaceLimit(std::same_as<bool> auto any) : bytes(any ? SIZE_MAX : 0) {}
  explicit WorkspaceLimit(std::size_t n) : bytes(n) {}
  bool is_none() const { return bytes == 0; }
};

// Where a launch finds one of its operands: at a byte offset in one of the caller's operands, or in the workspace.
struct OperandSlot {
  enum class In : std::uint8_t { nothing, operand, workspace };
  In in = In::nothing;
  int operand = 0;  // index into Operands::operand
  std::int64_t offset = 0;
};

// The addresses that a call passes: destination and source of a copy; A, B, D, C, the packed B and the ends of groups
// of a GEMM.
struct Operands {
  void* operand[kOperands];
  void* workspace;

  void* at(OperandSlot const& slot) const {
    if (slot.in == OperandSlot::In::nothing) return nullptr;
    return static_cast<char*>(slot.in == OperandSlot::In::workspace ? workspace : operand[slot.operand]) + slot.offset;
  }
};

// One kernel and its problem. Slots of a copy: destination, source; of a GEMM: A, B, D, C, the packed operand, the
// ends of groups; of a reduction: partial sums, D, C.
template <class P>
struct LaunchOf {
  Info<P> const* kernel;
  P problem;
  std::array<OperandSlot, kOperands> slots;
  OperandSlot workspace = {};  // for partial sums and flags of the kernel itself
  Config config = {};
  std::shared_ptr<MadeLaunches const> made = {};  // by make_launches(); null: each run makes them
};
using PlannedLaunch = std::variant<LaunchOf<Reduction>, LaunchOf<Gemm>, LaunchOf<Copy>>;

struct Plan {
  static constexpr int kMaxLaunches = 4;
  std::array<PlannedLaunch, kMaxLaunches> launches;  // in stream order
  int num_launches = 0;
  int candidate = -1;  // index of the chosen candidate; -1: no candidate accepts the problem, or the problem is empty
  std::size_t workspace_bytes = 0;
  double seconds = 0;    // predicted; 0: the chosen candidate has no predicted time
  int num_compared = 0;  // the candidates before this index were compared
  // Measured time of each candidate, in microseconds; 0: not measured. Empty: the plan was chosen by predicted time.
  std::vector<float> measured_us = {};
  double tuned_us = 0;  // measured when the choice was tuned; 0: it was not

  // If a grid or the bound on workspaces cannot hold the whole batch, the launches solve a chunk of it. They run
  // `chunks` times; before each further run, the addresses of the caller's operands advance by `chunk_bytes`.
  // `last_chunk` solves the indices that are left. The parts of a long K (long_sums.h) run as chunks do, one after the
  // other along k.
  std::int64_t chunks = 1;
  std::array<std::int64_t, kOperands> chunk_bytes{};
  std::shared_ptr<Plan const> last_chunk = {};
  bool is_whole() const { return chunks == 1 && !last_chunk; }

  template <class P>
  void add(LaunchOf<P> const& launch) {
    launches[std::size_t(num_launches++)] = launch;
  }
  // The n-th launch with this type of problem; null if there are fewer.
  template <class P>
  LaunchOf<P> const* find(int n = 0) const {
    for (int i = 0; i < num_launches; ++i)
      if (auto const* l = std::get_if<LaunchOf<P>>(&launches[std::size_t(i)]); l && n-- == 0) return l;
    return nullptr;
  }
};

// Whether a plan with a launch is for a list of copies.
inline bool is_list(Plan const& plan) {
  auto const* const copy = plan.find<Copy>();
  return copy && copy->problem.pairs > 1;
}

// The problem of a launch at the addresses of a call.
Copy at(LaunchOf<Copy> const& launch, Operands const& operands);
Gemm at(LaunchOf<Gemm> const& launch, Operands const& operands);
Reduction at(LaunchOf<Reduction> const& launch, Operands const& operands);

// Calls f(launch, operands) for each launch of the plan, in stream order, with the operands of its chunk.
template <class F>
void for_each_launch(Plan const& plan, Operands operands, F const& f) {
  for (std::int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
    for (int i = 0; i < plan.num_launches; ++i)
      std::visit([&](auto const& l) { f(l, operands); }, plan.launches[std::size_t(i)]);
    for (std::size_t k = 0; k < plan.chunk_bytes.size(); ++k)
      if (plan.chunk_bytes[k]) operands.operand[k] = static_cast<char*>(operands.operand[k]) + plan.chunk_bytes[k];
  }
  if (plan.last_chunk) for_each_launch(*plan.last_chunk, operands, f);
}

// Makes the parameters of all launches, for the runs of a plan that is kept. Throws what the runs would throw.
void make_launches(Plan& plan, Device const& device);

// Launches the plan on `stream`. The operands' addresses agree with those of the plan modulo kPlanAlignment bytes. The
// workspace has plan.workspace_bytes bytes and is aligned to 256. Every launch is validated before the first one
// starts, at the latest when it was made.
void run(Plan const& plan, Device const& device, Operands const& operands, cudaStream_t stream);
// The same for all pairs of a list: in the launches of a plan for lists, which has been made, or one after the other.
// Pairs are the addresses of the plan's problem, not of the caller's tensors.
void run_list(Plan const& plan, Device const& device, std::span<Pair const> pairs, cudaStream_t stream);

}  // namespace inlay::planner
