// Squares in registers, loaded with evict_last: presumably writes then leave the L2 in longer bursts. For
// pitches of 128 or 256 KB, consecutive bands of tiles lie 16 or 8 KB apart.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/common/listed.h>
#include <inlay/kernels/copy/register_tile.h>

namespace inlay::kernels::transpose_registers {

template <class T>
struct Step : RegisterStep<T> {
  using Load = LoadEvictLast<Vector16>;
  static constexpr int blocks_per_sm = BlocksInFlight<T>;
  static constexpr bool bands = true, follows = true;
};
template <class T>
using Kernel = RegisterTile<T, Step<T>>;
using Dispatch = Listable<ByElement<Kernel>>;

inline constexpr Info<Copy> info = {
    .name = "transpose_registers",
    .idea = "Loads with the L2 policy evict_last: no byte less, but a better use of the DRAM.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects<Kernel>,
    .seconds = seconds<Kernel>,
    .takes_lists = true,
};

}  // namespace inlay::kernels::transpose_registers
