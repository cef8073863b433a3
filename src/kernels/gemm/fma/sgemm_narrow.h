// For few rows or few columns of D: tiles of 16 x 256 or 256 x 16, so that the large operand is
// read once for every 16 rows or columns.
#pragma once
#include <inlay/kernels/gemm/fma/split.h>

namespace inlay::kernels::sgemm_narrow {

struct NarrowStep : SgemmStep {
  static constexpr FmaTimes times{
      .block = 2.33, .alone = 0.99, .busy = 0.37, .along_k = 0.51, .elements = 0.92, .end = {0.56, 3.9}};
  static constexpr int LONG = 256, SHORT = 16, threads = 64, min_blocks = 6;
  using FetchShort = FetchAny<threads>;
  template <Vectors V>
  using FetchLong =
      std::conditional_t<V == Vectors::none, FetchAlongK<AsyncElement, threads, BLK_K>, FetchVectors<V, threads, LONG>>;
  using SmemLong = Stages<LONG, BLK_K, 2, 4>;    // (LONG,BLK_K,PIPE)
  using SmemShort = Stages<SHORT, BLK_K, 2, 4>;  // (SHORT,BLK_K,PIPE)
};
template <Vectors A, Vectors>
struct FewColumns : NarrowStep {
  static constexpr int BLK_M = LONG, BLK_N = SHORT;
  static constexpr bool narrow_n = true;
  using FetchA = FetchLong<A>;
  using FetchB = FetchShort;
  using SmemA = SmemLong;
  using SmemB = SmemShort;
  using OnC = WarpTiles<2, 1, 16, 2, 8, 8>;  // 2 warps of 128x16, 32 lanes of 8x8
};
template <Vectors, Vectors B>
struct FewRows : NarrowStep {
  static constexpr int BLK_M = SHORT, BLK_N = LONG;
  static constexpr bool narrow_m = true;
  using FetchA = FetchShort;
  using FetchB = FetchLong<B>;
  using SmemA = SmemShort;
  using SmemB = SmemLong;
  using OnC = WarpTiles<1, 2, 2, 16, 8, 8>;  // 2 warps of 16x128, 32 lanes of 8x8
};

struct Choice {
  template <class F>
  static auto with(Gemm const& g, Device const&, Config const&, F const& f) {
    return g.N() <= g.M() ? f(std::type_identity<SgemmSplit<FewColumns>>{})
                          : f(std::type_identity<SgemmSplit<FewRows>>{});
  }
};
using Kernel = OneOf<Choice>;
using Dispatch = Kernel;

inline constexpr Info<Gemm> info = {
    .name = "sgemm_narrow",
    .idea =
        "Tiles of 256x16 or 16x256 and split-K: the large operand is read once for every 16 rows or columns, and "
        "its bytes limit.",
    .source = "inlay",
    .ladder = Ladder::sgemm,
    .origin = Origin::ours,
    .rejects = Kernel::rejects,
    .seconds = Kernel::seconds,
    .workspace = Kernel::workspace,
    .split = Kernel::split,
};

}  // namespace inlay::kernels::sgemm_narrow
