// Redistribution of a tensor that is cut over several GPUs: which blocks this rank copies to which rank, and the copy
// of all of them in one launch, into memory of other GPUs that this one can store to. inlay/nccl.h has ranks, that
// memory, and barriers.
#pragma once
#include <inlay/copy.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace inlay {

/// A tensor that is cut along one mode over ranks. The part of rank r has the tensor's shape, but extents[r] in that
/// mode. Strides are the same on all ranks.
template <class Void>
struct BasicSharded {
  BasicTensor<Void> part;             ///< Of this rank.
  int mode = 0;                       ///< That is cut.
  std::vector<std::int64_t> extents;  ///< Of the mode, (rank); their sum is the tensor's extent.

  /// The same tensor with its modes in another order: mode k of the result is mode axes[k] of this.
  BasicSharded permuted(std::span<int const> axes) const {
    BasicSharded s{part.permuted(axes), -1, extents};
    for (int k = 0; k < part.rank; ++k)
      if (axes[std::size_t(k)] == mode) s.mode = k;
    return s;  // without a mode if this has none: transfers() says so
  }
  BasicSharded permuted(std::initializer_list<int> axes) const {
    return permuted(std::span<int const>(axes.begin(), axes.size()));
  }
  template <class ToVoid>
  requires(std::is_same_v<ToVoid, Void const> && !std::is_const_v<Void>) operator BasicSharded<ToVoid>() const {
    return {part, mode, extents};
  }
};
using Sharded = BasicSharded<void>;
using ConstSharded = BasicSharded<void const>;

/// `extent` cut evenly over ranks: each has extent / ranks rounded up, the last ones the rest or nothing.
INLAY_API std::vector<std::int64_t> even_extents(std::int64_t extent, int ranks);

/// What one rank copies to another.
struct Transfer {
  int rank;  ///< That receives.
  Tensor dst;
  ConstTensor src;
};

/// The transfers of `rank` for dst = src, beginning with those to the next rank, so that not all write to one at once;
/// its own comes last. Transfers to ranks that this GPU cannot store to, whose dst.data is null, and those without
/// elements are in the result too.
///
/// @param dst, src  Of one shape, each cut along a mode of its own; dst.part.data is not read.
/// @param parts     (rank): where the part of each rank begins, as this GPU sees it; null if it cannot.
/// @throws Error    For tensors of different shapes or element sizes, parts that do not fit them, and another number of
///                  ranks.
INLAY_API std::vector<Transfer> transfers(Sharded const& dst, std::span<void* const> parts, ConstSharded const& src,
                                          int rank);

namespace detail {
// copy() of a list whose destinations are the memory of several GPUs, in two parts: throws what copy() throws, and
// returns what launches it on `stream`. Pairs of one layout share a launch wherever a kernel can, so that all links are
// busy.
INLAY_API std::function<void()> planned_pushes(std::span<Tensor const> dst, std::span<ConstTensor const> src,
                                               cudaStream_t stream);
}  // namespace detail

/// Copies all transfers of this rank whose destination it can store to, as copy() of a list. The caller orders ranks:
/// before, that all have done with the old contents of dst; afterwards, that all have finished.
/// @throws Error  As transfers() and copy().
INLAY_API void redistribute(Sharded const& dst, std::span<void* const> parts, ConstSharded const& src, int rank,
                            cudaStream_t stream = nullptr);
/// The plan of that on the current device: bytes to other ranks and to its own, predicted time, and the plan of each
/// list. Tuned choices are not looked up.
INLAY_API std::string why(Sharded const& dst, std::span<void* const> parts, ConstSharded const& src, int rank);

}  // namespace inlay
