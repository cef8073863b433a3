// Copy: a transpose, a permute, a strided or pitched copy: the same elements under two sets of strides.
#pragma once
#include <inlay/tensor.h>

#include <cstdint>
#include <optional>

namespace inlay::problem {

struct Mode {
  std::int64_t extent;
  std::int64_t src_stride, dst_stride;  // bytes
};

// A batch of matrices, in the input's coordinates (m, n, l); strides in elements.
// in: (M,N,L):(ld_in,1,batch_in). out: (M,N,L):(1,ld_out,batch_out) for a transpose, (ld_out,1,batch_out) for a copy.
struct Matrices {
  void const* in = nullptr;
  void* out = nullptr;
  std::int64_t M = 1, N = 1, L = 1;
  std::int64_t ld_in = 1, ld_out = 1, batch_in = 0, batch_out = 0;
};

// The tile of a copy that goes through shared memory, as the planner chooses it: an extent of each tiled mode, one
// index of all others. src/planner/copy_tile.h describes the tile that follows from it.
struct Tiling {
  static constexpr int kModes = 14;
  struct TiledMode {
    int mode;
    std::int32_t extent;
  };
  int modes = 0;                // 0: no tiling has been chosen
  TiledMode tiled[kModes];      // in the order of the modes
  int run_modes = 0;            // the first ones, contiguous in the destination: together a destination run
  std::int32_t run_splits = 1;  // the last mode of a run is divided by this number: shorter runs, more of them
  int lanes = 8;                // of a warp, along a run; the other lanes work on other runs
  // Row pitch in shared memory. odd_pitch: an odd number of 16-byte vectors, so that columns fall in different banks.
  enum class Padding : std::uint8_t { none, odd_pitch };
  Padding padding = Padding::none;
};

// Canonical: no extents of 1, modes sorted by destination stride (fastest first), neighbours that fuse are fused. An
// empty copy has one mode of extent 0. What it is has been worked out once, when it was made.
//
// What is moved are units: the largest power of two that divides the element's size. An element of several units, such
// as one of 3, 6 or 12 bytes, has a mode of its own.
struct Copy {
  enum class Kind : std::uint8_t { contiguous, rows, transpose, general };

  static constexpr int kMaxRank = Tensor::kMaxRank + 1;
  int elem_bytes = 0;  // of a unit: 1, 2, 4, 8 or 16
  int rank = 0;
  Mode mode[kMaxRank]{};
  void const* src = nullptr;
  void* dst = nullptr;
  std::int64_t src_shift = 0, dst_shift = 0;  // bytes from where the caller's views begin: modes that ran backwards
  Kind kind = Kind::general;
  Tiling tiling;

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int k = 0; k < rank; ++k) n *= mode[k].extent;
    return n;
  }

  // The copy as a batch of matrix transposes, or of row copies, if it is one. A row or a column is both.
  std::optional<Matrices> const& as_transpose() const { return transpose_; }
  std::optional<Matrices> const& as_copy() const { return copy_; }

  // The same copy in the widest units, up to 16 bytes, where runs of them are contiguous on both sides.
  Copy widened() const;
  // The same copy between other places.
  Copy between(void const* from, void* to) const;
  // Works out what the copy is: of one whose modes are set.
  void analyse();

 private:
  std::optional<Matrices> transpose_, copy_;
};
char const* name_of(Copy::Kind kind);

// dst(i) = src(i) for all i. Throws Error for: different shapes or element sizes, a null pointer with elements, a base
// that is no multiple of the unit, a destination that overlaps itself or the source, byte offsets beyond 63 bits.
Copy make_copy(Tensor const& dst, ConstTensor const& src);

}  // namespace inlay::problem
