// What `inlay verify` finds on the CPU beyond a replay on whole numbers.
#include <gtest/gtest.h>
#include <inlay/kernels/gemm/fma/sgemm_01_naive.h>
#include <inlay/registry/replay_variant.h>

#include <bit>

#include "problems/gemm_case.h"
#include "problems/variants.h"
#include "verify/replay_check.h"

namespace inlay::lab {
namespace {

// A Block that multiplies an A rounded to so many bits: 11 of TF32, 8 of bf16, 24 of fp32.
template <int Bits>
struct Rounded : replay::HostBlock {
  static float rounded(float x) {
    auto const lost = std::uint32_t(1) << (24 - Bits), bits = std::bit_cast<std::uint32_t>(x);
    return std::bit_cast<float>((bits + lost / 2) & ~(lost - 1));
  }
  using Fmadd = cute::UniversalFMA<float>;
  struct Fma {
    static void fma(float& d, float a, float b, float c) { HostBlock::op<Fmadd>::fma(d, rounded(a), b, c); }
  };
  template <class Op>
  using op = std::conditional_t<std::is_same_v<Op, Fmadd>, Fma, HostBlock::op<Op>>;
};

template <int Bits>
Replayed verified(GemmCase const& c) {
  Entry<Gemm> entry = variant_named<GemmCase>("sgemm_01_naive");
  entry.replay = [](Gemm const& gemm, Device const& device, Recorder& recorder) {
    recorder.kernel = "rounded";
    registry::replay_variant<kernels::sgemm_01_naive::Kernel, Rounded<Bits>>(gemm, device, recorder);
  };
  EXPECT_EQ(replay_on_cpu(entry, c).verdict, "ok");  // whole numbers do not see it
  return verify_on_cpu(entry, c);
}

TEST(Verify, TellsFp32FromTf32AndBf16) {
  GemmCase plain = product_of(37, 41, 19, "nt"), scaled = product_of(16, 33, 300, "tn");
  scaled.alpha = -2.5f, scaled.beta = 1.5f, scaled.batch = 2;
  for (GemmCase const& c : {plain, scaled}) {
    SCOPED_TRACE(c.sentence());
    EXPECT_EQ(verified<24>(c).verdict, "ok");
    for (Replayed const& wrong : {verified<11>(c), verified<8>(c)}) {
      EXPECT_TRUE(wrong.failed());
      EXPECT_NE(wrong.verdict.find("is off by"), std::string::npos) << wrong.verdict;
    }
  }
}

}  // namespace
}  // namespace inlay::lab
