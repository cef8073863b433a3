#include "measure/device_tally.h"

namespace inlay::lab {
namespace {

// An odd factor permutes the 31-bit numbers: 1 bit becomes the sign, 7 an exponent in [64, 192), 23 the mantissa.
__device__ std::uint32_t pattern(std::uint64_t i) {
  std::uint32_t const x = std::uint32_t(i) * 0x9E3779B1u;
  return (x >> 30 & 1) << 31 | ((x & 0x3fffffff) + (64u << 23));
}

__global__ void fill_kernel(std::uint32_t* data, std::int64_t words) {
  over_all(words, [=](std::int64_t i) { data[i] = pattern(std::uint64_t(i)); });
}

__global__ void check_strided_kernel(unsigned char* dst, std::int64_t elements, __grid_constant__ Strided const layout,
                                     Tallies* tallies) {
  over_all(elements, [&](std::int64_t i) {
    std::int64_t rest = i, from = layout.src_base, to = layout.dst_base;
    for (int k = 0; k < layout.rank; ++k) {
      std::int64_t const digit = rest % layout.extent[k];
      rest /= layout.extent[k];
      from += digit * layout.src[k], to += digit * layout.dst[k];
    }
    bool right = true;
    for (int b = 0; b < layout.bytes; ++b) {
      std::uint32_t const word = pattern(std::uint64_t(from + b) / 4);
      right &= dst[to + b] == (word >> 8 * ((from + b) % 4) & 0xFF);
      dst[to + b] = kPoison;
    }
    if (!right) note(&tallies->wrong, i);
  });
}

__global__ void poison_kernel(unsigned char const* data, std::int64_t bytes, Tallies* tallies) {
  over_all(bytes, [=](std::int64_t i) {
    if (data[i] != kPoison) note(&tallies->stray, i);
  });
}

}  // namespace

void fill(void* data, std::int64_t words, cudaStream_t stream) {
  fill_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<std::uint32_t*>(data), words);
  check(cudaGetLastError());
}

Checked check_strided(std::vector<void*> const& dsts, Strided const& layout, std::int64_t buffer_bytes,
                      cudaStream_t stream) {
  return tallied(stream, [&](Tallies* tallies) {
    for (void* dst : dsts) {
      auto* const bytes = static_cast<unsigned char*>(dst);
      check_strided_kernel<<<kBlocks, kThreads, 0, stream>>>(bytes, layout.elements(), layout, tallies);
      poison_kernel<<<kBlocks, kThreads, 0, stream>>>(bytes, buffer_bytes, tallies);
    }
  });
}

Wrong count_unpoisoned(void const* data, std::int64_t bytes, cudaStream_t stream) {
  auto const bands = [&](Tallies* tallies) {
    poison_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<unsigned char const*>(data), bytes, tallies);
  };
  return tallied(stream, bands).stray;
}

}  // namespace inlay::lab
