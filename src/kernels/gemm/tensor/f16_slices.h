// A row of fp32 elements that is scaled by a power of two and sliced, hi + lo / 2^11 in f16: its scale, and what it
// loses.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

struct ScaledRow {
  unsigned most = 0;        // the largest |x| as bits, before scaling
  float sum = 0, lost = 0;  // sums over the row: of |x| after scaling, and of |x - its slices|
  float whole = 0;          // number of elements that are scaled to 2^-14 or more, whose slices have all bits

  CUTE_HOST_DEVICE static unsigned size_bits(float x) { return std::bit_cast<unsigned>(x) & 0x7fffffffu; }
  // The power of two, from 2^-63 to 2^63, that brings `most` to 2^14 or more, below 2^15. Two of them multiplied are
  // finite.
  CUTE_HOST_DEVICE float scale() const {
    return std::bit_cast<float>(unsigned(cute::max(-63, cute::min(exponent(), 63)) + 127) << 23);
  }
  // Whether the slices of a row of K elements may lose more than cuBLAS's fp32 does, which was measured
  // (docs/05_results.md): if many elements are far below the largest one, whose scale leaves few bits for them; if more
  // than half are zero, for which fp32 rounds nothing, or hardly have bits, which counts where the other operand has
  // zeros for the large ones; and if K is so small that the truncation of the tensor cores is seen.
  CUTE_HOST_DEVICE bool refuses(int64_t K) const {
    if (most == 0) return false;  // of zeros alone, which are exact
    return !(most < 0x7f800000u && exponent() >= -63 && exponent() <= 63 && K >= 64 && lost <= .5f / 8388608 * sum &&
             2 * whole >= float(K));
  }

  // Makes both slices of each of two elements, which are scaled; slices[i] holds slice i of both.
  CUTE_HOST_DEVICE void slice_pair(float first, float second, uint32_t (&slices)[2]) {
    sum += fabsf(first), sum += fabsf(second);
    whole += is_whole(first), whole += is_whole(second);
    CUTE_UNROLL
    for (int i = 0; i < 2; ++i) {
      float a, b;
      slices[i] = f16_pair(first, second, a, b);
      first = (first - a) * 2048, second = (second - b) * 2048;
    }
    constexpr float back = 1.f / 2048 / 2048;
    lost = fmaf(fabsf(first), back, lost), lost = fmaf(fabsf(second), back, lost);
  }

 private:
  CUTE_HOST_DEVICE int exponent() const { return most ? 141 - int(most >> 23) : 0; }
  // 1 or 0.
  CUTE_HOST_DEVICE static float is_whole(float x) {
#ifdef __CUDA_ARCH__
    float is;
    asm("set.ge.f32.f32 %0, %1, %2;" : "=f"(is) : "f"(fabsf(x)), "f"(0x1p-14f));
    return is;
#else
    return fabsf(x) >= 0x1p-14f;
#endif
  }
  // Two f16 in a word, `first` in the lower half, rounded to nearest, and what they are as floats.
  CUTE_HOST_DEVICE static uint32_t f16_pair(float first, float second, float& first_f16, float& second_f16) {
#ifdef __CUDA_ARCH__
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    asm("{\n\t.reg .b16 low, high;\n\tmov.b32 {low, high}, %2;\n\tcvt.f32.f16 %0, low;\n\tcvt.f32.f16 %1, high;\n\t}"
        : "=f"(first_f16), "=f"(second_f16)
        : "r"(pair));
    return pair;
#else
    half_t const a(first), b(second);
    first_f16 = float(a), second_f16 = float(b);
    return a.storage | uint32_t(b.storage) << 16;
#endif
  }
};

}  // namespace inlay::kernels
