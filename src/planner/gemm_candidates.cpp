#include <inlay/kernels/kernel_list.h>
#include <inlay/model/half_slices.h>
#include <inlay/planner/gemm_packing.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace inlay::planner {
namespace {

// ---- bf16 and f16

// Predicted seconds of mma.sync, for which nothing is packed.
double seconds_of_mma_sync(Gemm const& g, Device const& device) {
  double least = HUGE_VAL;
  for (Info<Gemm> const* kernel :
       {&kernels::hgemm_simple::kernel, &kernels::hgemm_mma::kernel, &kernels::hgemm_small::kernel})
    if (!kernel->rejects(g, device)) least = std::min(least, kernel->seconds(g, device));
  return least;
}
// Packs the operands of g for wgmma, on paper; returns the predicted seconds of that.
double pack_for_wgmma(Gemm& g, Device const& device) {
  double seconds = 0;
  for (Operand* o : {&g.A, &g.B}) {
    Packing p{misplaced(*o, Layout::aligned), *o};
    if (p) p.put(0), seconds += p.seconds(device);
    *o = p.used();
  }
  return seconds;
}

// Whether mma.sync is to multiply, or wgmma, to which operands are packed: whatever the batch, because the bits of the
// two differ. The least of the times of one matrix and of many, multiplied, decides: of 32 x 32 x 128 one takes 1.3
// times as long by mma.sync, and many take half as long.
bool prefers_mma_sync(Gemm const& g, Device const& device) {
  if (device.compute_capability != 90) return true;  // without wgmma
  Gemm one = model::matrices_like(g, 1), many = model::matrices_like(g, HalfSlices::many(g));
  double const mma = seconds_of_mma_sync(one, device), mma_of_many = seconds_of_mma_sync(many, device),
               packing = pack_for_wgmma(one, device), packing_of_many = pack_for_wgmma(many, device);
  HalfSlices const slices = HalfSlices::choose(one, device);
  double const wgmma = packing + slices.seconds_of(one, device, true),
               wgmma_of_many = packing_of_many + slices.seconds_of(many, device, true);
  return mma * mma_of_many < wgmma * wgmma_of_many;
}

// ---- f32

// Up to K = 24 FMA units compute every GEMM: sgemm_outer is faster than slices for large batches. f16 slices of a
// shorter K than 64 are always refused (f16_slices.h). A B that was packed as f16 slices is for sgemm_split_fast alone.
bool may_slice(Sums sums, Gemm const& g) {
  if (!is_split(g.compute) || g.K() <= 24) return false;
  bool const takes_f16 = g.compute == Compute::split_fast && (g.K() >= 64 || g.packed_operand());
  return sums == Sums::bf16_slices || takes_f16 == (sums == Sums::f16_slices);
}

// The least predicted seconds with each order of sums.
using SecondsOfSums = std::array<double, std::size_t(Sums::mma_sync)>;
SecondsOfSums seconds_of_sums(Gemm const& g, Device const& device, WorkspaceLimit limit,
                              std::span<Candidate<Gemm> const> all) {
  SecondsOfSums least;
  least.fill(HUGE_VAL);
  for (Candidate<Gemm> const& candidate : all) {
    Sums const sums = candidate.sums;
    if (is_of_halves(sums) || (is_of_element_slices(sums) && !may_slice(sums, g))) continue;
    double& of = least[std::size_t(order_of(sums, g.K()))];
    of = std::min(of, Planner<Gemm>::seconds(candidate, g, device, !limit.is_none()));
  }
  return least;
}

// Slices pay if they are a tenth faster than FMA units for one matrix, the margin being for both predictions, and take
// at most three times as long for many: sgemm_split_unpacked cuts a single small matrix into many blocks, and cuts each
// of a batch as often. (Three was chosen on suites/gemm/judge.json, by two of its single GEMMs and one batch drawn by
// another seed.) Among FMA units the least of both times, multiplied, decides; one matrix alone must not: 100,000
// GEMMs of 8 x 8 x 8 would take the kernel that is the fastest for one, and 60 times as long. Many are as many as have
// 1e11 FMAs, some milliseconds.
Sums fastest_sums(Gemm const& g, Device const& device, WorkspaceLimit limit,
                  std::span<Candidate<Gemm> const> candidates) {
  double const fmas = double(g.M()) * double(g.N()) * double(g.K());
  auto const many = std::int64_t(std::clamp(1e11 / fmas, 1., 1e5));
  SecondsOfSums const one = seconds_of_sums(model::matrices_like(g, 1), device, limit, candidates),
                      all = seconds_of_sums(model::matrices_like(g, many), device, limit, candidates);
  SecondsOfSums both = one;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] *= all[i];
  constexpr std::size_t first = std::size_t(Sums::bf16_slices);
  auto const fastest = [](SecondsOfSums const& score, std::size_t from, std::size_t to) {
    return std::size_t(std::min_element(score.begin() + std::ptrdiff_t(from), score.begin() + std::ptrdiff_t(to)) -
                       score.begin());
  };
  std::size_t const fma = fastest(both, 0, first), slices = fastest(one, first, one.size());
  bool const pay = one[slices] < .9 * one[fastest(one, 0, first)] && all[slices] <= 3 * all[fma];
  return Sums(pay ? slices : fma);
}

}  // namespace

Sums Planner<Gemm>::wanted(Gemm const& g, Device const& device, WorkspaceLimit limit,
                           std::span<Candidate<Gemm> const> all) {
  if (g.groups) return g.K() == 0 || device.compute_capability != 90 ? Sums::mma_sync : Sums::wgmma;
  if (is_half(g.A.type)) return g.K() == 0 || prefers_mma_sync(g, device) ? Sums::mma_sync : Sums::wgmma;
  return g.K() == 0 ? Sums::in_order : fastest_sums(g, device, limit, all);
}
char const* Planner<Gemm>::otherwise(Candidate<Gemm> const& candidate) {
  if (candidate.sums == Sums::mma_sync) return "packing and wgmma are predicted to be faster";
  if (candidate.sums == Sums::wgmma) return "mma.sync is predicted to be faster than packing and wgmma";
  return "another order of sums is predicted to take less time, for one matrix and for many";
}

// The bits must not depend on the batch size: L may only decide between kernels that add in one order. A candidate that
// does not apply is chosen only if no candidate that applies accepts the problem.
std::span<Candidate<Gemm> const> Planner<Gemm>::candidates() {
  using namespace kernels;
  using enum Sums;
  constexpr Layout aligned = Layout::aligned, aligned_mn = Layout::aligned_mn;
  static constexpr Candidate<Gemm> others[] = {
      {.kernel = &sgemm_split_unpacked::kernel, .sums = bf16_slices},
      {.kernel = &sgemm_split_safe::kernel, .sums = bf16_slices_packed},
      {.kernel = &sgemm_split_fast::kernel, .sums = f16_slices},
      {.kernel = &sgemm_outer::kernel},
      {.kernel = &sgemm_thin::kernel, .sums = thin},
      {.kernel = &sgemm_packed::kernel},
      {.kernel = &sgemm_split_32x32::kernel, .sums = slices_32x32},
      {.label = "as sgemm_split_32x32",
       .kernel = &sgemm_slices_64x64::kernel,
       .slices_of = &sgemm_split_32x32::kernel,
       .sums = slices_32x32},
      {.kernel = &sgemm_split_64x64::kernel, .sums = slices_64x64},
      {.label = "as sgemm_split_64x64",
       .kernel = &sgemm_slices_64x64::kernel,
       .slices_of = &sgemm_split_64x64::kernel,
       .sums = slices_64x64},
      {.kernel = &sgemm_narrow::kernel, .sums = slices_narrow},
      {.kernel = &sgemm_cluster::kernel, .a = aligned, .b = aligned, .sums = cluster},
      {.label = "transposes one operand",
       .kernel = &sgemm_tma_transposing::kernel,
       .a = aligned,
       .b = aligned,
       .packs_b_along_n = true,
       .sums = stream_k_transposing},
      {.label = "unpacked",
       .kernel = &sgemm_tma_transposing::kernel,
       .workspace_is_optional = true,
       .without = &sgemm_tma::kernel,
       .sums = stream_k_transposing},
      {.kernel = &sgemm_tma_stream_k::kernel, .a = aligned_mn, .b = aligned_mn, .sums = stream_k},
      {.kernel = &sgemm_tma_blocked::kernel, .a = aligned_mn, .b = aligned_mn, .sums = blocked},
      {.kernel = &sgemm_tile_blocked::kernel, .sums = blocked_in_registers},
      {.label = "unpacked", .kernel = &sgemm_tma::kernel},
      {.kernel = &sgemm_tile_128x256::kernel},
      {.kernel = &sgemm_tile_128x128::kernel},
      {.kernel = &sgemm_simple::kernel},
      {.label = "256 columns", .kernel = &hgemm_groups::kernel, .tile = 1, .for_groups = true, .sums = wgmma},
      {.label = "128 columns", .kernel = &hgemm_groups::kernel, .tile = 2, .for_groups = true, .sums = wgmma},
      {.label = "64 x 64", .kernel = &hgemm_mma::kernel, .tile = 1, .sums = mma_sync},
      {.label = "128 x 128", .kernel = &hgemm_mma::kernel, .tile = 2, .sums = mma_sync},
      {.label = "32 x 32", .kernel = &hgemm_small::kernel, .tile = 1, .sums = mma_sync},
      {.label = "64 x 64", .kernel = &hgemm_small::kernel, .tile = 2, .sums = mma_sync},
      {.kernel = &hgemm_simple::kernel, .sums = mma_sync},
  };
  static constexpr auto all = [] {
    std::array<Candidate<Gemm>, std::size(others) + 2 * (std::size(kWgmmaTiles) + std::size(kClusterTiles))> rows{};
    auto row = std::copy(std::begin(others), std::end(others), rows.begin());
    // Every tile on wgmma, also for the transpose of D.
    auto const add_tiles = [&](Info<Gemm> const& kernel, auto const& tiles) {
      for (int tile = 1; tile <= int(std::size(tiles)); ++tile)
        for (bool transposes : {false, true})
          *row++ = {.label = transposes ? tiles[tile - 1].label_of_transpose : tiles[tile - 1].label,
                    .kernel = &kernel,
                    .a = aligned,
                    .b = aligned,
                    .workspace_is_optional = true,
                    .tile = tile,
                    .transposes = transposes,
                    .sums = wgmma};
    };
    add_tiles(hgemm_10_narrow_tiles::kernel, kWgmmaTiles);
    add_tiles(hgemm_cluster::kernel, kClusterTiles);
    return rows;
  }();
  return all;
}

}  // namespace inlay::planner
