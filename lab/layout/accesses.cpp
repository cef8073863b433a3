#include "layout/accesses.h"

#include <fmt/format.h>

#include <algorithm>

#include "usage_error.h"

namespace inlay::lab {
namespace {

using banks::Access, banks::Request;
using Walk = WarpAccess::Walk;

// The offset of the element with a colexicographic index.
std::int64_t offset_at(TileOffsets const& tile, std::int64_t index) {
  return tile(index % tile.rows, index / tile.rows);
}

// The request whose lane t accesses offset_of(first + t), in elements; lanes from `end - first` on are inactive.
template <class Offset>
Request request_at(std::int64_t first, std::int64_t end, int bytes, int elem_bytes, Offset offset_of) {
  Request r{{}, 0, std::uint32_t(bytes)};
  for (std::int64_t t = 0; t < 32 && first + t < end; ++t) {
    r.address[t] = std::uint64_t(offset_of(first + t) * elem_bytes);
    r.active |= 1u << t;
  }
  return r;
}

// Calls visit(request, warp) for every request until it returns false. `warp` counts the warps of WarpAccess::threads.
template <class Visit>
void for_each_request(TileOffsets const& tile, WarpAccess const& access, Vectors const& v, int elem_bytes,
                      Visit visit) {
  if (access.walk == Walk::threads) {
    Layout const& threads = *access.threads;
    for (std::int64_t first = 0; first < threads.rows(); first += 32)
      for (std::int64_t value = 0; value < threads.cols(); value += v.length) {
        auto const offset_of = [&](std::int64_t thread) { return offset_at(tile, threads(thread, value)); };
        if (!visit(request_at(first, threads.rows(), access.bytes, elem_bytes, offset_of), first / 32)) return;
      }
    return;
  }
  // Vectors along a line, and lines across; short lines follow one another as if they were one.
  bool const row = access.walk == Walk::row;
  std::int64_t const di = v.down ? v.length : 1, dj = v.down ? 1 : v.length;
  std::int64_t const along = row ? tile.cols / dj : tile.rows / di, across = row ? tile.rows / di : tile.cols / dj;
  std::int64_t const length = along >= 32 ? along : along * across;
  for (std::int64_t line = 0; line < along * across / length; ++line)
    for (std::int64_t first = 0; first < length; first += 32) {
      auto const offset_of = [&](std::int64_t n) {
        std::int64_t const y = line + n / along, x = n % along;
        return row ? tile(y * di, x * dj) : tile(x * di, y * dj);
      };
      if (!visit(request_at(first, length, access.bytes, elem_bytes, offset_of), 0)) return;
    }
}

// Whether all groups of `length` elements of a line, from multiples of `length` on, are contiguous in memory and begin
// at an offset that is a multiple of `length`.
template <class Offset>
bool is_contiguous(std::int64_t lines, std::int64_t extent, std::int64_t length, Offset offset) {
  if (length == 1) return true;
  if (extent % length) return false;
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::int64_t i = 0; i < extent; ++i) {
      std::int64_t const start = offset(l, i - i % length);
      if (start % length || offset(l, i) != start + i % length) return false;
    }
  return true;
}

}  // namespace

TileOffsets tile_of(Layout const& layout) {
  TileOffsets tile{layout.rows(), layout.cols()};
  if (layout.rank() == 1) std::swap(tile.rows, tile.cols);
  auto const by_index = layout.offsets();
  tile.offsets.reserve(by_index.size());
  for (std::int64_t i = 0; i < tile.rows; ++i)
    for (std::int64_t j = 0; j < tile.cols; ++j) tile.offsets.push_back(by_index[std::size_t(i + j * tile.rows)]);
  return tile;
}

void check_partition(TileOffsets const& tile, Layout const& threads) {
  for (std::int64_t value = 0; value < threads.cols(); ++value)
    for (std::int64_t thread = 0; thread < threads.rows(); ++thread)
      if (std::int64_t const index = threads(thread, value); index >= std::int64_t(tile.offsets.size()))
        throw UsageError(fmt::format("--threads {}: value {} of thread {} is element {} of a tile of {}",
                                     to_string(threads), value, thread, index, tile.offsets.size()));
}

std::optional<Vectors> vectors_of(TileOffsets const& tile, WarpAccess const& access, int elem_bytes) {
  std::int64_t const length = access.bytes / elem_bytes;
  if (length * elem_bytes != access.bytes) return {};
  if (access.walk == Walk::threads) {
    Layout const& threads = *access.threads;
    auto const offset = [&](auto thread, auto value) { return offset_at(tile, threads(thread, value)); };
    if (is_contiguous(threads.rows(), threads.cols(), length, offset)) return Vectors{length, false};
    return {};
  }
  if (is_contiguous(tile.rows, tile.cols, length, tile)) return Vectors{length, false};
  auto const transposed = [&](auto j, auto i) { return tile(i, j); };
  if (is_contiguous(tile.cols, tile.rows, length, transposed)) return Vectors{length, true};
  return {};
}

Wavefronts wavefronts_of(TileOffsets const& tile, WarpAccess const& access, Vectors const& vectors, int elem_bytes,
                         Access direction) {
  Wavefronts w;
  double sum = 0, requests = 0;
  for_each_request(tile, access, vectors, elem_bytes, [&](Request const& r, auto) {
    unsigned const n = banks::wavefronts(r, direction), least = banks::passes(r, direction);
    if (requests == 0 || n - least > w.worst - w.least || (n - least == w.worst - w.least && n > w.worst))
      w = {r, n, least, 0};
    sum += n, ++requests;
    return true;
  });
  w.mean = sum / requests;
  return w;
}

unsigned excess_of(TileOffsets const& tile, WarpAccess const& access, Vectors const& vectors, int elem_bytes,
                   unsigned enough) {
  unsigned worst = 0;
  for_each_request(tile, access, vectors, elem_bytes, [&](Request const& r, auto) {
    for (Access const direction : {Access::load, Access::store})
      worst = std::max(worst, banks::wavefronts(r, direction) - banks::passes(r, direction));
    return worst < enough;
  });
  return worst;
}

std::vector<std::vector<unsigned>> wavefronts_by_warp(TileOffsets const& tile, WarpAccess const& access,
                                                      Vectors const& vectors, int elem_bytes, Access direction) {
  std::vector<std::vector<unsigned>> found;
  for_each_request(tile, access, vectors, elem_bytes, [&](Request const& r, auto warp) {
    found.resize(std::size_t(warp) + 1);
    found.back().push_back(banks::wavefronts(r, direction));
    return true;
  });
  return found;
}

}  // namespace inlay::lab
