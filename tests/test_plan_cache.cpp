// Symbolic addresses, and the cache of plans.
#include <gtest/gtest.h>

#include <inlay/planner/plan_cache.h>
#include <set>
#include <thread>
#include <vector>

namespace inlay::planner {
namespace {

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

TEST(Symbolic, AddressesAreReplacedInEachRegion) {
  BaseAddresses const places(at(0x1000007), at(0x2000010), at(0x3000020));
  for (int region = 0; region < 3; ++region) {
    auto* const address = static_cast<char*>(at(0x1000000 * (region + 1) + 7 + 9 * (region > 0) + 16 * (region > 1)));
    auto* const named = static_cast<char*>(symbolic(region, address));
    EXPECT_EQ(std::uintptr_t(named) % kPlanAlignment, std::uintptr_t(address) % kPlanAlignment);
    for (std::int64_t offset : {std::int64_t(0), std::int64_t(1) << 45, -(std::int64_t(1) << 45)})
      EXPECT_EQ(places(named + offset), address + offset) << region << " " << offset;
  }
  EXPECT_EQ(places(at(0)), at(0));
  EXPECT_EQ(places(at(0x7fffffffffff)), at(0x7fffffffffff));  // not symbolic
}
TEST(Symbolic, ProblemsKeepTheirAlignment) {
  Tensor const dst = tensor(at(0x10003), b8, {7, 5});
  ConstTensor const src = tensor(at(0x20011), b8, {7, 5}, {1, 9});
  Copy const copy = make_copy(dst, src), named = symbolic(copy);
  EXPECT_EQ(PlanKey(copy, Device{}), PlanKey(named, Device{}));
  EXPECT_EQ(base_addresses_of(copy)(named.src), copy.src);
  EXPECT_EQ(base_addresses_of(copy)(named.dst), copy.dst);
}

Gemm gemm(std::int64_t n, float alpha = 1) {
  return make_gemm(matrix(at(0x10000), f32, n, n), matrix(at(0x20000), f32, n, n), matrix(at(0x30000), f32, n, n),
                   {alpha, 0}, Compute::fp32);
}
Copy copy(std::uintptr_t dst, std::uintptr_t src, std::int64_t n = 64, DType type = b32) {
  return make_copy(tensor(at(dst), type, {n, 3}), tensor(at(src), type, {n, 3}, {1, 2 * n}));
}

// All keys differ. Views that are flipped have the modes of others, but begin elsewhere.
TEST(PlanCache, KeysTellProblemsApart) {
  Device other;
  other.id = 1;
  std::vector<PlanKey> keys{{copy(0x1000, 0x2000), Device{}},
                            {copy(0x1004, 0x2000), Device{}},
                            {copy(0x1000, 0x2004), Device{}},
                            {copy(0x1000, 0x2000, 65), Device{}},
                            {copy(0x1000, 0x2000, 64, b64), Device{}},
                            {copy(0x1000, 0x2000), other},
                            {gemm(64), Device{}, false},
                            {gemm(64), Device{}, true},
                            {gemm(64), Device{}, WorkspaceLimit(256)},
                            {gemm(64), Device{}, WorkspaceLimit(512)},
                            {gemm(65), Device{}, false},
                            {gemm(64, 2), Device{}, false},
                            {gemm(64), other, false}};
  // The same modes: dst(i) = src(i), flipped on both sides, and on one side or the other.
  void *const to = at(0x100000), *const from = at(0x200000), *const to_end = at(0x100000 + 99 * 32),
              *const from_end = at(0x200000 + 99 * 32);
  keys.push_back(
      {make_copy(tensor(to, b32, {100}, {8}), tensor(static_cast<void const*>(from), b32, {100}, {8})), Device{}});
  keys.push_back(
      {make_copy(tensor(to_end, b32, {100}, {-8}), tensor(static_cast<void const*>(from_end), b32, {100}, {-8})),
       Device{}});
  keys.push_back(
      {make_copy(tensor(to_end, b32, {100}, {-8}), tensor(static_cast<void const*>(from), b32, {100}, {8})), Device{}});
  keys.push_back(
      {make_copy(tensor(to, b32, {100}, {8}), tensor(static_cast<void const*>(from_end), b32, {100}, {-8})), Device{}});
  Copy list = copy(0x1000, 0x2000);
  for (int pairs : {2, 3})
    for (bool any_alignment : {false, true})
      list.pairs = pairs, list.any_alignment = any_alignment, keys.push_back({list, Device{}});
  Gemm changed = gemm(64);
  changed.compute = Compute::fp32_blocked, keys.push_back({changed, Device{}, false});
  changed = gemm(64), changed.epilogue.beta = 1, keys.push_back({changed, Device{}, false});
  changed = gemm(64), changed.exchanged = true, keys.push_back({changed, Device{}, false});
  for (Operand Gemm::*const operand : {&Gemm::A, &Gemm::B, &Gemm::D}) {
    changed = gemm(64), (changed.*operand).base = at(0x10004), keys.push_back({changed, Device{}, false});
    changed = gemm(64), (changed.*operand).row_stride += 4, keys.push_back({changed, Device{}, false});
    changed = gemm(64), (changed.*operand).col_stride += 4, keys.push_back({changed, Device{}, false});
    changed = gemm(64), (changed.*operand).batch_stride += 4, keys.push_back({changed, Device{}, false});
    changed = gemm(64), (changed.*operand).rows = 65, keys.push_back({changed, Device{}, false});
    changed = gemm(64), (changed.*operand).cols = 65, keys.push_back({changed, Device{}, false});
    changed = gemm(64), (changed.*operand).matrices = 2, keys.push_back({changed, Device{}, false});
    changed = gemm(64), (changed.*operand).type = bf16, keys.push_back({changed, Device{}, false});
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < keys.size(); ++j) EXPECT_EQ(keys[i] == keys[j], i == j) << i << " " << j;
}
// Addresses that agree modulo 32 bytes share a plan.
TEST(PlanCache, KeysForgetWholeSectors) {
  EXPECT_EQ(PlanKey(copy(0x1004, 0x2000), Device{}), PlanKey(copy(0x1024, 0x2fe0), Device{}));
}
TEST(PlanCache, HoldsWhatItWasGiven) {
  PlanCache cache;
  PlanKey const key(copy(0x1000, 0x2000), Device{});
  EXPECT_EQ(cache.find(key), nullptr);
  auto const plan = std::make_shared<Plan const>();
  cache.keep(key, plan, cache.generation());
  EXPECT_EQ(cache.find(key), plan);
  EXPECT_EQ(cache.find(PlanKey(copy(0x1004, 0x2000), Device{})), nullptr);
  EXPECT_EQ(cache.find(PlanKey{}), nullptr);
  std::uint64_t const before = cache.generation();
  cache.clear();
  EXPECT_EQ(cache.find(key), nullptr);
  cache.keep(key, plan, before);  // made before the cache was cleared
  EXPECT_EQ(cache.find(key), nullptr);
}
// Two problems that share a set are both kept; a third replaces the one that was used longer ago.
TEST(PlanCache, KeepsTheTwoOfASetThatWereUsedLast) {
  std::vector<PlanKey> keys;  // of the first one's set
  for (std::int64_t n = 2; keys.size() < 3; ++n)
    if (PlanKey const key(copy(0x100000, 0x200000, n), Device{});
        keys.empty() || key.hash() % 256 == keys[0].hash() % 256)
      keys.push_back(key);
  PlanCache cache;
  std::vector<std::shared_ptr<Plan const>> plans;
  for (PlanKey const& key : keys) {
    plans.push_back(std::make_shared<Plan const>());
    if (plans.size() < 3) cache.keep(key, plans.back(), cache.generation());
  }
  for (int i : {0, 1, 1, 0}) EXPECT_EQ(cache.find(keys[std::size_t(i)]), plans[std::size_t(i)]);
  cache.keep(keys[2], plans[2], cache.generation());
  EXPECT_EQ(cache.find(keys[0]), plans[0]);
  EXPECT_EQ(cache.find(keys[1]), nullptr);
  EXPECT_EQ(cache.find(keys[2]), plans[2]);
  cache.keep(keys[2], plans[1], cache.generation());  // takes its own place
  EXPECT_EQ(cache.find(keys[2]), plans[1]);
  EXPECT_EQ(cache.find(keys[0]), plans[0]);
}
// Thousands of plans in a cache of hundreds: what is found belongs to its key, and no more plans live than fit.
TEST(PlanCache, IsBoundedAndThreadSafe) {
  PlanCache cache;
  std::vector<std::thread> threads;
  std::vector<std::weak_ptr<Plan const>> made[4];
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&cache, t, &mine = made[t]] {
      for (int i = 0; i < 3000; ++i) {
        std::int64_t const n = 2 + i * 7 % 1500;
        PlanKey const key(copy(0x100000, 0x200000, n), Device{});
        if (auto const found = cache.find(key)) {
          EXPECT_EQ(found->seconds, double(n)) << t;
          continue;
        }
        Plan plan;
        plan.seconds = double(n);
        auto const shared = std::make_shared<Plan const>(plan);
        mine.push_back(shared);
        cache.keep(key, shared, cache.generation());
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::set<Plan const*> alive;
  for (auto const& of_thread : made)
    for (auto const& plan : of_thread)
      if (auto const p = plan.lock()) alive.insert(p.get());
  EXPECT_GT(alive.size(), 100u);
  EXPECT_LE(alive.size(), 512u);
}

}  // namespace
}  // namespace inlay::planner
