// Traffic of a single request of a warp, from the addresses of its lanes.
#pragma once
#include <inlay/banks.h>
#include <inlay/model/traffic.h>

#include <cstdint>
#include <optional>

namespace inlay::model {

// Sectors that contain `bytes` contiguous bytes.
constexpr std::int64_t sectors_of(std::uint64_t address, std::int64_t bytes) {
  return std::int64_t((address % 32 + std::uint64_t(bytes) + 31) / 32);
}

// A request of a warp with `bytes` bytes per lane; address(lane) is empty if the lane is inactive. A request without
// active lanes is not issued and has no traffic.
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

}  // namespace inlay::model
