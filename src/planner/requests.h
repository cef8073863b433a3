// Single requests of a warp, lane by lane.
#pragma once
#include <inlay/banks.h>
#include <inlay/planner/traffic.h>

#include <cstdint>
#include <optional>

namespace inlay::planner {

// Sectors from the first byte to the last.
constexpr std::int64_t sectors_of(std::uint64_t address, std::int64_t bytes) {
  return std::int64_t((address % 32 + std::uint64_t(bytes) + 31) / 32);
}

// One request of a warp, `bytes` a lane; address(lane) is empty where the lane is off. Nothing if all are.
using LaneAddress = std::optional<std::uint64_t>;
template <class F>
banks::Request request_of(unsigned bytes, F address) {
  banks::Request r;
  r.bytes = bytes;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (LaneAddress const a = address(lane)) r.address[lane] = *a, r.active |= 1u << lane;
  return r;
}
template <class F>
Traffic sectors(unsigned bytes, F address) {
  auto const r = request_of(bytes, address);
  return r.active ? Traffic{1, banks::sectors(r)} : Traffic{};
}
template <class F>
Traffic wavefronts(unsigned bytes, banks::Access access, F address) {
  auto const r = request_of(bytes, address);
  return r.active ? Traffic{1, banks::wavefronts(r, access)} : Traffic{};
}

}  // namespace inlay::planner
