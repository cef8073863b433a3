// Checks of cases, and the parser of --cases. All functions throw UsageError.
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <regex>
#include <string>

#include "problems/case.h"

namespace inlay::lab {

void at_least_one(char const* what, std::int64_t value);

// A pitch is 0, for packed rows, or at least the length of a row.
void check_pitch(char const* flag, std::int64_t pitch, std::int64_t row, char const* whose);

// A batch of (rows, cols) matrices whose rows are `pitch` elements apart: at most 2^62 bytes.
struct Extent {
  std::int64_t rows, pitch, batch, base;  // base: elements before the first matrix
  int elem_bytes;
};
void check_bytes(Extent const& extent, char const* whose);

std::int64_t number(std::string const& digits);

// Reads as many extents of a name such as "4096x4096x4096" as are requested.
void read_extents(std::string name, std::initializer_list<std::int64_t*> extents);

// Calls f for each item between commas, which must match `form`; errors describe an item by `example`.
void over_list(std::string const& text, std::regex const& form, std::string const& example,
               std::function<void(std::smatch const&)> const& f);

// Parses "32768x32768:4,1003x517:8". The other fields are those of `defaults`.
template <class C>
std::vector<C> parse_cases(std::string const& text, C const& defaults) {
  Notation const& notation = defaults.notation();
  std::vector<C> cases;
  over_list(text, std::regex(notation.item_form),
            fmt::format("{} such as {}", notation.item_shape, notation.item_example), [&](std::smatch const& m) {
              C c = defaults;
              c.take_item(m);
              c.validate();
              cases.push_back(c);
            });
  return cases;
}

}  // namespace inlay::lab
