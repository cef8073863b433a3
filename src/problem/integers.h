// Integer arithmetic, alignment of addresses, and sizes of the memory system.
#pragma once
#include <cstdint>

namespace inlay::problem {

inline constexpr std::int64_t kVectorBytes = 16;  // the widest access of a thread
inline constexpr std::int64_t kSectorBytes = 32;  // the unit of global-memory traffic

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t n, std::int64_t multiple) { return ceil_div(n, multiple) * multiple; }

// Bytes by which an address exceeds a multiple of `bytes`.
inline std::int64_t misalignment(void const* p, std::int64_t bytes) {
  return std::int64_t(reinterpret_cast<std::uint64_t>(p) % std::uint64_t(bytes));
}

}  // namespace inlay::problem
