#include <fmt/format.h>
#include <inlay/gemm.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "fuzz/draw.h"

namespace inlay::lab {
namespace {
using namespace planner;

// Nested modes in any order. The batch is the outermost one in most cases.
DrawnMatrix draw_matrix(Random& random, std::int64_t L, std::int64_t rows, std::int64_t cols, bool reads,
                        bool backwards) {
  DrawnMatrix x{{L, rows, cols}, {}, random.one_in(2) ? random.below(16) : 0};
  int order[3] = {2, 1, 0};
  if (random.one_in(2)) std::swap(order[0], order[1]);
  if (random.one_in(8)) std::shuffle(order, order + 3, random.engine());
  std::int64_t n = random.one_in(8) ? random.between(1, 3) : 1;
  for (int k : order) {
    x.stride[k] = n, n *= x.extent[k];
    if (random.one_in(3)) n += random.between(1, 5);
    if (random.one_in(4)) n = (n + 3) / 4 * 4;
  }
  if (reads && random.one_in(6)) x.stride[0] = 0;
  for (std::int64_t& stride : x.stride) {
    if (backwards && random.one_in(12)) stride = -stride;
    if (reads && random.one_in(24)) stride = 0;
  }
  return x;
}

std::int64_t draw_extent(Random& random, std::int64_t most) {
  if (random.one_in(6)) return 1;
  std::int64_t extent = random.one_in(2) ? random.between(1, 70) : std::int64_t(1) << random.between(0, 11);
  if (random.one_in(4)) extent += random.between(-1, 1);
  if (random.one_in(8)) extent = random.between(1, 3000);
  return std::clamp<std::int64_t>(extent, 1, std::max<std::int64_t>(most, 1));
}

}  // namespace

std::int64_t DrawnMatrix::first() const {
  std::int64_t n = base;
  for (int k = 0; k < 3; ++k) n += stride[k] < 0 && extent[k] > 1 ? -stride[k] * (extent[k] - 1) : 0;
  return n;
}
std::int64_t DrawnMatrix::elements() const {
  std::int64_t n = base + 1;
  for (int k = 0; k < 3; ++k) n += extent[k] > 1 ? std::abs(stride[k]) * (extent[k] - 1) : 0;
  return n;
}
Tensor DrawnMatrix::view(float* buffer, bool batched) const {
  Tensor t;
  t.data = buffer + first(), t.dtype = f32, t.rank = batched ? 3 : 2;
  for (int k = 0; k < t.rank; ++k) t.extent[k] = extent[k + 3 - t.rank], t.stride[k] = stride[k + 3 - t.rank];
  return t;
}

bool FuzzedGemm::agrees() const {
  return std::all_of(shift, shift + 3, [](std::int64_t elements) { return elements * 4 % kPlanAlignment == 0; });
}
problem::Gemm FuzzedGemm::problem(float* A, float* B, float* D) const {
  return make_gemm(a.view(A, batched), b.view(B, batched), d.view(D, batched), {.alpha = alpha, .beta = beta}, compute);
}
std::string FuzzedGemm::text() const {
  constexpr char const* kSums[] = {"", ", blocked summation", ", split_safe", ", split_fast"};
  auto const strides = [](char const* name, DrawnMatrix const& x) {
    return fmt::format(", {} strides ({},{},{}) + {}", name, x.stride[0], x.stride[1], x.stride[2], x.base);
  };
  std::string const by =
      candidate < 0 ? "the planner's choice" : candidates<Gemm>()[std::size_t(candidate)].kernel.info->name;
  return fmt::format("gemm: L {} M {} N {} K {}", L, M, N, K) + strides("A", a) + strides("B", b) + strides("D", d) +
         fmt::format(", alpha {}, beta {}{}{}; {}, run {}, {} and {} elements from the plan's A, B and D", alpha, beta,
                     kSums[int(compute)], with_workspace ? ", with a workspace" : "", by, shift[0], shift[1], shift[2]);
}

FuzzedGemm draw_fuzzed_gemm(Random& random, std::int64_t most) {
  FuzzedGemm t{};
  most = std::max<std::int64_t>(1, most >> random.below(7));
  std::int64_t extent[3], left = most;
  int order[3] = {0, 1, 2};
  std::shuffle(order, order + 3, random.engine());
  for (int k : order) extent[k] = draw_extent(random, left), left /= extent[k];
  t.M = extent[0], t.N = extent[1], t.K = extent[2];
  t.batched = random.one_in(2);
  t.L = t.batched ? std::clamp<std::int64_t>(random.between(1, random.one_in(4) ? 100 : 5), 1,
                                             std::max<std::int64_t>(left, 1))
                  : 1;
  if (random.one_in(40)) (random.one_in(2) ? t.K : random.one_in(2) ? t.M : t.N) = 0;
  float const alphas[] = {1, 1, 1, 2, -1, 0}, betas[] = {0, 0, 0, 1, -2};
  t.alpha = alphas[random.below(6)], t.beta = betas[random.below(5)];
  t.a = draw_matrix(random, t.L, t.M, t.K, true, true);
  t.b = draw_matrix(random, t.L, t.K, t.N, true, true);
  t.d = draw_matrix(random, t.L, t.M, t.N, false, t.beta == 0);
  Compute const others[] = {Compute::fp32_blocked, Compute::split_safe, Compute::split_fast};
  t.compute = random.one_in(3) ? others[random.below(3)] : Compute::fp32;
  t.with_workspace = !random.one_in(3);
  if (!random.one_in(3)) t.candidate = int(random.below(std::int64_t(candidates<Gemm>().size())));
  for (std::int64_t& shift : t.shift)
    shift = random.one_in(4) ? random.below(kMostShift / 4)
                             : kPlanAlignment / 4 * random.below(kMostShift / kPlanAlignment);
  return t;
}

planner::Plan plan_of(FuzzedGemm const& fuzzed, problem::Gemm const& planned, Device const& device) {
  if (fuzzed.candidate >= 0 && planned.elements()) {
    Attempt attempt =
        attempt_in_chunks(candidates<Gemm>()[std::size_t(fuzzed.candidate)], planned, device, fuzzed.with_workspace);
    attempt.plan.candidate = fuzzed.candidate;
    if (!attempt.rejected) return attempt.plan;
  }
  return make_plan(planned, device, fuzzed.with_workspace);
}

}  // namespace inlay::lab
