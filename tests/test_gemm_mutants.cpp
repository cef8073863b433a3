// Broken GEMM kernels, each caught by the check that should catch it. A mutant is a Block that leaves something out, or
// a parameter or a launch changed on the host: the kernels are the ladder's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>

#include <inlay/kernels/gemm/fma/sgemm_cluster.h>
#include <inlay/kernels/gemm/fma/sgemm_split_64x64.h>
#include <inlay/kernels/gemm/fma/sgemm_tma_transposing.h>
#include <inlay/registry/replay_kernel.h>
#include <inlay/registry/rounding.h>
#include <inlay/tutorial/sgemm/sgemm_01_naive.h>
#include <inlay/tutorial/sgemm/sgemm_04_pipelined.h>
#include <inlay/tutorial/sgemm/sgemm_05_warp_tiled.h>
#include <inlay/tutorial/sgemm/sgemm_06_column_major_b.h>
#include "gemm_corpus.h"
#include "mutants.h"

namespace inlay::kernels {
namespace {

using replay::Check, replay::Finding, replay::HostBlock, replay::Recorder;
using test::GemmCase, test::expect_only;

// What is left out or done wrong.
enum class Flaw {
  none,
  // blocks and warps
  no_sync,
  no_second_sync,
  no_syncwarp,
  // cp.async
  no_cp_async_wait,
  a_group_too_few,
  // the ring
  no_wait_for_full,
  no_wait_for_raw,
  no_wait_for_empty,
  full_instead_of_empty,
  transposers_do_not_wait_for_empty,
  empty_too_early,
  empty_for_all_but_a_warp,
  transposers_leave_full,
  transposers_leave_raw,
  some_bytes_too_few,
  a_box_too_few,
  a_tile_on,
  no_barrier_fence,
  too_many_registers,
  // kernels that begin early
  no_griddep_wait,
  // stream-K
  no_release,
  no_acquire,
  no_sync_before_release,
  no_sync_after_acquire,
  // clusters
  no_sync_cluster,
  no_second_sync_cluster,
  peers_of_itself
};
Flaw flaw = Flaw::none;  // of the replay that runs now

// A block with that flaw. In the families of rings, threads 0 to 255 multiply, 256 fills, and those from 288 on transpose.
struct Flawed : HostBlock {
  static unsigned thread() { return replay::running().rank() % 384; }
  static bool multiplies() { return thread() < 256; }
  static bool transposes() { return thread() >= 288; }
  static constexpr int kStages = RingStep::STAGES;
  // The barriers of a stage have names, those of the raw buffers have none.
  static bool is(std::string const& name, void const* p) {
    replay::Region const& r = *replay::running().memory.find(p);
    return r.operand(std::size_t(static_cast<char const*>(p) - r.seen)).name == name;
  }

  struct Mbarrier : replay::Mbarrier {
    void init(std::uint32_t count) const {
      replay::Mbarrier::init(count - (flaw == Flaw::empty_for_all_but_a_warp && is("shared empty", this)));
    }
    void arrive() const {
      if (flaw == Flaw::empty_too_early && multiplies()) return;
      if (flaw == Flaw::transposers_leave_full && is("shared full", this)) return;
      if (flaw == Flaw::transposers_leave_raw && is("shared", this)) return;
      replay::Mbarrier::arrive();
    }
    void arrive_and_expect_tx(std::uint32_t bytes) const {
      if (flaw == Flaw::some_bytes_too_few) bytes -= 16;
      if (flaw == Flaw::a_box_too_few) bytes /= 3;  // boxes of 128 and 256 rows
      replay::Mbarrier::arrive_and_expect_tx(bytes);
    }
    void wait(std::uint32_t parity) const {
      if (flaw == Flaw::no_wait_for_full && multiplies()) return;
      if (flaw == Flaw::no_wait_for_raw && transposes() && is("shared", this)) return;
      if (flaw == Flaw::no_wait_for_empty && thread() == 256) return;
      if (flaw == Flaw::transposers_do_not_wait_for_empty && transposes() && is("shared empty", this)) return;
      if (flaw == Flaw::full_instead_of_empty && thread() == 256)
        (this - kStages)->replay::Mbarrier::wait(parity);  // full[] lies before empty[]
      else
        replay::Mbarrier::wait(parity);
      if (flaw == Flaw::empty_too_early && multiplies() && thread() % 32 == 0)
        (this + kStages)->replay::Mbarrier::arrive();
    }
  };

  mutable int syncs = 0, cluster_syncs = 0;
  void sync(std::source_location at = std::source_location::current()) const {
    ++syncs;
    if (flaw == Flaw::no_sync || (flaw == Flaw::no_second_sync && syncs == 2)) return;
    HostBlock::sync(at);
  }
  template <int Id, int Threads>
  void sync(Int<Id> id, Int<Threads> threads, std::source_location at = std::source_location::current()) const {
    if (flaw == Flaw::no_sync_before_release && group == 0) return;  // the block with a tile's later part
    if (flaw == Flaw::no_sync_after_acquire && group == 1) return;   // with its first
    HostBlock::sync(id, threads, at);
  }
  void syncwarp(std::source_location at = std::source_location::current()) const {
    if (flaw == Flaw::no_syncwarp) return;
    HostBlock::syncwarp(at);
  }
  template <int Threads>
  void sync_cluster(Int<Threads> threads, std::source_location at = std::source_location::current()) const {
    ++cluster_syncs;
    if (flaw == Flaw::no_sync_cluster && cluster_syncs == 1) return;
    if (flaw == Flaw::no_second_sync_cluster && cluster_syncs == 2) return;
    HostBlock::sync_cluster(threads, at);
  }
  template <class X>
  X const* peer(X const* shared, int rank) const {
    return flaw == Flaw::peers_of_itself ? shared : HostBlock::peer(shared, rank);
  }
  void fence_barrier_init() const {
    if (flaw != Flaw::no_barrier_fence) HostBlock::fence_barrier_init();
  }
  void griddep_wait() const {
    if (flaw != Flaw::no_griddep_wait) HostBlock::griddep_wait();
  }
  template <int N>
  void setmaxnreg_dec(Int<N>) const {
    HostBlock::setmaxnreg_dec(Int<(N + 32)>{});
    if (flaw != Flaw::too_many_registers) HostBlock::setmaxnreg_dec(Int<N>{});
  }
  template <int N>
  void cp_async_wait(Int<N>) const {
    if (flaw == Flaw::no_cp_async_wait) return;
    replay::running().cp_async_wait(N + (flaw == Flaw::a_group_too_few && N > 0));
  }
  void tma_load(CUtensorMap const& map, Mbarrier const& full, void const* smem, int c0, int c1, int c2) const {
    HostBlock::tma_load(map, full, smem, c0, c1 + (flaw == Flaw::a_tile_on) * 32, c2);
  }
  void release(unsigned* flag, unsigned value) const {
    if (flaw != Flaw::no_release) HostBlock::release(flag, value);
  }
  void acquire(unsigned const* flag, unsigned value) const {
    if (flaw != Flaw::no_acquire) HostBlock::acquire(flag, value);
  }
};

// Changes kernels before they are launched; false: this one is not.
constexpr auto kAsTheyAre = [](auto&) { return true; };
struct How {
  int sm_count = Device{}.sm_count;
  std::int64_t accumulation_length = -1;  // as long as it may be, on significands; below 0: on whole numbers
  int runs = 1;
  bool reversed = false;  // the last kernel first
};

template <class Kernel, class Block = Flawed, class Change = decltype(kAsTheyAre)>
std::unique_ptr<Recorder> run(GemmCase const& c, Flaw f = Flaw::none, How const& how = {}, Change const& change = {}) {
  auto recorder = std::make_unique<Recorder>();
  recorder->kernel = "mutant";
  auto const buffer = [&](char const* name, test::Stored const& s, unsigned seed) {
    return registry::allocate_numbers(
        *recorder, name, std::size_t(s.elements(c.L)) + 16, f32, seed,
        how.accumulation_length >= 0 ? registry::Numbers::significands : registry::Numbers::whole);
  };
  void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
              *const C = buffer("C", stored_c(c), 3);
  Gemm const gemm = gemm_of(c, A, B, C);
  Device device;
  device.sm_count = how.sm_count;
  if constexpr (requires { Kernel::workspace(gemm, device); })
    recorder->allocate_workspace(Kernel::workspace(gemm, device));
  flaw = f;
  for (int i = 0; i < how.runs; ++i) {
    auto const wanted = registry::expected(gemm, *recorder, std::max<std::int64_t>(how.accumulation_length, 0));
    std::vector<std::function<void()>> replays;
    launches<Kernel>(gemm, registry::ReplaySetting{device, recorder->workspace(), {}}, [&](auto const& launched) {
      auto kernel = launched;
      if (change(kernel)) replays.push_back([kernel, &recorder] { replay::run<Block>(kernel, *recorder); });
    });
    if (how.reversed) std::reverse(replays.begin(), replays.end());
    for (auto const& replay : replays) replay();
    wanted.conclude();
  }
  flaw = Flaw::none;
  return recorder;
}

struct Mutant {
  Flaw flaw;
  std::vector<Check> checks;  // what is found, and nothing else
};
// The kernel unchanged: nothing is found. And its mutants.
template <class Kernel>
void expect_caught(GemmCase const& c, std::vector<Mutant> const& mutants, How const& how = {}) {
  expect_only(*run<Kernel>(c, Flaw::none, how), {});
  for (Mutant const& m : mutants) {
    SCOPED_TRACE("flaw " + std::to_string(int(m.flaw)) + ", " + c.name());
    expect_only(*run<Kernel>(c, m.flaw, how), m.checks);
  }
}

using Naive = sgemm_01_naive::Kernel;
using Pipelined = sgemm_04_pipelined::Kernel;
using WarpTiled = sgemm_05_warp_tiled::Kernel;
using ColumnMajorB = sgemm_06_column_major_b::Kernel;
using StreamK = SgemmRing<kernels::StreamK>;
using TransposedA = SgemmRing<sgemm_tma_transposing::StepA>;
using TransposedB = SgemmRing<sgemm_tma_transposing::StepB>;
using SplitK = sgemm_split_64x64::Kernel;
struct Cluster {
  static auto make(Gemm const& g, auto const& setting) {
    return SgemmCluster<sgemm_cluster::Step<1, 1, false, false>>::make(g, setting);
  }
};

// ---- stages that cp.async fills: a ragged tile, and K beyond all stages
constexpr GemmCase kTile{70, 90, 44, 1, "nt"};
TEST(GemmMutants, Pipelines) {
  std::vector<Mutant> const mutants = {{Flaw::no_cp_async_wait, {Check::race, Check::misuse, Check::result}},
                                       {Flaw::a_group_too_few, {Check::race, Check::result}},
                                       {Flaw::no_sync, {Check::race, Check::result}},
                                       {Flaw::no_second_sync, {Check::race, Check::result}}};
  expect_caught<Pipelined>(kTile, mutants);
  expect_caught<WarpTiled>(kTile, mutants);
  expect_caught<ColumnMajorB>(kTile, mutants);
}

// Lanes that are predicated off write no zeros.
template <class Op>
struct Unfilled {};
struct NoZeros : HostBlock {
  template <class Op>
  using op = std::conditional_t<is_cp_async<Op>, Unfilled<Op>, replay::Recorded<Op>>;
};

}  // namespace
}  // namespace inlay::kernels

template <class Op>
struct cute::Copy_Traits<inlay::kernels::Unfilled<Op>> : Copy_Traits<inlay::replay::Recorded<Op>> {
  void with(bool) const = delete;  // CuTe then skips them
  template <class SrcEngine, class SrcLayout, class DstEngine, class DstLayout>
  friend void copy_unpack(Copy_Traits const& self, Tensor<SrcEngine, SrcLayout> const& src,
                          Tensor<DstEngine, DstLayout>& dst) {
    copy_unpack(static_cast<Copy_Traits<inlay::replay::Recorded<Op>> const&>(self), src, dst);
  }
};

namespace inlay::kernels {
namespace {

TEST(GemmMutants, NoZerosBeyondK) {
  GemmCase stale{128, 128, 44}, fresh{128, 128, 12};  // the last k tile's stage has been used before; has not
  expect_only(*run<WarpTiled>(stale), {}), expect_only(*run<WarpTiled>(fresh), {});
  expect_only(*run<WarpTiled, NoZeros>(stale), {Check::result});
  expect_only(*run<WarpTiled, NoZeros>(fresh), {Check::race, Check::result});
  stale.K = 48;
  expect_only(*run<WarpTiled, NoZeros>(stale), {});
}

// ---- the predicate of the epilogue, off by one. Nothing is read of A and B at K = 0.
template <class Kernel>
void expect_caught_off_by_one(GemmCase const& c) {
  auto const off = [&](std::int64_t m, std::int64_t n) {
    return run<Kernel>(c, Flaw::none, {}, [=](auto& kernel) {
      if constexpr (requires { kernel.g; }) {
        kernel.g.A.rows += m, kernel.g.D.rows += m;
        kernel.g.B.rows += n, kernel.g.D.cols += n;
      }
      return true;
    });
  };
  SCOPED_TRACE(c.name());
  expect_only(*off(0, 0), {});
  expect_only(*off(1, 0), {Check::bounds, Check::coverage});
  expect_only(*off(0, 1), {Check::bounds, Check::coverage});
  expect_only(*off(-1, 0), {Check::coverage});
  expect_only(*off(0, -1), {Check::coverage});
}
TEST(GemmMutants, PredicateOffByOne) {
  constexpr GemmCase quads{60, 72, 0, 1, "tn", 1, 2, 0, 0, 4}, floats{61, 70, 0, 1, "tn", 1, 2, 0, 0, 3};
  for (GemmCase c : {quads, floats}) {
    expect_caught_off_by_one<Pipelined>(c);
    expect_caught_off_by_one<WarpTiled>(c);
    c.K = 8, c.transposes = "tn", c.gap_a = -c.M & 3, c.gap_b = -c.N & 3;  // pitches that TMA takes
    expect_caught_off_by_one<StreamK>(c);
    expect_caught_off_by_one<Cluster>(c);
  }
}

// ---- rings that TMA fills: K goes round them
constexpr GemmCase kRing{128, 256, 224, 1, "tn"};
TEST(GemmMutants, Rings) {
  expect_caught<StreamK>(kRing, {{Flaw::no_sync, {Check::race}},
                                 {Flaw::no_wait_for_full, {Check::race, Check::misuse, Check::coverage}},
                                 {Flaw::no_wait_for_empty, {Check::misuse, Check::coverage}},
                                 {Flaw::full_instead_of_empty, {Check::race}},
                                 {Flaw::empty_too_early, {Check::race}},
                                 {Flaw::empty_for_all_but_a_warp, {Check::race}},
                                 {Flaw::no_syncwarp, {Check::race}},
                                 {Flaw::some_bytes_too_few, {Check::misuse, Check::race}},
                                 {Flaw::a_box_too_few, {Check::race, Check::misuse, Check::deadlock, Check::coverage}},
                                 {Flaw::no_barrier_fence, {Check::race}},
                                 {Flaw::too_many_registers, {Check::misuse}},
                                 {Flaw::no_griddep_wait, {Check::race}},
                                 {Flaw::a_tile_on, {Check::result}}});
  constexpr GemmCase scalars{64, 63, 8, 1, "tn", 1, 0, 0, 1};
  expect_caught<StreamK>(scalars, {{Flaw::no_syncwarp, {Check::race, Check::result}}});
}

// ---- helper warps that transpose
TEST(GemmMutants, Transposed) {
  std::vector<Mutant> const mutants = {{Flaw::transposers_do_not_wait_for_empty, {Check::race}},
                                       {Flaw::no_wait_for_raw, {Check::race, Check::deadlock, Check::coverage}},
                                       {Flaw::transposers_leave_full, {Check::deadlock, Check::coverage}},
                                       {Flaw::transposers_leave_raw, {Check::deadlock, Check::coverage}}};
  GemmCase c = kRing;
  c.transposes = "nn";
  expect_caught<TransposedA>(c, mutants);
  c.transposes = "tt";
  expect_caught<TransposedB>(c, mutants);
}

// ---- one tile for two blocks
constexpr GemmCase kCut{100, 200, 320, 1, "tn", 2, -1};
TEST(GemmMutants, StreamK) {
  expect_caught<StreamK>(kCut,
                         {{Flaw::no_release, {Check::deadlock, Check::coverage}},
                          {Flaw::no_acquire, {Check::race}},
                          {Flaw::no_sync_before_release, {Check::race}},
                          {Flaw::no_sync_after_acquire, {Check::race}}},
                         {.sm_count = 2});
}
TEST(GemmMutants, FlagsNotCleared) {
  auto const but_flags = []<class Kernel>(Kernel&) { return !std::is_same_v<Kernel, ClearFlags>; };
  How how{.sm_count = 2};
  expect_only(*run<StreamK>(kCut, Flaw::none, how, but_flags), {});  // by chance: no flag is 1
  how.runs = 2;
  expect_only(*run<StreamK>(kCut, Flaw::none, how, but_flags), {Check::race});
  expect_only(*run<StreamK>(kCut, Flaw::none, how), {});
}

// ---- two and four blocks of a cluster share a tile, and each goes round its ring
TEST(GemmMutants, Clusters) {
  std::vector<Mutant> const mutants = {{Flaw::no_sync_cluster, {Check::race, Check::result}},
                                       {Flaw::no_second_sync_cluster, {Check::race}},
                                       {Flaw::peers_of_itself, {Check::result}},
                                       {Flaw::no_barrier_fence, {Check::race}},
                                       {Flaw::no_griddep_wait, {Check::race}},
                                       {Flaw::no_syncwarp, {Check::race}},
                                       {Flaw::empty_for_all_but_a_warp, {Check::race}}};
  expect_caught<Cluster>({60, 64, 700, 1, "tn"}, mutants, {.sm_count = 2});
  expect_caught<Cluster>({60, 64, 1100, 1, "tn"}, mutants);
}

// ---- numbers: whole ones are exact in TF32 and bf16, significands are not
// A Block that multiplies an A rounded to fewer bits.
template <int Bits>
struct Rounded : HostBlock {
  static float rounded(float x) {
    auto const lost = std::uint32_t(1) << (24 - Bits), bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + lost / 2) & ~(lost - 1));
  }
  using Fmadd = UniversalFMA<float>;
  struct Fma {
    static void fma(float& d, float a, float b, float c) { HostBlock::op<Fmadd>::fma(d, rounded(a), b, c); }
  };
  template <class Op>
  using op = std::conditional_t<std::is_same_v<Op, Fmadd>, Fma, HostBlock::op<Op>>;
};
TEST(GemmMutants, OperandsOfTf32AndBf16) {
  for (GemmCase const& c : {GemmCase{16, 32, 8}, GemmCase{16, 32, 1000}, GemmCase{16, 32, 16384}}) {
    if (c.K > 1000 && !test::runs_long_tests()) continue;
    SCOPED_TRACE(c.name());
    expect_only(*run<Naive, HostBlock>(c, Flaw::none, {.accumulation_length = 0}), {});
    expect_only(*run<Naive, Rounded<24>>(c, Flaw::none, {.accumulation_length = 0}), {});
    expect_only(*run<Naive, Rounded<11>>(c, Flaw::none, {.accumulation_length = 0}), {Check::result});
    expect_only(*run<Naive, Rounded<8>>(c, Flaw::none, {.accumulation_length = 0}), {Check::result});
    expect_only(*run<Naive, Rounded<8>>(c), {});  // the whole numbers do not see it
  }
}
struct OneChain : BlockedSums {
  static constexpr int ACCUMULATION_LENGTH = 1 << 20;
};
TEST(GemmMutants, TwoLevelsInOneChain) {
  constexpr GemmCase c{60, 60, 4096, 1, "tn"};
  How const whole{.sm_count = 1, .accumulation_length = 256};  // one block: its tile is not cut
  expect_only(*run<SgemmRing<BlockedSums>, HostBlock>(c, Flaw::none, whole), {});
  expect_only(*run<SgemmRing<OneChain>, HostBlock>(c, Flaw::none, whole), {Check::result});
}

// ---- split-K slices that a second kernel adds
TEST(GemmMutants, SplitK) {
  constexpr GemmCase c{70, 40, 300};
  expect_only(*run<SplitK>(c), {});
  expect_only(*run<SplitK>(c, Flaw::no_griddep_wait), {Check::race});
  auto const a_part_less = [](auto& kernel) {
    if constexpr (requires { kernel.slice_k; }) --kernel.g.slices;
    return true;
  };
  expect_only(*run<SplitK>(c, Flaw::none, {}, a_part_less), {Check::race, Check::result});
  expect_only(*run<SplitK>(c, Flaw::none, {.reversed = true}), {Check::race, Check::result});
  auto const sums_a_part_less = [](auto& kernel) {
    if constexpr (requires { kernel.r; }) --kernel.r.slices;
    return true;
  };
  expect_only(*run<SplitK>(c, Flaw::none, {}, sums_a_part_less), {Check::result});
}

}  // namespace
}  // namespace inlay::kernels
