// Memory traffic of tile kernels in closed form. A walk is one access of the kernel to all of an operand: the lanes of
// a warp lie along rows (contiguous in memory) or down columns (a pitch apart). Requests without active lanes are not
// issued.
#pragma once
#include <inlay/model/traffic.h>
#include <inlay/problem/copy.h>

#include <cstdint>

namespace inlay::model {
using namespace problem;

// How a kernel tiles a (rows, cols, batch) operand. `rows` is the mode that is strided in memory.
struct Walk {
  std::int64_t rows, cols, batch;
  std::uint64_t base;                // address of the first element
  std::int64_t pitch, batch_stride;  // bytes between rows, between matrices
  int elem_bytes;
  int tile_rows, tile_cols;
  int vector = 1;        // elements per lane and access, along a row
  int lanes_along = 32;  // lanes along a row; 32 / lanes_along rows share a request
  int row_step = 1;      // distance between these rows
};

// Lanes along rows.
Traffic row_sectors(Walk const& walk);
// Lanes down a column, one element each.
Traffic column_sectors(Walk const& walk);

// The same walks over a tile in shared memory. `distinct_banks`: number of consecutive lanes that access different
// banks (32 or more: no conflicts; 1: all lanes access one bank). A row walk has no conflicts.
Traffic row_wavefronts(Walk const& walk);
Traffic column_wavefronts(Walk const& walk, int distinct_banks);
// Lanes along rows of the operand, in a column-major tile; `distinct_banks` as above.
Traffic strided_row_wavefronts(Walk const& walk, int distinct_banks);
// The lanes of a warp hold 4 vectors of `vector` elements in each of 8 rows and store them element by element to a
// column-major tile. Consecutive rows are in consecutive banks, the vectors of a row in one bank.
Traffic scattered_wavefronts(Walk const& walk);

// TMA: boxes, and their bytes inside the tensor.
Traffic boxes(Walk const& walk);

// The walks over the source and the destination of a transpose or copy.
Walk input_walk(Matrices const& x, int elem_bytes, int tile_m, int tile_n);
Walk output_walk(Matrices const& x, int elem_bytes, int tile_m, int tile_n, bool transpose);

}  // namespace inlay::model
