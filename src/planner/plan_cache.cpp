#include <inlay/planner/plan_cache.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace inlay::planner {

PlanKey::PlanKey(Copy const& copy, Device const& device) {
  if (3 * copy.rank + 7 > kMaxWords) return;
  add(0), add(device.id), add(copy.elem_bytes), add(2 * copy.pairs + copy.any_alignment);
  add(misalignment(copy.src, kPlanAlignment) * kPlanAlignment + misalignment(copy.dst, kPlanAlignment));
  add(copy.src_shift), add(copy.dst_shift);  // the slots of a plan have them
  for (int k = 0; k < copy.rank; ++k)
    add(copy.mode[k].extent), add(copy.mode[k].src_stride), add(copy.mode[k].dst_stride);
}
PlanKey::PlanKey(Gemm const& gemm, Device const& device, WorkspaceLimit limit) {
  add(1), add(device.id), add(std::int64_t(limit.bytes)), add(int(gemm.compute)), add(gemm.exchanged);
  add(std::bit_cast<std::int32_t>(gemm.epilogue.alpha)), add(std::bit_cast<std::int32_t>(gemm.epilogue.beta));
  add(int(gemm.epilogue.activation) + (gemm.C.base ? 256 : 0) + (gemm.A.packed ? 512 : 0) + (gemm.B.packed ? 1024 : 0));
  add(gemm.groups * kPlanAlignment + misalignment(gemm.group_ends, kPlanAlignment));
  for (Operand const* o : {&gemm.A, &gemm.B, &gemm.D, &gemm.C}) {
    add(misalignment(o->base, kPlanAlignment)), add(int(o->type));
    add(o->rows), add(o->cols), add(o->matrices);
    add(o->row_stride), add(o->col_stride), add(o->batch_stride);
  }
}
std::uint64_t PlanKey::hash() const {
  std::uint64_t h = std::uint64_t(words_);
  for (int i = 0; i < words_; ++i) h = (h ^ std::uint64_t(word_[std::size_t(i)])) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
  return h;
}
bool PlanKey::operator==(PlanKey const& other) const {
  return words_ == other.words_ && std::equal(word_.begin(), word_.begin() + words_, other.word_.begin());
}

std::shared_ptr<Plan const> PlanCache::find(PlanKey const& key) const {
  if (!key) return {};
  Set& set = sets_[key.hash() % kSets];
  std::lock_guard lock(mutex_);
  std::size_t const at = set.find(key);
  if (at == kWays) return nullptr;
  set.last_used = at;
  return set.way[at].plan;
}
void PlanCache::clear() {
  std::vector<std::shared_ptr<Plan const>> old(kSets * kWays);  // released after the lock
  std::lock_guard lock(mutex_);
  ++generation_;
  for (std::size_t i = 0; i < old.size(); ++i) {
    Entry& entry = sets_[i / kWays].way[i % kWays];
    entry.key = {}, entry.plan.swap(old[i]);
  }
}
std::uint64_t PlanCache::generation() const {
  std::lock_guard lock(mutex_);
  return generation_;
}
void PlanCache::keep(PlanKey const& key, std::shared_ptr<Plan const> plan, std::uint64_t generation) {
  if (!key) return;
  Set& set = sets_[key.hash() % kSets];
  std::lock_guard lock(mutex_);
  if (generation != generation_) return;
  std::size_t const at = set.find(key);
  set.last_used = at < kWays ? at : 1 - set.last_used;
  Entry& entry = set.way[set.last_used];
  entry.key = key;
  entry.plan.swap(plan);  // the old plan is released after the lock
}

}  // namespace inlay::planner
