// Finding kernels by what a user types.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "problems/gemm_case.h"
#include "usage_error.h"

namespace inlay::lab {

// The one of `known` that `typed` names: exactly, or by a prefix that no other has. Throws UsageError with those that contain
// its parts, or else the nearest.
std::string resolve(std::string const& typed, std::vector<std::string> const& known);

// In the order of the registry: sorted.
template <class C>
std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (auto const& entry : C::kernels()) names.emplace_back(entry.info().name);
  return names;
}
// The names of all copy and GEMM kernels.
std::vector<std::string> all_kernel_names();

// Null where the name is no kernel of this kind, but a public function or a baseline.
template <class C>
Entry<typename C::Canonical> const* find_kernel(std::string_view name) {
  for (auto const& entry : C::kernels())
    if (name == entry.info().name) return &entry;
  return nullptr;
}
// Throws UsageError when there is none.
template <class C>
Entry<typename C::Canonical> const& kernel_named(std::string const& name) {
  if (auto const* entry = find_kernel<C>(name)) return *entry;
  throw UsageError("there is no kernel '" + name + "'");
}
// What the registry says of it; null where it says nothing.
template <class C>
Info<typename C::Canonical> const* info_of(std::string_view name) {
  auto const* const entry = find_kernel<C>(name);
  return entry ? &entry->info() : nullptr;
}

// Copies pack the rows of their case. A name that is no kernel is none of them.
inline bool is_copy(Info<Copy> const& info) { return info.ladder == planner::Ladder::copy; }
bool is_copy(std::string_view name);

// The rows of a table that were asked for: names, their beginnings, kProduction, or kAll; none: all.
class Selection {
 public:
  // Words for the rows of a table, beside names: what is in production and what that is held against, or all there are.
  static constexpr char const *kProduction = "production", *kAll = "all";

  // Throws UsageError for a name that is not among `known`.
  Selection(std::vector<std::string> const& typed, std::vector<std::string> const& known);
  bool has(std::string const& name, bool is_production) const;

 private:
  bool all_, production_ = false;
  std::vector<std::string> wanted_;
};

// Whether the kernel takes operands of the type in some transposes.
bool takes_type(Info<Gemm> const& info, DType type);
// The case at which a GEMM kernel is shown: in f32 or else bf16, at nn if the kernel takes that; the step that is about a B
// stored transposed is shown at nt.
GemmCase shown_case(Info<Gemm> const& info, std::int64_t M, std::int64_t N, std::int64_t K);

// `inlay list`
void list_kernels(bool json);

}  // namespace inlay::lab
