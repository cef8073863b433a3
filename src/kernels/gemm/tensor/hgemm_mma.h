// bf16 and f16 on GPUs without wgmma. The sums are those of hgemm_simple.
#pragma once
#include <inlay/kernels/gemm/tensor/mma_tile.h>
#include <inlay/model/mma_times.h>

namespace inlay::kernels::hgemm_mma {

struct Step {};
template <class T>
struct ByTile {
  template <class F>
  static auto with(Gemm const& g, Device const& device, Config const& config, F const& f) {
    auto const of = [&]<int SIZE, int WARPS_N>(Int<SIZE>, Int<WARPS_N>) {
      return with_majors(
          g, [&](auto A, auto B) { return f(std::type_identity<MmaTile<Step, T, SIZE, WARPS_N, A, B>>{}); });
    };
    if (MmaTimes::tile(g, device, config).size == 64) return of(Int<64>{}, Int<2>{});
    return of(Int<128>{}, Int<4>{});
  }
};
template <class T>
struct Kernel : OneOf<ByTile<T>> {};
using Dispatch = ByHalfType<Kernel>;

inline constexpr Info<Gemm> info = {
    .name = "hgemm_mma",
    .idea =
        "Tiles of 64 x 64 and 128 x 128 by mma.sync, for GPUs without wgmma; operands of any alignment, in stages "
        "that cp.async fills.",
    .source = "inlay",
    .ladder = Ladder::hgemm,
    .origin = Origin::ours,
    .rejects = Dispatch::rejects,
    .seconds = MmaTimes::seconds,
    .choose = MmaTimes::choose,
    .has_full_epilogue = true,
    .takes_groups = true,
    .tiles = int(std::size(kMmaTiles)),
};

}  // namespace inlay::kernels::hgemm_mma
