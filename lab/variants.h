// Finding variants by what a user types.
#pragma once
#include <inlay/registry/registry.h>

#include <string>
#include <string_view>
#include <vector>

#include "rooms.h"

namespace inlay::lab {

// All variants of a problem, sorted by name.
template <class P>
std::span<Entry<P> const> variants();
template <>
inline std::span<Entry<Move> const> variants() {
  return move_variants();
}
template <>
inline std::span<Entry<Gemm> const> variants() {
  return gemm_variants();
}

// The one of `known` that `typed` names: exactly, or by a prefix that no other has. Throws UsageError with the nearest.
std::string resolve(std::string const& typed, std::vector<std::string> const& known);

template <class P>
std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  for (auto const& entry : variants<P>()) names.emplace_back(entry.info().name);
  return names;
}

// Throws UsageError when there is none.
template <class P>
Entry<P> const& variant_named(std::string const& name);

// What the registry says of a name; null where it is no variant of this kind, but a public function or a peer.
template <class P>
Info<P> const* info_of(std::string_view name);

// Copies pack the rows of their case. A name that is no variant is none of them.
inline bool is_copy(Info<Move> const& info) { return info.ladder == Ladder::copy; }
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

// The layout that a product is shown at: the tutorial's last step is about a B that is stored transposed; the others
// are shown at nn, if they take it.
std::string shown_layout(Info<Gemm> const& info);

// `inlay list`
void list_variants(bool json);

}  // namespace inlay::lab
