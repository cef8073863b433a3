// A strided copy: of a tensor of any rank between any two layouts, in the notation of the published permutation suites,
// or the transpose of a batch of row-major matrices, whose modes have names.
#pragma once
#include "problems/case.h"

namespace inlay::lab {

// The buffers' aligned starts.
struct CopyCall {
  void const* src;
  void* dst;
};

struct CopyCase {
  // Mode i of the destination is mode perm[i] of the source. Mode 0 is the fastest unless strides are given.
  std::vector<std::int64_t> sizes{8192, 8192};  // of the source's modes
  std::vector<std::int64_t> perm{1, 0};
  int elem_bytes = 4;
  std::vector<std::int64_t> src_strides, dst_strides;  // elements, of each side's modes; empty: packed
  std::int64_t base_src = 0,
               base_dst = 0;  // times base_unit() bytes from a buffer's aligned start to its lowest element
  std::string group;          // class of the case in a suite
  bool is_transpose = false;  // as made by transpose_case(): the source has the modes cols, rows and batch
  std::int64_t pitch_src = 0, pitch_dst = 0;  // of a transpose, instead of strides: elements between rows; 0: packed

  static constexpr char const* kind = "copy";
  Notation const& notation() const;

  // The matrices of a transpose: extents of the source, pitches in elements.
  std::int64_t rows() const { return sizes[1]; }
  std::int64_t cols() const { return sizes[0]; }
  std::int64_t batch() const { return sizes[2]; }
  std::int64_t source_pitch() const { return pitch_src ? pitch_src : cols(); }
  std::int64_t destination_pitch() const { return pitch_dst ? pitch_dst : rows(); }

  // Transposes have their bases in elements, other copies in bytes.
  std::int64_t base_unit() const { return is_transpose ? elem_bytes : 1; }
  // Given or packed, in elements, each in the order of its own side's modes.
  std::vector<std::int64_t> source_strides() const;
  std::vector<std::int64_t> destination_strides() const;
  std::int64_t elements() const;
  // From the first byte of the lowest element to the last byte of the highest.
  std::int64_t source_span() const;
  std::int64_t destination_span() const;
  // 32 times the number of sectors that hold the source, a broadcast one counted once, and the destination.
  std::int64_t sector_bytes() const;

  // "32768 x 32768, 4 B, source pitch 32769", "128 x 32 x 2048 to 0 2 1, 2 B, source strides ..."
  std::string sentence() const;
  std::string name() const;
  std::string short_name() const;
  std::vector<Field> fields();
  void take_item(std::smatch const& match);
  // Rejects extents below 1, no permutation, strides for other modes, pitches below the row, bases and element sizes
  // out of range, a destination that overlaps itself, buffers that are too large.
  void validate() const;
  void write(std::string const& kernel, Json& json) const;
  static bool wrote(Json const& row);
  static CopyCase read(Json const& row);

  double bytes() const { return double(limit_bytes()); }
  double flops() const { return 0; }
  double replayed_fma() const { return 0; }
  // The copy limit is a contiguous copy with this many bytes read and written: a transpose's elements, or the sectors.
  std::int64_t limit_bytes() const { return is_transpose ? 2 * elements() * elem_bytes : sector_bytes(); }
  // The case of the contiguous copies beside a transpose: one row of as many bytes, rounded up to 16-byte vectors.
  CopyCase contiguous() const;
  // Each at least as large as a buffer of the copy limit.
  std::vector<OperandBuffer> operands() const;
  using Call = CopyCall;
  Call call(std::span<void* const> at) const { return {at[0], at[1]}; }
  static Call exact(Call const& call) { return call; }

  using Canonical = Copy;
  static std::span<Entry<Copy> const> kernels() { return copy_kernels(); }
  // The copy, or packing_copy() if the case is a transpose and the kernel belongs to the copy ladder.
  Copy canonical(Call const& call, Info<Copy> const* info) const;

  // Given strides and pitches equal those that follow from the extents.
  friend bool operator==(CopyCase const& a, CopyCase const& b);
};

// The transpose of `batch` matrices of rows x cols elements.
CopyCase transpose_case(std::int64_t rows = 32768, std::int64_t cols = 32768, std::int64_t batch = 1,
                        int elem_bytes = 4);

struct CopyViews {
  Tensor dst;
  ConstTensor src;
};
// Both sides with the shape of the destination, its slowest mode first: (batch, cols, rows) for a transpose.
CopyViews views(CopyCase const& c, CopyCall const& call);

// Copies the source of a transpose in the same order, without gaps between rows.
Copy packing_copy(CopyCase const& c, CopyCall const& call);

}  // namespace inlay::lab
