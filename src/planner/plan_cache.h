// The plans of recent copies and GEMMs, so that a repeated call only launches.
#pragma once
#include <inlay/planner/plan.h>

#include <array>
#include <memory>
#include <mutex>

namespace inlay::planner {

// What a plan depends on: the problem with its addresses modulo kPlanAlignment, the device, and how much workspace
// there is.
class PlanKey {
 public:
  PlanKey() = default;
  PlanKey(Copy const& copy, Device const& device);
  PlanKey(Gemm const& gemm, Device const& device, WorkspaceLimit limit);

  explicit operator bool() const { return words_ > 0; }  // false: a problem with too many modes for a key
  std::uint64_t hash() const;
  std::span<std::int64_t const> words() const { return {word_.data(), std::size_t(words_)}; }
  bool operator==(PlanKey const& other) const;

 private:
  void add(std::int64_t word) { word_[std::size_t(words_++)] = word; }

  static constexpr int kMaxWords = 44;
  int words_ = 0;
  std::array<std::int64_t, kMaxWords> word_;  // the first words_ of them
};

// Thread-safe. Holds up to kSets * kWays plans: of those whose keys share a set, the two that were used last.
class PlanCache {
 public:
  std::shared_ptr<Plan const> find(PlanKey const& key) const;  // null: it is not here
  // generation: what generation() returned before the plan was made. A plan that was made before a clear() is not kept.
  void keep(PlanKey const& key, std::shared_ptr<Plan const> plan, std::uint64_t generation);
  void clear();
  std::uint64_t generation() const;

 private:
  static constexpr std::size_t kSets = 256, kWays = 2;
  struct Entry {
    PlanKey key;
    std::shared_ptr<Plan const> plan;
  };
  struct Set {
    std::array<Entry, kWays> way;
    std::size_t last_used = 0;
    // The way with this key; kWays: none has it.
    std::size_t find(PlanKey const& key) const { return way[0].key == key ? 0 : way[1].key == key ? 1 : kWays; }
  };
  mutable std::mutex mutex_;
  std::uint64_t generation_ = 0;
  mutable std::array<Set, kSets> sets_;
};

}  // namespace inlay::planner
