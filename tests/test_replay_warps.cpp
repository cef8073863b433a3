// Shuffles, votes and atomic operations: what they give, how they are counted, and what is said of their misuse.
#include <cstdint>

#include "small_kernels.h"

namespace inlay::replay {
namespace {

using Warps = SmallKernels;

TEST_F(Warps, ShufflesGiveWhatOtherLanesHave) {
  recorder.writes(out), recorder.writes(in), recorder.writes(both);
  replay<kTwoWarps>([this](auto block, auto&) {
    int const t = int(block.thread_rank());
    store(block, out + t, block.shfl(float(t), 5));
    store(block, out + 64 + t, block.shfl_up(float(t), 3));
    store(block, in + t, block.shfl_down(float(t), 3));
    store(block, in + 64 + t, float(block.shfl_xor(double(t), 9)));
    store(block, both + t, float(block.shfl(std::uint64_t(t) << 40, t + 1) >> 40));
    store(block, both + 64 + t, float(block.shfl_xor(t, 16)));
  });
  expect_nothing();
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(recorder.number(out + t), t / 32 * 32 + 5);
    EXPECT_EQ(recorder.number(out + 64 + t), t % 32 < 3 ? t : t - 3);
    EXPECT_EQ(recorder.number(in + t), t % 32 > 28 ? t : t + 3);
    EXPECT_EQ(recorder.number(in + 64 + t), t ^ 9);
    EXPECT_EQ(recorder.number(both + t), t / 32 * 32 + (t + 1) % 32);
    EXPECT_EQ(recorder.number(both + 64 + t), t ^ 16);
  }
  EXPECT_EQ(recorder.shuffles, 2 * 6);
  EXPECT_EQ(recorder.votes, 0);
}
TEST_F(Warps, VotesAreOfTheWholeWarp) {
  recorder.writes(out);
  replay<kTwoWarps>([this](auto block, auto&) {
    unsigned const t = block.thread_rank();
    store(block, out + t, float(block.ballot(t % 4 == 1) == 0x22222222u));
    store(block, out + 64 + t, float(block.any(t == 40) * 4 + block.all(t < 32) * 2 + block.all(t != 3)));
  });
  expect_nothing();
  for (int t = 0; t < 64; ++t) {
    EXPECT_EQ(recorder.number(out + t), 1);
    EXPECT_EQ(recorder.number(out + 64 + t), t < 32 ? 2 : 5);
  }
  EXPECT_EQ(recorder.votes, 2 * 4);
}
TEST_F(Warps, ALaneThatIsNotThereHasNothing) {
  static constexpr LaunchInfo kForty{.threads = 40};
  replay<kForty>([](auto block, auto&) { block.shfl_down(1, 16); });
  expect(Check::misuse, "thread 32: reads by shfl_down of line ");
  replay<kForty>([](auto block, auto&) { block.shfl_xor(1, 4), block.any(true); });
  expect_nothing();
  replay<kWarp>([](auto block, auto&) {
    if (block.thread_rank() < 8) return;
    block.shfl(1, 8 + int(block.thread_rank()) % 2);
  });
  expect_nothing();
}
TEST_F(Warps, LanesMeetAtOnePlace) {
  replay<kWarp>([](auto block, auto&) {
    if (block.thread_rank() == 7)
      block.any(true);
    else
      block.shfl(1, 0);
  });
  expect(Check::divergence, "thread 7: is at any of line ");
  replay<kWarp>([](auto block, auto&) {
    if (block.thread_rank() == 7)
      block.sync();
    else
      block.shfl(1, 0);
  });
  expect(Check::deadlock, "threads 0-6,8-31 wait for shfl of line ");
}
TEST_F(Warps, NeitherOrdersMemory) {
  replay<kWarp, Tile>([](auto block, auto& smem) {
    unsigned const t = block.thread_rank();
    store_shared(block, &smem.data[t], 1.f);
    block.any(true), block.shfl(1, 0);
    load_shared(block, &smem.data[t ^ 1]);
  });
  expect(Check::race, "written by thread ");
}

// ---- atomic operations
using Atomics = SmallKernels;

struct Bins {
  int count[8];
  float sum;
  static void members(auto name) { name("count", &Bins::count), name("sum", &Bins::sum); }
};

TEST_F(Atomics, AHistogramInSharedMemory) {
  auto const with = [&](bool sync_before, bool sync_after) {
    recorder.forget_expectations(out), recorder.must_write(out, 32);
    replay<kTwoWarps, Bins>([=, this](auto block, auto& smem) {
      unsigned const t = block.thread_rank();
      store_shared(block, &smem.count[t % 8], 0, t < 8);
      if (sync_before) block.sync();
      block.atomic_add(&smem.count[t % 3], 1);
      block.atomic_max(&smem.count[7], int(t), t % 2 == 0);
      if (sync_after) block.sync();
      store(block, out + t, float(load_shared(block, &smem.count[t % 8], t < 8)), t < 8);
    });
  };
  with(true, true), expect_nothing();
  EXPECT_EQ(recorder.number(out), 22);
  EXPECT_EQ(recorder.number(out + 2), 21);
  EXPECT_EQ(recorder.number(out + 7), 62);
  with(false, true), expect(Check::race, "changes shared count[");
  with(true, false), expect(Check::race, ", changed atomically by thread ");
}
TEST_F(Atomics, AreCountedAsRequests) {
  recorder.reads(both), recorder.writes(both);
  replay<kTwoWarps>([this](auto block, auto&) {
    int const t = int(block.thread_rank());
    block.atomic_add(both + t, 1.f, t != 5);
    block.atomic_exchange(both + 64 + t, 2.f);
  });
  ASSERT_EQ(recorder.sites.size(), 1u);
  EXPECT_EQ(recorder.sites[0].mechanism, Mechanism::atomic);
  EXPECT_TRUE(recorder.sites[0].store);
  EXPECT_EQ(recorder.sites[0].traffic, (Traffic{4, 16}));
  expect_nothing();
}
TEST_F(Atomics, ChangeWhatWasSetBefore) {
  auto const add = [&](std::int64_t grid) {
    replay<kWarp>([=, this](auto block, auto&) { block.atomic_add(both + block.thread_rank(), 1.f); }, grid);
  };
  auto const zero = [&] {
    replay<kWarp>([=, this](auto block, auto&) { store(block, both + block.thread_rank(), 0.f); });
  };
  recorder.forget_expectations(both), recorder.must_write(both, 128);
  add(1), expect(Check::bounds, "changes both[0] (byte 0) atomically, which has no value");
  zero(), add(3), add(2), expect_nothing();
  EXPECT_EQ(recorder.number(both + 31), 5);
  recorder.forget_expectations(both), recorder.may_read(both, 128), recorder.must_write(both, 128);
  add(4), expect_nothing();
  EXPECT_EQ(recorder.number(both + 31), 9);
  // One block puts zeros where others may have begun to add.
  recorder.forget_expectations(both), recorder.must_write(both, 128);
  replay<kWarp>(
      [=, this](auto block, auto&) {
        store(block, both + block.thread_rank(), 0.f, block.block_index() == 0);
        block.sync();
        block.atomic_add(both + block.thread_rank(), 1.f);
      },
      2);
  expect(Check::race, "changes both[0] (byte 0) atomically, which a store of this kernel has written");
  recorder.forget_expectations(both);
  add(1), expect(Check::bounds, "changes both[0] (byte 0) atomically, which is no element of the destination");
}
TEST_F(Atomics, RaceWithWhatIsNotAtomic) {
  recorder.reads(both), recorder.writes(both);
  replay<kTwoWarps>([this](auto block, auto&) {
    unsigned const t = block.thread_rank();
    load(block, both, t == 40);
    block.syncwarp();
    block.atomic_add(both, 1.f, t == 41);  // of the same warp
    block.atomic_add(both + 1, 1.f, t == 3);
    load(block, both + 2, t == 2);
    block.atomic_add(both + 2, 1.f, t == 50);
  });
  expect(Check::race, "thread 50: changes both[2] (byte 8), read by thread 2 since the last barrier or wait");
}
TEST_F(Atomics, InTheWorkspaceAreOrderedByKernels) {
  recorder.allocate_workspace(256);
  auto* const w = static_cast<unsigned*>(recorder.workspace());
  recorder.begin();
  auto const count = [&](bool read) {
    replay<kWarp>(
        [=](auto block, auto&) {
          block.atomic_add(w, 1u);
          load(block, w, read);
        },
        2);
  };
  count(false), expect(Check::race, "changes workspace[0] (byte 0), which nobody has written");
  recorder.begin();
  replay<kWarp>([=](auto block, auto&) { store(block, w, 0u, block.thread_rank() == 0); });
  count(false), expect_nothing();
  recorder.forget_expectations(out), recorder.must_write(out, 4);
  replay<kWarp>([=, this](auto block, auto&) {
    store(block, out, float(load(block, w, block.thread_rank() == 0)), block.thread_rank() == 0);
  });
  expect_nothing();
  EXPECT_EQ(recorder.number(out), 64);
  count(true), expect(Check::race, "reads workspace[0] (byte 0), changed atomically by ");
}
TEST_F(Atomics, OfTwoKindsDependOnTheirOrder) {
  auto const with = [&](auto change) {
    replay<kWarp, Bins>([=](auto block, auto& smem) {
      unsigned const t = block.thread_rank();
      store_shared(block, &smem.count[0], 0, t == 0);
      block.sync();
      change(block, &smem.count[0], t);
    });
  };
  with([](auto block, int* p, unsigned t) { block.atomic_max(p, int(t)), block.atomic_cas(p + 0, -1, 0, t > 40); });
  expect_nothing();
  with([](auto block, int* p, unsigned t) { block.atomic_min(p, int(t), t == 4), block.atomic_add(p, 1, t == 5); });
  expect(Check::race, "thread 5: changes shared count[0] (byte 0), changed atomically by thread 4");
  with([](auto block, int* p, unsigned t) { block.atomic_exchange(p, int(t), t < 2); });
  expect(Check::race, "thread 1: changes shared count[0] (byte 0), changed atomically by thread 0");
}
TEST_F(Atomics, ReturnWhatWasThere) {
  recorder.forget_expectations(out), recorder.must_write(out, 12);
  replay<kWarp, Bins>([=, this](auto block, auto& smem) {
    if (block.thread_rank() != 0) return;
    store_shared(block, &smem.count[0], 3);
    store(block, out, float(block.atomic_fetch_add(&smem.count[0], 4)));
    store(block, out + 1, float(block.atomic_cas(&smem.count[0], 7, 1)));
    block.atomic_cas(&smem.count[0], 7, 2);
    store(block, out + 2, float(block.atomic_exchange(&smem.count[0], 9)));
  });
  expect_nothing();
  EXPECT_EQ(recorder.number(out), 3);
  EXPECT_EQ(recorder.number(out + 1), 7);
  EXPECT_EQ(recorder.number(out + 2), 1);
}
TEST_F(Atomics, SumsThatAreRoundedDependOnTheirOrder) {
  auto const with = [&](float x, float start, unsigned threads) {
    replay<kWarp, Bins>([=](auto block, auto& smem) {
      unsigned const t = block.thread_rank();
      store_shared(block, &smem.sum, start, t == 0);
      block.sync();
      block.atomic_add(&smem.sum, t % 2 ? x : -x, t < threads);
    });
  };
  std::string const rounded = "atomically, where sums are rounded: they depend on the order of the threads";
  with(3, 1, 32), expect_nothing();
  with(0.375, 1, 32), expect_nothing();
  with(0.1f, 0, 32), expect(Check::result, rounded);
  with(1, 16777216, 32), expect(Check::result, "adds to shared sum[0] (byte 0) " + rounded);
  with(0.1f, 7, 1), expect_nothing();  // one thread has one order
  with(std::numeric_limits<float>::quiet_NaN(), 0, 2), expect(Check::result, rounded);
}

}  // namespace
}  // namespace inlay::replay
