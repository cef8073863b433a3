// Pairs of fp32 elements as sums of three bf16 slices, in registers: x = h + m + l, each the rounded rest of those
// before it.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// Two bf16 in a word, `first` in the lower half, rounded to nearest. saturates: what would become infinite becomes the
// largest bf16.
template <bool saturates>
CUTE_HOST_DEVICE uint32_t bf16_pair(float first, float second) {
#ifdef __CUDA_ARCH__
  uint32_t pair;
  if constexpr (saturates)
    asm("cvt.rn.satfinite.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  auto const bits = [](float x) -> uint32_t {
    uint32_t const b = bfloat16_t(x).storage;
    return saturates && (b & 0x7fff) == 0x7f80 ? b - 1 : b;
  };
  return bits(first) | bits(second) << 16;
#endif
}

// Makes three slices of each of two fp32 elements; slices[i] holds slice i of both. All three slices of a finite
// element are finite. Of an infinite element the first slice is the largest bf16, the second is infinite and the third
// is NaN, so that every sum it enters becomes NaN.
CUTE_HOST_DEVICE void slice_pair(float first, float second, uint32_t (&slices)[3]) {
  CUTE_UNROLL
  for (int i = 0; i < 3; ++i) {
    slices[i] = i == 0 ? bf16_pair<true>(first, second) : bf16_pair<false>(first, second);
    first -= std::bit_cast<float>(slices[i] << 16), second -= std::bit_cast<float>(slices[i] & 0xffff0000u);
  }
}

}  // namespace inlay::kernels
