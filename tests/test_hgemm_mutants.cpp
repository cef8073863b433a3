// Broken GEMM kernels of the tensor cores, each caught by the check that should catch it. A mutant is a Block that leaves
// something out; the kernels are the ladder's own.
#include <gtest/gtest.h>

#include <inlay/registry/replay_kernel.h>

#include <inlay/kernels/gemm/tensor/hgemm_10_narrow_tiles.h>
#include <inlay/kernels/gemm/tensor/samples.h>
#include <inlay/registry/rounding.h>
#include <inlay/tutorial/hgemm/hgemm_03_wgmma.h>
#include <inlay/tutorial/hgemm/hgemm_06_persistent.h>
#include <inlay/tutorial/hgemm/hgemm_08_tma_store.h>
#include <inlay/tutorial/sgemm_tc/sgemm_tc_05_overlapped.h>
#include "gemm_corpus.h"
#include "mutants.h"

namespace inlay::kernels {
namespace {

using replay::Check, replay::Finding, replay::HostBlock, replay::Recorder;
using test::GemmCase;

// What is left out or done wrong.
enum class Flaw {
  none,
  no_wgmma_fence,
  no_wgmma_commit,
  a_group_too_few,  // waits for one group fewer than it should
  no_wgmma_wait,
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
thread_local Flaw flaw = Flaw::none;

struct Mbarrier : replay::Mbarrier {
  using replay::Mbarrier::arrive;
  void arrive(unsigned rank) const {
    replay::Mbarrier::arrive(flaw == Flaw::no_remote_arrival ? replay::running().rank() / 384 : rank);
  }
};
struct Flawed : HostBlock {
  using Mbarrier = kernels::Mbarrier;
  void wgmma_fence() const {
    if (flaw != Flaw::no_wgmma_fence) HostBlock::wgmma_fence();
  }
  void wgmma_commit() const {
    if (flaw != Flaw::no_wgmma_commit) HostBlock::wgmma_commit();
  }
  template <int N>
  void wgmma_wait(Int<N>) const {
    if (flaw == Flaw::a_group_too_few || (flaw == Flaw::empty_too_early && N > 0))
      return HostBlock::wgmma_wait(Int<N + 1>{});
    if (flaw != Flaw::no_wgmma_wait) HostBlock::wgmma_wait(Int<N>{});
  }
  void fence_proxy_async() const {
    if (flaw != Flaw::no_proxy_fence) HostBlock::fence_proxy_async();
  }
  void tma_load_multicast(CUtensorMap const& map, Mbarrier const& full, void const* smem, int c0, int c1, int c2,
                          unsigned ranks) const {
    HostBlock::tma_load_multicast(map, full, smem, c0, c1, c2,
                                  flaw == Flaw::multicast_to_itself ? 1u << block_index() % 2 : ranks);
  }
  template <int Threads>
  void sync_cluster(Int<Threads> threads) const {
    if (flaw != Flaw::no_sync_cluster) HostBlock::sync_cluster(threads);
  }
  template <int Id, int Threads>
  void sync(Int<Id> id, Int<Threads> threads) const {
    if (flaw != Flaw::no_sync_before_store) HostBlock::sync(id, threads);
  }
  void sync() const { HostBlock::sync(); }
  template <int N>
  void tma_store_wait_read(Int<N> n) const {
    if (flaw != Flaw::no_store_wait) HostBlock::tma_store_wait_read(n);
  }
  template <int N>
  void setmaxnreg_inc(Int<N> n) const {
    if (flaw == Flaw::too_many_registers)
      HostBlock::setmaxnreg_inc(Int<240>{});
    else
      HostBlock::setmaxnreg_inc(n);
  }
};

template <class Kernel, DType type = bf16>
void expect_found(GemmCase const& c, Flaw f, std::vector<Check> const& checks) {
  SCOPED_TRACE("flaw " + std::to_string(int(f)) + ", " + c.name());
  Recorder recorder;
  recorder.kernel = "mutant";
  auto const buffer = [&](char const* name, test::Stored const& s, unsigned seed) {
    return registry::allocate_numbers(recorder, name, std::size_t(s.elements(c.L)) + 16, type, seed);
  };
  void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
              *const D = buffer("D", stored_c(c), 3);
  Gemm const gemm = gemm_of(c, A, B, D, Compute::fp32, type);
  Device device;
  device.sm_count = 2;  // blocks of a persistent grid have several tiles
  flaw = f;
  auto const wanted = registry::expected(gemm, recorder);
  launches<Kernel>(gemm, registry::ReplaySetting{device, recorder.workspace(), {}}, [&](auto kernel) {
    if constexpr (requires { kernel.mapD; })
      if (f == Flaw::ragged_tma_store)
        kernel.uses_tma_store = kernel.stages_D = true,
        kernel.mapD = replay::ReplayEncoder{}(tma_tensor<bfloat16_t>(gemm.D, 1, 64));
    replay::run<Flawed>(kernel, recorder);
  });
  wanted.conclude();
  flaw = Flaw::none;
  test::expect_only(recorder, checks);
}

using Wgmma03 = hgemm_03_wgmma::Kernel<bfloat16_t>;
using Persistent = hgemm_06_persistent::Kernel<bfloat16_t>;
using TmaStore = hgemm_08_tma_store::Kernel<bfloat16_t>;
using Majors = hgemm_09_majors::Kernel<bfloat16_t>;
using NarrowTiles = hgemm_10_narrow_tiles::Kernel<bfloat16_t>;

// K beyond all stages, several tiles for a block.
constexpr GemmCase kCase{256, 512, 64 * 6, 1, "nt"};

TEST(HgemmMutants, TheKernelsThemselves) {
  expect_found<Wgmma03>(kCase, Flaw::none, {});
  expect_found<Persistent>(kCase, Flaw::none, {});
  expect_found<TmaStore>(kCase, Flaw::none, {});
  for (char const* transposes : {"nn", "nt", "tn", "tt"})
    for (GemmCase c : {GemmCase{256, 512, 64 * 6}, GemmCase{128, 384, 64 * 9}, GemmCase{200, 64, 64 * 9}}) {
      c.transposes = transposes;
      expect_found<Majors>(c, Flaw::none, {});
      expect_found<NarrowTiles>(c, Flaw::none, {});  // tiles of 256, 192 and 64 columns
    }
}
// Several tiles of an odd number of stores for a block: the last one of a tile and the first of the next share a buffer.
TEST(HgemmMutants, TilesOneAfterTheOther) {
  expect_found<NarrowTiles>({1024, 64, 64, 1, "nt"}, Flaw::none, {});
  expect_found<NarrowTiles>({512, 192, 64, 1, "nt"}, Flaw::none, {});
  expect_found<NarrowTiles>({1024, 64, 64, 1, "nt"}, Flaw::no_store_wait, {Check::race, Check::result});
}
TEST(HgemmMutants, ProtocolOfWgmma) {
  expect_found<Wgmma03>(kCase, Flaw::no_wgmma_fence, {Check::race});
  expect_found<Persistent>(kCase, Flaw::no_wgmma_fence, {Check::race});
  expect_found<Wgmma03>(kCase, Flaw::no_wgmma_commit, {Check::misuse, Check::race, Check::result});
  expect_found<Wgmma03>(kCase, Flaw::a_group_too_few, {Check::misuse, Check::race, Check::result});
  expect_found<Wgmma03>(kCase, Flaw::no_wgmma_wait, {Check::misuse, Check::race, Check::result});
  expect_found<Wgmma03>(kCase, Flaw::no_proxy_fence, {Check::race});
  expect_found<Persistent>(kCase, Flaw::empty_too_early, {Check::race});
}
// Threads write the tiles, and one accumulator is read while wgmma adds to another one.
TEST(HgemmMutants, SlicesOfFp32) {
  using Overlapped = sgemm_tc_05_overlapped::Kernel;
  constexpr GemmCase c{130, 136, 136, 1, "nt"};
  expect_found<Overlapped, f32>(c, Flaw::none, {});
  expect_found<Overlapped, f32>(c, Flaw::no_wgmma_fence, {Check::race});
  expect_found<Overlapped, f32>(c, Flaw::no_proxy_fence, {Check::race});
  expect_found<Overlapped, f32>(c, Flaw::a_group_too_few, {Check::misuse, Check::race, Check::result});
  expect_found<Overlapped, f32>(c, Flaw::no_wgmma_wait, {Check::misuse, Check::race, Check::result});
}
TEST(HgemmMutants, ClustersAndStores) {
  expect_found<TmaStore>(kCase, Flaw::no_remote_arrival, {Check::race});
  expect_found<TmaStore>(kCase, Flaw::multicast_to_itself, {Check::deadlock, Check::coverage});
  expect_found<TmaStore>(kCase, Flaw::no_sync_cluster, {Check::race, Check::misuse, Check::coverage});
  expect_found<TmaStore>(kCase, Flaw::no_store_wait, {Check::race, Check::result});
  expect_found<TmaStore>(kCase, Flaw::no_sync_before_store, {Check::race});
  expect_found<TmaStore>(kCase, Flaw::no_proxy_fence, {Check::race});
  expect_found<TmaStore>(kCase, Flaw::too_many_registers, {Check::misuse});
  GemmCase ragged{64, 60, 64 * 4, 1, "nt"};
  ragged.gap_c = 4;
  expect_found<TmaStore>(ragged, Flaw::none, {});
  expect_found<TmaStore>(ragged, Flaw::ragged_tma_store, {Check::bounds, Check::coverage, Check::result});
}

}  // namespace
}  // namespace inlay::kernels
