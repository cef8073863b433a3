// Finds kernels by the names that a user types.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "problems/gemm_case.h"
#include "usage_error.h"

namespace inlay::lab {

// "; did you mean 'x'?" if the nearest of the names is near: it differs in a third of what was typed at most. Else "".
std::string did_you_mean(std::string const& typed, std::vector<std::string> const& known);
// The known name that equals `typed` or that alone begins with it. Otherwise throws UsageError with the names that
// contain the parts of `typed`, or with the nearest name.
std::string resolve(std::string const& typed, std::vector<std::string> const& known);

// In the order of the registry, which is sorted.
template <class C>
std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (auto const& entry : C::kernels()) names.emplace_back(entry.info().name);
  return names;
}
// The names of all copy and GEMM kernels.
std::vector<std::string> all_kernel_names();

// Null if the name is no kernel of this kind: a public function or a baseline.
template <class C>
Entry<typename C::Canonical> const* find_kernel(std::string_view name) {
  for (auto const& entry : C::kernels())
    if (name == entry.info().name) return &entry;
  return nullptr;
}
// Throws UsageError if there is no such kernel.
template <class C>
Entry<typename C::Canonical> const& kernel_named(std::string const& name) {
  if (auto const* entry = find_kernel<C>(name)) return *entry;
  throw UsageError("there is no kernel '" + name + "'");
}
// The info of a kernel; null if the name is no kernel of this kind.
template <class C>
Info<typename C::Canonical> const* info_of(std::string_view name) {
  auto const* const entry = find_kernel<C>(name);
  return entry ? &entry->info() : nullptr;
}

// Whether a kernel belongs to the copy ladder: it packs the rows of its case. False for names of no kernel.
inline bool is_copy(Info<Copy> const& info) { return info.ladder == model::Ladder::copy; }
bool is_copy(std::string_view name);

// The selected rows of a table: by name, the beginning of a name, kProduction or kAll; without any, all rows.
class Selection {
 public:
  // kProduction selects the public functions, production kernels and baselines.
  static constexpr char const *kProduction = "production", *kAll = "all";

  // Throws UsageError for a name that is not among `known`.
  Selection(std::vector<std::string> const& typed, std::vector<std::string> const& known);
  bool has(std::string const& name, bool is_production) const;

 private:
  bool all_, production_ = false;
  std::vector<std::string> wanted_;
};

// `inlay list`
void list_kernels(bool json);

}  // namespace inlay::lab
