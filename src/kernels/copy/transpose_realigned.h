// Transposes of any pitch and base address: stores with an alignment skew that begin on sectors; rows of 1- and 2-byte
// elements are realigned in registers.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/common/listed.h>
#include <inlay/kernels/copy/realigned_tile.h>

namespace inlay::kernels::transpose_realigned {

template <class T>
struct Step {
  using Tile = Shape<_32, _64>;  // (BLK_M,BLK_N)
  using Load = LoadEvictLast<T>;
  static constexpr int threads = sizeof(T) == 16 ? 128 : 256, min_blocks = 3, blocks_per_sm = 3;
};
template <>
struct Step<uint32_t> {
  using Tile = Shape<_64, _128>;  // (BLK_M,BLK_N)
  using Load = LoadEvictLast<uint32_t>;
  static constexpr int threads = 512, min_blocks = 2, blocks_per_sm = 2;
};
template <>
struct Step<uint16_t> {
  using Tile = Shape<_128, _128>;  // (BLK_M,BLK_N)
  using Load = LoadEvictLast<Vector16>;
  static constexpr int threads = 384, min_blocks = 2, blocks_per_sm = 0;
};
template <>
struct Step<uint8_t> {
  using Tile = Shape<_128, _256>;  // (BLK_M,BLK_N)
  using Load = LoadEvictLast<Vector16>;
  static constexpr int threads = 320, min_blocks = 2, blocks_per_sm = 0;
};

template <class T>
using Kernel = std::conditional_t<sizeof(T) < 4, RealignedTile<T, Step<T>>, SkewedTile<Carrier<T>, Step<Carrier<T>>>>;
using Dispatch = Listable<ByElement<Kernel>>;

inline constexpr Info<Copy> info = {
    .name = "transpose_realigned",
    .idea =
        "Each row of the output begins its tile on a sector; narrow elements are read in aligned vectors and "
        "realigned.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects<Kernel>,
    .seconds = seconds<Kernel>,
    .takes_lists = true,
    .takes_any_alignment = true,
};

}  // namespace inlay::kernels::transpose_realigned
