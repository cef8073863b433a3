// What is verified or measured: a batch of row-major matrices, and how it becomes a move.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "problem/move.h"

namespace inlay::lab {

struct Case {
  std::int64_t rows = 32768, cols = 32768;  // of the source
  std::int64_t batch = 1;
  int elem_bytes = 4;
  std::int64_t pitch = 0;  // of the source, in elements; 0: cols. The destination is contiguous

  std::int64_t source_pitch() const { return pitch ? pitch : cols; }
  std::int64_t elements() const { return batch * rows * cols; }
  std::int64_t source_elements() const { return batch * rows * source_pitch(); }
  std::string name() const { return std::to_string(rows) + "x" + std::to_string(cols); }
};

// Throws UsageError: extents below 1, other element sizes, a pitch below the row, more than 2^62 bytes.
void validate(Case const& c);

// "32768x32768:4,1003x517:8": ROWSxCOLS:ELEM, separated by commas; the batch is that of `defaults`.
std::vector<Case> parse_cases(std::string const& text, Case const& defaults);

// Rank 3: (batch, rows, cols) and (batch, cols, rows).
Tensor source_view(Case const& c, void const* data);
Tensor transposed_view(Case const& c, void* data);

Move transpose_move(Case const& c, void* dst, void const* src);
// The same elements in the same order, the pitch taken out.
Move copy_move(Case const& c, void* dst, void const* src);

}  // namespace inlay::lab
