// Lists of copies: copies with the same modes and alignment share a launch.
#pragma once
#include <inlay/planner/made_launches.h>
#include <inlay/planner/plan.h>
#include <inlay/problem/copy.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace inlay::planner {

struct CopyGroup {
  Copy copy;                // of the first pair; copy.pairs of them
  std::vector<Pair> pairs;  // where the canonical modes begin
};

// The groups of dst[i](j) = src[i](j), in the order of their first copies; copies without elements are in none. Throws Error like
// make_copy(), with the index of the pair; for lists of different lengths; and if a destination overlaps another destination
// or any source.
std::vector<CopyGroup> group_copies(std::span<Tensor const> dst, std::span<ConstTensor const> src);

// The groups with equal modes as one group with any alignment each; others are not in the result. `parts`: for each, the indices of
// its groups.
std::vector<CopyGroup> merged_groups(std::span<CopyGroup const> groups, std::vector<std::vector<std::size_t>>& parts);

// Plans the groups. Those of one layout become one, where a kernel takes any alignment and that is predicted to be faster or `together`:
// it comes last, and the others lose their pairs. `plan_for`: the plan of a copy, which may have several pairs; null if no kernel takes
// them, and then each has the plan of one pair, for which it throws instead.
using PlanFor = std::function<std::shared_ptr<Plan const>(Copy const&)>;
std::vector<std::shared_ptr<Plan const>> plan_groups(std::vector<CopyGroup>& groups, PlanFor const& plan_for,
                                                     bool together);

}  // namespace inlay::planner
