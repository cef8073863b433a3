// Closed forms of what a tile kernel asks of memory. A walk is one access of the kernel: lanes of a warp lie along rows
// (contiguous in memory) or down columns (a pitch apart). Requests whose lanes are all off are not issued.
#pragma once
#include <inlay/planner/traffic.h>
#include <inlay/problem/copy.h>

#include <cstdint>

namespace inlay::planner {
using namespace problem;

// How a kernel cuts a (rows, cols, batch) operand. `rows` is the mode that is strided in this operand's memory.
struct Walk {
  std::int64_t rows, cols, batch;
  std::uint64_t base;                // address of the first element
  std::int64_t pitch, batch_stride;  // bytes between rows, between matrices
  int elem_bytes;
  int tile_rows, tile_cols;
  int vector = 1;        // elements per lane and access, along a row
  int lanes_along = 32;  // lanes along a row; 32 / lanes_along rows share a request
  int rows_apart = 1;    // how far these rows are from one another
};

// Lanes along rows.
Traffic row_sectors(Walk const& walk);
// Lanes down a column, one element each.
Traffic column_sectors(Walk const& walk);

// Shared memory, the same walks over a tile. `apart`: how many consecutive lanes reach different banks before a bank
// comes again (32 or more: free of conflicts; 1: all lanes in one bank). A row walk is always free of conflicts here.
Traffic row_wavefronts(Walk const& walk);
Traffic column_wavefronts(Walk const& walk, int apart);
// Lanes along rows of the operand that lie `apart` lanes' worth of banks apart in a column-major tile.
Traffic strided_row_wavefronts(Walk const& walk, int apart);
// Vectors taken apart: lanes hold 4 vectors of `vector` elements in each of 8 rows, and store element after element into
// a column-major tile: consecutive rows are consecutive banks, the vectors of a row lie in one bank.
Traffic scattered_wavefronts(Walk const& walk);

// TMA: boxes, and the bytes of them that lie inside the tensor.
Traffic boxes(Walk const& walk);

// The two global operands of a transpose or copy as walks.
Walk input_walk(Matrices const& x, int elem_bytes, int tile_m, int tile_n);
Walk output_walk(Matrices const& x, int elem_bytes, int tile_m, int tile_n, bool transpose);

}  // namespace inlay::planner
