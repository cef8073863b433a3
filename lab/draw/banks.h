// `inlay draw banks`: the bank of each element of a tile in shared memory.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace inlay::lab {

// A (rows, cols) tile and the offset of element (i, j), in elements.
struct BankGrid {
  std::string title;
  std::int64_t rows, cols;
  std::function<std::int64_t(std::int64_t i, std::int64_t j)> offset;

  // The bank of the first byte of each element, in row-major order.
  std::vector<unsigned> bank_ids(int elem_bytes) const;
  // The most wavefronts of any load of a warp whose lanes access consecutive elements down columns, or along rows.
  unsigned wavefronts_down(int elem_bytes) const;
  unsigned wavefronts_along(int elem_bytes) const;
};

// Each grid as coloured cells with bank numbers. Throws UsageError for a grid of more than 128 rows or columns.
std::string draw_banks(std::vector<BankGrid> const& grids, int elem_bytes);
// The banks of layouts in CuTe's notation. Without `elem_bytes`, elements have the width that a layout names, or 4
// bytes.
std::string draw_banks(std::vector<std::string> const& layouts, std::optional<int> elem_bytes);

}  // namespace inlay::lab
