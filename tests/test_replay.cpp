// The rooms of the replay by themselves: fibers, guarded memory, ordering.
#include <gtest/gtest.h>

#include <utility>

#include "replay/fibers.h"
#include "replay/memory.h"
#include "replay/ordering.h"

namespace inlay::replay {
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

struct Told {
  std::vector<std::string> all;
  std::function<void(std::string const&)> tell = [this](std::string const& s) { all.push_back(s); };
};
constexpr auto kGeneric = Ordering::Proxy::generic, kAsync = Ordering::Proxy::async;

TEST(Ordering, ABarrierOrdersWriteAndRead) {
  Ordering o;
  Told told;
  o.reset(2, 64);
  o.write(0, 4, o.now(0), 0, kGeneric, told.tell);
  for (unsigned t : {0u, 1u}) o.barrier_arrive(t);
  for (unsigned t : {0u, 1u}) o.barrier_leave(t);
  o.read(0, 4, o.now(1), 1, kGeneric, told.tell);
  EXPECT_TRUE(told.all.empty());
  o.write(0, 4, o.now(0), 0, kGeneric, told.tell);
  ASSERT_EQ(told.all.size(), 1u);
  EXPECT_EQ(told.all[0], "read by thread 1 since the last barrier or wait");
}
TEST(Ordering, BytesThatDoNotMeetDoNotRace) {
  Ordering o;
  Told told;
  o.reset(2, 64);
  o.write(0, 1, o.now(0), 0, kGeneric, told.tell);
  o.write(1, 1, o.now(1), 1, kGeneric, told.tell);
  EXPECT_TRUE(told.all.empty());
  o.write(0, 2, o.now(1), 1, kGeneric, told.tell);
  EXPECT_EQ(told.all.size(), 1u);
}
TEST(Ordering, SharedMemoryThatNobodyWroteIsReported) {
  Ordering o;
  Told told;
  o.reset(1, 64);
  o.read(16, 16, o.now(0), 0, kGeneric, told.tell);
  ASSERT_EQ(told.all.size(), 1u);
  EXPECT_EQ(told.all[0], "which nobody has written");
}
TEST(Ordering, TheCopyEngineSeesFencedStoresAlone) {
  Ordering o;
  Told told;
  o.reset(2, 64);
  o.write(0, 16, o.now(0), 0, kGeneric, told.tell);
  auto const barrier = [&] {
    for (unsigned t : {0u, 1u}) o.barrier_arrive(t);
    for (unsigned t : {0u, 1u}) o.barrier_leave(t);
  };
  barrier();
  int const store = o.start("TMA store");
  o.read(0, 16, o.in_operation(1, store), 1, kAsync, told.tell);
  EXPECT_EQ(told.all.size(), 1u);
  o.fence_async(1);  // after the barrier, by the thread that issues the store: legal
  o.read(0, 16, o.in_operation(1, store), 1, kAsync, told.tell);
  EXPECT_EQ(told.all.size(), 1u);
}
TEST(Ordering, ReleaseAndAcquireOrderTwoThreads) {
  Ordering o;
  Told told;
  o.reset(2, 64);
  o.write(0, 4, o.now(0), 0, kGeneric, told.tell);
  Clock barrier;
  o.release(0, barrier);
  o.acquire(1, barrier);
  o.read(0, 4, o.now(1), 1, kGeneric, told.tell);
  EXPECT_TRUE(told.all.empty());
}

}  // namespace
}  // namespace inlay::replay
