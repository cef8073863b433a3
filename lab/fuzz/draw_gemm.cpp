#include <fmt/format.h>
#include <inlay/gemm.h>
#include <inlay/model/wgmma_times.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "fuzz/draw.h"

namespace inlay::lab {
namespace {
using namespace planner;
using enum DType;

struct Uses {
  bool reads, backwards, repeats;  // repeats: one mode at most has a stride, as that of a bias along m or n
};

// Nested modes in any order. The batch modes are the outermost ones in most cases.
DrawnMatrix draw_matrix(Random& random, DType type, std::int64_t const (&extent)[DrawnMatrix::kModes],
                        Uses const& uses) {
  DrawnMatrix x{{}, {}, random.one_in(2) ? random.below(16) : 0, type};
  std::copy(std::begin(extent), std::end(extent), x.extent);
  int order[] = {3, 2, 1, 0};
  if (random.one_in(2)) std::swap(order[0], order[1]);
  if (random.one_in(4)) std::swap(order[2], order[3]);
  if (random.one_in(8)) std::shuffle(order, order + DrawnMatrix::kModes, random.engine());
  std::int64_t n = random.one_in(4) ? random.between(1, 3) : 1;
  for (int k : order) {
    x.stride[k] = n, n *= x.extent[k];
    if (random.one_in(3)) n += random.between(1, 5);
    if (random.one_in(4)) n = (n + 7) / 8 * 8;
  }
  if (uses.reads)
    for (int k = 0; k < 2; ++k)
      if (random.one_in(6)) x.stride[k] = 0;
  for (std::int64_t& stride : x.stride) {
    if (uses.backwards && random.one_in(12)) stride = -stride;
    if (uses.reads && random.one_in(24)) stride = 0;
  }
  if (uses.repeats) {  // a bias along m or along n, or a number
    int const kept = int(random.below(3));
    for (int k = 0; k < DrawnMatrix::kModes; ++k)
      if (k != kept + 2) x.stride[k] = 0;
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
// A K from 1024 to 65536, and few rows and columns.
void draw_deep(Random& random, FuzzedGemm& t, std::int64_t most, std::int64_t most_in_tiles) {
  constexpr std::int64_t kTile = 128;
  std::int64_t const longest = std::min({most, most_in_tiles / (kTile * kTile), std::int64_t(65536)});
  t.K = std::min((std::int64_t(1024) << random.below(6)) + random.below(1024 << random.below(6)), longest);
  std::int64_t left = most / t.K, tiles = most_in_tiles / (t.K * kTile * kTile);
  auto const draw = [&] {
    std::int64_t extent = random.between(1, random.one_in(2) ? 40 : 300);
    extent = std::clamp<std::int64_t>(extent, 1, std::max<std::int64_t>(std::min(left, tiles * kTile), 1));
    left /= extent, tiles /= (extent + kTile - 1) / kTile;
    return random.one_in(3) ? std::max<std::int64_t>(extent / 8 * 8, 1) : extent;
  };
  t.M = draw(), t.N = draw();
  if (random.one_in(2)) std::swap(t.M, t.N);
}
void draw_extents(Random& random, FuzzedGemm& t, std::int64_t most) {
  std::int64_t* const extents[] = {&t.M, &t.N, &t.K};
  int order[3] = {0, 1, 2};
  std::shuffle(order, order + 3, random.engine());
  for (int k : order) *extents[k] = draw_extent(random, most), most /= *extents[k];
}
std::int64_t draw_batch(Random& random, std::int64_t most) {
  return std::clamp<std::int64_t>(random.between(1, random.one_in(4) ? 100 : 5), 1, std::max<std::int64_t>(most, 1));
}

void draw_types(Random& random, FuzzedGemm& t, DType& of_operands, DType& of_D) {
  DType const types[] = {f32, f32, bf16, f16};
  of_operands = types[random.below(4)], of_D = random.one_in(3) ? f32 : of_operands;
  Compute const others[] = {Compute::fp32_blocked, Compute::split_safe, Compute::split_fast};
  t.compute = random.one_in(3) ? others[random.below(of_operands == f32 ? 3 : 1)] : Compute::fp32;
}
// Groups of rows, of 16-bit operands that are contiguous along one mode.
void draw_groups(Random& random, FuzzedGemm& t) {
  DType const type = random.one_in(2) ? bf16 : f16, type_of_D = random.one_in(4) ? f32 : type;
  std::int64_t const groups = random.between(1, random.one_in(3) ? 40 : 6);
  for (std::int64_t i = 0; i < groups; ++i) t.ends.push_back(std::int32_t(random.between(-9, t.M + 9)));
  if (!random.one_in(8)) std::sort(t.ends.begin(), t.ends.end());
  t.ends_at = int(random.below(8));
  bool const is_aligned = random.one_in(2);  // for TMA
  auto const draw = [&](DType of, std::int64_t matrices, std::int64_t rows, std::int64_t cols) {
    DrawnMatrix x{{1, matrices, rows, cols}, {}, is_aligned ? 8 * random.below(2) : random.below(16), of};
    int const inner = random.one_in(3) ? 2 : 3;
    auto const with_gap = [&](std::int64_t n) {
      if (random.one_in(3)) n += random.between(1, 5);
      return is_aligned || random.one_in(2) ? (n + 7) / 8 * 8 : n;
    };
    x.stride[inner] = 1, x.stride[5 - inner] = with_gap(x.extent[inner]);
    x.stride[1] = with_gap(x.stride[5 - inner] * x.extent[5 - inner]), x.stride[0] = x.stride[1] * matrices;
    return x;
  };
  t.rank = 2, t.has_C = false, t.compute = Compute::fp32;
  t.x[t.A] = draw(type, 1, t.M, t.K), t.x[t.B] = draw(type, groups, t.K, t.N);
  if (random.one_in(8)) t.x[t.B].stride[1] = 0;  // one matrix for all groups
  t.x[t.D] = draw(type_of_D, 1, t.M, t.N);
  if (random.one_in(4)) {  // any strides; rows forwards, of which the GPU's check knows the first
    t.x[t.D] = draw_matrix(random, type_of_D, {1, 1, t.M, t.N}, {false, true, false});
    t.x[t.D].stride[2] = std::abs(t.x[t.D].stride[2]);
  }
  t.x[t.C] = t.x[t.D];
  std::vector<int> all = {-1};
  for (std::size_t i = 0; i < candidates<Gemm>().size(); ++i)
    if (candidates<Gemm>()[i].kernel->takes_groups) all.push_back(int(i));
  t.candidate = all[std::size_t(random.below(std::int64_t(all.size())))];
}
void draw_epilogue(Random& random, FuzzedGemm& t) {
  float const alphas[] = {1, 1, 1, 2, -1, 0}, betas[] = {0, 0, 0, 1, -2};
  Activation const activations[] = {Activation::relu, Activation::gelu_tanh, Activation::gelu_erf, Activation::silu};
  t.epilogue = {alphas[random.below(6)], betas[random.below(5)], Activation::none};
  if (random.one_in(3)) t.epilogue.activation = activations[random.below(4)];
  t.has_C = random.one_in(2);
}

// Any of the columns that the tile of the forced candidate may have.
void draw_columns(Random& random, FuzzedGemm& t) {
  auto const& candidate = candidates<Gemm>()[std::size_t(t.candidate)];
  int const width = candidate.kernel->width ? candidate.kernel->width(candidate.tile) : 0;
  if (width && random.one_in(2))
    t.columns = width - model::kColumnStep * int(random.between(0, model::kFewerColumns / model::kColumnStep));
}
}  // namespace

std::int64_t DrawnMatrix::first() const {
  std::int64_t n = base;
  for (int k = 0; k < kModes; ++k) n += stride[k] < 0 && extent[k] > 1 ? -stride[k] * (extent[k] - 1) : 0;
  return n;
}
std::int64_t DrawnMatrix::elements() const {
  std::int64_t n = base + 1;
  for (int k = 0; k < kModes; ++k) n += extent[k] > 1 ? std::abs(stride[k]) * (extent[k] - 1) : 0;
  return n;
}
Tensor DrawnMatrix::view(void* buffer, int rank) const {
  Tensor t;
  t.data = static_cast<char*>(buffer) + first() * bytes_of(type), t.dtype = type, t.rank = rank;
  for (int k = 0; k < rank; ++k) t.extent[k] = extent[k + kModes - rank], t.stride[k] = stride[k + kModes - rank];
  return t;
}

bool FuzzedGemm::agrees() const {
  for (int i = 0; i < kOperands; ++i)
    if (shift[i] * bytes_of(x[i].type) % kPlanAlignment) return false;
  return true;
}
std::int64_t FuzzedGemm::end_of(std::size_t group) const {
  std::int64_t end = 0;
  for (std::size_t i = 0; i <= group; ++i) end = std::clamp<std::int64_t>(ends[i], end, M);
  return end;
}
problem::BatchedGemm FuzzedGemm::problem(void* const (&buffers)[kOperands], void const* ends_buffer) const {
  if (!ends.empty())
    return {make_grouped_gemm(view(A, buffers[A]), x[B].view(buffers[B], 3), view(D, buffers[D]), ends_in(ends_buffer),
                              epilogue),
            {}};
  ConstTensor const c = view(C, buffers[C]);
  return make_batched_gemm(view(A, buffers[A]), view(B, buffers[B]), view(D, buffers[D]), epilogue, compute,
                           has_C ? &c : nullptr);
}
std::string FuzzedGemm::text() const {
  std::string const chosen = candidate < 0
                                 ? "the planner's choice"
                                 : fmt::format("{}{}", candidates<Gemm>()[std::size_t(candidate)].kernel->name,
                                               columns ? fmt::format(" in tiles of {} columns", columns) : "");
  constexpr char const* kSums[] = {"", ", blocked summation", ", split_safe", ", split_fast"};
  std::string s = fmt::format("gemm: batch ({},{}) M {} N {} K {}, {} to {}", x[D].extent[0], x[D].extent[1], M, N, K,
                              name_of(x[A].type), name_of(x[D].type));
  if (!ends.empty()) s += fmt::format(", groups end at {}", fmt::join(ends, ", "));
  for (int i = 0; i < (has_C ? kOperands : int(C)); ++i)
    s += fmt::format(", {} strides ({},{},{},{}) + {}", "ABDC"[i], x[i].stride[0], x[i].stride[1], x[i].stride[2],
                     x[i].stride[3], x[i].base);
  return s + fmt::format(", alpha {}, beta {}, activation {}{}{}; {}, run {} elements from the plan's A, B, D and C",
                         epilogue.alpha, epilogue.beta, name_of(epilogue.activation), kSums[int(compute)],
                         workspace_percent == 0     ? ""
                         : workspace_percent == 100 ? ", with a workspace"
                                                    : fmt::format(", with {} % of the workspace", workspace_percent),
                         chosen, fmt::join(shift, ", "));
}

FuzzedGemm draw_fuzzed_gemm(Random& random, MostFma const& limit) {
  FuzzedGemm t{};
  bool const is_deep = random.one_in(4);
  std::int64_t const most =
      std::max<std::int64_t>(1, (is_deep ? limit.deep : limit.most) >> random.below(is_deep ? 3 : 7));
  is_deep ? draw_deep(random, t, most, limit.deep_in_tiles) : draw_extents(random, t, most);
  std::int64_t left = most / (t.M * t.N * t.K);
  t.rank = random.one_in(2) ? 2 : random.one_in(3) ? 4 : 3;
  std::int64_t const batch = t.rank > 2 ? draw_batch(random, left) : 1,
                     outer = t.rank > 3 ? random.between(1, std::clamp<std::int64_t>(left / batch, 1, 3)) : 1;
  if (random.one_in(40)) (random.one_in(2) ? t.K : random.one_in(2) ? t.M : t.N) = 0;
  DType of_operands, of_D;
  draw_types(random, t, of_operands, of_D);
  draw_epilogue(random, t);
  t.x[t.A] = draw_matrix(random, of_operands, {outer, batch, t.M, t.K}, {true, true, false});
  t.x[t.B] = draw_matrix(random, of_operands, {outer, batch, t.K, t.N}, {true, true, false});
  t.x[t.D] = draw_matrix(random, of_D, {outer, batch, t.M, t.N}, {false, true, false});
  t.x[t.C] = draw_matrix(random, of_D, {outer, batch, t.M, t.N}, {true, true, random.one_in(2)});
  t.workspace_percent = random.one_in(3) ? 0 : random.one_in(3) ? int(random.between(1, 99)) : 100;
  if (!random.one_in(3)) t.candidate = int(random.below(std::int64_t(candidates<Gemm>().size())));
  if (random.one_in(8) && !is_deep) draw_groups(random, t);
  if (t.candidate >= 0 && t.ends.empty()) draw_columns(random, t);
  bool const agrees = !random.one_in(3);
  for (int i = 0; i < t.kOperands; ++i) {
    std::int64_t const bytes = bytes_of(t.x[i].type);
    t.shift[i] =
        agrees ? kPlanAlignment / bytes * random.below(kMostShift / kPlanAlignment) : random.below(kMostShift / bytes);
  }
  return t;
}

planner::Plan plan_of(FuzzedGemm const& fuzzed, problem::Gemm const& planned, Device const& device) {
  // f(limit), for the fuzzed part of what f(no limit) wants.
  auto const limited = [&](auto const& f, auto const& bytes_of_plan) {
    if (fuzzed.workspace_percent % 100 == 0) return f(fuzzed.workspace_percent == 100);
    return f(WorkspaceLimit(fuzzed.workspace_of(bytes_of_plan(f(true)))));
  };
  if (fuzzed.candidate >= 0 && planned.elements()) {
    auto const& candidate = candidates<Gemm>()[std::size_t(fuzzed.candidate)];
    Attempt attempt = limited(
        [&](WorkspaceLimit limit) {
          return attempt_in_chunks(candidate, planned, device, limit, {.columns = fuzzed.columns});
        },
        [](Attempt const& a) { return a.plan.workspace_bytes; });
    attempt.plan.candidate = fuzzed.candidate;
    if (!attempt.rejected) return attempt.plan;
  }
  return limited([&](WorkspaceLimit limit) { return make_plan(planned, device, limit); },
                 [](planner::Plan const& p) { return p.workspace_bytes; });
}

}  // namespace inlay::lab
