// fp32 GEMM by f16 slices where they are as accurate as fp32, else by bf16 slices.
#pragma once
#include <inlay/kernels/gemm/tensor/split_gemm.h>

namespace inlay::kernels::sgemm_split_fast {

struct Step {};
struct Dispatch {
  static constexpr bool slices_operands = true;
  // Both are launched; which one computes a matrix is a word of the workspace for each, known on the GPU alone.
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    auto* const refusals = static_cast<unsigned*>(setting.workspace);
    char* const behind = static_cast<char*>(setting.workspace) + round_up(g.L() * 4, 256);
    SplitGemm<Step, half_t>::launches(g, behind, refusals, setting, f);
    if (!g.only_packs) SplitGemm<Step, bfloat16_t>::launches(without_kept(g), behind, refusals, setting, f);
  }
  // bf16 slices take no operand that was packed as f16 slices.
  static Gemm without_kept(Gemm g) {
    g.A.kept = g.B.kept = nullptr;
    return g;
  }
  static std::size_t workspace(Gemm const& g, Device const&) {
    if (!g.elements() || !g.K()) return 0;
    if (g.only_packs) return std::size_t(SplitGemm<Step, half_t>::bytes(g));
    return std::size_t(round_up(g.L() * 4, 256) + std::max(SplitGemm<Step, half_t>::bytes(g),
                                                           SplitGemm<Step, bfloat16_t>::bytes(without_kept(g))));
  }
};

// With the launches of the other way, which end at once unless K is so short that f16 slices are refused.
inline double seconds(Gemm const& g, Device const& device) {
  return 4e-6 +
         (g.K() < 64 ? SplitGemm<Step, bfloat16_t>::seconds(g, device) : SplitGemm<Step, half_t>::seconds(g, device));
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
