// The parts of the replay by themselves: fibers, guarded memory, ordering, the workspace. Then small kernels of Gemm
// with one flaw each, and what must be said of it.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include <inlay/explain/explanation.h>
#include <inlay/kernels/common/gemm_grid.h>
#include <inlay/registry/replay_kernel.h>

namespace inlay::replay {
using enum DType;
namespace {

constexpr auto kIdle = [] { return false; };

TEST(Fibers, RunInTurnsUntilAllHaveFinished) {
  Fibers fibers;
  std::string order;
  int arrived = 0;
  fibers.run(
      3,
      [&](unsigned i) {
        order += char('a' + i);
        ++arrived;
        fibers.wait_until([&] { return arrived == 3; }, [] { return "the others"; });
        order += char('A' + i);
      },
      kIdle);
  EXPECT_EQ(order, "abcCAB");
}
TEST(Fibers, DeadlockSaysWhoWaitsForWhat) {
  Fibers fibers;
  try {
    fibers.run(
        4,
        [&](unsigned i) {
          if (i != 2) fibers.wait_until([] { return false; }, [] { return "thread 2"; });
        },
        kIdle);
    FAIL();
  } catch (Deadlock const& d) {
    EXPECT_STREQ(d.what(), "threads 0-1,3 wait for thread 2; 1 threads have finished");
  }
}
TEST(Fibers, AnExceptionEndsTheRunAndLocalsAreDestroyed) {
  Fibers fibers;
  auto const alive = std::make_shared<int>(0);
  EXPECT_THROW(fibers.run(
                   2,
                   [&, alive](unsigned i) {
                     auto const copy = alive;
                     if (i == 1) throw std::runtime_error("broken");
                     fibers.wait_until([] { return false; }, [] { return "nothing"; });
                   },
                   kIdle),
               std::runtime_error);
  EXPECT_EQ(alive.use_count(), 1);
}
TEST(Fibers, IdleFinishesWhatIsInFlight) {
  Fibers fibers;
  bool landed = false;
  fibers.run(
      1, [&](unsigned) { fibers.wait_until([&] { return landed; }, [] { return "the landing"; }); },
      [&] { return !std::exchange(landed, true); });
  EXPECT_TRUE(landed);
}

TEST(Memory, BothMappingsAreOneMemory) {
  Memory memory;
  Region& r = memory.map(Space::global, 100, {{"in", 0, 100, 4}});
  r.real[7] = 'x';
  EXPECT_EQ(*memory.real(r.seen + 7), 'x');
  EXPECT_EQ(memory.find(reinterpret_cast<std::uint64_t>(r.seen + 50)), &r);
  EXPECT_EQ(memory.find(0), nullptr);
  EXPECT_DEATH(*static_cast<char volatile*>(r.seen) = 1, "");
}

constexpr auto kGeneric = Proxy::generic, kAsync = Proxy::async;

// A barrier of the whole block, of two threads.
void pass_barrier(Ordering& o) {
  for (unsigned t : {0u, 1u}) o.barrier_arrive(t);
  o.barrier_complete();
  for (unsigned t : {0u, 1u}) o.barrier_leave(t);
}

TEST(Ordering, ABarrierOrdersWriteAndRead) {
  Ordering o;
  o.reset(2, 64);
  EXPECT_EQ(o.write(0, 4, o.now(0), 0, kGeneric), "");
  pass_barrier(o);
  EXPECT_EQ(o.read(0, 4, o.now(1), 1, kGeneric), "");
  EXPECT_EQ(o.write(0, 4, o.now(0), 0, kGeneric), "read by thread 1 since the last barrier or wait");
}
TEST(Ordering, BytesThatDoNotMeetDoNotRace) {
  Ordering o;
  o.reset(2, 64);
  EXPECT_EQ(o.write(0, 1, o.now(0), 0, kGeneric), "");
  EXPECT_EQ(o.write(1, 1, o.now(1), 1, kGeneric), "");
  EXPECT_EQ(o.write(0, 2, o.now(1), 1, kGeneric), "written by thread 0 since the last barrier or wait");
}
TEST(Ordering, SharedMemoryThatNobodyWroteIsReported) {
  Ordering o;
  o.reset(1, 64);
  EXPECT_EQ(o.read(16, 16, o.now(0), 0, kGeneric), "which nobody has written");
}
TEST(Ordering, WhatTheBlockBeforeLeftIsVoid) {
  Ordering o;
  o.reset(1, 64);
  EXPECT_EQ(o.write(0, 4, o.now(0), 0, kGeneric), "");
  o.reset(1, 64);
  EXPECT_EQ(o.read(0, 4, o.now(0), 0, kGeneric), "which nobody has written");
}
TEST(Ordering, TheCopyEngineSeesFencedStoresAlone) {
  Ordering o;
  o.reset(2, 64);
  EXPECT_EQ(o.write(0, 16, o.now(0), 0, kGeneric), "");
  pass_barrier(o);
  int const store = o.start("TMA store", kAsync);
  EXPECT_EQ(o.read(0, 16, o.in_operation(1, store), 1, kAsync), "stored by thread 0 with no fence.proxy.async since");
  o.fence_proxy_async(1);  // after the barrier, by the thread that issues the store: legal
  EXPECT_EQ(o.read(0, 16, o.in_operation(1, store), 1, kAsync), "");
}
TEST(Ordering, ReleaseAndAcquireOrderTwoThreads) {
  Ordering o;
  o.reset(3, 64);
  EXPECT_EQ(o.write(0, 4, o.now(0), 0, kGeneric), "");
  o.fence_proxy_async(0);
  Clock barrier;
  o.release(0, barrier);
  o.acquire(1, barrier);
  EXPECT_EQ(o.read(0, 4, o.now(1), 1, kGeneric), "");
  EXPECT_EQ(o.read(0, 4, o.in_operation(1, o.start("TMA store", kAsync)), 1, kAsync),
            "");  // the fence was published too
  EXPECT_EQ(o.read(0, 4, o.now(2), 2, kGeneric), "written by thread 0 since the last barrier or wait");
}
TEST(Ordering, AnOperationIsOverForWhoSawItsEnd) {
  Ordering o;
  o.reset(3, 64);
  int const load = o.start("TMA load", kAsync);
  EXPECT_EQ(o.write(0, 16, o.in_operation(0, load), 0, kAsync), "");
  o.observe(load, 1);
  EXPECT_EQ(o.read(0, 16, o.now(1), 1, kGeneric), "");
  EXPECT_EQ(o.read(0, 16, o.now(2), 2, kGeneric), "written by TMA load of thread 0 since the last barrier or wait");
  Clock told;
  o.release(1, told);
  o.acquire(2, told);
  EXPECT_EQ(o.read(0, 16, o.now(2), 2, kGeneric), "");
}

TEST(Ordering, AFenceReachesWhoCameToKnowOfIt) {
  Ordering o;
  o.reset(3, 64);
  int const store = o.start("TMA store", kAsync);
  EXPECT_EQ(o.write(0, 16, o.now(0), 0, kGeneric), "");
  Clock written, fenced;
  o.release(0, written);
  o.fence_proxy_async(0);
  o.acquire(1, written);  // of the store alone: the fence came after
  EXPECT_EQ(o.read(0, 16, o.in_operation(1, store), 1, kAsync), "stored by thread 0 with no fence.proxy.async since");
  o.release(0, fenced);
  EXPECT_EQ(o.read(0, 16, o.in_operation(1, store), 1, kAsync), "stored by thread 0 with no fence.proxy.async since");
  o.acquire(1, fenced);
  EXPECT_EQ(o.read(0, 16, o.in_operation(1, store), 1, kAsync), "");
}
TEST(Ordering, AnotherThreadsFenceCoversWhatThatThreadKnewOf) {
  Ordering o;
  o.reset(3, 64);
  EXPECT_EQ(o.write(0, 16, o.now(0), 0, kGeneric), "");
  o.fence_proxy_async(1);  // knows of nothing
  Clock a, b;
  o.release(0, a);
  o.acquire(1, a);
  o.release(1, b);
  o.acquire(2, b);
  int const load = o.start("TMA load", kAsync);
  EXPECT_EQ(o.write(0, 16, o.in_operation(2, load), 2, kAsync), "stored by thread 0 with no fence.proxy.async since");
  o.reset(3, 64);
  EXPECT_EQ(o.write(0, 16, o.now(0), 0, kGeneric), "");
  Clock c, d;
  o.release(0, c);
  o.acquire(1, c);
  o.fence_proxy_async(1);
  o.release(1, d);
  o.acquire(2, d);
  EXPECT_EQ(o.write(0, 16, o.in_operation(2, o.start("TMA load", kAsync)), 2, kAsync), "");
}
TEST(Ordering, WhatCpAsyncBroughtIsStoredByItsThread) {
  Ordering o;
  o.reset(1, 64);
  int const copy = o.start("cp.async", kGeneric), store = o.start("TMA store", kAsync);
  EXPECT_EQ(o.write(0, 16, o.in_operation(0, copy), 0, kGeneric), "");
  o.fence_proxy_async(0);  // too early
  o.observe(copy, 0);
  EXPECT_EQ(o.read(0, 16, o.in_operation(0, store), 0, kAsync),
            "stored by cp.async of thread 0 with no fence.proxy.async since");
  o.fence_proxy_async(0);
  EXPECT_EQ(o.read(0, 16, o.in_operation(0, store), 0, kAsync), "");
}
TEST(Ordering, WhoHasLeftTookNoPartInWhatFollows) {
  Ordering o;
  o.reset(2, 64);
  EXPECT_EQ(o.write(0, 4, o.now(1), 1, kGeneric), "");
  o.leave(1);
  o.barrier_arrive(0);
  o.barrier_complete();
  o.barrier_leave(0);
  EXPECT_EQ(o.read(0, 4, o.now(0), 0, kGeneric), "written by thread 1 since the last barrier or wait");
}
TEST(Ordering, AtomicChangesOfOneKindDoNotRace) {
  Ordering o;
  auto const event = [&](unsigned t, Atomic kind) { return o.in_operation(t, Event::atomic(kind)); };
  o.reset(2, 64);
  EXPECT_EQ(o.change(0, 4, event(0, Atomic::add), 0), "which nobody has written");
  o.reset(2, 64);
  EXPECT_EQ(o.write(0, 4, o.now(0), 0, kGeneric), "");
  EXPECT_EQ(o.change(0, 4, event(1, Atomic::add), 1), "written by thread 0 since the last barrier or wait");
  pass_barrier(o);
  EXPECT_EQ(o.change(0, 4, event(0, Atomic::add), 0), "");
  EXPECT_EQ(o.change(0, 4, event(1, Atomic::add), 1), "");
  EXPECT_EQ(o.change(0, 4, event(1, Atomic::max), 1), "changed atomically by thread 0 since the last barrier or wait");
  EXPECT_EQ(o.read(0, 4, o.now(1), 1, kGeneric), "changed atomically by thread 0 since the last barrier or wait");
  EXPECT_EQ(o.write(0, 4, o.now(0), 0, kGeneric), "changed atomically by thread 1 since the last barrier or wait");
}

TEST(Workspace, IsReadByTheBlockThatWroteAndByLaterKernels) {
  GlobalOrdering w;
  AccessHistory p(64, GlobalOrdering::kWord, false);
  Ordering o;
  o.reset(2, 0);
  w.forget();
  w.next_kernel();
  w.next_block(0);
  EXPECT_EQ(w.read(p, 0, 4, o.now(0), o), "which nobody has written");
  EXPECT_EQ(w.write(p, 0, 16, o.now(0), o), "");
  EXPECT_EQ(w.read(p, 0, 16, o.now(0), o), "");
  EXPECT_EQ(w.read(p, 0, 16, o.now(1), o), "written by thread 0 since the last barrier or wait");
  w.next_block(1);
  EXPECT_EQ(w.read(p, 0, 16, o.now(0), o), "written by block 0, which has released no flag since");
  EXPECT_EQ(w.write(p, 8, 8, o.now(0), o), "written by block 0, which has released no flag since");
  w.next_kernel();
  w.next_block(1);
  EXPECT_EQ(w.read(p, 0, 16, o.now(0), o), "");
}
TEST(Workspace, WhatAFlagTellsIsPassedOn) {
  GlobalOrdering w;
  AccessHistory p(64, GlobalOrdering::kWord, false);
  Ordering o;
  o.reset(1, 0);
  w.forget();
  w.next_block(0);
  EXPECT_EQ(w.write(p, 0, 4, o.now(0), o), "");
  w.release(p, 32, 0, o);
  w.next_block(1);
  EXPECT_EQ(w.acquire(p, 32, 0, o), "");
  EXPECT_EQ(w.read(p, 0, 4, o.now(0), o), "");
  w.release(p, 36, 0, o);
  w.next_block(2);
  EXPECT_EQ(w.acquire(p, 36, 0, o), "");  // of block 1, that knows of block 0
  EXPECT_EQ(w.read(p, 0, 4, o.now(0), o), "");
  w.next_block(3);
  EXPECT_EQ(w.acquire(p, 40, 0, o), "which nobody has written");
  EXPECT_EQ(w.read(p, 0, 4, o.now(0), o), "written by block 0, whose flag this thread has not acquired");
}

TEST(Workspace, AFlagTellsOfWhatCameBeforeItAlone) {
  GlobalOrdering w;
  AccessHistory p(64, GlobalOrdering::kWord, false);
  Ordering o;
  o.reset(2, 0);
  w.forget();
  w.next_block(0);
  EXPECT_EQ(w.write(p, 0, 4, o.now(1), o), "");  // by another thread, with no barrier between
  w.release(p, 32, 0, o);
  EXPECT_EQ(w.write(p, 4, 4, o.now(0), o), "");  // after it
  w.next_block(1);
  EXPECT_EQ(w.acquire(p, 32, 0, o), "");
  for (std::size_t at : {0u, 4u})
    EXPECT_EQ(w.read(p, at, 4, o.now(0), o), "written by block 0, which has released no flag since");
}

TEST(Workspace, WhatOthersStillReadIsNotWritten) {
  GlobalOrdering w;
  AccessHistory p(64, GlobalOrdering::kWord, true);
  Ordering o;
  o.reset(3, 0);
  w.forget();
  w.next_block(0);
  for (unsigned t : {1u, 2u}) EXPECT_EQ(w.read(p, 0, 8, o.now(t), o), "");
  EXPECT_EQ(w.write(p, 4, 4, o.now(1), o), "read by thread 2 since the last barrier or wait");
  EXPECT_EQ(w.write(p, 8, 4, o.now(1), o), "");
  EXPECT_EQ(w.read(p, 16, 8, o.now(0), o), "");
  w.release(p, 32, 0, o);
  w.next_block(1);
  EXPECT_EQ(w.write(p, 0, 4, o.now(0), o), "read by block 0, which has released no flag since");
  EXPECT_EQ(w.write(p, 16, 4, o.now(0), o), "read by block 0, whose flag this thread has not acquired");
  EXPECT_EQ(w.acquire(p, 32, 0, o), "");
  EXPECT_EQ(w.write(p, 20, 4, o.now(0), o), "");
  w.next_kernel();
  w.next_block(0);
  EXPECT_EQ(w.write(p, 4, 4, o.now(0), o), "");
}
TEST(Workspace, AListOfReadersForgetsWhomABarrierHasSettled) {
  GlobalOrdering w;
  AccessHistory p(64, 4, true);
  Ordering o;
  o.reset(2, 0);
  w.forget();
  w.next_block(0);
  for (int i = 0; i < 3; ++i) {
    for (unsigned t : {0u, 1u}) EXPECT_EQ(w.read(p, 0, 4, o.now(t), o), "");
    EXPECT_EQ(w.write(p, 4, 4, o.now(0), o), "");
    pass_barrier(o);
  }
  EXPECT_EQ(w.read(p, 0, 4, o.now(1), o), "");
  EXPECT_EQ(w.write(p, 0, 4, o.now(0), o), "read by thread 1 since the last barrier or wait");
}

// ---- kernels
using namespace cute;
using cute::Tensor;
using namespace problem;
using block::copy_one, block::LaunchInfo, block::On, block::OrderedFma;
using model::Device;

// Element (i, j) of an operand.
template <class T>
T* at(problem::Operand const& o, int64_t i, int64_t j) {
  return o.as<T>() + (i * o.row_stride + j * o.col_stride);
}

// A GEMM of 32 x 32 by one block: the third warp fetches slices of K, the others multiply. Named barriers 1 and 2: a
// slice is there, a slice has been used.
enum class Flaw { none, no_full, no_empty, half_empty, other_count, stale, unwritten, reads_c, reads_late, twice };
template <Flaw flaw>
struct Ring {
  Gemm g;
  static constexpr int BLK_K = 2;
  static constexpr LaunchInfo launch_info{.threads = 96};
  struct Smem {
    float A[BLK_K][32], B[BLK_K][32];
    static void members(auto name) { name("A", &Smem::A), name("B", &Smem::B); }
  };
  int64_t blocks() const { return 1; }
  static Ring make(Gemm const& g, auto const&) { return {g}; }
  void relocate(auto const& at) { kernels::relocate_operands(g, at); }

  template <class Block>
  void fetch(Block block, Smem& smem, int64_t first) const {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int const i = int(block.thread_rank()) - 64;
    for (int k = 0; k < BLK_K; ++k) {
      bool const on = first + k < g.K();
      float a = 0, b = 0;
      copy_one(atom, on && i < g.M(), make_gmem_ptr(at<float const>(g.A, i, first + k)), &a);
      copy_one(atom, on && i < g.N(), make_gmem_ptr(at<float const>(g.B, i, first + k)), &b);
      bool const store = (flaw != Flaw::stale || on) && (flaw != Flaw::unwritten || i < g.M());
      copy_one(atom, store, &a, make_smem_ptr(&smem.A[k][i]));
      copy_one(atom, store, &b, make_smem_ptr(&smem.B[k][i]));
    }
  }
  template <class Block>
  void operator()(Block block, Smem& smem) const {
    auto const full = [&] {
      if (flaw != Flaw::no_full) block.sync(Int<1>{}, Int<96>{});
    };
    if (block.thread_rank() >= 64) {
      for (int64_t k = 0; k < g.K(); k += BLK_K) {
        if (k && flaw != Flaw::no_empty) block.sync(Int<2>{}, Int<(flaw == Flaw::other_count ? 64 : 96)>{});
        fetch(block, smem, k);
        full();
      }
      return;  // the others go on alone
    }
    auto const mma = make_tiled_mma(MMA_Atom<On<Block, UniversalFMA<float>>>{}, Layout<Shape<_8, _8, _1>>{});
    auto const thread = mma.get_slice(block.thread_rank());
    Tensor sA = make_tensor(make_smem_ptr(&smem.A[0][0]), Layout<Shape<_32, Int<BLK_K>>>{});  // (M,K)
    Tensor sB = make_tensor(make_smem_ptr(&smem.B[0][0]), Layout<Shape<_32, Int<BLK_K>>>{});  // (N,K)
    Tensor gC = make_tensor(make_gmem_ptr(g.D.as<float>()), Shape<_32, _32>{}, make_stride(g.D.row_stride, _1{}));
    Tensor cC = make_identity_tensor(Shape<_32, _32>{});
    Tensor tAsA = thread.partition_A(sA), tBsB = thread.partition_B(sB), tCgC = thread.partition_C(gC);
    Tensor tCcC = thread.partition_C(cC);
    Tensor tArA = thread.make_fragment_A(tAsA), tBrB = thread.make_fragment_B(tBsB);
    Tensor tCrC = thread.make_fragment_C(tCgC);
    clear(tCrC);
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    for (int64_t k = 0; k < g.K(); k += BLK_K) {
      full();
      copy(atom, tAsA, tArA);
      copy(atom, tBsB, tBrB);
      gemm(mma, tArA, tBrB, tCrC);
      if (k + BLK_K < g.K() && flaw != Flaw::no_empty && flaw != Flaw::half_empty) block.sync(Int<2>{}, Int<96>{});
    }
    for (int i = 0; i < size(tCrC); ++i) {
      bool const on = get<0>(tCcC(i)) < g.M() && get<1>(tCcC(i)) < g.N();
      float old = 0, sum = 0;
      float const alpha = g.epilogue.alpha, beta = g.epilogue.beta;
      if (beta != 0 || flaw == Flaw::reads_c) copy_one(atom, on, make_gmem_ptr(&tCgC(i)), &old);
      sum = alpha * tCrC(i) + (beta != 0 ? beta * old : 0);
      copy_one(atom, on, &sum, make_gmem_ptr(&tCgC(i)));
      if (flaw == Flaw::reads_late) copy_one(atom, on, make_gmem_ptr(&tCgC(i)), &old);
      if (flaw == Flaw::twice) copy_one(atom, on, &sum, make_gmem_ptr(&tCgC(i)));
    }
  }
};

// One row a thread, K in two halves: block 0 leaves its sums in the workspace and raises a flag, for which block 1
// waits.
enum class Handover { good, no_release, no_acquire, from_above, no_sync_before, no_sync_after, no_reset, unwritten };
template <Handover how>
struct Halves {
  Gemm g;
  float* partial;
  unsigned* flag;
  static constexpr int threads = 64;
  static constexpr LaunchInfo launch_info{.threads = threads};
  struct Smem {};
  int64_t blocks() const { return 2; }
  void relocate(auto const& at) { kernels::relocate_operands(g, at), partial = at(partial), flag = at(flag); }

  struct Reset {
    unsigned* flag;
    static constexpr LaunchInfo launch_info{.threads = 32};
    struct Smem {};
    int64_t blocks() const { return 1; }
    void relocate(auto const& at) { flag = at(flag); }
    template <class Block>
    void operator()(Block block, Smem&) const {
      unsigned const zero = 0;
      Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
      copy_one(atom, block.thread_rank() == 0, &zero, make_gmem_ptr(flag));
    }
  };
  template <class F>
  static void launches(Gemm const& g, auto const& setting, F const& f) {
    float* const partial = static_cast<float*>(setting.workspace);
    auto* const flag = reinterpret_cast<unsigned*>(partial + threads);
    if (how != Handover::no_reset) f(Reset{flag});
    f(Halves{g, partial, flag});
  }

  template <class Block>
  void operator()(Block block, Smem&) const {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int64_t const m = block.thread_rank();
    bool const first = (block.block_index() == 0) == (how != Handover::from_above);
    float sum = 0, a = 0, b = 0, other = 0;
    for (int64_t k = first ? 0 : g.K() / 2; k < (first ? g.K() / 2 : g.K()); ++k) {
      copy_one(atom, true, make_gmem_ptr(at<float const>(g.A, m, k)), &a);
      copy_one(atom, true, make_gmem_ptr(at<float const>(g.B, 0, k)), &b);
      On<Block, OrderedFma>::fma(sum, a, b);
    }
    if (first) {
      copy_one(atom, how != Handover::unwritten || m > 5, &sum, make_gmem_ptr(partial + m));
      if (how != Handover::no_sync_before) block.sync();
      if (m == 0 && how != Handover::no_release) block.release(flag, 1);
    } else {
      if (m == 0 && how != Handover::no_acquire) block.acquire(flag, 1);
      if (how != Handover::no_sync_after) block.sync();
      copy_one(atom, true, make_gmem_ptr(partial + m), &other);
      sum = g.epilogue.alpha * (other + sum);
      copy_one(atom, true, &sum, make_gmem_ptr(at<float>(g.D, m, 0)));
    }
  }
};

// A row of C: one thread has the rows of B copied, the second warp multiplies. Two slots, round and round.
enum class Slip { none, no_full, no_empty, no_syncwarp, few_arrivals, within_16_bytes };
template <Slip slip>
struct TmaRing {
  Gemm g;
  CUtensorMap map;
  static constexpr int PIPE = 2;
  static constexpr LaunchInfo launch_info{.threads = 64};
  struct Smem {
    alignas(128) float B[PIPE][32];
    std::uint64_t full[PIPE], empty[PIPE];
    static void members(auto name) { name("B", &Smem::B), name("full", &Smem::full), name("empty", &Smem::empty); }
  };
  int64_t blocks() const { return 1; }
  static TmaRing make(Gemm const& g, auto const& setting) {
    return {g, setting.encode({g.B.base, 4, {g.N(), g.K(), 1}, {g.B.col_stride * 4, 16}, {32, 1, 1}, false})};
  }
  void relocate(auto const& at) {
    kernels::relocate_operands(g, at);
    at.map(map, g.B.base);
  }

  template <class Block>
  void operator()(Block block, Smem& smem) const {
    auto* const full = reinterpret_cast<typename Block::Mbarrier*>(smem.full);
    auto* const empty = reinterpret_cast<typename Block::Mbarrier*>(smem.empty);
    if (block.thread_rank() == 0)
      for (int s = 0; s < PIPE; ++s) full[s].init(1), empty[s].init(slip == Slip::few_arrivals ? 2 : 1);
    block.fence_barrier_init();
    block.sync();
    if (block.thread_rank() < 32) {
      if (block.thread_rank() != 0) return;
      for (int k = 0; k < g.K(); ++k) {
        int const s = k % PIPE, round = k / PIPE;
        if (round && slip != Slip::no_empty) empty[s].wait((round - 1) & 1);
        full[s].arrive_and_expect_tx(sizeof(smem.B[s]));
        block.tma_load(map, full[s], smem.B[s], slip == Slip::within_16_bytes ? 3 : 0, k, 0);
      }
      return;
    }
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int const n = int(block.thread_rank()) - 32;
    float sum = 0, a = 0, b = 0;
    for (int k = 0; k < g.K(); ++k) {
      int const s = k % PIPE, round = k / PIPE;
      if (slip != Slip::no_full) full[s].wait(round & 1);
      copy_one(atom, true, make_gmem_ptr(at<float const>(g.A, 0, k)), &a);
      copy_one(atom, true, make_smem_ptr(&smem.B[s][n]), &b);
      On<Block, OrderedFma>::fma(sum, a, b);
      if (slip != Slip::no_syncwarp) block.syncwarp();
      if (n == 0) empty[s].arrive();
    }
    copy_one(atom, n < g.N(), &sum, make_gmem_ptr(g.D.as<float>() + n));
  }
};

struct Replayed {
  std::unique_ptr<Recorder> recorder = std::make_unique<Recorder>();
  Gemm gemm;

  Replayed(std::int64_t M, std::int64_t N, std::int64_t K, float alpha = 1, float beta = 0) {
    recorder->kernel = "test";
    float* const A = recorder->allocate_integers("A", std::size_t(M * K), 1);
    float* const B = recorder->allocate_integers("B", std::size_t(K * N), 2);
    float* const C = recorder->allocate_integers("C", std::size_t(M * N), 3);
    gemm.A = {A, f32, M, K, 1, K, 1, 0};
    gemm.B = {B, f32, N, K, 1, 1, N, 0};
    gemm.D = {C, f32, M, N, 1, N, 1, 0};
    gemm.epilogue = {.alpha = alpha, .beta = beta};
    recorder->allocate_workspace(1024);
  }
  template <class Kernel>
  Replayed& replay() {
    registry::replay_kernel<Kernel>(gemm, Device{}, *recorder);
    return *this;
  }
  // That these checks have spoken and no other, and the first thing said.
  void expect(std::initializer_list<Check> checks, std::string const& first = {}) const {
    for (Check c : checks) EXPECT_TRUE(recorder->found(c)) << "not found: " << name_of(c);
    for (Finding const& f : recorder->findings)
      EXPECT_TRUE(std::find(checks.begin(), checks.end(), f.check) != checks.end())
          << name_of(f.check) << ": " << f.sentence;
    std::string const said = recorder->findings.empty() ? "" : recorder->findings.front().sentence;
    EXPECT_NE(said.find(first), std::string::npos) << said;
  }
};
template <Flaw flaw>
Replayed ring(std::int64_t M, std::int64_t N, std::int64_t K, float beta = 0) {
  return std::move(Replayed(M, N, K, 2, beta).replay<Ring<flaw>>());
}

TEST(NamedBarriers, OrderTheirThreads) {
  for (float beta : {0.f, -1.f})
    for (std::int64_t K : {0, 1, 2, 7}) {
      Replayed const p = ring<Flaw::none>(31, 30, K, beta);
      p.expect({});
      EXPECT_EQ(p.recorder->fma, 32 * 32 * ((K + 1) / 2 * 2));  // those on padding included
      EXPECT_EQ(explain::counted(*p.recorder).fma, p.recorder->fma);
    }
}
TEST(NamedBarriers, OneLeftOutIsARace) {
  ring<Flaw::no_full>(32, 32, 7).expect({Check::race, Check::result}, "which nobody has written");
  ring<Flaw::no_empty>(32, 32, 7).expect({Check::race, Check::result}, "since the last barrier or wait");
}
TEST(NamedBarriers, OneThatNotAllReachIsADeadlock) {
  ring<Flaw::half_empty>(32, 32, 7).expect({Check::deadlock, Check::coverage},
                                           "threads 64-95 wait for barrier 2 of line ");
  EXPECT_NE(ring<Flaw::half_empty>(32, 32, 7).recorder->findings.front().sentence.find("(32 of 96 arrived)"),
            std::string::npos);
}
TEST(NamedBarriers, OneOfTwoCountsIsMisuse) {
  ring<Flaw::other_count>(32, 32, 7).expect({Check::misuse, Check::coverage}, "threads at barrier 2 of line ");
}

template <Slip slip>
Replayed tma_ring() {
  return std::move(Replayed(1, 32, 9).replay<TmaRing<slip>>());
}
TEST(Mbarriers, GoRoundARing) {
  tma_ring<Slip::none>().expect({});
  tma_ring<Slip::no_full>().expect({Check::race, Check::misuse, Check::coverage}, ", which nobody has written");
  tma_ring<Slip::no_empty>().expect({Check::misuse, Check::coverage}, "an mbarrier whose phase has no arrivals left");
  tma_ring<Slip::no_syncwarp>().expect({Check::race}, "read by thread");
  tma_ring<Slip::within_16_bytes>().expect({Check::alignment, Check::coverage},
                                           ", of a box whose rows begin at element 3 of the tensor's");
  tma_ring<Slip::few_arrivals>().expect({Check::deadlock, Check::coverage},
                                        "thread 0 waits for the mbarrier shared empty[0]");
}

TEST(Gemms, StaleAndUnwrittenSharedBytes) {
  ring<Flaw::stale>(32, 32, 7).expect({Check::result}, "elements differ from alpha A B + beta C, the first is D[");
  ring<Flaw::unwritten>(31, 32, 8).expect({Check::race, Check::result}, "which nobody has written");
}
TEST(Gemms, ReadingCWhereBetaIsZero) {
  ring<Flaw::reads_c>(32, 32, 4).expect({Check::bounds, Check::coverage},
                                        "reads C[0] (byte 0), which the kernel may only write");
  ring<Flaw::reads_c>(32, 32, 4, 3).expect({});
}
TEST(Gemms, ReadingCAfterItWasWritten) {
  ring<Flaw::reads_late>(32, 32, 4, 3).expect({Check::race}, "reads C[0] (byte 0), which has been written already");
}
TEST(Gemms, WritingAnElementTwice) {
  ring<Flaw::twice>(32, 32, 4).expect({Check::coverage}, "writes C[0] (byte 0) once more");
}
TEST(Gemms, AWrongSumIsNamedByItsCoordinates) {
  Replayed p(32, 32, 3);
  float const other = 100;
  auto const wanted = registry::expected(p.gemm, *p.recorder);
  run(Ring<Flaw::none>{p.gemm}, *p.recorder);
  std::memcpy(p.recorder->real(p.gemm.D.as<float>() + 5 * 32 + 7), &other, sizeof other);
  wanted.conclude();
  p.expect({Check::result}, "test: 1 elements differ from alpha A B + beta C, the first is D[5,7,0]: 100.000000, not ");
}
TEST(Gemms, OperandsThatMayNotBeRead) {
  Replayed p(32, 32, 3);
  Gemm const scaled = p.gemm.with_K(0);
  registry::ExpectedGemm const wanted(scaled, *p.recorder, 0);
  run(Ring<Flaw::none>{p.gemm}, *p.recorder);
  p.expect({Check::bounds}, "reads A[0] (byte 0), which is no element of the source");
}

template <Handover how>
Replayed halves() {
  return std::move(Replayed(64, 1, 10).replay<Halves<how>>());
}
TEST(Flags, HandOverWhatTheBlockHasWritten) {
  Replayed p = halves<Handover::good>();
  p.expect({});
  EXPECT_EQ(p.recorder->fma, 64 * 10);
  p.replay<Halves<Handover::good>>().expect({});  // on what the first run left in the workspace
}
TEST(Flags, OneNeverReleasedIsADeadlock) {
  std::string const waits = "thread 0 waits for the flag workspace[64] (byte 256) to become 1 (it is 0";
  halves<Handover::no_release>().expect({Check::deadlock, Check::coverage}, waits);
}
TEST(Flags, OneOfAHigherBlockIsADeadlock) {
  std::string const waits = "thread 0 waits for the flag workspace[64] (byte 256) to become 1 (it is 0";
  halves<Handover::from_above>().expect({Check::deadlock, Check::coverage}, waits);
}
TEST(Flags, ReadingWithoutOneIsARace) {
  halves<Handover::no_acquire>().expect({Check::race}, ", written by block 0, whose flag this thread has not acquired");
  halves<Handover::no_sync_after>().expect(
      {Check::race},
      "thread 1: reads workspace[1] (byte 4), written by block 0, whose flag this thread has not acquired");
  halves<Handover::no_sync_before>().expect({Check::race}, ", written by block 0, which has released no flag since");
}
TEST(Flags, WhatNobodyWroteIsNotHandedOver) {
  halves<Handover::unwritten>().expect({Check::race, Check::result},
                                       "reads workspace[0] (byte 0), which nobody has written");
}
TEST(Flags, OneThatWasNotResetIsTooOld) {
  Replayed p = halves<Handover::no_reset>();
  p.expect({});
  p.replay<Halves<Handover::no_reset>>().expect({Check::race}, "with the value that it already has, 1");
}

// Each thread reads what another has just written: of its own warp, or of the other.
template <int other>
struct Neighbours {
  static constexpr int threads = 40;
  static constexpr LaunchInfo launch_info{.threads = threads};
  struct Smem {
    float A[64];
    static void members(auto name) { name("A", &Smem::A); }
  };
  int64_t blocks() const { return 1; }
  template <class Block>
  void operator()(Block block, Smem& smem) const {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    unsigned const t = block.thread_rank(), from = t ^ other;
    float x = float(t);
    copy_one(atom, true, &x, make_smem_ptr(&smem.A[t]));
    block.syncwarp();
    copy_one(atom, from < threads, make_smem_ptr(&smem.A[from]), &x);
  }
};
TEST(WarpBarriers, OrderTheThreadsOfAWarpAlone) {
  Recorder within, across;
  run(Neighbours<1>{}, within);
  EXPECT_EQ(within.finding_count, 0);
  run(Neighbours<32>{}, across);
  EXPECT_TRUE(across.found(Check::race));
}

struct SevenMembers {
  float A[2][8], B[3], C[1], raw[4];
  Mbarrier full[2], empty[2];
  int rest;
  static void members(auto name) {
    using Smem = SevenMembers;
    name("A", &Smem::A), name("B", &Smem::B), name("C", &Smem::C), name("raw", &Smem::raw);
    name("full", &Smem::full), name("empty", &Smem::empty);
  }
};
TEST(Operands, AreNamedByTheMembersOfSmem) {
  using Smem = SevenMembers;
  std::string names;
  for (Operand const& o : operands_of<Smem>())
    names += o.name + " " + std::to_string(o.bytes) + "/" + std::to_string(o.elem_bytes) + ", ";
  EXPECT_EQ(
      names,
      "shared A 64/4, shared B 12/4, shared C 4/4, shared raw 16/4, shared full 16/8, shared empty 16/8, shared " +
          std::to_string(sizeof(Smem)) + "/1, ");
}

struct OwnNames {
  struct Smem {
    double tile[2][4];
    unsigned count;
    static void members(auto name) { name("count", &Smem::count), name("tile", &Smem::tile); }
  };
};
TEST(Operands, AreNamedAsSmemSays) {
  std::string names;
  for (Operand const& o : operands_of<OwnNames::Smem>())
    names += o.name + " " + std::to_string(o.offset) + "+" + std::to_string(o.bytes) + "/" +
             std::to_string(o.elem_bytes) + ", ";
  EXPECT_EQ(names, "shared count 64+4/4, shared tile 0+64/8, shared 0+72/1, ");
}

// A kernel that is neither a copy nor a GEMM: elements first to 31 of `in` go to `out`.
struct Elements {
  float const* in;
  float* out;
  int first = 0;
  static constexpr LaunchInfo launch_info{.threads = 32};
  struct Smem {};
  int64_t blocks() const { return 1; }
  template <class Block>
  void operator()(Block block, Smem&) const {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int const i = int(block.thread_rank());
    float x = 0;
    copy_one(atom, i >= first, make_gmem_ptr(in + i), &x);
    copy_one(atom, i >= first, &x, make_gmem_ptr(out + i));
  }
};
class AnyKernel : public testing::Test {
 protected:
  Recorder recorder;
  float *in = recorder.allocate_integers("in", 32, 1), *out = recorder.allocate_integers("out", 32, 2);

  // Which check speaks first, and what it says.
  void expect(Elements const& kernel, std::optional<Check> check, std::string const& sentence = "") {
    recorder.findings.clear();
    replay_kernel("test", kernel, recorder);
    EXPECT_EQ(!recorder.findings.empty(), check.has_value());
    if (check && !recorder.findings.empty()) {
      EXPECT_EQ(recorder.findings[0].check, *check);
      EXPECT_EQ(recorder.findings[0].sentence, sentence);
    }
  }
};
TEST_F(AnyKernel, MayTouchWhatWasSaidAndThatOnce) {
  recorder.reads(in), recorder.writes(out);
  expect({in, out}, std::nullopt);
  EXPECT_EQ(recorder.number(out + 7), recorder.number(in + 7));
  expect({in, out}, Check::bounds, "test, block 0, thread 0: reads in[0] (byte 0), which is no element of the source");
}
TEST_F(AnyKernel, ReadsBeforeItWritesInPlace) {
  recorder.reads(out), recorder.writes(out);
  expect({out, out}, std::nullopt);
  recorder.writes(out);
  expect({out, out}, Check::bounds, "test, block 0, thread 0: reads out[0] (byte 0), which the kernel may only write");
}
TEST_F(AnyKernel, WritesAllOfABuffer) {
  recorder.reads(in), recorder.writes(out);
  expect({in, out, 3}, Check::coverage, "test: leaves 3 elements unwritten, the first is out[0]");
}
TEST_F(AnyKernel, HasAWorkspaceThatNobodyHasWritten) {
  recorder.allocate_workspace(128);
  recorder.writes(out);
  auto* const workspace = static_cast<float*>(recorder.workspace());
  replay_kernel("test", Elements{workspace, out}, recorder);
  EXPECT_TRUE(recorder.found(Check::race));
}
TEST_F(AnyKernel, IsToldInSentencesAndExplained) {
  recorder.reads(in), recorder.writes(out);
  replay_kernel("test", Elements{in, out, 20}, recorder);
  EXPECT_EQ(explain::findings_text(recorder),
            "test: 1 finding\n"
            "  coverage: test: leaves 20 elements unwritten, the first is out[0]\n");
  explain::Explanation const x =
      explain::explanation_of(recorder, {"test", "12 elements", "12"}, *model::find_device("H200"));
  ASSERT_EQ(x.sites.size(), 2u);
  EXPECT_EQ(x.sites[0].name, "in load");
  EXPECT_EQ(x.sites[0].useful_share(), .75);
  EXPECT_EQ(x.demand.launches.size(), 1u);
  EXPECT_THROW(recorder.reads(&recorder), std::runtime_error);
}

}  // namespace
}  // namespace inlay::replay
