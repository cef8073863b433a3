// A matrix that is contiguous along its rows' index r, times 1 to 8 vectors: LANES threads have V neighbours of one k
// each; the k are dealt to the warps of a block and to what is left of a warp.
#pragma once
#include <inlay/kernels/gemm/fma/thin.h>

namespace inlay::kernels {

// Step gives the kernel's symbol its name.
template <class Step, int V, int T, int LANES>
struct ThinColumns : Thin {
  static constexpr int threads = 256, SLICES = threads / LANES, TILE = LANES * V;
  static constexpr int AHEAD = V == 1 ? 16 : T < 4 ? 8 : 6;  // loads in flight; more would spill
  static constexpr int STEP = AHEAD * SLICES;                // k of the loads in flight
  static constexpr int PIECE = cute::max(4096 / T / STEP * STEP, STEP);
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = T <= 4 ? 3 : 2, .clusters = true};
  using Access = std::conditional_t<V == 4, Quad, float>;
  using AccessX = std::conditional_t<T % 4 == 0, Quad, float>;
  struct Smem {
    alignas(16) float X[cute::max(PIECE * T, SLICES* T* TILE)];  // (t,k), then the sums of slices (r,t,slice)
    float sums[TILE * T];                                        // (t,r)
    static void members(auto name) { name("X", &Smem::X), name("sums", &Smem::sums); }
  };

  static ThinGrid grid_of(Gemm const& g, int parts) { return ThinGrid::of(g.K(), large(g).rows, TILE, SLICES, parts); }
  static ThinColumns make(Gemm const& g, int parts) { return {Thin::make(g, grid_of(g, parts))}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Copy_Atom<On<Block, UniversalCopy<Access>>, Access> load;
    Copy_Atom<On<Block, UniversalCopy<AccessX>>, AccessX> shared;
    auto const here = grid.at(block.block_index(), K);
    int const tid = int(block.thread_rank()), slice = tid / LANES, r = here.tile * TILE + tid % LANES * V;
    float const* const x = X + here.l * x_batch;
    int next_k = here.k0 + slice;  // of the next load, and its address
    float const* next = W + (here.l * w_batch + r + next_k * w_step);
    bool const inside = r < R;
    Access ahead[AHEAD];
    float acc[V][T];
    CUTE_UNROLL
    for (int i = 0; i < V; ++i) CUTE_UNROLL
    for (int t = 0; t < T; ++t) acc[i][t] = 0;
    auto const at = [&](int k, int u) { return k + u * SLICES + slice; };
    auto const fetch = [&](int u) {
      ahead[u] = {};
      copy_one(load, inside && next_k < here.k1, make_gmem_ptr(reinterpret_cast<Access const*>(next)), &ahead[u]);
      next_k += SLICES, next += SLICES * w_step;
    };
    CUTE_UNROLL
    for (int u = 0; u < AHEAD; ++u) fetch(u);
    CUTE_NO_UNROLL
    for (int piece = here.k0; piece < here.k1; piece += PIECE) {
      int const end = cute::min(here.k1, piece + PIECE);
      if (piece > here.k0) block.sync();  // all have multiplied the previous piece
      stage_vectors<T, threads>(block, *this, x, piece, end, smem.X, T, 1);
      CUTE_NO_UNROLL
      for (int k = piece; k < end; k += STEP) CUTE_UNROLL
      for (int u = 0; u < AHEAD; ++u) {
        constexpr int N = sizeof(AccessX) / 4;
        AccessX v[T / N];
        CUTE_UNROLL
        for (int q = 0; q < T / N; ++q) {
          v[q] = {};
          copy_one(shared, at(k, u) < end,
                   make_smem_ptr(reinterpret_cast<AccessX const*>(smem.X + ((at(k, u) - piece) * T + q * N))), &v[q]);
        }
        CUTE_UNROLL
        for (int i = 0; i < V; ++i) CUTE_UNROLL
        for (int t = 0; t < T; ++t)
          On<Block, UniversalFMA<float>>::fma(acc[i][t], reinterpret_cast<float const*>(&ahead[u])[i],
                                              reinterpret_cast<float const*>(v)[t], acc[i][t]);
        fetch(u);
      }
    }
    sum_slices(block, acc, slice, tid % LANES * V, smem);
    store_thin<TILE, T, threads>(block, *this, here, grid.parts, smem.sums);
  }

  template <class Block>
  CUTE_DEVICE static void sum_slices(Block block, float const (&acc)[V][T], int slice, int r, Smem& smem) {
    Copy_Atom<On<Block, UniversalCopy<Access>>, Access> put;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    block.sync();  // all have multiplied
    CUTE_UNROLL
    for (int t = 0; t < T; ++t) {
      Access sums;
      CUTE_UNROLL
      for (int i = 0; i < V; ++i) reinterpret_cast<float*>(&sums)[i] = acc[i][t];
      copy_one(put, true, &sums, make_smem_ptr(reinterpret_cast<Access*>(smem.X + ((slice * T + t) * TILE + r))));
    }
    block.sync();
    int const tid = int(block.thread_rank());
    CUTE_NO_UNROLL
    for (int e0 = 0; e0 < TILE * T; e0 += threads) {
      int const e = e0 + tid, row = e % TILE, t = e / TILE;
      bool const on = e < TILE * T;
      float sum = 0;
      CUTE_UNROLL
      for (int q = 0; q < SLICES; ++q) {
        float x = 0;
        copy_one(atom, on, make_smem_ptr(smem.X + ((q * T + t) * TILE + row)), &x);
        sum += x;
      }
      copy_one(atom, on, &sum, make_smem_ptr(smem.sums + (row * T + t)));
    }
  }
};

}  // namespace inlay::kernels
