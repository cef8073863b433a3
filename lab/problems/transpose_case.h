// What is moved: a batch of row-major matrices, and how it becomes a Move.
#pragma once
#include "problems/kind.h"

namespace inlay::lab {

struct TransposeCase {
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
  // "32768 x 32768, 4 B, source pitch 32769, source base 1": all that tells it from other cases.
  std::string sentence() const;
  std::string name() const { return std::to_string(rows) + "x" + std::to_string(cols); }

  // A pitch that is given and one that follows from the extents are the same.
  friend bool operator==(TransposeCase const& a, TransposeCase const& b);
};

// The buffers' aligned starts.
struct TransposeCall {
  void const* src;
  void* dst;
};

// Rank 3: (batch, rows, cols) and (batch, cols, rows). `buffer` is the aligned start, the view begins at its base.
Tensor source_view(TransposeCase const& c, void const* buffer);
Tensor transposed_view(TransposeCase const& c, void* buffer);

Copy transpose_copy(TransposeCase const& c, TransposeCall const& call);
// The same elements in the same order, the pitches taken out.
Copy copy_copy(TransposeCase const& c, TransposeCall const& call);

template <>
struct Kind<TransposeCase> {
  static constexpr char const *name = "copy", *public_function = "transpose", *suites = "suites";
  static constexpr Units units{"GB/s", "gbps", "of copy", "of_copy", "the faster of cudaMemcpyAsync and copy_03_vector",
                               1,      false};
  static constexpr char const *item_form = "(\\d+)x(\\d+):(\\d{1,2})", *item_shape = "ROWSxCOLS:ELEM",
                              *item_example = "32768x32768:4";
  static std::string short_name(TransposeCase const& c);
  static std::vector<Field> fields(TransposeCase& c);
  static void take_item(TransposeCase& c, std::smatch const& match);
  // Extents below 1, other element sizes, pitches below the row, negative bases, more than 2^62 bytes.
  static void validate(TransposeCase const& c);
  static void write(TransposeCase const& c, std::string const& kernel, Json& json);
  static bool wrote(Json const& row);
  static TransposeCase read(Json const& row);

  static double bytes(TransposeCase const& c) { return 2 * double(c.elements()) * c.elem_bytes; }
  static double flops(TransposeCase const&) { return 0; }
  static double replayed_fma(TransposeCase const&) { return 0; }
  static std::vector<OperandBuffer> operands(TransposeCase const& c);
  using Call = TransposeCall;
  static TransposeCall call(TransposeCase const&, std::span<void* const> at) { return {at[0], at[1]}; }
  static TransposeCall exact(TransposeCall const& call) { return call; }

  using Canonical = Copy;
  static std::span<Entry<Copy> const> kernels() { return copy_kernels(); }
  // Copies pack the rows.
  static Copy canonical(TransposeCase const& c, TransposeCall const& call, Info<Copy> const* info);
};
static_assert(KindOf<TransposeCase>);

}  // namespace inlay::lab
