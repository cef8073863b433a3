#include "measure/gemm_candidates.h"

#include <fmt/format.h>
#include <inlay/gemm.h>
#include <inlay/planner/candidate.h>
#include <inlay/registry/rounding.h>

#include <algorithm>
#include <memory>

#include "measure/cuda_handles.h"
#include "problems/kernels.h"
#include "problems/shown_case.h"
#include "usage_error.h"
#ifdef INLAY_CUBLAS
#include "measure/cublas.h"
#endif

namespace inlay::lab {
namespace {

constexpr char const* kPlanned = "candidate ";
constexpr char const* kGemm = "gemm";  // with the workspace that it wants
constexpr char const* kSplitFastKernel = "sgemm_split_fast";
// Rows that call gemm() with another Compute than the case's. Every table of f32 has the row of blocked summation; the
// rows of the split modes appear only if --kernels names them, so that other tables stay comparable with recorded ones.
constexpr std::pair<char const*, Compute> kOtherAccuracies[] = {{kGemmBlocked, Compute::fp32_blocked},
                                                                {kGemmSplitSafe, Compute::split_safe},
                                                                {kGemmSplitFast, Compute::split_fast}};

// GemmCandidate::refusals of a kernel's workspace that begins at `offset`.
std::optional<std::int64_t> refusals_of(char const* kernel, std::int64_t offset = 0) {
  if (std::string_view(kernel) == kSplitFastKernel) return offset;
  return {};
}
// GemmCandidate::refusals of a plan. A plan that runs in chunks keeps those of its last chunk alone, which do not
// count.
std::optional<std::int64_t> refusals_of(planner::Plan const& plan) {
  if (!plan.is_whole()) return {};
  for (int n = 0; auto const* const launch = plan.find<Gemm>(n); ++n)
    if (auto const offset = refusals_of(launch->kernel->name, launch->workspace.offset)) return offset;
  return {};
}

GemmCandidate public_candidate(char const* name, GemmCase const& c, GemmCall const& call, bool with_workspace) {
  auto const [a, b, out] = views(c, call);
  std::size_t const bytes =
      with_workspace ? gemm_workspace(a, b, out, {call.alpha, call.beta}, {.compute = c.compute}) : 0;
  auto const workspace = workspace_of(bytes);
  auto const launch = [c, bytes, workspace](GemmCall const& now, cudaStream_t stream) {
    auto const [a, b, out] = views(c, now);
    gemm(a, b, out, {now.alpha, now.beta}, stream, {c.compute, workspace ? workspace->get() : nullptr, bytes});
  };
  auto const plan = planner::make_plan(c.canonical(call, nullptr), current_device(), with_workspace);
  return {{name, launch, workspace}, registry::longest_accumulation(c.compute), refusals_of(plan)};
}

std::vector<GemmCandidate> cublas_candidates([[maybe_unused]] GemmCase const& c, [[maybe_unused]] GemmCall const& call,
                                             [[maybe_unused]] cudaStream_t stream) {
#ifdef INLAY_CUBLAS
  std::vector<GemmCandidate> rows{{{kPedantic, cublas_gemm(c, CublasMath::pedantic)}},
                                  {{kDefault, cublas_gemm(c, CublasMath::standard)}},
                                  {{kLt, cublas_lt(c, call, CublasMath::standard, stream)}}};
  if (c.dtype() == f32) return rows;
  rows[1].rounds_partial_sums = rows[2].rounds_partial_sums = true;
  rows.push_back({{kLtExact, cublas_lt(c, call, CublasMath::pedantic, stream)}});
  return rows;
#else
  throw UsageError("GEMMs are measured against cuBLAS, which this build was made without");
#endif
}

// A candidate of the planner for GEMMs, with all its launches; none if it rejects the case. A plan has the factors of
// its problem, so the exact check, which rounds them, has a plan of its own.
std::optional<GemmCandidate> planned_candidate(planner::Candidate<Gemm> const& candidate, GemmCase const& c,
                                               GemmCall const& call) {
  Info<Gemm> const& info = *candidate.kernel;
  Device const& device = current_device();
  auto const planned = [&](GemmCall const& with) -> std::shared_ptr<planner::Plan const> {
    planner::Attempt attempt = planner::attempt_in_chunks(candidate, c.canonical(with, nullptr), device, true);
    if (attempt.rejected) return {};
    planner::make_launches(attempt.plan, device);
    return std::make_shared<planner::Plan const>(std::move(attempt.plan));
  };
  auto const plan = planned(call), exact = planned(GemmCase::exact(call));
  if (!plan || !exact) return {};
  auto const workspace = workspace_of(std::max(plan->workspace_bytes, exact->workspace_bytes));
  auto const launch = [=, &device, alpha = call.alpha, beta = call.beta](GemmCall const& now, cudaStream_t stream) {
    auto const written = [](void const* p) { return const_cast<void*>(p); };
    planner::run(now.alpha == alpha && now.beta == beta ? *plan : *exact, device,
                 {{written(now.a), written(now.b), now.d}, workspace ? workspace->get() : nullptr}, stream);
  };
  std::string const label = *candidate.label ? fmt::format(" ({})", candidate.label) : "";
  GemmCandidate row{{fmt::format("{}{}{}", kPlanned, info.name, label), launch, workspace},
                    info.accumulation_length,
                    refusals_of(*plan)};
  if (plan->seconds > 0) row.predicted_ms = 1e3 * plan->seconds;
  return row;
}

GemmCandidate named(std::string const& name, GemmCase c, GemmCall const& call) {
  if (name == kGemm) return public_candidate(kGemm, c, call, true);
  if (name == kGemmWithout) return public_candidate(kGemmWithout, c, call, false);
  for (auto const& [row, compute] : kOtherAccuracies)
    if (name == row) return c.compute = compute, public_candidate(row, c, call, true);
  GemmCandidate row = of_kernel(kernel_named<GemmCase>(name), c, call);
  row.refusals = refusals_of(name.c_str());
  return row;
}

}  // namespace

std::vector<GemmCandidate> candidates(GemmCase const& c, GemmCall const& call, cudaStream_t stream,
                                      std::vector<std::string> const& asked, BenchOptions const& options) {
  auto names = kernel_names<GemmCase>();
  for (char const* name : {kGemm, kGemmWithout}) names.emplace_back(name);
  if (c.dtype() == f32)
    for (auto const& [row, compute] : kOtherAccuracies)
      if (compute == Compute::fp32_blocked || std::ranges::find(asked, row) != asked.end()) names.emplace_back(row);
  std::erase_if(names, [&](std::string const& name) {
    auto const* const info = info_of<GemmCase>(name);
    return info && !takes_type(*info, c.dtype());
  });
  auto known = names;
  auto rows = cublas_candidates(c, call, stream);
  for (GemmCandidate const& always : rows) known.push_back(always.name);
  Selection const selection(asked, known);
  for (auto const& name : names)
    if (selection.has(name, !info_of<GemmCase>(name))) rows.push_back(named(name, c, call));
  if (options.regret)
    for (planner::Candidate<Gemm> const& candidate : planner::candidates<Gemm>())
      if (auto row = planned_candidate(candidate, c, call)) rows.push_back(std::move(*row));
  if (options.baselines)
    for (GemmCandidate& baseline : options.baselines(c)) rows.push_back(std::move(baseline));
  return rows;
}

void add_best(GemmCase const&, std::vector<Row>& rows) {
  Row const* best = nullptr;
  for (Row const& row : rows)
    if (row.kernel.starts_with("cublas_") && row.ms_median && (!best || *row.ms_median < *best->ms_median)) best = &row;
  if (!best) return;
  Row bar = *best;
  bar.kernel = kCublas;
  rows.insert(rows.begin(), bar);
  for (Row& row : rows) row.rel_err_cublas = bar.rel_err;
  compare_errors(bar.errors, rows);
}

std::function<void(cudaStream_t)> public_call(GemmCase const& c, GemmCall const& call, void* workspace,
                                              std::size_t bytes) {
  return [v = views(c, call), epilogue = Epilogue{c.alpha, c.beta}, options = GemmOptions{c.compute, workspace, bytes}](
             cudaStream_t stream) { gemm(v.a, v.b, v.d, epilogue, stream, options); };
}

}  // namespace inlay::lab
