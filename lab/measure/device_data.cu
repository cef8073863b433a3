#include "measure/device_tally.h"

namespace inlay::lab {
namespace {

template <class T>
__device__ T pattern(std::uint64_t i);

template <>
__device__ std::uint8_t pattern(std::uint64_t i) {
  return std::uint8_t(i * 0x9E3779B97F4A7C15u >> 56);
}
template <>
__device__ std::uint16_t pattern(std::uint64_t i) {
  return std::uint16_t(i * 0x9E3779B97F4A7C15u >> 48);
}
// An odd factor permutes the 31-bit numbers: 1 bit becomes the sign, 7 an exponent in [64, 192), 23 the mantissa.
template <>
__device__ std::uint32_t pattern(std::uint64_t i) {
  std::uint32_t const x = std::uint32_t(i) * 0x9E3779B1u;
  return (x >> 30 & 1) << 31 | ((x & 0x3fffffff) + (64u << 23));
}
// The same with 52 bits of mantissa, the exponent of 1.0 and a sign.
template <>
__device__ std::uint64_t pattern(std::uint64_t i) {
  std::uint64_t const x = i * 0x9E3779B97F4A7C15u;
  return (x & 0x800fffffffffffffu) | 0x3ff0000000000000u;
}
template <>
__device__ ulonglong2 pattern(std::uint64_t i) {
  return {pattern<std::uint64_t>(i), pattern<std::uint64_t>(~i)};
}

template <class T>
__device__ bool same(T a, T b) {
  return a == b;
}
__device__ bool same(ulonglong2 a, ulonglong2 b) { return a.x == b.x && a.y == b.y; }

template <class T>
__global__ void fill_kernel(T* data, std::int64_t elements) {
  over_all(elements, [=](std::int64_t i) { data[i] = pattern<T>(std::uint64_t(i)); });
}

template <class T>
__global__ void check_kernel(T const* dst, std::int64_t elements, Placement p, Tallies* tallies) {
  over_all(elements, [=](std::int64_t i) {
    std::int64_t const at = i - p.dst_base, row = at / p.dst_pitch, column = at - row * p.dst_pitch;
    if (at < 0 || column >= p.inner) {
      if (!is_poison(dst[i])) note(&tallies->stray, i);
      return;
    }
    std::int64_t const l = row / p.outer;
    std::int64_t const from = p.src_base + l * p.src_batch + (row - l * p.outer) * p.src_outer + column * p.src_inner;
    if (!same(dst[i], pattern<T>(std::uint64_t(from)))) note(&tallies->wrong, i);
  });
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
      std::uint32_t const word = pattern<std::uint32_t>(std::uint64_t(from + b) / 4);
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

// Calls f with a null pointer to the type that stands for elements of this size.
template <class F>
void with_bits(int elem_bytes, F f) {
  switch (elem_bytes) {
    case 1:
      return f(static_cast<std::uint8_t*>(nullptr));
    case 2:
      return f(static_cast<std::uint16_t*>(nullptr));
    case 4:
      return f(static_cast<std::uint32_t*>(nullptr));
    case 8:
      return f(static_cast<std::uint64_t*>(nullptr));
    case 16:
      return f(static_cast<ulonglong2*>(nullptr));
  }
  throw Error("test data has elements of 1, 2, 4, 8 or 16 bytes, not " + std::to_string(elem_bytes));
}

}  // namespace

void fill(void* data, int elem_bytes, std::int64_t elements, cudaStream_t stream) {
  with_bits(elem_bytes,
            [&]<class T>(T*) { fill_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<T*>(data), elements); });
  check(cudaGetLastError());
}

Checked check_placement(std::vector<void const*> const& dsts, int elem_bytes, Placement const& placement,
                        cudaStream_t stream) {
  return tallied(stream, [&](Tallies* tallies) {
    with_bits(elem_bytes, [&]<class T>(T*) {
      for (void const* dst : dsts)
        check_kernel<<<kBlocks, kThreads, 0, stream>>>(static_cast<T const*>(dst), placement.dst_elements(), placement,
                                                       tallies);
    });
  });
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
