// The banks of a tile in shared memory.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace inlay::lab {

// A (rows, cols) tile: where element (i, j) lies, in elements.
struct BankGrid {
  std::string title;  // what is drawn above it: its layout
  std::int64_t rows, cols;
  std::function<std::int64_t(std::int64_t i, std::int64_t j)> offset;

  // Row by row. An element wider than a bank has the id of its first byte's.
  std::vector<unsigned> bank_ids(int elem_bytes) const;
  // The most wavefronts of a warp whose lanes walk down columns, or along rows, an element each.
  unsigned wavefronts_down(int elem_bytes) const;
  unsigned wavefronts_along(int elem_bytes) const;
};

// Coloured grids with their ids, beside or below each other. Throws UsageError when one is larger than can be read.
std::string draw_banks(std::vector<BankGrid> const& grids, int elem_bytes);
// Draws the banks of layouts in CuTe's notation. Elements have the given width, or the one that a layout names, or 4 bytes.
std::string draw_banks(std::vector<std::string> const& layouts, std::optional<int> elem_bytes);

}  // namespace inlay::lab
