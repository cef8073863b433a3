// What is verified or measured: a batch of row-major matrices, and how it becomes a move.
#pragma once
#include <inlay/problem/move.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rooms.h"

namespace inlay::lab {

struct Case {
  std::int64_t rows = 32768, cols = 32768;  // of the source
  std::int64_t batch = 1;
  int elem_bytes = 4;
  std::int64_t pitch = 0, pitch_dst = 0;    // elements from row to row; 0: cols in the source, rows in the destination
  std::int64_t base_src = 0, base_dst = 0;  // elements between a buffer's aligned start and the first matrix

  std::int64_t source_pitch() const { return pitch ? pitch : cols; }
  std::int64_t destination_pitch() const { return pitch_dst ? pitch_dst : rows; }
  std::int64_t elements() const { return batch * rows * cols; }
  // Of the buffers that hold the matrices: the base before them and the gaps between rows included.
  std::int64_t source_elements() const { return base_src + batch * rows * source_pitch(); }
  std::int64_t destination_elements() const { return base_dst + batch * cols * destination_pitch(); }
  std::string name() const { return std::to_string(rows) + "x" + std::to_string(cols); }
  // "32768 x 32768, 4 B, source pitch 32769, source base 1": all that tells it from other cases.
  std::string sentence() const;

  // A pitch that is given and one that follows from the extents are the same.
  friend bool operator==(Case const& a, Case const& b);
};

// Throws UsageError: extents below 1, other element sizes, pitches below the row, negative bases, more than 2^62 bytes.
void validate(Case const& c);

// "32768x32768:4,1003x517:8": ROWSxCOLS:ELEM, separated by commas; all else is that of `defaults`.
std::vector<Case> parse_cases(std::string const& text, Case const& defaults);

// Rank 3: (batch, rows, cols) and (batch, cols, rows). `buffer` is the aligned start, the view begins at its base.
Tensor source_view(Case const& c, void const* buffer);
Tensor transposed_view(Case const& c, void* buffer);

// Both take the buffers' aligned starts.
Move transpose_move(Case const& c, void* dst, void const* src);
// The same elements in the same order, the pitches taken out.
Move copy_move(Case const& c, void* dst, void const* src);

}  // namespace inlay::lab
