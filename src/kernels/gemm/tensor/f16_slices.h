// A row of fp32 elements that is scaled by a power of two and sliced, hi + lo / 2^11 in f16: its scale, and what it loses.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

struct ScaledRow {
  unsigned most = 0;        // the largest |x| as bits, before scaling
  float sum = 0, lost = 0;  // sums over the row: of |x| after scaling, and of |x - its slices|
  int whole = 0;            // number of elements that are scaled to 2^-14 or more, whose slices have all bits

  CUTE_HOST_DEVICE static unsigned size_bits(float x) { return std::bit_cast<unsigned>(x) & 0x7fffffffu; }
  // The power of two, from 2^-63 to 2^63, that brings `most` to 2^14 or more, below 2^15. Two of them multiplied are finite.
  CUTE_HOST_DEVICE float scale() const {
    return std::bit_cast<float>(unsigned(cute::max(-63, cute::min(exponent(), 63)) + 127) << 23);
  }
  // Whether the slices of a row of K elements may lose more than cuBLAS's fp32 does, which was measured (docs/05_results.md): if many
  // elements are far below the largest one, whose scale leaves few bits for them; if more than half are zero, for which fp32 rounds
  // nothing, or hardly have bits, which counts where the other operand has zeros for the large ones; and if K is so small that the
  // truncation of the tensor cores is seen.
  CUTE_HOST_DEVICE bool refuses(int64_t K) const {
    if (most == 0) return false;  // of zeros alone, which are exact
    return !(most < 0x7f800000u && exponent() >= -63 && exponent() <= 63 && K >= 64 && lost <= .5f / 8388608 * sum &&
             2 * int64_t(whole) >= K);
  }

 private:
  CUTE_HOST_DEVICE int exponent() const { return most ? 141 - int(most >> 23) : 0; }
};

}  // namespace inlay::kernels
