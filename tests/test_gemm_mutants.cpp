// Broken GEMM kernels, each caught by the check that should catch it. A mutant is an executor that leaves something
// out, or a parameter or a launch changed on the host: the kernels are the registry's own.
#include <gtest/gtest.h>

#include <cstring>

#include <inlay/kernels/common/instance.h>
#include <inlay/kernels/gemm/fma/ring.h>
#include <inlay/kernels/gemm/fma/sgemm_cluster.h>
#include <inlay/kernels/gemm/fma/sgemm_split_64x64.h>
#include <inlay/registry/rounding.h>
#include <inlay/tutorial/sgemm/sgemm_04_pipelined.h>
#include <inlay/tutorial/sgemm/sgemm_05_warp_tiled.h>
#include "gemm_corpus.h"
#include "mutants.h"

INLAY_DEFINE_INSTANCE(sgemm_tma_stream_k, ring, StreamK)  // for the type of its parameters

namespace inlay::kernels {
namespace {

using replay::Check, replay::Executor, replay::Launch, replay::Recorder;
using test::Changed, test::GemmCase, test::expect_only;

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
  peers_of_itself,
  // launches
  first_launch_last,
  // lanes that are off leave what cp.async would fill with zeros
  no_zeros
};

// In the families of rings, threads 0 to 255 multiply, 256 fills, and those from 288 on transpose.
struct Flawed : Changed {
  static constexpr int kStages = RingStep::STAGES, kBarrierBytes = 8;
  Flaw flaw;
  Flawed(Recorder& recorder, test::Change change_, Flaw f) : Changed(recorder, std::move(change_)), flaw(f) {}

  unsigned thread() const { return rank() % 384; }
  bool multiplies() const { return thread() < 256; }
  bool transposes() const { return thread() >= 288; }
  // The barriers of a stage have names, those of the raw buffers have none.
  bool is(std::string const& name, void const* p) {
    replay::Region const& r = *memory.find(p);
    return r.operand(std::size_t(static_cast<char const*>(p) - r.seen)).name == name;
  }
  static void const* stages_on(void const* barrier, int stages) {
    return static_cast<char const*>(barrier) + stages * kBarrierBytes;
  }

  void mbarrier_init(void const* p, unsigned count) override {
    Executor::mbarrier_init(p, count - (flaw == Flaw::empty_for_all_but_a_warp && is("shared empty", p)));
  }
  void mbarrier_arrive(void const* p, std::int64_t bytes) override {
    if (!bytes && flaw == Flaw::empty_too_early && multiplies()) return;
    if (!bytes && flaw == Flaw::transposers_leave_full && is("shared full", p)) return;
    if (!bytes && flaw == Flaw::transposers_leave_raw && is("shared", p)) return;
    if (bytes && flaw == Flaw::some_bytes_too_few) bytes -= 16;
    if (flaw == Flaw::a_box_too_few) bytes /= 3;  // boxes of 128 and 256 rows
    Executor::mbarrier_arrive(p, bytes);
  }
  void mbarrier_wait(void const* p, unsigned parity) override {
    if (flaw == Flaw::no_wait_for_full && multiplies()) return;
    if (flaw == Flaw::no_wait_for_raw && transposes() && is("shared", p)) return;
    if (flaw == Flaw::no_wait_for_empty && thread() == 256) return;
    if (flaw == Flaw::transposers_do_not_wait_for_empty && transposes() && is("shared empty", p)) return;
    // full[] lies before empty[]
    Executor::mbarrier_wait(flaw == Flaw::full_instead_of_empty && thread() == 256 ? stages_on(p, -kStages) : p,
                            parity);
    if (flaw == Flaw::empty_too_early && multiplies() && thread() % 32 == 0)
      Executor::mbarrier_arrive(stages_on(p, kStages), 0);
  }

  struct Passed {
    int syncs = 0, cluster_syncs = 0;
  };
  test::PerThread<Passed> passed;
  void sync(std::source_location at) override {
    int const number = ++passed.of(*this).syncs;
    if (flaw == Flaw::no_sync || (flaw == Flaw::no_second_sync && number == 2)) return;
    Executor::sync(at);
  }
  void sync(int id, unsigned threads, std::source_location at) override {
    if (flaw == Flaw::no_sync_before_release && block_index() == 0) return;  // the block with a tile's later part
    if (flaw == Flaw::no_sync_after_acquire && block_index() == 1) return;   // with its first
    Executor::sync(id, threads, at);
  }
  void syncwarp(std::source_location at) override {
    if (flaw != Flaw::no_syncwarp) Executor::syncwarp(at);
  }
  void sync_cluster(unsigned threads, std::source_location at) override {
    int const number = ++passed.of(*this).cluster_syncs;
    if (flaw == Flaw::no_sync_cluster && number == 1) return;
    if (flaw == Flaw::no_second_sync_cluster && number == 2) return;
    Executor::sync_cluster(threads, at);
  }
  void const* map_shared_rank(void const* p, unsigned block) override {
    return flaw == Flaw::peers_of_itself ? p : Executor::map_shared_rank(p, block);
  }
  void fence_barrier_init() override {
    if (flaw != Flaw::no_barrier_fence) Executor::fence_barrier_init();
  }
  void griddep_wait() override {
    if (flaw != Flaw::no_griddep_wait) Executor::griddep_wait();
  }
  void set_registers(int count) override {
    Executor::set_registers(count + (flaw == Flaw::too_many_registers && !multiplies() ? 32 : 0));
  }
  void cp_async_wait(int groups) override {
    if (flaw == Flaw::no_cp_async_wait) return;
    Executor::cp_async_wait(groups + (flaw == Flaw::a_group_too_few && groups > 0));
  }
  void tma_load(TmaTensor const& map, void const* full, void const* smem, std::int64_t const (&c)[3],
                unsigned ranks) override {
    Executor::tma_load(map, full, smem, {c[0], c[1] + (flaw == Flaw::a_tile_on) * 32, c[2]}, ranks);
  }
  void release(void const* flag, std::uint32_t value) override {
    if (flaw != Flaw::no_release) Executor::release(flag, value);
  }
  void acquire(void const* flag, std::uint32_t value) override {
    if (flaw != Flaw::no_acquire) Executor::acquire(flag, value);
  }

  using Changed::edit;
  void edit(replay::Lane& lane) override { lane.zero_fills_when_off &= flaw != Flaw::no_zeros; }

  std::vector<char> held;  // the kernel of the first launch
  void launch(Launch const& x) override {
    if (flaw != Flaw::first_launch_last) return Changed::launch(x);
    if (held.empty()) {
      held.assign(static_cast<char const*>(x.kernel), static_cast<char const*>(x.kernel) + x.bytes);
      first = x.replay, first_type = &x.type;
    } else {
      Changed::launch(x);
      Changed::launch({*first_type, held.data(), held.size(), 0, Launch::kAllBlocks, first});
    }
  }
  void (*first)(Launch const&, Executor&) = nullptr;
  std::type_info const* first_type = nullptr;
};

struct How {
  int sm_count = Device{}.sm_count;
  registry::Numbers numbers = registry::Numbers::whole;
  int runs = 1;
};
// A case with its buffers, in a recorder.
struct Buffers {
  Gemm gemm;
  Device device;

  Buffers(Recorder& recorder, registry::Entry<Gemm> const& entry, GemmCase const& c, How const& how) {
    auto const buffer = [&](char const* name, test::Stored const& s, unsigned seed) {
      return registry::allocate_numbers(recorder, name, std::size_t(s.elements(c.L)) + 16, f32, seed, how.numbers);
    };
    void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
                *const C = buffer("C", stored_c(c), 3);
    gemm = gemm_of(c, A, B, C), device.sm_count = how.sm_count;
    recorder.allocate_workspace(entry.info().workspace(gemm, device));
  }
};
registry::Entry<Gemm> const& named(char const* name) { return test::entry_named(registry::gemm_kernels(), name); }

std::unique_ptr<Recorder> run(char const* kernel, GemmCase const& c, Flaw flaw = Flaw::none, How const& how = {},
                              test::Change const& change = {}) {
  std::unique_ptr<Recorder> recorder = test::recorder_with<Flawed>(change, flaw);
  Buffers const x(*recorder, named(kernel), c, how);
  for (int i = 0; i < how.runs; ++i) named(kernel).replay(x.gemm, x.device, *recorder);
  return recorder;
}
// change(parameters) before each kernel of dispatch type V is replayed; false leaves it out.
template <class V, class F>
std::unique_ptr<Recorder> run_changed(char const* kernel, GemmCase const& c, F const& change, How const& how = {}) {
  Device device;
  device.sm_count = how.sm_count;
  auto const buffer = [](std::uintptr_t i) { return reinterpret_cast<void*>(i << 30); };
  Gemm const gemm = gemm_of(c, buffer(1), buffer(2), buffer(3));
  return run(kernel, c, Flaw::none, how, [&](Launch const& x) {
    bool replays = true, known = false;
    symbolic_launches<V, replay::ReplayEncoder>(gemm, device, true, [&]<class K>(K const&) {
      if (known || !x.as<K>()) return;
      known = true, replays = change(*x.as<K>());
    });
    if (!known) throw std::runtime_error(std::string(kernel) + " is launched with parameters of another type");
    return replays;
  });
}

struct Mutant {
  Flaw flaw;
  std::vector<Check> checks;  // what is found, and nothing else
};
// The kernel unchanged: nothing is found. And its mutants.
void expect_caught(char const* kernel, GemmCase const& c, std::vector<Mutant> const& mutants, How const& how = {}) {
  expect_only(*run(kernel, c, Flaw::none, how), {});
  for (Mutant const& m : mutants) {
    SCOPED_TRACE(std::string(kernel) + ", flaw " + std::to_string(int(m.flaw)) + ", " + c.name());
    expect_only(*run(kernel, c, m.flaw, how), m.checks);
  }
}

constexpr char const *kPipelined = "sgemm_04_pipelined", *kWarpTiled = "sgemm_05_warp_tiled",
                     *kColumnMajorB = "sgemm_06_column_major_b", *kStreamK = "sgemm_tma_stream_k",
                     *kTransposing = "sgemm_tma_transposing", *kSplitK = "sgemm_split_64x64",
                     *kCluster = "sgemm_cluster";

// ---- stages that cp.async fills: a ragged tile, and K beyond all stages
constexpr GemmCase kTile{70, 90, 44, 1, "nt"};
TEST(GemmMutants, Pipelines) {
  std::vector<Mutant> const mutants = {{Flaw::no_cp_async_wait, {Check::race, Check::misuse, Check::result}},
                                       {Flaw::a_group_too_few, {Check::race, Check::result}},
                                       {Flaw::no_sync, {Check::race, Check::result}},
                                       {Flaw::no_second_sync, {Check::race, Check::result}}};
  expect_caught(kPipelined, kTile, mutants);
  expect_caught(kWarpTiled, kTile, mutants);
  expect_caught(kColumnMajorB, kTile, mutants);
}

TEST(GemmMutants, NoZerosBeyondK) {
  GemmCase stale{128, 128, 44}, fresh{128, 128, 12};  // the last k tile's stage has been used before; has not
  expect_only(*run(kWarpTiled, stale), {}), expect_only(*run(kWarpTiled, fresh), {});
  expect_only(*run(kWarpTiled, stale, Flaw::no_zeros), {Check::result});
  expect_only(*run(kWarpTiled, fresh, Flaw::no_zeros), {Check::race, Check::result});
  stale.K = 48;
  expect_only(*run(kWarpTiled, stale, Flaw::no_zeros), {});
}

// ---- the predicate of the epilogue, off by one. Nothing is read of A and B at K = 0.
template <class V>
void expect_caught_off_by_one(char const* kernel_name, GemmCase const& c) {
  auto const off = [&](std::int64_t m, std::int64_t n) {
    return run_changed<V>(kernel_name, c, [=](auto& kernel) {
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
    expect_caught_off_by_one<sgemm_04_pipelined::Kernel>(kPipelined, c);
    expect_caught_off_by_one<sgemm_05_warp_tiled::Kernel>(kWarpTiled, c);
    c.K = 8, c.transposes = "tn", c.gap_a = -c.M & 3, c.gap_b = -c.N & 3;  // pitches that TMA takes
    expect_caught_off_by_one<sgemm_tma_stream_k::Dispatch>(kStreamK, c);
    expect_caught_off_by_one<sgemm_cluster::Kernel>(kCluster, c);
  }
}

// ---- rings that TMA fills: K goes round them
constexpr GemmCase kRing{128, 256, 224, 1, "tn"};
TEST(GemmMutants, Rings) {
  expect_caught(kStreamK, kRing,
                {{Flaw::no_sync, {Check::race}},
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
  expect_caught(kStreamK, scalars, {{Flaw::no_syncwarp, {Check::race, Check::result}}});
}

// ---- helper warps that transpose
TEST(GemmMutants, Transposed) {
  std::vector<Mutant> const mutants = {{Flaw::transposers_do_not_wait_for_empty, {Check::race}},
                                       {Flaw::no_wait_for_raw, {Check::race, Check::deadlock, Check::coverage}},
                                       {Flaw::transposers_leave_full, {Check::deadlock, Check::coverage}},
                                       {Flaw::transposers_leave_raw, {Check::deadlock, Check::coverage}}};
  GemmCase c = kRing;
  c.transposes = "nn";
  expect_caught(kTransposing, c, mutants);
  c.transposes = "tt";
  expect_caught(kTransposing, c, mutants);
}

// ---- one tile for two blocks
constexpr GemmCase kCut{100, 200, 320, 1, "tn", 2, -1};
TEST(GemmMutants, StreamK) {
  expect_caught(kStreamK, kCut,
                {{Flaw::no_release, {Check::deadlock, Check::coverage}},
                 {Flaw::no_acquire, {Check::race}},
                 {Flaw::no_sync_before_release, {Check::race}},
                 {Flaw::no_sync_after_acquire, {Check::race}}},
                {.sm_count = 2});
}
TEST(GemmMutants, FlagsNotCleared) {
  auto const but_flags = [](Launch const& x) { return x.type != typeid(ClearFlags); };
  How how{.sm_count = 2};
  expect_only(*run(kStreamK, kCut, Flaw::none, how, but_flags), {});  // by chance: no flag is 1
  how.runs = 2;
  expect_only(*run(kStreamK, kCut, Flaw::none, how, but_flags), {Check::race});
  expect_only(*run(kStreamK, kCut, Flaw::none, how), {});
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
  expect_caught(kCluster, {60, 64, 700, 1, "tn"}, mutants, {.sm_count = 2});
  expect_caught(kCluster, {60, 64, 1100, 1, "tn"}, mutants);
}

// ---- numbers: whole ones are exact in TF32 and bf16, significands are not
TEST(GemmMutants, OperandsOfTf32AndBf16) {
  registry::Entry<Gemm> const& naive = named("sgemm_01_naive");
  auto const rounded = [&](GemmCase const& c, int bits, registry::Numbers numbers) {
    auto recorder = std::make_unique<Recorder>();
    Buffers const x(*recorder, naive, c, {.numbers = numbers});
    test::replay_rounded(naive, x.gemm, x.device, *recorder, bits);
    return recorder;
  };
  using enum registry::Numbers;
  for (GemmCase const& c : {GemmCase{16, 32, 8}, GemmCase{16, 32, 1000}, GemmCase{16, 32, 16384}}) {
    if (c.K > 1000 && !test::runs_long_tests()) continue;
    SCOPED_TRACE(c.name());
    expect_only(*run("sgemm_01_naive", c, Flaw::none, {.numbers = significands}), {});
    expect_only(*rounded(c, 24, significands), {});
    expect_only(*rounded(c, 11, significands), {Check::result});
    expect_only(*rounded(c, 8, significands), {Check::result});
    expect_only(*rounded(c, 8, whole), {});  // the whole numbers do not see it
  }
}
// All of K in one register, where blocked summation is wanted.
TEST(GemmMutants, BlockedSumsInOneChain) {
  constexpr GemmCase c{60, 60, 4096, 1, "tn"};
  How const how{.sm_count = 1, .numbers = registry::Numbers::significands};  // one block: its tile is not cut
  registry::Entry<Gemm> const &blocked = named("sgemm_tma_blocked"), &chained = named("sgemm_tma");
  ASSERT_EQ(blocked.info().accumulation_length, 256);
  expect_only(*run("sgemm_tma_blocked", c, Flaw::none, how), {});
  Recorder recorder;
  Buffers const x(recorder, chained, c, how);
  auto const wanted = registry::expected(x.gemm, recorder, blocked.info().accumulation_length);
  chained.replay(x.gemm, x.device, recorder);
  expect_only(recorder, {});
  wanted.conclude();
  expect_only(recorder, {Check::result});
}

// ---- split-K slices that a second kernel adds
TEST(GemmMutants, SplitK) {
  constexpr GemmCase c{70, 40, 300};
  expect_only(*run(kSplitK, c), {});
  expect_only(*run(kSplitK, c, Flaw::no_griddep_wait), {Check::race});
  auto const a_part_less = [](auto& kernel) {
    if constexpr (requires { kernel.slice_k; }) --kernel.g.slices;
    return true;
  };
  expect_only(*run_changed<sgemm_split_64x64::Kernel>(kSplitK, c, a_part_less), {Check::race, Check::result});
  expect_only(*run(kSplitK, c, Flaw::first_launch_last), {Check::race, Check::result});
  auto const sums_a_part_less = [](auto& kernel) {
    if constexpr (requires { kernel.r; }) --kernel.r.slices;
    return true;
  };
  expect_only(*run_changed<sgemm_split_64x64::Kernel>(kSplitK, c, sums_a_part_less), {Check::result});
}

}  // namespace
}  // namespace inlay::kernels
