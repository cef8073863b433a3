#include <inlay/planner/copy_list.h>

#include <inlay/planner/plan_cache.h>
#include <inlay/problem/footprint.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <string>
#include <unordered_map>

namespace inlay::planner {
namespace {

// Whether the views differ in their addresses alone, which agree modulo kPlanAlignment.
template <class T>
bool alike(T const& a, T const& b) {
  return a.rank == b.rank && a.dtype == b.dtype && std::equal(a.extent, a.extent + a.rank, b.extent) &&
         std::equal(a.stride, a.stride + a.rank, b.stride) && b.data &&
         misalignment(a.data, kPlanAlignment) == misalignment(b.data, kPlanAlignment);
}

// A range of memory that a list reads or writes.
struct Range {
  std::uint64_t first, last;
  bool is_written;
  std::size_t pair;
  Footprint footprint;

  Range(ConstTensor const& t, bool is_written, std::size_t pair) : is_written(is_written), pair(pair), footprint(t) {
    first = footprint.first, last = footprint.last;
  }
  std::string name() const { return (is_written ? "destination " : "source ") + std::to_string(pair); }
};

// Views whose ranges meet are compared one by one: for many views that lie between each other, the time is quadratic.
void check_overlaps(std::vector<Range> const& ranges) {
  std::vector<Range const*> in_order;
  for (Range const& r : ranges) in_order.push_back(&r);
  std::ranges::sort(in_order, [](Range const* a, Range const* b) { return a->first < b->first; });
  for (std::size_t i = 0; i < in_order.size(); ++i)
    for (std::size_t j = i + 1; j < in_order.size() && in_order[j]->first < in_order[i]->last; ++j) {
      Range const &a = *in_order[i], &b = *in_order[j];
      if ((a.is_written || b.is_written) && overlap(a.footprint, b.footprint))
        throw Error("list of copies: " + a.name() + " and " + b.name() + " overlap in memory");
    }
}

Copy make_copy_of_list(Tensor const& dst, ConstTensor const& src, std::size_t pair) {
  try {
    return make_copy(dst, src);
  } catch (Error const& e) {
    throw Error("pair " + std::to_string(pair) + " of the list: " + e.what(), e.code());
  }
}

struct Hash {
  std::size_t operator()(PlanKey const& key) const { return key.hash(); }
};

}  // namespace

std::vector<CopyGroup> group_copies(std::span<Tensor const> dst, std::span<ConstTensor const> src) {
  if (dst.size() != src.size())
    throw Error("the list has " + std::to_string(dst.size()) + " destinations and " + std::to_string(src.size()) +
                " sources");
  std::vector<CopyGroup> groups;
  std::unordered_map<PlanKey, std::size_t, Hash> group_of;
  std::vector<Range> ranges;
  ranges.reserve(2 * dst.size());
  std::size_t group = 0;
  for (std::size_t i = 0; i < dst.size(); ++i) {
    if (groups.empty() || !alike(dst[i - 1], dst[i]) || !alike(src[i - 1], src[i]) || ranges.empty() ||
        ranges.back().pair + 1 != i) {
      Copy const copy = make_copy_of_list(dst[i], src[i], i);
      if (copy.elements() == 0) continue;
      PlanKey const key(copy, Device{});
      group = groups.size();
      if (key) group = group_of.try_emplace(key, group).first->second;
      if (group == groups.size()) groups.push_back({copy, {}});
    }
    Copy& copy = groups[group].copy;
    groups[group].pairs.push_back(
        {static_cast<char*>(dst[i].data) + copy.dst_shift, static_cast<char const*>(src[i].data) + copy.src_shift});
    copy.pairs = std::int64_t(groups[group].pairs.size());
    ranges.emplace_back(dst[i], true, i), ranges.emplace_back(src[i], false, i);
  }
  check_overlaps(ranges);
  return groups;
}

std::vector<CopyGroup> merged_groups(std::span<CopyGroup const> groups, std::vector<std::vector<std::size_t>>& parts) {
  std::unordered_map<PlanKey, std::size_t, Hash> merged_of;
  std::vector<CopyGroup> merged;
  parts.clear();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Copy modes = groups[i].copy.between(nullptr, nullptr);
    modes.pairs = 1, modes.src_shift = modes.dst_shift = 0;
    PlanKey const key(modes, Device{});
    if (!key) continue;
    std::size_t const at = merged_of.try_emplace(key, merged.size()).first->second;
    if (at == merged.size()) merged.push_back({groups[i].copy, {}}), parts.emplace_back();
    CopyGroup& group = merged[at];
    group.pairs.insert(group.pairs.end(), groups[i].pairs.begin(), groups[i].pairs.end());
    group.copy.pairs = std::int64_t(group.pairs.size()), group.copy.any_alignment = true;
    parts[at].push_back(i);
  }
  for (std::size_t k = merged.size(); k-- > 0;)
    if (parts[k].size() < 2) {
      merged.erase(merged.begin() + std::ptrdiff_t(k));
      parts.erase(parts.begin() + std::ptrdiff_t(k));
    }
  return merged;
}

std::vector<std::shared_ptr<Plan const>> plan_groups(std::vector<CopyGroup>& groups, PlanFor const& plan_for,
                                                     bool together) {
  std::vector<std::shared_ptr<Plan const>> plans;
  for (CopyGroup const& group : groups) {
    std::shared_ptr<Plan const> plan = plan_for(group.copy);
    if (!plan) {
      Copy one = group.copy;
      one.pairs = 1;
      plan = plan_for(one);
    }
    plans.push_back(std::move(plan));
  }
  if (groups.size() < 2) return plans;
  std::vector<std::vector<std::size_t>> parts;
  std::vector<CopyGroup> merged = merged_groups(groups, parts);
  for (std::size_t k = 0; k < merged.size(); ++k) {
    double apart = 0;
    for (std::size_t i : parts[k])
      apart += plans[i]->seconds * (is_list(*plans[i]) ? 1 : double(groups[i].pairs.size()));
    std::shared_ptr<Plan const> plan = plan_for(merged[k].copy);
    if (!plan || !(together || plan->seconds < apart)) continue;
    for (std::size_t i : parts[k]) groups[i].pairs.clear();
    groups.push_back(std::move(merged[k])), plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace inlay::planner
