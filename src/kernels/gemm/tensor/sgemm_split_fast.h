// fp32 GEMM by f16 slices where they are as accurate as fp32, else by bf16 slices.
#pragma once
#include <inlay/kernels/gemm/tensor/split_gemm.h>

namespace inlay::kernels::sgemm_split_fast {

struct Step {};
using F16 = SplitGemm<Step, half_t>;
using Bf16 = SplitGemm<Step, bfloat16_t>;

struct Dispatch {
  static constexpr bool slices_operands = true;
  // Both ways are launched; which one computes a matrix is a word of the workspace for each, known on the GPU alone. Of
  // one matrix that is refused, the kernel that would have multiplied its f16 slices makes the bf16 slices: a launch
  // that ends at once takes 1 to 2 us.
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    auto* const refusals = static_cast<unsigned*>(setting.workspace);
    char* const behind = static_cast<char*>(setting.workspace) + round_up(g.L() * 4, 256);
    auto const slices = F16::sliced(g, behind);
    f(F16::slicer(g, slices, nullptr));
    if (g.only_packs) return;
    Gemm const again = without_packed(g);
    auto const others = Bf16::sliced(again, behind + F16::factor_bytes(g));
    auto const slicer = Bf16::slicer(again, others, refusals);
    if (g.L() > 1) f(Refusals<Step>{slices.A, slices.B, refusals, int(g.L())});
    F16::multiply(g, slices, refusals, slicer, setting, f);
    if (g.L() > 1) f(slicer);
    Bf16::multiply(again, others, refusals, {}, setting, f);
  }
  // bf16 slices take no operand that was packed as f16 slices.
  static Gemm without_packed(Gemm g) {
    g.A.packed = g.B.packed = nullptr;
    return g;
  }
  static std::size_t workspace(Gemm const& g, Device const&) {
    if (!g.elements() || !g.K()) return 0;
    if (g.only_packs) return std::size_t(F16::bytes(g));
    return std::size_t(round_up(g.L() * 4, 256) +
                       std::max(F16::bytes(g), F16::factor_bytes(g) + Bf16::bytes(without_packed(g))));
  }
};

// With the launches of the other way, which end at once unless K is so short that f16 slices are refused.
inline double seconds(Gemm const& g, Device const& device) {
  return (g.L() > 1 ? 4e-6 : 2.4e-6) + (g.K() < 64 ? Bf16::seconds(g, device) : F16::seconds(g, device));
}

inline constexpr Info<Gemm> info = {
    .name = "sgemm_split_fast",
    .idea =
        "Two f16 slices of each operand, scaled by a power of two for each row, and three pairs of them; if those of a "
        "matrix lose too much, bf16 slices compute it.",
    .source = "inlay",
    .ladder = Ladder::none,
    .origin = Origin::ours,
    .rejects = rejects_split,
    .seconds = seconds,
    .workspace = Dispatch::workspace,
};

}  // namespace inlay::kernels::sgemm_split_fast
