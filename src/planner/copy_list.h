// Lists of copies: copies with the same modes and alignment share a launch.
#pragma once
#include <inlay/model/made_launches.h>
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

// The groups of dst[i](j) = src[i](j), in the order of their first copies; copies without elements are in none. Throws
// Error like make_copy(), with the index of the pair; for lists of different lengths; and if a destination overlaps
// another destination or any source.
std::vector<CopyGroup> group_copies(std::span<Tensor const> dst, std::span<ConstTensor const> src);

// The groups with equal modes as one group with any alignment each; others are not in the result. `parts`: for each,
// the indices of its groups.
std::vector<CopyGroup> merged_groups(std::span<CopyGroup const> groups, std::vector<std::vector<std::size_t>>& parts);

// Returns the plan of a copy with copy.pairs pairs. If no kernel takes the copy: null for several pairs, an exception
// for one.
using PlanFor = std::function<std::shared_ptr<Plan const>(Copy const&)>;
// Returns a plan for each group. If no kernel takes all pairs of a group in one launch, its plan is that of a single
// pair.
//
// Groups with equal modes can be replaced by one merged group (merged_groups) if a kernel takes pairs of any alignment.
// That happens if its predicted time is shorter than the sum of theirs, or always if `together` is set. The merged
// group is appended to `groups`, and the pairs of the groups that it replaces are cleared.
std::vector<std::shared_ptr<Plan const>> plan_groups(std::vector<CopyGroup>& groups, PlanFor const& plan_for,
                                                     bool together);

}  // namespace inlay::planner
