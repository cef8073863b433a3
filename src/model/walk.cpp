#include <inlay/model/requests.h>
#include <inlay/model/walk.h>
#include <inlay/problem/integers.h>

#include <algorithm>

namespace inlay::model {
namespace {

// Sum of f(elements) over the chunks of a mode: `extent` elements in tiles of `tile`, each tile in chunks of at most
// `chunk`.
template <class F>
std::int64_t over_chunks(std::int64_t extent, std::int64_t tile, std::int64_t chunk, F f) {
  auto in_tile = [&](std::int64_t n) { return n / chunk * f(std::min(chunk, n)) + (n % chunk ? f(n % chunk) : 0); };
  return extent / tile * in_tile(tile) + (extent % tile ? in_tile(extent % tile) : 0);
}
std::int64_t chunks(std::int64_t extent, std::int64_t tile, std::int64_t chunk) {
  return over_chunks(extent, tile, chunk, [](std::int64_t) { return 1; });
}

// Calls f(address, rows): `rows` rows begin at this address modulo 32, which repeats after at most 32 rows.
template <class F>
void over_rows(Walk const& w, F f) {
  for (std::int64_t l = 0; l < std::min<std::int64_t>(w.batch, 32); ++l)
    for (std::int64_t i = 0; i < std::min<std::int64_t>(w.rows, 32); ++i)
      f((w.base + std::uint64_t(l * w.batch_stride + i * w.pitch)) % 32,
        ceil_div(w.batch - l, 32) * ceil_div(w.rows - i, 32));
}
std::int64_t row_requests(Walk const& w) {
  // Rows i, i + step, i + 2 step, ... share a request: `step` requests for each group of `group` rows.
  std::int64_t const step = w.row_step, group = 32 / w.lanes_along * step;
  auto const of_tile = [&](std::int64_t n) { return n / group * step + std::min(n % group, step); };
  std::int64_t const row_groups = over_chunks(w.rows, w.tile_rows, w.tile_rows, of_tile);
  return w.batch * row_groups * chunks(w.cols, w.tile_cols, std::int64_t(w.lanes_along) * w.vector);
}

// Sectors with the end of a row and the beginning of the next row of the same request, which counts them once.
std::int64_t shared_between_rows(Walk const& w) {
  int const rows = 32 / w.lanes_along;
  std::int64_t const bytes = w.cols * w.elem_bytes;
  if (rows == 1 || w.row_step > 1 || w.cols > std::int64_t(w.lanes_along) * w.vector)
    return 0;  // the next row belongs to another request, or is not adjacent
  std::int64_t shared = 0;
  for (std::int64_t l = 0; l < std::min<std::int64_t>(w.batch, 32); ++l)
    for (std::int64_t i = 0; i < std::min<std::int64_t>(w.rows - 1, 32); ++i) {
      std::uint64_t const address = w.base + std::uint64_t(l * w.batch_stride + i * w.pitch);
      bool const meet = (address + std::uint64_t(bytes) - 1) / 32 == (address + std::uint64_t(w.pitch)) / 32;
      if (meet && i % rows != rows - 1) shared += ceil_div(w.batch - l, 32) * ceil_div(w.rows - 1 - i, 32);
    }
  return shared;
}

}  // namespace

void add(Counts& sum, Counts const& block, std::int64_t times) {
  for (auto const part : {&Counts::global_load, &Counts::global_store, &Counts::shared_store, &Counts::shared_load,
                          &Counts::async_copy, &Counts::tma_load, &Counts::tma_store})
    sum.*part += {(block.*part).requests * times, (block.*part).transactions * times};
}

Traffic row_sectors(Walk const& w) {
  Traffic t{row_requests(w), 0};
  // Chunks begin whole sectors after the row, so all chunks of a row have its alignment.
  over_rows(w, [&](std::uint64_t address, std::int64_t count) {
    t.transactions += count * over_chunks(w.cols, w.tile_cols, std::int64_t(w.lanes_along) * w.vector,
                                          [&](std::int64_t n) { return sectors_of(address, n * w.elem_bytes); });
  });
  t.transactions -= shared_between_rows(w);
  return t;
}

Traffic column_sectors(Walk const& w) {
  Traffic t{w.batch * w.cols * chunks(w.rows, w.tile_rows, 32), 0};
  std::int64_t const pitch = std::abs(w.pitch);
  if (pitch >= 32) {  // each lane touches a sector of its own
    t.transactions = w.batch * w.cols * w.rows;
    return t;
  }
  // With a smaller pitch, a request touches every sector from the first to the last; 32 rows span whole sectors.
  for (std::int64_t l = 0; l < std::min<std::int64_t>(w.batch, 32); ++l)
    for (std::int64_t j = 0; j < w.cols; ++j)
      t.transactions += ceil_div(w.batch - l, 32) * over_chunks(w.rows, w.tile_rows, 32, [&](std::int64_t n) {
                          return sectors_of(w.base + std::uint64_t(l * w.batch_stride + j * w.elem_bytes),
                                            (n - 1) * pitch + w.elem_bytes);
                        });
  return t;
}

namespace {
// Wavefronts of requests whose first n lanes are active; `distinct_banks` consecutive lanes access different banks.
std::int64_t lane_wavefronts(std::int64_t n, int bytes, int distinct_banks) {
  std::int64_t const group = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  std::int64_t total = 0;
  for (; n > 0; n -= group) total += ceil_div(std::min(n, group), distinct_banks);
  return total;
}
}  // namespace

Traffic row_wavefronts(Walk const& w) {
  // With at most 4 bytes per lane, one wavefront serves all rows of a request.
  bool const one_pass = w.elem_bytes * w.vector <= 4;
  auto cost = [&](std::int64_t n) { return lane_wavefronts(ceil_div(n, w.vector), w.elem_bytes * w.vector, 32); };
  std::int64_t const chunk = std::int64_t(w.lanes_along) * w.vector;
  return {row_requests(w),
          one_pass ? row_requests(w) : w.batch * w.rows * over_chunks(w.cols, w.tile_cols, chunk, cost)};
}

Traffic column_wavefronts(Walk const& w, int distinct_banks) {
  return {w.batch * w.cols * chunks(w.rows, w.tile_rows, 32),
          w.batch * w.cols * over_chunks(w.rows, w.tile_rows, 32, [&](std::int64_t n) {
            return lane_wavefronts(n, w.elem_bytes, distinct_banks);
          })};
}

Traffic strided_row_wavefronts(Walk const& w, int distinct_banks) {
  return {row_requests(w), w.batch * w.rows * over_chunks(w.cols, w.tile_cols, 32, [&](std::int64_t n) {
                             return lane_wavefronts(n, w.elem_bytes, distinct_banks);
                           })};
}

Traffic scattered_wavefronts(Walk const& w) {
  int const rows_in_pass = w.elem_bytes == 16 ? 2 : w.elem_bytes == 8 ? 4 : 8;  // 8, 16 or 32 lanes, 4 to a row
  std::int64_t const passes =
      over_chunks(w.rows, w.tile_rows, 8, [&](std::int64_t n) { return ceil_div(n, rows_in_pass); });
  return {row_requests(w) * w.vector,
          w.batch * passes * w.cols};  // each element of a vector costs one wavefront per pass
}

Traffic boxes(Walk const& w) {
  return {w.batch * ceil_div(w.rows, w.tile_rows) * ceil_div(w.cols, w.tile_cols),
          w.batch * w.rows * w.cols * w.elem_bytes};
}

Walk input_walk(Matrices const& x, int e, int tile_m, int tile_n) {
  return {x.M, x.N, x.L, reinterpret_cast<std::uint64_t>(x.in), x.ld_in * e, x.batch_in * e, e, tile_m, tile_n};
}
Walk output_walk(Matrices const& x, int e, int tile_m, int tile_n, bool transpose) {
  auto const base = reinterpret_cast<std::uint64_t>(x.out);
  if (transpose) return {x.N, x.M, x.L, base, x.ld_out * e, x.batch_out * e, e, tile_n, tile_m};
  return {x.M, x.N, x.L, base, x.ld_out * e, x.batch_out * e, e, tile_m, tile_n};
}

}  // namespace inlay::model
