// What the replay finds of races, barriers and registers: ten-line kernels with one flaw each, and the same without it.
#include <cstdint>

#include "small_kernels.h"

namespace inlay::replay {
namespace {

// ---- two proxies
using Proxies = SmallKernels;

// cp.async brings 512 bytes, TMA stores them.
enum class Fence { none, before_the_wait, after_the_wait };
template <Fence fence>
constexpr auto kAsyncThenTma = [](auto block, auto& smem, float const* in, CUtensorMap const& map) {
  using Block = decltype(block);
  unsigned const t = block.thread_rank();
  Copy_Atom<On<Block, SM80_CP_ASYNC_CACHEGLOBAL_ZFILL<uint128_t>>, uint128_t> atom;
  copy_one(atom, true, make_gmem_ptr(reinterpret_cast<uint128_t const*>(in) + t),
           make_smem_ptr(reinterpret_cast<uint128_t*>(smem.data) + t));
  block.cp_async_fence();
  if (fence == Fence::before_the_wait) block.fence_proxy_async();
  block.cp_async_wait(Int<0>{});
  if (fence == Fence::after_the_wait) block.fence_proxy_async();
  block.sync();
  if (t != 0) return;
  block.tma_store(map, smem.data, 0, 0, 0);
  block.tma_store_commit();
  block.tma_store_wait_read(Int<0>{});
};
TEST_F(Proxies, WhatCpAsyncBringsIsFencedBeforeTmaStoresIt) {
  CUtensorMap const map = map_of(out);
  auto const with = [&](auto body) {
    recorder.reads(in), recorder.writes(out);
    replay<kWarp, Tile>([&, body](auto block, auto& smem) { body(block, smem, in, map); });
  };
  std::string const missing = "stored by cp.async of thread 0 with no fence.proxy.async since";
  with(kAsyncThenTma<Fence::none>), expect(Check::race, missing);
  with(kAsyncThenTma<Fence::before_the_wait>), expect(Check::race, missing);
  with(kAsyncThenTma<Fence::after_the_wait>), expect_nothing();
  EXPECT_EQ(recorder.number(out + 127), recorder.number(in + 127));
}

// The tile is stored to, or read, and then filled by TMA.
enum class Before { nothing, store, load };
template <Before before, bool fence>
constexpr auto kOverwritten = [](auto block, auto& smem, CUtensorMap const& map, float* out) {
  unsigned const t = block.thread_rank();
  auto& full = mbarrier(block, smem.full);
  auto const fill = [&](int phase) {
    if (t == 0) full.arrive_and_expect_tx(sizeof smem.data), block.tma_load(map, full, smem.data, 0, 0, 0);
    full.wait(phase);
  };
  if (t == 0) full.init(1), block.fence_barrier_init();
  block.sync();
  if (before == Before::load) fill(0);
  for (unsigned i = t; i < 128; i += 32) {
    if (before == Before::store) store_shared(block, &smem.data[i], 0.f);
    if (before == Before::load) load_shared(block, &smem.data[i]);
  }
  if (fence) block.fence_proxy_async();
  block.sync();
  fill(before == Before::load);
  for (unsigned i = t; i < 128; i += 32) store(block, out + i, load_shared(block, &smem.data[i]));
};
TEST_F(Proxies, AStoreIsFencedBeforeTmaWritesOverIt) {
  CUtensorMap const map = map_of(in);
  auto const with = [&](auto body) {
    recorder.reads(in), recorder.writes(out);
    replay<kWarp, Tile>([&, body](auto block, auto& smem) { body(block, smem, map, out); });
  };
  with(kOverwritten<Before::store, false>);
  expect(Check::race, "writes shared data[0] (byte 0), stored by thread 0 with no fence.proxy.async since");
  with(kOverwritten<Before::store, true>), expect_nothing();
  with(kOverwritten<Before::load, false>), expect_nothing();  // what was read has arrived
  with(kOverwritten<Before::nothing, false>), expect_nothing();
}

// The second warp stores the tile and tells the first, which has TMA store it: who fences, and when.
enum class Fences { nobody, writers_late, writers, issuer_early, issuer };
template <Fences fences>
constexpr auto kHandedOver = [](auto block, auto& smem, CUtensorMap const& map) {
  unsigned const t = block.thread_rank();
  auto &ready = mbarrier(block, smem.full), &nobody = mbarrier(block, smem.empty);
  if (t == 0) ready.init(32), nobody.init(32);
  block.sync();
  if (t >= 32) {
    for (unsigned i = t - 32; i < 128; i += 32) store_shared(block, &smem.data[i], float(i));
    if (fences == Fences::writers) block.fence_proxy_async();
    ready.arrive();
    if (fences == Fences::writers_late) block.fence_proxy_async(), nobody.arrive();
  } else if (t == 0) {
    if (fences == Fences::issuer_early) block.fence_proxy_async();
    ready.wait(0);
    if (fences == Fences::issuer) block.fence_proxy_async();
    block.tma_store(map, smem.data, 0, 0, 0);
    block.tma_store_commit();
    block.tma_store_wait_read(Int<0>{});
  }
};
TEST_F(Proxies, AFenceCountsForWhoWaitedForIt) {
  CUtensorMap const map = map_of(out);
  auto const with = [&](auto body) {
    recorder.writes(out);
    replay<kTwoWarps, Tile>([&, body](auto block, auto& smem) { body(block, smem, map); });
  };
  std::string const missing = "with no fence.proxy.async since";
  with(kHandedOver<Fences::nobody>), expect(Check::race, missing);
  with(kHandedOver<Fences::writers_late>), expect(Check::race, missing);
  with(kHandedOver<Fences::issuer_early>), expect(Check::race, missing);
  with(kHandedOver<Fences::writers>), expect_nothing();
  with(kHandedOver<Fences::issuer>), expect_nothing();
}

// ---- mbarriers
using MbarrierRules = SmallKernels;

TEST_F(MbarrierRules, TmaSeesOneThatWasFenced) {
  CUtensorMap const map = map_of(in);
  auto const with = [&](bool init_fence, bool proxy_fence, bool before_the_barrier) {
    recorder.reads(in);
    replay<kWarp, Tile>([=, this](auto block, auto& smem) {
      auto& full = mbarrier(block, smem.full);
      unsigned const t = block.thread_rank();
      if (t == 0) full.init(1);
      if (t == 0 && init_fence && before_the_barrier) block.fence_barrier_init();
      block.sync();
      if (t == 0 && init_fence && !before_the_barrier) block.fence_barrier_init();
      if (proxy_fence) block.fence_proxy_async();
      if (t == 1) full.arrive_and_expect_tx(sizeof smem.data), block.tma_load(map, full, smem.data, 0, 0, 0);
      full.wait(0);
    });
  };
  std::string const missing =
      "TMA load completes at the mbarrier shared full[0] (byte 0), initialised by thread 0 with no "
      "fence_barrier_init() "
      "since";
  with(false, false, false), expect(Check::race, missing);
  with(true, false, false), expect(Check::race, missing);  // thread 1 has not waited for it
  with(true, false, true), expect_nothing();
  with(false, true, false), expect_nothing();
}
TEST_F(MbarrierRules, LiveUntilTheirBlockEnds) {
  auto const with = [&](auto then) {
    replay<kWarp, Tile>([=](auto block, auto& smem) {
      auto& full = mbarrier(block, smem.full);
      if (block.thread_rank() == 0) full.init(1);
      block.sync();
      then(block, smem, block.thread_rank() == 0);
    });
  };
  with([](auto block, auto& smem, bool on) { store_shared(block, &smem.full, std::uint64_t(0), on); });
  expect(Check::misuse, "writes shared full[0] (byte 0), which is an mbarrier until the block ends");
  with([](auto block, auto& smem, bool on) { on ? mbarrier(block, smem.full).init(2) : void(); });
  expect(Check::misuse,
         "thread 0: initialises the mbarrier shared full[0] (byte 0) again, which is in use since thread 0");
  with([](auto block, auto& smem, bool on) { store_shared(block, &smem.empty, std::uint64_t(0), on); });
  expect_nothing();
}
TEST_F(MbarrierRules, AreNotInitialisedWhereOthersStillRead) {
  auto const with = [&](bool wait) {
    replay<kWarp, Tile>([=](auto block, auto& smem) {
      unsigned const t = block.thread_rank();
      store_shared(block, &smem.full, std::uint64_t(1), t == 0);
      block.sync();
      load_shared(block, &smem.full);
      if (wait) block.sync();
      if (t == 30) mbarrier(block, smem.full).init(1);  // the last to come
    });
  };
  with(false);
  expect(Check::race, "initialises the mbarrier shared full[0] (byte 0), read by thread ");
  with(true), expect_nothing();
}
TEST_F(MbarrierRules, PhasesEndBetweenBoxes) {
  CUtensorMap const map = map_of(in);
  auto const with = [&](unsigned bytes) {
    recorder.reads(in);
    replay<kWarp, Tile>([=](auto block, auto& smem) {
      auto& full = mbarrier(block, smem.full);
      if (block.thread_rank() != 0) return;
      full.init(1), block.fence_barrier_init();
      full.arrive_and_expect_tx(bytes);
      block.tma_load(map, full, smem.data, 0, 0, 0);
      full.wait(0);
    });
  };
  with(512), expect_nothing();
  with(512 - 16);
  expect(Check::misuse,
         "thread 0: its box of 512 bytes arrives where the mbarrier shared full[0] (byte 0) expects 496: the phase "
         "ends in "
         "the middle of the box");
  with(1 << 20),
      expect(Check::misuse, "expects 1048576 bytes at the mbarrier shared full[0] (byte 0), whose limit is 1048575");
}

// ---- barriers of threads
using BarrierRules = SmallKernels;

TEST_F(BarrierRules, WarpsCountAsTheHardwareCountsThem) {
  static constexpr LaunchInfo kForty{.threads = 40};
  replay<kForty>([](auto block, auto&) { block.sync(Int<1>{}, Int<64>{}); });  // two warps, one of 8 lanes
  expect_nothing();
  // Half of each warp is no warp, though 32 threads come.
  replay<kTwoWarps>([](auto block, auto&) {
    if (block.thread_rank() % 32 < 16)
      block.sync(Int<1>{}, Int<32>{});
    else
      block.sync(Int<2>{}, Int<64>{});
  });
  expect(Check::deadlock, "wait for barrier 1 of line ");
  // A warp of which some lanes have ended is whole.
  replay<kTwoWarps>([](auto block, auto&) {
    if (block.thread_rank() % 32 < 16) block.sync(Int<1>{}, Int<64>{});
  });
  expect_nothing();
  // A warp that has ended does not arrive at a barrier with a number of threads.
  replay<kTwoWarps>([](auto block, auto&) {
    if (block.thread_rank() < 32) block.sync(Int<1>{}, Int<64>{});
  });
  expect(Check::deadlock, "threads 0-31 wait for barrier 1 of line ");
}
TEST_F(BarrierRules, ThoseWhoHaveLeftHoldNobodyUp) {
  auto const with = [&](unsigned stays, bool reads_what_they_wrote) {
    recorder.reads(in), recorder.writes(out);
    replay<kTwoWarps, Tile>([=, this](auto block, auto& smem) {
      unsigned const t = block.thread_rank();
      store_shared(block, &smem.data[t], float(t));
      if (t < 64 - stays) return;
      block.sync();
      load_shared(block, &smem.data[reads_what_they_wrote ? t - 32 : t]);
      block.syncwarp();
    });
    recorder.forget_expectations(out);
  };
  with(8, false), expect_nothing();
  with(32, false), expect_nothing();
  with(32, true), expect(Check::race, "since the last barrier or wait");  // they were in no barrier
}
TEST_F(BarrierRules, RegistersFitTheFile) {
  static constexpr LaunchInfo kRing{.threads = 384, .min_blocks = 1};
  auto const with = [&](auto more, auto fewer) {
    replay<kRing>([=](auto block, auto&) {
      if (block.thread_rank() < 256)
        block.setmaxnreg_inc(more);
      else
        block.setmaxnreg_dec(fewer);
    });
  };
  with(Int<240>{}, Int<24>{}), expect_nothing();
  with(Int<224>{}, Int<56>{}), expect_nothing();
  with(Int<240>{}, Int<56>{});
  expect(Check::misuse,
         "its warpgroups request 240, 240, 56 registers per thread, 68608 in total; a block of 384 threads has 64512");
  replay<kRing>([](auto block, auto&) {  // the others keep theirs
    if (block.thread_rank() < 128) block.setmaxnreg_inc(Int<240>{});
  });
  expect(Check::misuse, "request 240, 168, 168 registers");
}

// ---- global memory
using GlobalRaces = SmallKernels;

TEST_F(GlobalRaces, ReadingTheNeighbourBeforeItIsWritten) {
  auto const with = [&](bool sync) {
    recorder.reads(both), recorder.writes(both);
    replay<LaunchInfo{.threads = 128}>([=, this](auto block, auto&) {
      unsigned const t = block.thread_rank();
      float const x = load(block, both + (t + 1) % 128);
      if (sync) block.sync();
      store(block, both + t, x);
    });
  };
  with(false);
  // Thread 0 reads both[1] before thread 1 writes it.
  expect(Check::race, "thread 1: writes both[1] (byte 4), read by thread 0 since the last barrier or wait");
  with(true), expect_nothing();
}
TEST_F(GlobalRaces, ReadingWhatAnotherBlockWrites) {
  auto const with = [&](int halo) {
    recorder.reads(both), recorder.writes(both);
    replay<kWarp>(
        [=, this](auto block, auto&) {
          unsigned const i = block.block_index() * 32 + block.thread_rank();
          float const x = load(block, both + i), y = load(block, both + (i + halo) % 128, halo != 0);
          block.sync();
          store(block, both + i, x + y);
        },
        4);
  };
  with(0), expect_nothing();
  with(32);
  expect(Check::race,
         "block 1, thread 0: writes both[32] (byte 128), read by block 0, which has released no flag since");
}
TEST_F(GlobalRaces, TheWorkspaceToo) {
  recorder.allocate_workspace(1024);
  auto* const w = static_cast<float*>(recorder.workspace());
  auto* const flag = reinterpret_cast<unsigned*>(w + 128);
  auto const fill = [&] {
    recorder.begin();
    replay<LaunchInfo{.threads = 128}>([=](auto block, auto&) {
      store(block, w + block.thread_rank(), 1.f), store(block, flag, 0u, block.thread_rank() == 0);
    });
  };
  auto const within = [&](bool sync) {
    fill();
    replay<kWarp>([=](auto block, auto&) {
      unsigned const t = block.thread_rank();
      float const x = load(block, w + (t + 1) % 32);
      if (sync) block.sync();
      store(block, w + t, x);
    });
  };
  within(true), expect_nothing();
  within(false), expect(Check::race, "thread 1: writes workspace[1] (byte 4), read by thread 0 since the last barrier");
  auto const between = [&](bool flags) {
    fill();
    replay<kWarp>(
        [=](auto block, auto&) {
          unsigned const t = block.thread_rank();
          if (block.block_index() == 0) {
            load(block, w + t);
            block.sync();
            if (t == 0 && flags) block.release(flag, 1);
          } else {
            if (t == 0 && flags) block.acquire(flag, 1);
            block.sync();
            store(block, w + t, 2.f);
          }
        },
        2);
  };
  between(true), expect_nothing();
  between(false),
      expect(Check::race, "writes workspace[0] (byte 0), read by block 0, which has released no flag since");
}

// Block 0 has TMA store a tile to the workspace and raises a flag, for which block 1 waits.
TEST_F(GlobalRaces, ATmaStoreHasWrittenWhenThatWasWaitedFor) {
  recorder.allocate_workspace(1024);
  auto* const w = static_cast<float*>(recorder.workspace());
  auto* const flag = reinterpret_cast<unsigned*>(w + 128);
  CUtensorMap const map = map_of(w);
  auto const with = [&](bool written) {
    recorder.begin();
    recorder.writes(out);
    replay<kWarp>([=](auto block, auto&) { store(block, flag, 0u, block.thread_rank() == 0); });
    replay<kWarp, Tile>(
        [=, this](auto block, auto& smem) {
          unsigned const t = block.thread_rank();
          for (unsigned i = t; i < 128; i += 32) {
            if (block.block_index() == 0) store_shared(block, &smem.data[i], float(i));
          }
          block.fence_proxy_async();
          block.sync();
          if (block.block_index() == 0 && t == 0) {
            block.tma_store(map, smem.data, 0, 0, 0);
            block.tma_store_commit();
            block.tma_store_wait_read(Int<0>{});  // the tile may be used again
            if (written) block.tma_store_wait(Int<0>{});
            block.release(flag, 1);
          } else if (block.block_index() == 1) {
            if (t == 0) block.acquire(flag, 1);
            block.sync();
            for (unsigned i = t; i < 128; i += 32) store(block, out + i, load(block, w + i));
          }
        },
        2);
  };
  with(true), expect_nothing();
  EXPECT_EQ(recorder.number(out + 100), 100);
  with(false);
  expect(Check::race, ", written by block 0, which has released no flag since");
}
// A thread stores to the workspace, and TMA fetches it: of this kernel, or of the one before. The fence is one of
// shared memory alone.
TEST_F(GlobalRaces, TmaReadsWhatAnEarlierKernelHasStored) {
  recorder.allocate_workspace(1024);
  auto* const w = static_cast<float*>(recorder.workspace());
  CUtensorMap const map = map_of(w);
  auto const with = [&](bool earlier, bool fence) {
    recorder.begin();
    auto const fill = [=](auto block) {
      for (unsigned i = block.thread_rank(); i < 128; i += 32) store(block, w + i, float(i));
    };
    if (earlier) replay<kWarp>([=](auto block, auto&) { fill(block); });
    replay<kWarp, Tile>([=](auto block, auto& smem) {
      unsigned const t = block.thread_rank();
      auto& full = mbarrier(block, smem.full);
      if (!earlier) fill(block);
      if (t == 0) full.init(1), block.fence_barrier_init();
      if (fence) block.fence_proxy_async();
      block.sync();
      if (t == 0) full.arrive_and_expect_tx(512), block.tma_load(map, full, smem.data, 0, 0, 0);
      full.wait(0);
    });
  };
  with(true, false), expect_nothing();
  std::string const unseen =
      "reads workspace[0] (byte 0), written by thread 0 in this kernel, which TMA may not see yet";
  with(false, false), expect(Check::race, unseen);
  with(false, true), expect(Check::race, unseen);
}

// ---- kernels that may begin early
using EarlyKernels = SmallKernels;

enum class Wait { nobody, late, one_thread, one_thread_and_barrier, all };
TEST_F(EarlyKernels, WaitBeforeTheyTouchMemory) {
  auto const with = [&](Wait wait) {
    recorder.reads(in), recorder.writes(out);
    replay<LaunchInfo{.threads = 128, .follows = true}>([=, this](auto block, auto&) {
      unsigned const t = block.thread_rank();
      bool const one = wait == Wait::one_thread || wait == Wait::one_thread_and_barrier;
      if (wait == Wait::all || (one && t == 0)) block.griddep_wait();
      if (wait == Wait::one_thread_and_barrier) block.sync();
      float const x = load(block, in + t);
      if (wait == Wait::late) block.griddep_wait();
      store(block, out + t, x);
    });
  };
  with(Wait::all), expect_nothing();
  with(Wait::one_thread_and_barrier), expect_nothing();
  with(Wait::late);
  expect(Check::race, "thread 0: reads in[0] (byte 0) before griddep_wait(): the previous kernel may still be running");
  with(Wait::one_thread), expect(Check::race, "thread 1: reads in[1] (byte 4) before griddep_wait()");
  with(Wait::nobody), expect(Check::race, "reads in[0] (byte 0) before griddep_wait()");
  // One block waits, the other ends without.
  recorder.reads(in), recorder.writes(out);
  replay<LaunchInfo{.threads = 32, .follows = true}>(
      [=, this](auto block, auto&) {
        if (block.block_index() == 1) return;
        block.griddep_wait();
        store(block, out + block.thread_rank(), load(block, in + block.thread_rank()));
      },
      2);
  expect(Check::race, "block 1: ends without griddep_wait()");
  // Who touches nothing must wait all the same, for the kernel that follows this one.
  replay<LaunchInfo{.threads = 32, .follows = true}>([](auto, auto&) {});
  expect(Check::race, "ends without griddep_wait(): the next kernel may begin before the previous one has ended");
}

}  // namespace
}  // namespace inlay::replay
