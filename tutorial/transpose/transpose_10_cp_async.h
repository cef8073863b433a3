// Step 06 with cp.async, which bypasses registers and needs cp_async_fence and cp_async_wait.
#pragma once
#include <inlay/tutorial/transpose/smem_tile.h>

namespace inlay::kernels::transpose_10_cp_async {

template <class T>
struct Step : SmemStep<T> {
  static constexpr bool possible = sizeof(T) >= 4;  // cp.async moves 4, 8 or 16 bytes
  using Tile = TileFor<T>;                          // (BLK_M,BLK_N)
  using Swz = typename ConflictFree<size<1>(Tile{}), sizeof(T)>::type;
  using SmemLayout = SwizzledRows<Tile, Swz>;  // (BLK_M,BLK_N)
  using Load = typename std::conditional_t<possible, std::type_identity<SM80_CP_ASYNC_CACHEALWAYS<T>>,
                                           std::type_identity<UniversalCopy<T>>>::type;
};
template <class T>
using Kernel = SmemTile<T, Step<T>>;

inline Reason rejects_narrow(Copy const& copy, Device const& device) {
  if (copy.elem_bytes < 4) return {"cp.async moves 4, 8 or 16 bytes, an element has {}", {copy.elem_bytes}};
  return rejects<Kernel>(copy, device);
}
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "transpose_10_cp_async",
    .idea = "Step 06 by cp.async: global to shared without registers, committed as a group and waited for.",
    .source = "Lei Mao and Colfax: fence and wait around the copy",
    .ladder = Ladder::transpose,
    .origin = Origin::tutorial,
    .rejects = rejects_narrow,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_10_cp_async
