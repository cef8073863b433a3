// fp32 GEMM by bf16 slices.
#pragma once
#include <inlay/kernels/gemm/tensor/split_gemm.h>

namespace inlay::kernels::sgemm_split_safe {

struct Step {};
using Slices = SplitGemm<Step, bfloat16_t>;
struct Dispatch {
  static constexpr bool slices_operands = true;
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    auto const slices = Slices::sliced(g, static_cast<char*>(setting.workspace));
    f(Slices::slicer(g, slices, nullptr));
    if (!g.only_packs) Slices::multiply(g, slices, nullptr, {}, setting, f);
  }
  static std::size_t workspace(Gemm const& g, Device const&) {
    return g.elements() && g.K() ? std::size_t(Slices::bytes(g)) : 0;
  }
};

inline constexpr Info<Gemm> info = {
    .name = "sgemm_split_safe",
    .idea =
        "Three bf16 slices of each operand hold its 24 bits, and six pairs of them, multiplied on tensor cores, are as "
        "accurate as fp32.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .rejects = rejects_split,
    .seconds = Slices::seconds,
    .workspace = Dispatch::workspace,
};

}  // namespace inlay::kernels::sgemm_split_safe
