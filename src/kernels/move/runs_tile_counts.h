// What RunsTile asks of memory: blocks that do alike, and the requests of one, walked one by one.
#pragma once
#include <inlay/kernels/move/runs_tile.h>
#include <inlay/kernels/parts/sampling.h>

namespace inlay::kernels {

// Chunks are whole sectors on both sides: those of a matrix begin alike, and only the last may be shorter.
template <class T, class Step>
struct Kinds<RunsTile<T, Step>> {
  template <class F>
  static void each(RunsTile<T, Step> const& kernel, F const& f) {
    constexpr int E = sizeof(T);
    over_phases(kernel.batch, kernel.batch_flat * E, kernel.batch_runs * E, [&](int64_t l, int64_t times) {
      int64_t const last = kernel.chunks.divisor - 1, first = l * kernel.chunks.divisor;
      if (last) f(kernel, first, times * last);
      f(kernel, first + last, times);
    });
  }
};

// Of one block: its piece, and n elements of each of the runs from run0 on.
template <class K, class P, class T>
Counts runs_counts(K const& kernel, P const& piece, T const* run0, int n) {
  using banks::Access;
  Counts c;
  FlatTraffic const one_piece = flat_traffic(piece, K::kRunsAreOutput ? Access::store : Access::load);
  (K::kRunsAreOutput ? c.global_load : c.global_store) = one_piece.global;
  (K::kRunsAreOutput ? c.shared_store : c.shared_load) = one_piece.shared;
  Traffic& global = K::kRunsAreOutput ? c.global_store : c.global_load;
  Traffic& shared = K::kRunsAreOutput ? c.shared_load : c.shared_store;
  for (int r = 0; r < kernel.R; ++r) {
    typename K::Piece const run(run0 + r * kernel.ld, unsigned(n));
    for (int w0 = 0; w0 * K::k < n + K::k - 1; w0 += 32) {
      bool const words = run.whole(w0) && run.whole(w0 + 31);
      auto const address = reinterpret_cast<std::uint64_t>(run.global(w0));
      if (words)
        global += sectors(sizeof(typename K::W),
                          [&](unsigned t) { return LaneAddress(address + t * sizeof(typename K::W)); });
      for (int x = 0; x < K::k; ++x) {
        auto const element = [&](unsigned t) {
          return (w0 + int(t)) * K::k + x - int(run.shift / K::E);
        };  // of the run
        auto const on = [&](unsigned t) { return element(t) >= 0 && element(t) < n; };
        if (!words)
          global += sectors(K::E, [&](unsigned t) {
            return on(t) ? LaneAddress(address + (t * K::k + unsigned(x)) * K::E) : std::nullopt;
          });
        shared += wavefronts(K::E, K::kRunsAreOutput ? Access::load : Access::store, [&](unsigned t) {
          return on(t) ? LaneAddress(P::place(piece.at(unsigned(element(t) * kernel.R + r)))) : std::nullopt;
        });
      }
    }
  }
  return c;
}

template <class T, class Step>
Counts RunsTile<T, Step>::counts(Move const& move) {
  RunsTile const kernel = make(move, 0);
  Counts sum;
  Kinds<RunsTile>::each(kernel, [&](RunsTile const&, int64_t block, int64_t times) {
    int64_t const l = block / kernel.chunks.divisor, i0 = block % kernel.chunks.divisor * kernel.chunk;
    int const n = int(std::min<int64_t>(kernel.length - i0, kernel.chunk)), R = kernel.R;
    T const* const base = kernel.flat + l * kernel.batch_flat + i0 * R;
    T const* const run0 = kernel.runs + l * kernel.batch_runs + i0;
    Counts const c = R % 2 ? runs_counts(kernel, FlatPiece<T, Vector16, false>(base, unsigned(n * R)), run0, n)
                           : runs_counts(kernel, Piece(base, unsigned(n * R)), run0, n);
    add(sum, c, times);
  });
  return sum;
}

}  // namespace inlay::kernels
