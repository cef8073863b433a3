// Numbers in memory, as their DType says.
#pragma once
#include <inlay/types.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace inlay::registry {
using enum DType;

// Reads an f32, bf16 or f16.
inline float read_number(void const* p, DType type) {
  if (type == f16) {
    _Float16 x;
    std::memcpy(&x, p, sizeof x);
    return float(x);
  }
  std::uint32_t bits = 0;
  if (type == bf16)
    std::memcpy(reinterpret_cast<char*>(&bits) + 2, p, 2);  // the upper half of an f32
  else
    std::memcpy(&bits, p, 4);
  return std::bit_cast<float>(bits);
}

// The nearest number of the type; ties go to the even one.
inline float rounded(float x, DType type) {
  if (type == f16) return float(_Float16(x));
  if (type != bf16 || x != x) return x;
  std::uint32_t const bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000u);
}

// Writes the nearest number of the type.
inline void write_number(void* p, DType type, float x) {
  if (type == f16) {
    _Float16 const half = _Float16(x);
    std::memcpy(p, &half, sizeof half);
    return;
  }
  std::uint32_t const bits = std::bit_cast<std::uint32_t>(rounded(x, type));
  if (type == bf16)
    std::memcpy(p, reinterpret_cast<char const*>(&bits) + 2, 2);
  else
    std::memcpy(p, &bits, 4);
}

}  // namespace inlay::registry
