// Integer arithmetic and sizes of the memory system, for problems and the planner.
#pragma once
#include <cstdint>

namespace inlay::problem {

inline constexpr std::int64_t kVectorBytes = 16;  // the widest access of a thread
inline constexpr std::int64_t kSectorBytes = 32;  // the unit of global-memory traffic

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace inlay::problem
