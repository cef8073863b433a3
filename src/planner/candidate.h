// Candidates of a plan, how one is chosen (choose.cpp), and the text that explains the choice (why.cpp).
#pragma once
#include <inlay/planner/plan.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace inlay::planner {

// A kernel that may run problems of type P, and how.
template <class P>
struct Candidate;

template <>
struct Candidate<Copy> {
  char const* label = "";  // distinguishes candidates with the same kernel
  Info<Copy> const* kernel;
};

// The layout that a candidate requires of an operand. An operand in another layout is packed first: a copy brings it
// into the workspace, matrices one after the other (Packing, in gemm_packing.h).
enum class Layout : std::uint8_t {
  any,      // nothing is packed; the kernel itself may reject the problem
  aligned,  // contiguous along one mode; base address, pitch and batch stride are multiples of 16 bytes, as TMA needs
  aligned_mn,  // aligned, and contiguous along m (A) or n (B)
};

// The order in which a kernel adds along K: kernels with the same order return the same bits. order_of(),
// is_of_element_slices(), is_of_halves(), and what gemm_plan.cpp and gemm_candidates.cpp ask of an order, read ranges
// of the list.
enum class Sums : std::uint8_t {
  // f32 on FMA units
  in_order,              // one register, in the order of k
  slices_32x32,          // slices of K, as many as are fast with tiles of 32 x 32
  slices_64x64,          // the same with tiles of 64 x 64
  slices_narrow,         // the same with tiles of 256 x 16 or 16 x 256
  stream_k,              // the last tiles of 128 x 256 are cut along k
  stream_k_transposing,  // the same, or tiles of 256 x 128
  cluster,               // K is shared by the blocks of a cluster, and by groups of warps
  thin,                  // K is shared by the lanes of a warp and by the blocks of a cluster
  blocked,               // blocked summation, block sums in shared memory
  blocked_in_registers,  // blocked summation, block sums in registers
  // f32 on tensor cores
  bf16_slices,         // slices are made in registers, in front of each multiplication
  bf16_slices_packed,  // slices are written to the workspace first
  f16_slices,          // the same with f16
  // 16-bit operands
  mma_sync,
  wgmma,  // slices of K are HalfSlices
};
// Elements of f32 are cut into slices of 16 bits; the slices of slices_32x32 and the like are of K.
constexpr bool is_of_element_slices(Sums sums) { return sums >= Sums::bf16_slices && sums <= Sums::f16_slices; }
constexpr bool is_of_halves(Sums sums) { return sums >= Sums::mma_sync; }
// The order in which a kernel adds K indices: up to 256 the orders before `cluster` split nothing along K.
constexpr Sums order_of(Sums sums, std::int64_t K) {
  return K <= 256 && sums <= Sums::stream_k_transposing ? Sums::in_order : sums;
}

template <>
struct Candidate<Gemm> {
  char const* label = "";
  Info<Gemm> const* kernel;
  Layout a = Layout::any, b = Layout::any;  // that the kernel requires of A and B
  bool packs_b_along_n = false;             // B is packed if both operands are contiguous along k
  bool workspace_is_optional = false;       // the kernel is faster with its workspace, but runs without
  Info<Gemm> const* slices_of = nullptr;    // the kernel adds in the order of this one's slices
  Info<Gemm> const* without = nullptr;      // without its optional workspace it takes as long as this kernel
  int tile = 0;                             // one of its tiles, if it has several: Config::tile
  bool for_groups = false;                  // of rows, and nothing else
  bool transposes = false;                  // it computes D^T = B^T A^T
  Sums sums = Sums::in_order;               // a call that asks for other sums is rejected
};

// What differs between types of problems. A specialisation has
//   candidates()   of equally fast ones the first wins
//   Wanted         what a candidate must have to be compared; wanted() finds it out, applies() asks a candidate for it
//   otherwise()    says why a candidate that does not apply is not compared
//   is_best()      true: the candidates that follow need not be compared
//   Shared         what the attempts of several candidates find out once
//   attempt()      the plan of one candidate, or why it rejects the problem
//   batch()        the mode along which the problem can be split into chunks
//   chunk()        the problem restricted to the first `count` indices of that mode
//   problem_text(), choice_text(), candidate_text()    its lines of why()
template <class P>
struct Planner;

struct Attempt {
  Reason rejected;
  Plan plan;
};

// A mode along which a problem can be split: each destination element depends on one index of the mode. stride_bytes:
// stride of each of the caller's operands along the mode.
struct Batch {
  std::int64_t extent;
  std::array<std::int64_t, kOperands> stride_bytes;
};

template <class P>
std::span<Candidate<P> const> candidates() {
  return Planner<P>::candidates();
}

// The smallest number of batch indices, a power of two, over which each operand advances by a multiple of
// kPlanAlignment bytes. Chunks whose extent is a multiple of it share one plan.
std::int64_t chunk_granularity(Batch const& batch);

// The plan of a candidate. If a grid or the bound on workspaces cannot hold the whole batch, the plan runs it in
// chunks. Their extent is a multiple of chunk_granularity(), and of 1024 if it is at least 1024. Rejected if no such
// extent fits. A candidate that wants more workspace than there is gets none. shared: what the attempts of several
// candidates find out once. config: of a copy kernel for the whole problem, instead of the one that is predicted to
// be the fastest; a chunk has its own.
template <class P>
Attempt attempt_in_chunks(Candidate<P> const& candidate, P const& problem, Device const& device, WorkspaceLimit limit,
                          typename Planner<P>::Shared& shared, Config const& config = {});
template <class P>
Attempt attempt_in_chunks(Candidate<P> const& candidate, P const& problem, Device const& device, WorkspaceLimit limit,
                          Config const& config = {});

// Chooses among the candidates that apply and do not reject the problem: the shortest predicted time wins, and a
// candidate whose time is not a positive finite number is skipped. If none qualifies, chooses by the same rule among
// the candidates that do not apply. Candidates that need more workspace than there is reject the problem.
template <class P>
Plan make_plan(P const& problem, Device const& device, WorkspaceLimit limit,
               std::type_identity_t<std::span<Candidate<P> const>> all = candidates<P>());

// The kernels of a plan with their tilings, tiles and slices, and its workspace, in one line: what was chosen, without
// why.
std::string configuration_of(Plan const& plan);

// The problem, the chosen kernel with its launches, and a line for each candidate: its cost, or why it rejects the
// problem. `most`: how many candidates, the best first.
template <class P>
std::string why(Plan const& plan, P const& problem, Device const& device, WorkspaceLimit limit,
                std::type_identity_t<std::span<Candidate<P> const>> all = candidates<P>(), std::size_t most = SIZE_MAX);

template <>
struct Planner<Copy> {
  static std::span<Candidate<Copy> const> candidates();
  struct Wanted {};
  static Wanted wanted(Copy const&, Device const&, WorkspaceLimit, std::span<Candidate<Copy> const>) { return {}; }
  static bool applies(Candidate<Copy> const&, Copy const&, Wanted) { return true; }
  static char const* otherwise(Candidate<Copy> const&) { return ""; }
  static bool is_best(Plan const& plan, Copy const& copy, Device const& device);
  struct Shared {};
  static Attempt attempt(Candidate<Copy> const& candidate, Copy const& copy, Device const& device,
                         bool may_use_workspace, Shared& shared, Config const& config = {});
  static Batch batch(Copy const& copy);
  static Copy chunk(Copy const& copy, std::int64_t count);
  static std::string problem_text(Copy const& copy, Device const& device);
  static std::string choice_text(Plan const& plan, Candidate<Copy> const& candidate, Copy const& copy,
                                 Device const& device, WorkspaceLimit limit);
  static std::string candidate_text(Plan const& plan, Candidate<Copy> const& candidate, Copy const& copy,
                                    Device const& device);
};

template <>
struct Planner<Gemm> {
  static bool is_best(Plan const&, Gemm const&, Device const&) { return false; }
  static std::span<Candidate<Gemm> const> candidates();
  using Wanted = Sums;  // the order of sums that is the fastest, whatever the batch
  static Sums wanted(Gemm const& gemm, Device const& device, WorkspaceLimit limit,
                     std::span<Candidate<Gemm> const> all);
  static bool applies(Candidate<Gemm> const& candidate, Gemm const& gemm, Sums wanted) {
    return order_of(candidate.sums, gemm.K()) == wanted;
  }
  static char const* otherwise(Candidate<Gemm> const& candidate);
  struct Shared {
    std::optional<std::pair<int, std::int64_t>> slices;  // of K, of GEMMs on tensor cores: HalfSlices
    // The plans that pack A and B, and what they pack them to.
    struct Packed {
      Operand from, to;
      Plan plan;
    };
    std::array<std::optional<Packed>, 2> packed;
  };
  static Attempt attempt(Candidate<Gemm> const& candidate, Gemm const& gemm, Device const& device,
                         bool may_use_workspace, Shared& shared, Config const& = {});
  // Predicted seconds of a candidate; infinite if it rejects the problem or has no prediction.
  static double seconds(Candidate<Gemm> const& candidate, Gemm const& gemm, Device const& device,
                        bool may_use_workspace);
  static Batch batch(Gemm const& gemm);
  static Gemm chunk(Gemm const& gemm, std::int64_t count);
  static std::string problem_text(Gemm const& gemm, Device const& device);
  static std::string choice_text(Plan const& plan, Candidate<Gemm> const& candidate, Gemm const& gemm,
                                 Device const& device, WorkspaceLimit limit);
  static std::string candidate_text(Plan const& plan, Candidate<Gemm> const& candidate, Gemm const& gemm,
                                    Device const& device);
};

}  // namespace inlay::planner
