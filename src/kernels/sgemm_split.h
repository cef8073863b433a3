// Family: a step of sgemm_tile.h whose K is cut into parts, so that a product with few tiles of C fills the GPU. Each block
// writes the sums of a part to the workspace; a second kernel adds them.
#pragma once
#include "kernels/sgemm_tile.h"
#include "kernels/split_reduce.h"

namespace inlay::kernels {

template <template <Vectors A, Vectors B> class Step>
struct SgemmSplit : SgemmVectors<Step> {
  using Base = SgemmVectors<Step>;
  // BLK_M and BLK_N are those of all, and parts are multiples of its BLK_K.
  using Tile = typename Base::template Tile<Vectors::rows, Vectors::rows>;
  static constexpr int64_t least_k = 64;  // a shorter part costs more in partial sums than it gives

  // The length of a part, of M, N and K alone: as many parts as blocks of one wave have room for. Up to 256 nothing is
  // cut: the planner may then take any variant of one chain.
  static int64_t part_k(Gemm const& g, Device const& device) {
    if (g.K <= 256) return 256;
    int64_t const tiles = ceil_div(g.M, int64_t(Tile::BLK_M)) * ceil_div(g.N, int64_t(Tile::BLK_N));
    int64_t const wave = int64_t(device.sm_count) * Tile::min_blocks;
    int64_t const parts = cute::max(wave / tiles, int64_t(1));
    int64_t k = cute::max(ceil_div(g.K, parts), least_k);
    if (g.accuracy == Accuracy::two_level) k = cute::min(k, int64_t(1024));  // a part is a chain
    return ceil_div(k, int64_t(Tile::BLK_K)) * Tile::BLK_K;
  }
  static int64_t parts(Gemm const& g, Device const& device) { return g.K ? ceil_div(g.K, part_k(g, device)) : 1; }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    int64_t const n = g.elements() ? parts(g, device) : 1;
    return n > 1 ? std::size_t(n * g.elements()) * sizeof(float) : 0;
  }

  // The product whose C are partial sums.
  static Gemm sums(Gemm g, float* partial) {
    g.alpha = 1, g.beta = 0;
    g.C = partial, g.c_m = g.N, g.c_n = 1, g.c_l = g.M * g.N;
    return g;
  }

  template <class Encoder, class F>
  static void launches(Gemm const& g, Device const& device, void* workspace, Encoder const& encode, F const& f) {
    int const n = workspace ? int(parts(g, device)) : 1;
    if (n == 1) return Base::launches(g, device, workspace, encode, f);
    auto const partial = static_cast<float*>(workspace);
    Gemm const cut = sums(g, partial);
    Base::with_tile(g, [&]<class T>(std::type_identity<T>) {
      auto kernel = T::make(cut, device, nullptr, encode);
      kernel.parts = n, kernel.part_k = part_k(g, device);
      f(kernel);
    });
    reduce_parts(g, partial, n, f);
  }

  // For sampled replays: a part is a product of its own, by where its sums begin modulo a sector.
  template <class Encoder, class Sampler>
  static void samples(Gemm const& g, Device const& device, void* workspace, Encoder const& encode,
                      Sampler const& sample) {
    Base::with_tile(g, [&]<class T>(std::type_identity<T>) {
      auto const over = [&](Gemm const& product, int64_t parts) {
        over_lengths(product, Base::k_period, [&](Gemm const& part, int64_t times) {
          sample.kinds(T::make(part, device, nullptr, encode), times * parts);
        });
      };
      int64_t const n = workspace ? parts(g, device) : 1, length = part_k(g, device);
      if (n == 1) return over(g, 1);
      auto const partial = static_cast<float*>(workspace);
      Gemm cut = sums(g, partial);
      cut.K = length;
      over_phases(n - 1, g.elements() * 4, 0, [&](int64_t part, int64_t times) {
        cut.C = partial + part * g.elements();
        over(cut, times);
      });
      cut.C = partial + (n - 1) * g.elements(), cut.K = g.K - (n - 1) * length;
      over(cut, 1);
      reduce_parts(g, partial, int(n), [&](auto const& kernel) { sample.kinds(kernel, 1); });
    });
  }

  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = Base::rejects(g, device)) return r;
    if (!g.elements() || !g.K) return {};
    int64_t const tiles = ceil_div(g.M, int64_t(Tile::BLK_M)) * ceil_div(g.N, int64_t(Tile::BLK_N));
    int64_t const n = parts(g, device);
    if (n > 1 && __int128(n) * g.elements() * 4 > device.memory_bytes)
      return {"{} partial sums of each of {} elements do not fit the device's memory", {n, g.elements()}};
    if (__int128(tiles) * n * g.L > INT32_MAX)
      return {"{} tiles in {} parts and {} matrices are more blocks than a grid holds", {tiles, n, g.L}};
    return {};
  }
};

}  // namespace inlay::kernels
