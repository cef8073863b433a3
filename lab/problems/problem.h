// A case of any type, for rows, suites, tables, files and comparisons.
#pragma once
#include <string>
#include <variant>

#include "problems/copy_case.h"
#include "problems/gemm_case.h"

namespace inlay::lab {

using Problem = std::variant<CopyCase, GemmCase>;

inline std::string sentence(Problem const& problem) {
  return std::visit([](auto const& c) { return c.sentence(); }, problem);
}
inline std::string name_of(Problem const& problem) {
  return std::visit([](auto const& c) { return c.name(); }, problem);
}
inline Notation const& notation(Problem const& problem) {
  return std::visit([](auto const& c) -> Notation const& { return c.notation(); }, problem);
}
inline Units const& units(Problem const& problem) { return notation(problem).units; }
template <class C>
bool is_a(Problem const& problem) {
  return std::holds_alternative<C>(problem);
}

}  // namespace inlay::lab
