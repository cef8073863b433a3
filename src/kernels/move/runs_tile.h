// A matrix of up to 64 columns, or up to 64 rows. One side lies in one piece, element r of group i at i * R + r; on the
// other side it is element i of run r. Columns: the input is the piece, the output's rows are runs; rows: the other way.
#pragma once
#include <inlay/kernels/move/flat_tile.h>

namespace inlay::kernels {

inline constexpr int kMostRuns = 64;

// Step: runs_are_output.
template <class T, class Step>
struct RunsTile {
  static constexpr bool kRunsAreOutput = Step::runs_are_output;
  using W = Word<T>;
  using Piece = FlatPiece<T>;
  using Smem = typename Piece::Smem;
  static constexpr int E = sizeof(T), k = PerWord<T>, threads = Piece::threads;
  static constexpr LaunchFacts launch_facts{.threads = threads, .blocks_per_sm = 8};
  static constexpr bool transposes = true;
  T *flat, *runs;
  int64_t length, ld, batch_flat, batch_runs;  // of a run; between runs; between matrices
  int R, chunk;                                // runs; elements of each that a block takes
  cutlass::FastDivmod chunks;                  // blocks of a matrix
  int batch;

  static std::optional<Matrices> const& matrices(Move const& move) { return move.as_transpose(); }
  static int64_t runs_of(Matrices const& x) { return kRunsAreOutput ? x.N : x.M; }
  static int64_t length_of(Matrices const& x) { return kRunsAreOutput ? x.M : x.N; }
  static int chunk_of(Matrices const& x) {
    // As long as fit; where that makes too few blocks to fill a GPU, a quarter of it, but not below 512 bytes. Whole
    // sectors.
    int const most = int((Piece::ELEMS - 16 / E) / runs_of(x)), quarter = most / 4 > 512 / E ? most / 4 : 512 / E;
    bool const few = length_of(x) * x.L < int64_t(most) * 1024;
    return (few && quarter < most ? quarter : most) / (32 / E) * (32 / E);
  }
  static int64_t chunks_of(Matrices const& x) { return ceil_div(length_of(x), int64_t(chunk_of(x))); }

  static RunsTile make(Move const& move, auto const&) {
    Matrices const& x = *matrices(move);
    T* const in = static_cast<T*>(const_cast<void*>(x.in));
    T* const out = static_cast<T*>(x.out);
    return {kRunsAreOutput ? in : out,
            kRunsAreOutput ? out : in,
            length_of(x),
            kRunsAreOutput ? x.ld_out : x.ld_in,
            kRunsAreOutput ? x.batch_in : x.batch_out,
            kRunsAreOutput ? x.batch_out : x.batch_in,
            int(runs_of(x)),
            chunk_of(x),
            int(chunks_of(x)),
            int(x.L)};
  }
  int64_t blocks() const { return int64_t(chunks.divisor) * batch; }

  // Calls f with the kind of piece that goes with the stride R.
  template <class F>
  CUTE_DEVICE void with_piece(F f) const {
    R % 2 ? f(FlatPiece<T, Vector16, false>(nullptr, 0)) : f(Piece(nullptr, 0));
  }
  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int l, c;
    chunks(l, c, int(block.group_index()));
    int64_t const i0 = int64_t(c) * chunk;
    int const n = int(length - i0 < chunk ? length - i0 : chunk);
    T* const run0 = runs + l * batch_runs + i0;
    with_piece([&](auto kind) {
      decltype(kind) const piece(flat + l * batch_flat + i0 * R, unsigned(n * R));
      if constexpr (kRunsAreOutput) {
        load_flat(block, piece, smem.A);
        block.sync();
        over_runs(block, piece, run0, n, smem.A);
      } else {
        over_runs(block, piece, run0, n, smem.A);
        block.sync();
        store_flat(block, piece, smem.A);
      }
    });
  }

  // A warp takes 32 words of a run at a time: whole words, or element by element where the run begins and ends.
  template <class Block, class P>
  CUTE_DEVICE void over_runs(Block block, P const& piece, T* run0, int n, void* image) const {
    Copy_Atom<On<Block, std::conditional_t<kRunsAreOutput, UniversalCopy<W>, LoadEvictLast<W>>>, W> word;
    Copy_Atom<On<Block, std::conditional_t<kRunsAreOutput, LoadShared<T>, UniversalCopy<T>>>, T> shared;
    Copy_Atom<On<Block, std::conditional_t<kRunsAreOutput, UniversalCopy<T>, LoadGlobal<T>>>, T> global;
    unsigned const lane = block.thread_rank() % 32, warp = block.thread_rank() / 32;
    int const segments = (n + k - 1 + 32 * k - 1) / (32 * k);
    for (int r = int(warp) % R, s = int(warp) / R; s < segments; step(r, s)) {
      Piece const run(run0 + r * ld, unsigned(n));
      unsigned const w = s * 32 + lane;
      int const first = int(w * k) - int(run.shift / E);  // element of the run
      unsigned const at = piece.at(unsigned(first * R + r));
      if (run.whole(s * 32) && run.whole(s * 32 + 31))
        move_word<P>(word, shared, run.global(w), image, at);
      else
        move_elements<P>(global, shared, run.base + first, image, at, first, n);
    }
  }
  CUTE_HOST_DEVICE void step(int& r, int& s) const {
    for (r += threads / 32; r >= R; r -= R) ++s;
  }
  // at: the byte of the first element in the image.
  template <class P, class Atom, class SharedAtom>
  CUTE_DEVICE void move_word(Atom const& word, SharedAtom const& shared, W* global, void* image, unsigned at) const {
    W w{};
    if constexpr (!kRunsAreOutput) copy_one(word, true, make_gmem_ptr(static_cast<W const*>(global)), &w);
    CUTE_UNROLL
    for (int x = 0; x < k; ++x) {
      T e = T(w >> x * 8 * E % (8 * sizeof(W)));
      auto const place = shared_at<T>(image, P::place(at + x * R * E));
      if constexpr (kRunsAreOutput) {
        copy_one(shared, true, place, &e);
        w |= W(e) << x * 8 * E % (8 * sizeof(W));
      } else {
        copy_one(shared, true, &e, place);
      }
    }
    if constexpr (kRunsAreOutput) copy_one(word, true, &w, make_gmem_ptr(global));
  }
  template <class P, class Atom, class SharedAtom>
  CUTE_DEVICE void move_elements(Atom const& atom, SharedAtom const& shared, T* global, void* image, unsigned at,
                                 int first, int n) const {
    CUTE_UNROLL
    for (int x = 0; x < k; ++x) {
      T e{};
      bool const on = first + x >= 0 && first + x < n;
      auto const place = shared_at<T>(image, on ? P::place(at + x * R * E) : 0);
      if constexpr (kRunsAreOutput) {
        copy_one(shared, on, place, &e);
        copy_one(atom, on, &e, make_gmem_ptr(global + x));
      } else {
        copy_one(atom, on, make_gmem_ptr(static_cast<T const*>(global + x)), &e);
        copy_one(shared, on, &e, place);
      }
    }
  }

  static Reason rejects(Move const& move, Device const&) {
    auto const& x = matrices(move);
    if (!x) return {"the move is no batch of transposes between row-major matrices"};
    if (runs_of(*x) > kMostRuns)
      return {kRunsAreOutput ? "{} columns are more than {}" : "{} rows are more than {}", {runs_of(*x), kMostRuns}};
    if (kRunsAreOutput && x->M > 1 && x->ld_in != x->N)
      return {"the input's rows lie {} elements apart, {} would be one piece", {x->ld_in, x->N}};
    if (!kRunsAreOutput && x->N > 1 && x->ld_out != x->M)
      return {"the output's rows lie {} elements apart, {} would be one piece", {x->ld_out, x->M}};
    return too_many("{} chunks in {} matrices are more blocks than a grid holds", chunks_of(*x), x->L,
                    {chunks_of(*x), x->L, 0});
  }

  static Counts counts(Move const& move);
};

}  // namespace inlay::kernels

#include <inlay/kernels/move/runs_tile_counts.h>
