// A matrix that is contiguous along k, times 1 to 8 vectors: LANES threads along k have four rows, V elements a load.
#pragma once
#include <inlay/kernels/gemm/fma/thin.h>

namespace inlay::kernels {

// Step gives the kernel's symbol its name.
template <class Step, int V, int T, int LANES>
struct ThinRows : Thin {
  static constexpr int threads = 256, ROWS = 4, GROUPS = threads / LANES, TILE = GROUPS * ROWS;
  static constexpr int IN_WARP = LANES < 32 ? LANES : 32, WARPS = LANES / IN_WARP;  // of a group
  static constexpr int AHEAD = 8 / V;                                               // loads of a row that are in flight
  static constexpr int STEP = AHEAD * LANES * V;                                    // k of the loads in flight
  static constexpr int PIECE = cute::max(8192 / T / STEP * STEP, STEP), PITCH = PIECE + 4;  // of X in shared memory
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = T <= 4 ? 3 : 2, .clusters = true};
  using Access = std::conditional_t<V == 4, Quad, float>;
  struct Smem {
    alignas(16) float X[T * PITCH];              // (k,t)
    float part[WARPS > 1 ? TILE* T* WARPS : 1];  // (warp,t,r)
    float sums[TILE * T];                        // (t,r)
    static void members(auto name) { name("X", &Smem::X), name("part", &Smem::part), name("sums", &Smem::sums); }
  };

  static ThinGrid grid_of(Gemm const& g, int parts) { return ThinGrid::of(g.K(), large(g).rows, TILE, STEP, parts); }
  static ThinRows make(Gemm const& g, int parts) { return {Thin::make(g, grid_of(g, parts))}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    Copy_Atom<On<Block, UniversalCopy<Access>>, Access> load;
    Copy_Atom<On<Block, UniversalCopy<Access>>, Access> shared;
    auto const here = grid.at(block.block_index(), K);
    int const tid = int(block.thread_rank()), lane = tid % LANES, group = tid / LANES;
    float const* const x = X + here.l * x_batch;
    float const* w[ROWS];
    CUTE_UNROLL
    for (int i = 0; i < ROWS; ++i)
      w[i] = W + (here.l * w_batch + cute::min(here.tile * TILE + group * ROWS + i, R - 1) * w_step);
    Access ahead[AHEAD][ROWS];
    float acc[ROWS][T];
    CUTE_UNROLL
    for (int i = 0; i < ROWS; ++i) CUTE_UNROLL
    for (int t = 0; t < T; ++t) acc[i][t] = 0;
    auto const at = [&](int k, int u) { return k + (u * LANES + lane) * V; };
    auto const fetch = [&](int k, int u) {
      CUTE_UNROLL
      for (int i = 0; i < ROWS; ++i) {
        ahead[u][i] = {};
        copy_one(load, at(k, u) < here.k1, make_gmem_ptr(reinterpret_cast<Access const*>(w[i] + at(k, u))),
                 &ahead[u][i]);
      }
    };
    CUTE_UNROLL
    for (int u = 0; u < AHEAD; ++u) fetch(here.k0, u);
    CUTE_NO_UNROLL
    for (int piece = here.k0; piece < here.k1; piece += PIECE) {
      int const end = cute::min(here.k1, piece + PIECE);
      if (piece > here.k0) block.sync();  // all have multiplied the previous piece
      stage_vectors<T, threads>(block, *this, x, piece, end, smem.X, 1, PITCH);
      CUTE_NO_UNROLL
      for (int k = piece; k < end; k += STEP) CUTE_UNROLL
      for (int u = 0; u < AHEAD; ++u) {
        CUTE_UNROLL
        for (int t = 0; t < T; ++t) {
          Access v{};
          copy_one(shared, at(k, u) < end,
                   make_smem_ptr(reinterpret_cast<Access const*>(smem.X + (t * PITCH + at(k, u) - piece))), &v);
          CUTE_UNROLL
          for (int i = 0; i < ROWS; ++i) CUTE_UNROLL
          for (int e = 0; e < V; ++e)
            On<Block, UniversalFMA<float>>::fma(acc[i][t], reinterpret_cast<float const*>(&ahead[u][i])[e],
                                                reinterpret_cast<float const*>(&v)[e], acc[i][t]);
        }
        fetch(k + STEP, u);
      }
    }
    sum_lanes(block, acc, lane, group, smem);
    store_thin<TILE, T, threads>(block, *this, here, grid.parts, smem.sums);
  }

  // Sums over the threads of a group. While lanes halve, they halve the rows too: each ends with one.
  template <class Block>
  CUTE_DEVICE static void sum_lanes(Block block, float (&acc)[ROWS][T], int lane, int group, Smem& smem) {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int const in_warp = lane % IN_WARP;
    CUTE_UNROLL
    for (int t = 0; t < T; ++t) {
      CUTE_UNROLL
      for (int n = ROWS / 2, step = IN_WARP / 2; n >= 1; n /= 2, step /= 2) {
        bool const upper = in_warp & step;
        CUTE_UNROLL
        for (int i = 0; i < n; ++i) {
          float const given = upper ? acc[i][t] : acc[i + n][t], kept = upper ? acc[i + n][t] : acc[i][t];
          acc[i][t] = kept + block.shfl_xor(given, step);
        }
      }
      CUTE_UNROLL
      for (int step = IN_WARP / ROWS / 2; step >= 1; step /= 2) acc[0][t] += block.shfl_xor(acc[0][t], step);
    }
    constexpr int EACH = IN_WARP / ROWS;  // lanes that end with the same row
    int const row = group * ROWS + in_warp / EACH;
    CUTE_UNROLL
    for (int t = 0; t < T; ++t)
      copy_one(atom, in_warp % EACH == 0, &acc[0][t],
               make_smem_ptr(WARPS > 1 ? smem.part + ((row * T + t) * WARPS + lane / 32) : smem.sums + (row * T + t)));
    if constexpr (WARPS > 1) {
      block.sync();
      static_assert(TILE * T <= threads);
      int const e = int(block.thread_rank());
      float sum = 0;
      CUTE_UNROLL
      for (int q = 0; q < WARPS; ++q) {
        float x = 0;
        copy_one(atom, e < TILE * T, make_smem_ptr(smem.part + (e * WARPS + q)), &x);
        sum += x;
      }
      copy_one(atom, e < TILE * T, &sum, make_smem_ptr(smem.sums + e));
    }
  }
};

}  // namespace inlay::kernels
