// The tuned choices of this process, keyed by problem and GPU; and their file.
#pragma once
#include <inlay/planner/plan_cache.h>
#include <inlay/planner/tuning.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace inlay::planner {

// A problem as the lines of a file name it: the words of its PlanKey, for the first device of the GPU's name. What the
// key says of modes that were reversed is left out: the choice does not depend on it.
struct TuningKey {
  std::string gpu;
  std::vector<std::int64_t> problem;
  auto operator<=>(TuningKey const&) const = default;

  TuningKey() = default;
  TuningKey(Copy copy, Device device, bool);
  TuningKey(Gemm const& gemm, Device device, bool with_workspace);
};

// Thread-safe.
class TuningTable {
 public:
  bool is_empty() const { return empty_.load(std::memory_order_acquire); }
  std::optional<Choice> find(TuningKey const& key) const;
  void add(TuningKey const& key, Choice const& choice);
  void clear();
  void save(std::string const& path) const;
  std::size_t load(std::string const& path);

 private:
  mutable std::mutex mutex_;
  std::map<TuningKey, Choice> choices_;
  std::atomic<bool> empty_ = true;
};

}  // namespace inlay::planner
