#include "plan/gemm_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "gemm_variants.h"

namespace inlay {
namespace {

bool any(Gemm const&, Device const&) { return true; }

std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

// A or B, whose modes are m or n, k, and the batch.
struct Operand {
  float const* base;
  std::int64_t mn, k, matrices;  // extents; a matrix that the batch shares is one
  std::int64_t mn_stride, k_stride, batch_stride;

  char const* letter(bool b) const { return mn_stride == 1 ? (b ? "n" : "t") : k_stride == 1 ? (b ? "t" : "n") : "-"; }
  std::int64_t pitch() const { return mn_stride == 1 ? k_stride : mn_stride; }
  std::int64_t row() const { return mn_stride == 1 ? mn : k; }
  std::uint64_t past() const { return reinterpret_cast<std::uint64_t>(base) % 16; }
};
Operand operand_a(Gemm const& g) { return {g.A, g.M, g.K, g.a_l ? g.L : 1, g.a_m, g.a_k, g.a_l}; }
Operand operand_b(Gemm const& g) { return {g.B, g.N, g.K, g.b_l ? g.L : 1, g.b_n, g.b_k, g.b_l}; }

// Why an operand does not lie as a variant wants it. Empty: it does.
Reason misplaced(Operand const& o, Lies wanted) {
  if (wanted == Lies::anywhere || o.k == 0) return {};
  if (o.mn_stride != 1 && o.k_stride != 1) return {"it is contiguous along neither mode"};
  if (o.mn_stride != 1 && wanted == Lies::along_mn) return {"it is contiguous along k"};
  if (o.past()) return {"it begins {} bytes past a multiple of 16", {std::int64_t(o.past())}};
  if (o.pitch() % 4) return {"its rows are {} elements apart, which is no multiple of 4", {o.pitch()}};
  if (o.pitch() < o.row()) return {"its rows of {} elements are {} apart", {o.row(), o.pitch()}};
  if (o.batch_stride % 4) return {"its matrices are {} elements apart, which is no multiple of 4", {o.batch_stride}};
  if (o.batch_stride < 0) return {"its matrices are {} elements apart", {o.batch_stride}};
  return {};
}

// Where an operand comes to lie when it is packed at an offset of the workspace that a plan presumes.
Operand packed(Operand o, std::size_t offset) {
  o.base = reinterpret_cast<float const*>(GemmPlan::kPresumed + offset);
  o.mn_stride = 1, o.k_stride = round_up(o.mn, 4);
  o.batch_stride = o.batch_stride ? o.k * o.k_stride : 0;
  return o;
}
// In whole multiples of 256: what follows is aligned as the workspace is. Strides of 0 can make it more than 63 bits.
__int128 packed_bytes(Operand const& o) { return (__int128(o.mn + 3) / 4 * 16 * o.k * o.matrices + 255) / 256 * 256; }
MovePlan plan_pack(Operand const& from, Operand const& to, Device const& device) {
  auto const view = [](Operand const& o) {
    Tensor t = matrix(const_cast<float*>(o.base), f32, o.k, o.mn);
    t.rank = 3;
    t.extent[2] = o.mn, t.extent[1] = o.k, t.extent[0] = o.matrices;
    t.stride[2] = o.mn_stride, t.stride[1] = o.k_stride, t.stride[0] = o.batch_stride;
    return t;
  };
  return plan_move(make_move(view(to), view(from)), device);
}

// Fills in the plan by which a candidate answers. A reason: it cannot.
Reason attempt(GemmPreference const& p, Device const& device, GemmPlan& plan) {
  Operand a = operand_a(plan.gemm), b = operand_b(plan.gemm);
  bool const move_a(misplaced(a, p.a)), move_b(misplaced(b, p.b));
  if (move_a && !plan.may_use_workspace) return {"A would have to be packed, for which there is no workspace"};
  if (move_b && !plan.may_use_workspace) return {"B would have to be packed, for which there is no workspace"};
  __int128 const a_bytes = move_a ? packed_bytes(a) : 0, b_bytes = move_b ? packed_bytes(b) : 0;
  if (a_bytes + b_bytes > device.memory_bytes) return {"its packed operands would not fit the device's memory"};

  plan.offset_a = 0, plan.offset_b = std::size_t(a_bytes), plan.offset_own = std::size_t(a_bytes + b_bytes);
  if (move_a) a = packed(a, plan.offset_a);
  if (move_b) b = packed(b, plan.offset_b);
  Gemm& g = plan.packed = plan.gemm;
  g.A = a.base, g.a_m = a.mn_stride, g.a_k = a.k_stride, g.a_l = a.batch_stride;
  g.B = b.base, g.b_n = b.mn_stride, g.b_k = b.k_stride, g.b_l = b.batch_stride;
  if (Reason const rejected = p.variant.info->rejects(g, device)) return rejected;
  std::size_t const own = p.variant.info->workspace(g, device);
  if (own && !plan.may_use_workspace && !p.runs_without)
    return {"it wants a workspace of {} bytes, and there is none", {std::int64_t(own)}};
  plan.workspace_bytes = plan.may_use_workspace ? plan.offset_own + own : 0;

  plan.pack_a.chosen = plan.pack_b.chosen = nullptr;
  if (move_a) plan.pack_a = plan_pack(operand_a(plan.gemm), a, device);
  if (move_b) plan.pack_b = plan_pack(operand_b(plan.gemm), b, device);
  if (move_a && !plan.pack_a.chosen) return {"no variant of move can pack A"};
  if (move_b && !plan.pack_b.chosen) return {"no variant of move can pack B"};
  return {};
}

std::int64_t tiles(Gemm const& g, std::int64_t m, std::int64_t n) { return (g.M + m - 1) / m * ((g.N + n - 1) / n); }

// What the preferences ask. The bounds are where the curves meet on an H200 (docs/log.md).
bool narrow(Gemm const& g, Device const&) { return std::min(g.M, g.N) <= 32 && g.K > 0; }
bool wide(Gemm const& g) { return std::min(g.M, g.N) > 32; }
// Up to this K nobody cuts it, and variants that add in one chain have the same bits: the batch may decide between them.
bool shallow(Gemm const& g) { return g.K <= 256; }
// A few tiles of 32 x 32 to a multiprocessor; or at most 4e7 multiply-adds (40000 columns of such tiles), for which short
// parts of K fill the GPU.
bool small(Gemm const& g, Device const& d) {
  if (g.K == 0) return false;
  std::int64_t const t = tiles(g, 32, 32);
  return shallow(g) ? t * g.L * 2 <= 9 * d.sm_count : t <= 40000 / g.K;
}
// Whole tiles of 128 x 256 of all matrices nearly fill the GPU.
bool many_shallow(Gemm const& g, Device const& d) {
  return wide(g) && shallow(g) && tiles(g, 128, 256) * g.L * 4 >= 3 * d.sm_count;
}
// A tile of 128 x 128, or half of one, for most multiprocessors and no more.
bool few_tiles(Gemm const& g, Device const& d) {
  std::int64_t const t = tiles(g, 128, 128);
  return wide(g) && !shallow(g) && t * 3 >= d.sm_count && t <= d.sm_count && g.K <= 4096;
}
// Enough tiles of 128 x 256 for parts of them to fill the GPU.
bool large(Gemm const& g, Device const& d) {
  return std::min(g.M, g.N) > 64 && !shallow(g) && !few_tiles(g, d) && tiles(g, 128, 256) * 5 >= d.sm_count;
}
// Enough for whole ones to.
bool whole(Gemm const& g, Device const& d) { return large(g, d) && tiles(g, 128, 256) * 4 >= 3 * d.sm_count; }
bool deep(Gemm const& g, Device const& d) {
  return g.K > 0 && !narrow(g, d) && !many_shallow(g, d) && !few_tiles(g, d) && !large(g, d);
}
bool two_levels(Gemm const& g, Device const& d) {
  return g.accuracy == Accuracy::two_level && (large(g, d) || (few_tiles(g, d) && g.K > 1024));
}
bool two_sums(Gemm const& g, Device const&) { return g.accuracy == Accuracy::two_level && g.K > 1024; }
bool multiplies(Gemm const& g, Device const&) { return g.K > 0; }
// A variant that shares a stage's k among groups of warps adds in several chains: not where the batch decides.
bool not_shallow(Gemm const& g, Device const&) { return g.K > 0 && !shallow(g); }

}  // namespace

// In order of preference, by what was measured (results/, docs/log.md). What is not wanted is taken where nothing else
// runs.
std::span<GemmPreference const> gemm_preferences() {
  using namespace kernels;
  constexpr char const *shape = "made for another number of tiles",
                       *accuracy = "its second level is not asked for, or not worth it",
                       *slow = "operands that TMA can bring come faster";
  constexpr Lies anywhere = Lies::anywhere, aligned = Lies::aligned, along_mn = Lies::along_mn;
  static GemmPreference const all[] = {
      {{sgemm_14_two_level::facts, sgemm_14_two_level::run}, two_levels, accuracy, along_mn, along_mn},
      {{sgemm_19_small_tiles::facts, sgemm_19_small_tiles::run}, small, shape},
      {{sgemm_17_narrow::facts, sgemm_17_narrow::run}, narrow, shape},
      {{sgemm_16_split_k::facts, sgemm_16_split_k::run}, deep, shape},
      {{sgemm_18_two_sums::facts, sgemm_18_two_sums::run}, two_sums, accuracy},
      {{sgemm_15_cluster::facts, sgemm_15_cluster::run}, few_tiles, shape, aligned, aligned},
      {{sgemm_13_turned::facts, sgemm_13_turned::run}, many_shallow, shape, anywhere, anywhere},
      {{sgemm_11_rotated::facts, sgemm_11_rotated::run}, many_shallow, shape},
      {{sgemm_13_turned::facts, sgemm_13_turned::run}, large, shape, aligned, aligned},
      {{sgemm_13_turned::facts, sgemm_13_turned::run}, large, shape, aligned, along_mn},
      {{sgemm_12_stream_k::facts, sgemm_12_stream_k::run}, large, shape, along_mn, along_mn},
      // without a workspace: nothing is packed, no tile is cut
      {{sgemm_13_turned::facts, sgemm_13_turned::run}, whole, shape, anywhere, anywhere, true},
      {{sgemm_11_rotated::facts, sgemm_11_rotated::run}, whole, shape},
      {{sgemm_09_thread_tile::facts, sgemm_09_thread_tile::run}, whole, slow},
      {{sgemm_15_cluster::facts, sgemm_15_cluster::run}, not_shallow, shape},
      {{sgemm_08_swizzled::facts, sgemm_08_swizzled::run}, multiplies, slow},
      {{sgemm_01_naive::facts, sgemm_01_naive::run}, any, ""},
  };
  return all;
}

GemmPlan plan_gemm(Gemm const& gemm, Device const& device, bool may_use_workspace,
                   std::span<GemmPreference const> preferences) {
  GemmPlan plan{gemm, may_use_workspace, preferences};
  if (gemm.elements() == 0) return plan;
  for (bool wanted : {true, false})
    for (GemmPreference const& p : preferences)
      if (p.wanted(gemm, device) == wanted && !attempt(p, device, plan)) return plan.chosen = &p.variant, plan;
  return {gemm, may_use_workspace, preferences};
}

void run(GemmPlan const& plan, Device const& device, void* workspace, cudaStream_t stream) {
  if (!plan.chosen) return;
  char* const base = static_cast<char*>(workspace);
  Gemm gemm = plan.packed;
  auto const pack = [&](MovePlan const& by, std::size_t offset, float const*& operand) {
    if (!by.chosen) return;
    Move move = by.move;
    move.dst = base + offset;
    by.chosen->run(move, device, nullptr, stream);
    operand = reinterpret_cast<float const*>(base + offset);
  };
  pack(plan.pack_a, plan.offset_a, gemm.A);
  pack(plan.pack_b, plan.offset_b, gemm.B);
  plan.chosen->run(gemm, device, base ? base + plan.offset_own : nullptr, stream);
}

namespace {

std::string describe(char const* name, Operand const& o, char const* mn) {
  std::string const where =
      o.past() ? fmt::format("{} bytes past a multiple of 16", o.past()) : "a multiple of 16 bytes";
  std::string s = o.mn_stride != 1 && o.k_stride != 1
                      ? fmt::format("  {}: strides of {} along {} and {} along k", name, o.mn_stride, mn, o.k_stride)
                      : fmt::format("  {}: contiguous along {}, rows {} elements apart", name,
                                    o.mn_stride == 1 ? mn : "k", o.pitch());
  if (o.matrices > 1) s += fmt::format(", matrices {}", o.batch_stride);
  return s + fmt::format(", begins at {}\n", where);
}
std::string packing(char const* name, MovePlan const& by, Reason const& misplaced) {
  return by.chosen ? fmt::format("  {} is packed by {}: {}\n", name, by.chosen->info->name, misplaced.sentence()) : "";
}

}  // namespace

std::string GemmPlan::why(Device const& device) const {
  if (gemm.elements() == 0) return "gemm with an empty C: nothing is launched\n";
  Operand const a = operand_a(gemm), b = operand_b(gemm);
  std::string s =
      fmt::format("gemm of M {} x N {} x K {}{}, {}{}, alpha {}, beta {}, {} on {}\n", gemm.M, gemm.N, gemm.K,
                  gemm.L > 1 ? fmt::format(", batch of {}", gemm.L) : "", a.letter(false), b.letter(true), gemm.alpha,
                  gemm.beta, gemm.accuracy == Accuracy::two_level ? "two levels" : "one level", device.name);
  s += gemm.K ? describe("A", a, "m") + describe("B", b, "n") : "  A and B are not read\n";
  Operand const c{gemm.C, gemm.N, gemm.M, gemm.L, gemm.c_n, gemm.c_m, gemm.c_l};
  s += c.mn_stride == 1 ? describe("C", c, "n")
                        : fmt::format("  C: strides of {} along m and {} along n\n", gemm.c_m, gemm.c_n);
  if (!chosen) s += "no variant can run it\n";
  GemmPlan other{gemm, may_use_workspace, preferences};
  std::string candidates;
  for (GemmPreference const& p : preferences) {
    bool const is_chosen = &p.variant == chosen;
    if (is_chosen) {
      s += fmt::format("chosen: {}. {}\n", p.variant.info->name, p.variant.info->idea);
      s += packing("A", pack_a, misplaced(a, p.a)) + packing("B", pack_b, misplaced(b, p.b));
      s += fmt::format("  workspace: {} bytes{}\n", workspace_bytes, may_use_workspace ? "" : " (none was offered)");
    }
    Reason const rejected = attempt(p, device, other);
    candidates += fmt::format("  {} {}: ", is_chosen ? "->" : "  ", p.variant.info->name);
    candidates += rejected ? rejected.sentence()
                           : fmt::format("{} bytes of workspace{}", other.workspace_bytes,
                                         is_chosen                 ? std::string()
                                         : !p.wanted(gemm, device) ? fmt::format("; {}", p.otherwise)
                                                                   : "; comes later");
    candidates += "\n";
  }
  return s + candidates;
}

}  // namespace inlay
