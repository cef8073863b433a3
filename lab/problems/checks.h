// What both kinds of problem refuse, and how lists of them are typed. Everything here throws UsageError.
#pragma once
#include <cstdint>
#include <functional>
#include <regex>
#include <string>

namespace inlay::lab {

void at_least_one(char const* what, std::int64_t value);

// 0 stands for the row's own length.
void check_pitch(char const* flag, std::int64_t pitch, std::int64_t row, char const* whose);

// A batch of (rows, cols) matrices whose rows are `pitch` elements apart: at most 2^62 bytes.
struct Extent {
  std::int64_t rows, pitch, batch, base;  // base: elements before the first
  int elem_bytes;
};
void check_bytes(Extent const& extent, char const* whose);

std::int64_t number(std::string const& digits);

// Calls f for each piece between commas, which must match `form`; `example` is what a piece looks like.
void over_list(std::string const& text, std::regex const& form, char const* example,
               std::function<void(std::smatch const&)> const& f);

}  // namespace inlay::lab
