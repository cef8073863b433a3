// Counts the memory traffic of RealignedTile: one tile of each kind, request by request. The
// addresses come from the kernel (unit, readable, end_element, column_of, window_byte).
#pragma once
#include <inlay/kernels/common/tile_grid.h>

namespace inlay::kernels {

// Steps 1 and 4: loads of both vectors of each row of a unit, then stores of words, in whole tiles, without bank
// conflicts.
template <class Kernel, class Here>
void add_loads(Counts& c, Kernel const& kernel, Here const& here) {
  for (int u = 0; u < Kernel::UNITS; ++u)
    for (int tid0 = 0; tid0 < Kernel::threads; tid0 += 32)
      for (int i = 0; i < Kernel::k; ++i)
        for (int j = 0; j < 2; ++j)
          c.global_load += sectors(16, [&](unsigned lane) -> LaneAddress {
            auto const [vector, word] = Kernel::unit(tid0 + int(lane), u);
            int const row = word * Kernel::k + i;
            auto const p = Kernel::aligned(kernel.row_begin(here, row) + here.n + vector * Kernel::V) + j;
            return kernel.readable(here, row, p) ? LaneAddress(reinterpret_cast<uintptr_t>(p)) : std::nullopt;
          });
  constexpr int64_t requests = Kernel::WORDS * Kernel::BLK_N / 32;
  c.shared_store += {requests, requests};
}

// The elements at one end of the rows that no whole vector contains.
template <class Kernel, class Here>
void add_patches(Counts& c, Kernel const& kernel, Here const& here, int64_t from) {
  for (int i = 0; i < Kernel::PATCHES; ++i)
    for (int tid0 = 0; tid0 < Kernel::threads; tid0 += 32) {
      auto const patched = [&](unsigned lane, bool shared) -> LaneAddress {
        auto const [row, n] = Kernel::end_element(from, tid0 + lane, i);
        auto const p = kernel.row_begin(here, row) + n;
        bool const in_tile = row >= here.first && row < here.last && n >= here.n && n < here.n + here.cols;
        if (!in_tile || kernel.whole(here, row, Kernel::aligned(p))) return {};
        return shared ? uint64_t(Kernel::element_of(row, int(n - here.n))) * Kernel::E : reinterpret_cast<uintptr_t>(p);
      };
      c.global_load += sectors(Kernel::E, [&](unsigned lane) { return patched(lane, false); });
      c.shared_store += wavefronts(Kernel::E, banks::Access::store, [&](unsigned lane) { return patched(lane, true); });
    }
}

// Step 5, by columns: a lane's vector lies in the matrix, or partly at one end of the output's row, or outside.
template <class Kernel, class Here>
void add_stores(Counts& c, Kernel const& kernel, Here const& here) {
  constexpr int V = Kernel::V, SKEW = Kernel::SKEW, columns = 32 / Kernel::CHUNKS;  // of a warp
  for (int slot0 = 0; slot0 < Kernel::BLK_N; slot0 += columns) {
    bool any_whole = false;
    unsigned ragged = 0;  // bit x: some lane stores element x of its chunk alone
    for (int slot = slot0; slot < slot0 + columns; ++slot) {
      int const col = Kernel::column_of(slot), s = kernel.skew(here, col);
      // Elements [first, last) of the output run lie in the matrix. The run begins on a sector.
      int const first = std::max(here.first - SKEW + s, 0), last = std::min(here.last - SKEW + s, Kernel::BLK_M);
      if (col >= here.cols || first >= last) continue;
      int const chunk = ceil_div(first, V), chunks = last / V - chunk;
      if (chunks > 0) any_whole = true, c.global_store.transactions += sectors_of(chunk * 16, chunks * 16);
      unsigned const head = first % V ? (1u << V) - (1u << first % V) : 0, tail = (1u << last % V) - 1;
      ragged |= head | tail;
      c.global_store.transactions += std::popcount(head) + std::popcount(tail);
    }
    c.global_store.requests += any_whole + std::popcount(ragged);
    // Columns that share a request have the same offset modulo 16 bytes: all or none need a second vector. No bank
    // conflicts.
    int const vectors = Kernel::window_byte(kernel.skew(here, Kernel::column_of(slot0))) % 16 ? 2 : 1;
    c.shared_load += {vectors, 4 * vectors};
  }
}

// All tiles of a matrix have the same alignment; they differ in the edges that they contain.
template <class Kernel>
Counts realigned_counts(Kernel const& kernel) {
  constexpr int E = Kernel::E;
  Counts sum;
  over_phases(kernel.batch, kernel.batch_in * E, kernel.batch_out * E, [&](int64_t l, int64_t matrices) {
    over_tiles(kernel.tiles_n, [&](int64_t n, int64_t across) {
      over_tiles(kernel.tiles_m, [&](int64_t m, int64_t down) {
        auto const here = kernel.tile(uint32_t(kernel.block_of(m, n, l)));
        Counts tile;
        add_loads(tile, kernel, here);
        kernel.over_ends(here, [&](int64_t from) { add_patches(tile, kernel, here, from); });
        add_stores(tile, kernel, here);
        add(sum, tile, matrices * across * down);
      });
    });
  });
  return sum;
}

}  // namespace inlay::kernels
