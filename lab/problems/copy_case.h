// A copy of a tensor of any rank between any two layouts, in the notation of the published permutation suites.
#pragma once
#include "problems/transpose_case.h"

namespace inlay::lab {

// Mode 0 is the fastest unless strides are given. Mode i of the destination is mode perm[i] of the source.
struct CopyCase {
  std::vector<std::int64_t> sizes{8192, 8192};  // of the source's modes
  std::vector<std::int64_t> perm{1, 0};
  int elem_bytes = 4;
  std::vector<std::int64_t> src_strides, dst_strides;  // elements, of each side's modes; empty: packed
  std::int64_t base_src = 0, base_dst = 0;             // bytes between a buffer's aligned start and its lowest element
  std::string group;                                   // class of the case in a suite

  static constexpr char const *kind = "copy", *public_function = "copy", *suites = "suites/permute";
  static constexpr Units units{"GB/s", "gbps", "of copy", "of_copy", "a contiguous copy of as many sectors", 1, false};
  static constexpr char const *item_form = "(\\d+(?:x\\d+)*):(\\d+(?:-\\d+)*):(\\d{1,2})",
                              *item_shape = "SIZExSIZE:PERM-PERM:ELEM", *item_example = "128x32x2048:0-2-1:2";

  // Given or packed, in elements, each in the order of its own side's modes.
  std::vector<std::int64_t> source_strides() const;
  std::vector<std::int64_t> destination_strides() const;
  std::int64_t elements() const;
  // From the first byte of the lowest element to the last byte of the highest.
  std::int64_t source_span() const;
  std::int64_t destination_span() const;
  // 32 times the number of sectors that hold the source, a broadcast one counted once, and the destination.
  std::int64_t sector_bytes() const;

  std::string sentence() const;  // "128 x 32 x 2048 to 0 2 1, 2 B, source strides ..."
  std::string name() const;
  std::string short_name() const;
  std::vector<Field> fields();
  void take_item(std::smatch const& match);
  // Rejects extents below 1, no permutation, strides for other modes, elements beyond 16 bytes, a destination that overlaps
  // itself, more than 2^46 bytes.
  void validate() const;
  void write(std::string const& kernel, Json& json) const;
  static bool wrote(Json const& row);
  static CopyCase read(Json const& row);

  double bytes() const { return double(sector_bytes()); }
  double flops() const { return 0; }
  double replayed_fma() const { return 0; }
  // The copy limit is a contiguous copy with this many bytes read and written.
  std::int64_t limit_bytes() const { return sector_bytes(); }
  // In bytes; each at least as large as a buffer of the copy limit.
  std::vector<OperandBuffer> operands() const;
  using Call = TransposeCall;
  Call call(std::span<void* const> at) const { return {at[0], at[1]}; }
  static Call exact(Call const& call) { return call; }

  using Canonical = Copy;
  static std::span<Entry<Copy> const> kernels() { return copy_kernels(); }
  Copy canonical(Call const& call, Info<Copy> const* info) const;

  friend bool operator==(CopyCase const& a, CopyCase const& b);
};

// Both sides with the shape of the destination, its slowest mode first.
CopyViews views(CopyCase const& c, CopyCase::Call const& call);

}  // namespace inlay::lab
