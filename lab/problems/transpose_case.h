// A batch of row-major matrices to transpose, and the Copy that does it.
#pragma once
#include "problems/case.h"

namespace inlay::lab {

struct TransposeCase {
  std::int64_t rows = 32768, cols = 32768;  // of the source
  std::int64_t batch = 1;
  int elem_bytes = 4;
  std::int64_t pitch = 0, pitch_dst = 0;    // elements between rows; 0: cols in the source, rows in the destination
  std::int64_t base_src = 0, base_dst = 0;  // elements between a buffer's aligned start and the first matrix

  static constexpr char const *kind = "copy", *public_function = "transpose", *suites = "suites";
  static constexpr Units units{"GB/s", "gbps", "of copy", "of_copy", "the faster of cudaMemcpyAsync and copy_03_vector",
                               1,      false};
  static constexpr char const *item_form = "(\\d+)x(\\d+):(\\d{1,2})", *item_shape = "ROWSxCOLS:ELEM",
                              *item_example = "32768x32768:4";

  std::int64_t source_pitch() const { return pitch ? pitch : cols; }
  std::int64_t destination_pitch() const { return pitch_dst ? pitch_dst : rows; }
  std::int64_t elements() const { return batch * rows * cols; }
  // Sizes of the buffers, with the base before the matrices and the gaps between rows.
  std::int64_t source_elements() const { return base_src + batch * rows * source_pitch(); }
  std::int64_t destination_elements() const { return base_dst + batch * cols * destination_pitch(); }

  std::string sentence() const;  // "32768 x 32768, 4 B, source pitch 32769, source base 1"
  std::string name() const { return std::to_string(rows) + "x" + std::to_string(cols); }
  std::string short_name() const;
  std::vector<Field> fields();
  void take_item(std::smatch const& match);
  // Rejects extents below 1, other element sizes, pitches below the row, negative bases, more than 2^62 bytes.
  void validate() const;
  void write(std::string const& kernel, Json& json) const;
  static bool wrote(Json const& row);
  static TransposeCase read(Json const& row);

  double bytes() const { return 2 * double(elements()) * elem_bytes; }
  double flops() const { return 0; }
  double replayed_fma() const { return 0; }
  // The copy limit is a contiguous copy with this many bytes read and written.
  std::int64_t limit_bytes() const { return 2 * elements() * elem_bytes; }
  // One row of as many bytes, rounded up to 16-byte vectors: the case of the contiguous copies.
  TransposeCase contiguous() const;
  std::vector<OperandBuffer> operands() const;
  struct Call {  // the buffers' aligned starts
    void const* src;
    void* dst;
  };
  Call call(std::span<void* const> at) const { return {at[0], at[1]}; }
  static Call exact(Call const& call) { return call; }

  using Canonical = Copy;
  static std::span<Entry<Copy> const> kernels() { return copy_kernels(); }
  // The transpose; for a kernel of the copy ladder, packing_copy().
  Copy canonical(Call const& call, Info<Copy> const* info) const;

  // A given pitch equals one that follows from the extents.
  friend bool operator==(TransposeCase const& a, TransposeCase const& b);
};
using TransposeCall = TransposeCase::Call;

struct CopyViews {
  Tensor dst;
  ConstTensor src;
};
// Rank 3: (batch, cols, rows) on both sides.
CopyViews views(TransposeCase const& c, TransposeCall const& call);

// The same elements in the same order, without gaps between rows.
Copy packing_copy(TransposeCase const& c, TransposeCall const& call);

}  // namespace inlay::lab
