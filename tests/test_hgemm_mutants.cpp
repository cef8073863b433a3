// Broken GEMM kernels of the tensor cores, each caught by the check that should catch it. A mutant is an executor that
// leaves something out; the kernels are the registry's own.
#include <gtest/gtest.h>

#include <inlay/registry/replay_kernel.h>

#include <inlay/registry/rounding.h>
#include <inlay/tutorial/hgemm/hgemm_08_tma_store.h>
#include "gemm_corpus.h"
#include "mutants.h"

namespace inlay::kernels {
namespace {

using replay::Check, replay::Executor, replay::Launch, replay::Recorder;
using test::GemmCase;

// What is left out or done wrong.
enum class Flaw {
  none,
  no_wgmma_fence,
  no_wgmma_commit,
  a_group_too_few,  // waits for one group fewer than it should
  no_wgmma_wait,
  no_cp_async_wait,
  no_proxy_fence,
  empty_too_early,      // tells the producer of the stage before wgmma has read it
  no_remote_arrival,    // tells its own block's producer alone
  multicast_to_itself,  // other blocks of the cluster get no part of B
  no_sync_cluster,
  no_store_wait,
  no_sync_before_store,
  too_many_registers,
  ragged_tma_store,  // stores rows by TMA whose bytes are no multiple of 16
};

struct Flawed : test::Changed {
  Flaw flaw;
  Flawed(Recorder& recorder, test::Change change_, Flaw f) : Changed(recorder, std::move(change_)), flaw(f) {}

  void mbarrier_arrive_at(void const* p, unsigned block) override {
    Executor::mbarrier_arrive_at(p, flaw == Flaw::no_remote_arrival ? rank() / 384 : block);
  }
  void wgmma_fence() override {
    if (flaw != Flaw::no_wgmma_fence) Executor::wgmma_fence();
  }
  void wgmma_commit() override {
    if (flaw != Flaw::no_wgmma_commit) Executor::wgmma_commit();
  }
  void wgmma_wait(int groups) override {
    if (flaw == Flaw::a_group_too_few || (flaw == Flaw::empty_too_early && groups > 0)) ++groups;
    if (flaw != Flaw::no_wgmma_wait) Executor::wgmma_wait(groups);
  }
  void cp_async_wait(int groups) override {
    if (flaw == Flaw::no_cp_async_wait) return;
    Executor::cp_async_wait(groups + (flaw == Flaw::a_group_too_few && groups > 0));
  }
  void fence_proxy_async() override {
    if (flaw != Flaw::no_proxy_fence) Executor::fence_proxy_async();
  }
  void tma_load(TmaTensor const& map, void const* full, void const* smem, std::int64_t const (&c)[3],
                unsigned ranks) override {
    if (ranks && flaw == Flaw::multicast_to_itself) ranks = 1u << block_index() % 2;
    Executor::tma_load(map, full, smem, c, ranks);
  }
  void sync_cluster(unsigned threads, std::source_location at) override {
    if (flaw != Flaw::no_sync_cluster) Executor::sync_cluster(threads, at);
  }
  using Changed::sync;
  void sync(int id, unsigned threads, std::source_location at) override {
    if (flaw != Flaw::no_sync_before_store) Executor::sync(id, threads, at);
  }
  void syncwarp(std::source_location at) override {
    if (flaw != Flaw::no_sync_before_store) Executor::syncwarp(at);
  }
  void tma_store_wait_read(int groups) override {
    if (flaw != Flaw::no_store_wait) Executor::tma_store_wait_read(groups);
  }
  void set_registers(int count) override {
    constexpr int kLaunched = 168;  // with 384 threads; consumers ask for more
    Executor::set_registers(flaw == Flaw::too_many_registers && count > kLaunched ? 240 : count);
  }
};

template <DType type = bf16>
void expect_found(char const* kernel, GemmCase const& c, Flaw flaw, std::vector<Check> const& checks,
                  std::int64_t slice_K = 0, bool transposed = false) {
  SCOPED_TRACE(std::string(kernel) + ", flaw " + std::to_string(int(flaw)) + ", " + c.name());
  Gemm gemm;
  auto const change = [&](Launch const& x) {
    using Stores = decltype(hgemm_08_tma_store::Kernel<bfloat16_t>::make(
        gemm, Setting<SymbolicEncoder<replay::ReplayEncoder>>{Device{}, nullptr, {}}));
    if (flaw == Flaw::ragged_tma_store) {
      Stores& stores = *x.as<Stores>();
      stores.output.uses_tma = stores.output.is_staged = true;
      stores.output.map =
          replay::ReplayEncoder{}(tma_tensor<bfloat16_t>(gemm.D, 1, Stores::Output::rows_of_box(false)));
    }
    return true;
  };
  auto const recorder = test::recorder_with<Flawed>(change, flaw);
  auto const buffer = [&](char const* name, test::Stored const& s, unsigned seed) {
    return registry::allocate_numbers(*recorder, name, std::size_t(s.elements(c.L)) + 16, type, seed);
  };
  void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
              *const D = buffer("D", stored_c(c), 3);
  gemm = gemm_of(c, A, B, D, Compute::fp32, type);
  gemm.slice_K = slice_K;
  if (transposed) gemm = gemm.transposed();
  Device device;
  device.sm_count = 2;  // blocks of a persistent grid have several tiles
  test::entry_named(registry::gemm_kernels(), kernel).replay(gemm, device, *recorder);
  test::expect_only(*recorder, checks);
}

constexpr char const *kWgmma03 = "hgemm_03_wgmma", *kPersistent = "hgemm_06_persistent",
                     *kTmaStore = "hgemm_08_tma_store", *kMajors = "hgemm_09_majors",
                     *kNarrowTiles = "hgemm_10_narrow_tiles", *kOverlapped = "sgemm_tc_05_overlapped";

// K beyond all stages, several tiles for a block.
constexpr GemmCase kCase{256, 512, 64 * 6, 1, "nt"};

TEST(HgemmMutants, TheKernelsThemselves) {
  expect_found(kWgmma03, kCase, Flaw::none, {});
  expect_found(kPersistent, kCase, Flaw::none, {});
  expect_found(kTmaStore, kCase, Flaw::none, {});
  for (char const* transposes : {"nn", "nt", "tn", "tt"})
    for (GemmCase c : {GemmCase{256, 512, 64 * 6}, GemmCase{128, 384, 64 * 9}, GemmCase{200, 64, 64 * 9}}) {
      c.transposes = transposes;
      expect_found(kMajors, c, Flaw::none, {});
      expect_found(kNarrowTiles, c, Flaw::none, {});  // tiles of 256, 192 and 64 columns
    }
}
// Several tiles of an odd number of stores for a block: the last one of a tile and the first of the next share a
// buffer.
TEST(HgemmMutants, TilesOneAfterTheOther) {
  expect_found(kNarrowTiles, {1024, 64, 64, 1, "nt"}, Flaw::none, {});
  expect_found(kNarrowTiles, {512, 192, 64, 1, "nt"}, Flaw::none, {});
  expect_found(kNarrowTiles, {1024, 64, 64, 1, "nt"}, Flaw::no_store_wait, {Check::race, Check::result});
}
TEST(HgemmMutants, ProtocolOfWgmma) {
  expect_found(kWgmma03, kCase, Flaw::no_wgmma_fence, {Check::race});
  expect_found(kPersistent, kCase, Flaw::no_wgmma_fence, {Check::race});
  expect_found(kWgmma03, kCase, Flaw::no_wgmma_commit, {Check::misuse, Check::race, Check::result});
  expect_found(kWgmma03, kCase, Flaw::a_group_too_few, {Check::misuse, Check::race, Check::result});
  expect_found(kWgmma03, kCase, Flaw::no_wgmma_wait, {Check::misuse, Check::race, Check::result});
  expect_found(kWgmma03, kCase, Flaw::no_proxy_fence, {Check::race});
  expect_found(kPersistent, kCase, Flaw::empty_too_early, {Check::race});
}
// Stages that cp.async fills, and more along K than there are.
TEST(HgemmMutants, StagesOfMma) {
  for (char const* transposes : {"nt", "tn"}) {
    GemmCase const c{72, 96, 32 * 6, 1, transposes};
    expect_found("hgemm_mma", c, Flaw::none, {});
    expect_found("hgemm_mma", c, Flaw::no_cp_async_wait, {Check::race, Check::misuse, Check::result});
    expect_found("hgemm_mma", c, Flaw::a_group_too_few, {Check::race, Check::result});
  }
}
// Several matrices of a warp each, and one of four warps whose K is longer than its stages.
TEST(HgemmMutants, SmallMatrices) {
  constexpr GemmCase one_stage{24, 32, 136, 6, "nt"}, two_stages{64, 64, 200, 1, "tn"};
  for (GemmCase const& c : {one_stage, two_stages}) {
    expect_found("hgemm_small", c, Flaw::none, {});
    expect_found("hgemm_small", c, Flaw::no_cp_async_wait, {Check::race, Check::misuse, Check::result});
  }
  expect_found("hgemm_small", two_stages, Flaw::a_group_too_few, {Check::race, Check::result});
}
// Threads write the tiles, and one accumulator is read while wgmma adds to another one.
TEST(HgemmMutants, SlicesOfFp32) {
  constexpr GemmCase c{130, 136, 136, 1, "nt"};
  expect_found<f32>(kOverlapped, c, Flaw::none, {});
  expect_found<f32>(kOverlapped, c, Flaw::no_wgmma_fence, {Check::race});
  expect_found<f32>(kOverlapped, c, Flaw::no_proxy_fence, {Check::race});
  expect_found<f32>(kOverlapped, c, Flaw::a_group_too_few, {Check::misuse, Check::race, Check::result});
  expect_found<f32>(kOverlapped, c, Flaw::no_wgmma_wait, {Check::misuse, Check::race, Check::result});
}
TEST(HgemmMutants, ClustersAndStores) {
  expect_found(kTmaStore, kCase, Flaw::no_remote_arrival, {Check::race});
  expect_found(kTmaStore, kCase, Flaw::multicast_to_itself, {Check::deadlock, Check::coverage});
  expect_found(kTmaStore, kCase, Flaw::no_sync_cluster, {Check::race, Check::misuse, Check::coverage});
  expect_found(kTmaStore, kCase, Flaw::no_store_wait, {Check::race, Check::result});
  expect_found(kTmaStore, kCase, Flaw::no_sync_before_store, {Check::race});
  expect_found(kTmaStore, kCase, Flaw::no_proxy_fence, {Check::race});
  // Columns of D: a warpgroup stores what its four warps have written.
  expect_found(kNarrowTiles, kCase, Flaw::none, {}, 0, true);
  expect_found(kNarrowTiles, kCase, Flaw::no_sync_before_store, {Check::race}, 0, true);
  expect_found(kNarrowTiles, kCase, Flaw::no_proxy_fence, {Check::race}, 0, true);
  expect_found(kNarrowTiles, {1024, 64, 64, 1, "nt"}, Flaw::no_store_wait, {Check::race, Check::result}, 0, true);
  expect_found(kTmaStore, kCase, Flaw::too_many_registers, {Check::misuse});
  GemmCase ragged{64, 60, 64 * 4, 1, "nt"};
  ragged.gap_c = 4;
  expect_found(kTmaStore, ragged, Flaw::none, {});
  expect_found(kTmaStore, ragged, Flaw::ragged_tma_store, {Check::bounds, Check::coverage, Check::result});
}
// Four blocks add their sums, which overwrite the stages.
TEST(HgemmMutants, SlicesInACluster) {
  constexpr GemmCase c{128, 64, 64 * 64, 1, "nt"};
  constexpr std::int64_t slice_K = 64 * 16;
  expect_found("hgemm_cluster", c, Flaw::none, {}, slice_K);
  expect_found("hgemm_cluster", c, Flaw::no_sync_cluster, {Check::race, Check::result}, slice_K);
  expect_found("hgemm_cluster", c, Flaw::no_sync_before_store, {Check::race}, slice_K);
  expect_found("hgemm_cluster", c, Flaw::empty_too_early, {Check::race}, slice_K);
  expect_found("hgemm_cluster", c, Flaw::no_wgmma_fence, {Check::race}, slice_K);
}

}  // namespace
}  // namespace inlay::kernels
