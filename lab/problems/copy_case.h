// What is copied: a tensor of any rank between any two layouts, in the words of the published permutation suites.
#pragma once
#include "problems/kind.h"

namespace inlay::lab {

// Mode 0 runs fastest where nothing else is said. Mode i of the destination is mode perm[i] of the source.
struct CopyCase {
  std::vector<std::int64_t> sizes{8192, 8192};  // of the source's modes
  std::vector<std::int64_t> perm{1, 0};
  int elem_bytes = 4;
  std::vector<std::int64_t> src_strides, dst_strides;  // in elements, of the source's and of the destination's modes;
                                                       // none: packed
  std::int64_t base_src = 0, base_dst = 0;             // bytes between a buffer's aligned start and its lowest element
  std::string group;                                   // what it stands for in a suite, "class" in files

  // The strides that hold, in elements, each in the order of its own side's modes.
  std::vector<std::int64_t> source_strides() const;
  std::vector<std::int64_t> destination_strides() const;
  std::int64_t elements() const;
  // From the lowest element's first byte to the highest one's last.
  std::int64_t source_span() const;
  std::int64_t destination_span() const;
  // 32 times the sectors that hold the source, a repeated one once, and the destination: what has to move.
  std::int64_t sector_bytes() const;
  // "128 x 32 x 2048 to 0 2 1, 2 B, source strides ..."
  std::string sentence() const;
  std::string name() const;

  friend bool operator==(CopyCase const& a, CopyCase const& b);
};

// The buffers' aligned starts.
struct CopyCall {
  void const* src;
  void* dst;
};
struct CopyViews {
  Tensor dst;
  ConstTensor src;
};
// Of one shape: the destination's, its slowest mode first.
CopyViews views(CopyCase const& c, CopyCall const& call);

template <>
struct Kind<CopyCase> {
  static constexpr char const *name = "copy", *public_function = "copy", *suites = "suites/permute";
  static constexpr Units units{"GB/s", "gbps", "of copy", "of_copy", "a contiguous copy of as many sectors", 1, false};
  static constexpr char const *item_form = "(\\d+(?:x\\d+)*):(\\d+(?:-\\d+)*):(\\d{1,2})",
                              *item_shape = "SIZExSIZE:PERM-PERM:ELEM", *item_example = "128x32x2048:0-2-1:2";
  static std::string short_name(CopyCase const& c);
  static std::vector<Field> fields(CopyCase& c);
  static void take_item(CopyCase& c, std::smatch const& match);
  // Extents below 1, no permutation, strides for other modes, elements beyond 16 bytes, a destination that overlaps itself,
  // more than 2^46 bytes.
  static void validate(CopyCase const& c);
  static void write(CopyCase const& c, std::string const& kernel, Json& json);
  static bool wrote(Json const& row);
  static CopyCase read(Json const& row);

  static double bytes(CopyCase const& c) { return double(c.sector_bytes()); }
  static double flops(CopyCase const&) { return 0; }
  static double replayed_fma(CopyCase const&) { return 0; }
  // Bytes; each as large as what has to move at least.
  static std::vector<OperandBuffer> operands(CopyCase const& c);
  using Call = CopyCall;
  static CopyCall call(CopyCase const&, std::span<void* const> at) { return {at[0], at[1]}; }
  static CopyCall exact(CopyCall const& call) { return call; }

  using Canonical = Copy;
  static std::span<Entry<Copy> const> kernels() { return copy_kernels(); }
  static Copy canonical(CopyCase const& c, CopyCall const& call, Info<Copy> const* info);
};
static_assert(KindOf<CopyCase>);

}  // namespace inlay::lab
