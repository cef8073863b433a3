// Closed forms of what a tile kernel asks of memory. A walk is one access of the kernel: lanes of a warp lie along rows
// (contiguous in memory) or down columns (a pitch apart). Requests whose lanes are all off are not issued.
#pragma once
#include <inlay/banks.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "plan/variant.h"
#include "problem/gemm.h"
#include "problem/move.h"

namespace inlay {

// How a kernel cuts a (rows, cols, batch) operand. `rows` is the mode that is strided in this operand's memory.
struct Walk {
  std::int64_t rows, cols, batch;
  std::uint64_t base;                // address of the first element
  std::int64_t pitch, batch_stride;  // bytes between rows, between matrices
  int elem_bytes;
  int tile_rows, tile_cols;
  int vector = 1;        // elements per lane and access, along a row
  int lanes_along = 32;  // lanes along a row; 32 / lanes_along rows share a request
  int rows_apart = 1;    // how far these rows are from one another
};

// Lanes along rows.
Traffic row_sectors(Walk const& walk);
// Lanes down a column, one element each.
Traffic column_sectors(Walk const& walk);

// Shared memory, the same walks over a tile. `apart`: how many consecutive lanes reach different banks before a bank
// comes again (32 or more: free of conflicts; 1: all lanes in one bank). A row walk is always free of conflicts here.
Traffic row_wavefronts(Walk const& walk);
Traffic column_wavefronts(Walk const& walk, int apart);
// Lanes along rows of the operand that lie `apart` lanes' worth of banks apart in a column-major tile.
Traffic strided_row_wavefronts(Walk const& walk, int apart);
// Vectors taken apart: lanes hold 4 vectors of `vector` elements in each of 8 rows, and store element after element into
// a column-major tile: consecutive rows are consecutive banks, the vectors of a row lie in one bank.
Traffic scattered_wavefronts(Walk const& walk);

// TMA: boxes, and the bytes of them that lie inside the tensor.
Traffic boxes(Walk const& walk);

// The two global operands of a transpose or copy as walks.
Walk input_walk(Matrices const& x, int elem_bytes, int tile_m, int tile_n);
Walk output_walk(Matrices const& x, int elem_bytes, int tile_m, int tile_n, bool transpose);

// ---- Where edges follow no such pattern, the requests of a few blocks are walked one by one and counted for all that
// are like them.

inline Traffic& operator+=(Traffic& sum, Traffic const& t) {
  sum.requests += t.requests, sum.transactions += t.transactions;
  return sum;
}
// `times` blocks of this cost.
void add(Cost& sum, Cost const& block, std::int64_t times);

// Sectors from the first byte to the last.
std::int64_t sectors_of(std::uint64_t address, std::int64_t bytes);

// Calls f(i, times) for i = 0, 1, ... of `count` things that lie these bytes apart in the input and in the output: how
// many lie as number i does, modulo a sector.
template <class F>
void over_phases(std::int64_t count, std::int64_t in_bytes, std::int64_t out_bytes, F f) {
  std::int64_t const period = 32 / std::gcd(std::gcd(in_bytes, out_bytes), std::int64_t(32));
  for (std::int64_t i = 0; i < std::min(count, period); ++i) f(i, (count - i + period - 1) / period);
}
// Calls f(i, times) for tiles along a mode that lie these bytes apart: the first and the last two, and those between by
// their phases.
template <class F>
void over_kinds(std::int64_t tiles, std::int64_t in_bytes, std::int64_t out_bytes, F f) {
  if (tiles > 0) f(0, 1);
  over_phases(tiles - 3, in_bytes, out_bytes, [&](std::int64_t i, std::int64_t times) { f(i + 1, times); });
  for (std::int64_t i = std::max<std::int64_t>(tiles - 2, 1); i < tiles; ++i) f(i, 1);
}
// Calls f(i, times) for tiles along a mode: the first and the last two, and one for all between.
template <class F>
void over_tiles(std::int64_t tiles, F f) {
  for (std::int64_t i = 0; i < tiles; i = i == 1 ? std::max<std::int64_t>(tiles - 2, 2) : i + 1)
    f(i, i == 1 ? std::max<std::int64_t>(tiles - 3, 1) : 1);
}

// What a kernel does that has all of K in a block is affine in K beyond its first stages, in steps of `period`. Calls
// f(product, times) so that the sum of what they do is what g does.
template <class F>
void over_lengths(Gemm const& g, std::int64_t period, F const& f) {
  std::int64_t const shortest = g.K % period + 2 * period, steps = (g.K - shortest) / period;
  if (steps < 2) return f(g, 1);
  Gemm part = g;
  part.K = shortest, f(part, 1 - steps);
  part.K = shortest + period, f(part, steps);
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

// A contiguous piece (kernels/flat_tile.h) on its way between global memory and its image in shared memory: words, and
// the elements at its ends. Both sides are asked in the same order.
struct FlatTraffic {
  Traffic global, shared;
};
template <class Piece>
FlatTraffic flat_traffic(Piece const& piece, banks::Access shared) {
  constexpr unsigned W = sizeof(typename Piece::W);
  FlatTraffic t;
  for (unsigned w0 = 0; w0 < piece.words(); w0 += 32) {
    auto const on = [&](unsigned lane, std::uint64_t address) {
      return piece.whole(w0 + lane) ? LaneAddress(address) : std::nullopt;
    };
    auto const global = reinterpret_cast<std::uint64_t>(piece.global(w0));
    t.global += sectors(W, [&](unsigned lane) { return on(lane, global + lane * W); });
    t.shared += wavefronts(W, shared, [&](unsigned lane) { return on(lane, Piece::place((w0 + lane) * W)); });
  }
  auto const end = [&](unsigned lane, auto address) {
    int const i = piece.end_element(lane);
    return i >= 0 ? LaneAddress(address(unsigned(i))) : std::nullopt;
  };
  auto const base = reinterpret_cast<std::uint64_t>(piece.base);
  t.global +=
      sectors(Piece::E, [&](unsigned lane) { return end(lane, [&](unsigned i) { return base + i * Piece::E; }); });
  t.shared += wavefronts(Piece::E, shared, [&](unsigned lane) {
    return end(lane, [&](unsigned i) { return Piece::place(piece.at(i)); });
  });
  return t;
}

}  // namespace inlay
