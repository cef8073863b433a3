// The slices of K of GEMMs of bf16 and f16. Each is a sum of its own; sum_slices adds them, or the kernel does.
#pragma once
#include <inlay/model/cluster_times.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace inlay::model {

// The base address, rounded up to 256 bytes, by which slices are chosen. The slices decide the bits of D, and two
// matrices of a batch can begin at different addresses modulo 256: by their own bases they would get other bits.
inline void* any_base(void const* base) {
  return reinterpret_cast<void*>(round_up(std::int64_t(reinterpret_cast<std::uintptr_t>(base)), 256));
}

// `count` matrices like those of g, one behind the other, the first where it may be loaded by 16 bytes: what decides
// the order of sums, so that every matrix has the bits that it has alone.
inline Gemm matrices_like(Gemm const& g, std::int64_t count) {
  Gemm like = g;
  for (Operand* o : {&like.A, &like.B, &like.D, &like.C}) {
    if (o == &like.C && !o->base) continue;
    o->base = any_base(o->base), o->matrices = count;
    o->batch_stride = count > 1 ? std::max(o->rows * o->row_stride, o->cols * o->col_stride) : 0;
  }
  return like;
}

// The bits of D depend on the slices alone: they are chosen for one matrix, the same for g and its transpose, and every
// kernel on wgmma adds them in order.
struct HalfSlices {
  static constexpr std::int64_t kLeastK = 256;  // of a slice whose sum goes to the workspace
  // Tensor cores truncate what they add to a sum, 16 indices at a time: after 2^14 additions it may lack 2^-10, after
  // 2^16 2^-8. The most indices of a slice where there is a choice, and the most that a kernel may add.
  static constexpr std::int64_t kMostK = std::int64_t(1) << 18, kMostSum = std::int64_t(1) << 20;

  // By how much longer one matrix may take for the sake of many. Chosen by predicted times of development suites: their
  // single GEMMs lose half a percent, the batches of half_batched win 8; 1.3 would cost 1.8 and win 10.
  static constexpr double kMostOfOne = 1.15;
  // As many matrices as have 1e11 FMAs, some tenths of a millisecond.
  static std::int64_t many(Gemm const& g) {
    return std::int64_t(std::clamp(1e11 / (double(g.M()) * double(g.N()) * double(g.K())), 1., 1e5));
  }

  int count = 1;
  std::int64_t K = 0;  // of a slice; the last one may be shorter
  double seconds = 0;  // predicted, of one matrix

  // Whether a cluster adds them.
  constexpr bool fit_cluster() const {
    return count <= ClusterTimes::kMostSlices && std::has_single_bit(unsigned(count));
  }
  static HalfSlices of(std::int64_t K, std::int64_t count) {
    std::int64_t const k = ceil_div(ceil_div(K, count), std::int64_t(64)) * 64;
    return {int(ceil_div(K, k)), k};
  }

  // Predicted, of the kernel that is the fastest with these slices; infinite if there is none.
  double seconds_of(Gemm const& g, Device const& device, bool has_workspace) const {
    double least = HUGE_VAL;
    for (Gemm const& c : {g, g.transposed()}) {
      Gemm ring = c;
      ring.slices = count, ring.slice_K = K;
      if (count == 1 || (has_workspace && K >= kLeastK)) least = std::min(least, WgmmaTimes::of_tile(ring, device, {}));
      if (fit_cluster()) least = std::min(least, ClusterTimes::of_tile(in_cluster(c, *this), device, {}));
    }
    return least;
  }

  // The slices with which many matrices take the least time, of those with which one matrix takes at most kMostOfOne
  // times as long as with the best. One alone must not decide: 384 x (512 x 64 x 512) took 3.7 times as long as cuBLAS
  // in four slices, with which one matrix is predicted to take 2.8 us instead of 2.9.
  static HalfSlices choose(Gemm const& g, Device const& device, bool has_workspace = true) {
    if (g.elements() == 0 || g.K() == 0) return {};
    Gemm const one = matrices_like(g, 1);
    std::int64_t const long_enough = ceil_div(g.K(), kMostK),
                       least = has_workspace ? long_enough
                                             : std::min(std::int64_t(std::bit_ceil(std::uint64_t(long_enough))),
                                                        std::int64_t(ClusterTimes::kMostSlices));
    HalfSlices tried[std::size(kWgmmaTiles) * 6 + 6];
    std::int64_t wanted_of[std::size(tried)], number = 0;
    HalfSlices best;
    best.seconds = HUGE_VAL;
    auto const try_count = [&](std::int64_t wanted) {
      wanted = std::max(wanted, least);
      if (std::find(wanted_of, wanted_of + number, wanted) != wanted_of + number) return;
      HalfSlices s = of(g.K(), wanted);
      s.seconds = s.seconds_of(one, device, has_workspace);
      wanted_of[number] = wanted, tried[number++] = s;
      if (s.seconds < best.seconds) best = s;
    };
    for (int count = 1; count <= ClusterTimes::kMostSlices; count *= 2) try_count(count);
    if (has_workspace)
      for (WgmmaTile const& t : kWgmmaTiles)
        for (Gemm const& c : {one, one.transposed()})
          for (int waves = 1; waves <= 3; ++waves) {
            std::int64_t const tiles =
                ceil_div(c.M(), std::int64_t(128 * t.cluster.m)) * ceil_div(c.N(), std::int64_t(t.width * t.cluster.n));
            try_count(std::min(waves * resident_clusters(device, t.cluster) / tiles, g.K() / kLeastK));
          }
    std::int64_t const count = HalfSlices::many(g);
    auto const end = std::remove_if(tried, tried + number,
                                    [&](HalfSlices const& s) { return !(s.seconds <= kMostOfOne * best.seconds); });
    if (count < 2 || end - tried < 2) return best;
    Gemm const many = matrices_like(g, count);
    double least_of_many = HUGE_VAL;
    for (HalfSlices const* s = tried; s != end; ++s)
      if (double const seconds = s->seconds_of(many, device, has_workspace); seconds < least_of_many)
        least_of_many = seconds, best = *s;
    return best;
  }

  // g whose partial sums go to the workspace.
  static Gemm sliced(Gemm const& g, HalfSlices const& slices) {
    if (slices.count == 1) return g;
    Gemm c = g;
    c.slices = slices.count, c.slice_K = slices.K;
    c.epilogue = {}, c.C = {};
    bool const along_m = g.D.row_stride == 1 && g.D.col_stride != 1;
    c.D.base = nullptr, c.D.type = f32, c.D.batch_stride = g.M() * g.N();
    c.D.row_stride = along_m ? 1 : g.N(), c.D.col_stride = along_m ? g.M() : 1;
    return c;
  }
  // g whose slices a cluster adds.
  static Gemm in_cluster(Gemm const& g, HalfSlices const& slices) {
    Gemm c = g;
    c.slice_K = slices.count > 1 ? slices.K : 0;
    return c;
  }
  static Gemm split(Gemm const& g, Device const& device) { return sliced(g, choose(g, device)); }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    std::int64_t const slices = choose(g, device).count;
    return slices > 1 ? std::size_t(slices * g.elements()) * sizeof(float) : 0;
  }
};

}  // namespace inlay::model
