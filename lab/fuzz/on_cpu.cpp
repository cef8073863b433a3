// Runs cases of `inlay fuzz` on the CPU: replays every launch of a plan with all checks.
#include <inlay/registry/registry.h>

#include <cstring>

#include "fuzz/draw.h"
#include "fuzz/fuzz.h"

namespace inlay::lab {
namespace {
using namespace planner;
using registry::Entry, replay::Recorder;

constexpr std::int64_t kMostElements = 6000, kMostPlanned = 1 << 22, kMostFma = 40000;

template <class P>
Entry<P> const& entry_of(Info<P> const* info, std::span<Entry<P> const> entries) {
  for (Entry<P> const& entry : entries)
    if (entry.kernel.info == info) return entry;
  throw Error(std::string("nobody replays ") + info->name);
}

// The first finding of the replay; empty if there is none.
std::string found(Recorder const& recorder) { return recorder.findings.empty() ? "" : recorder.findings[0].sentence; }

// Plans a copy near the limits of a grid, and checks that no launch is rejected and that the launches copy all
// elements.
FuzzResult run_large(Random& random) {
  FuzzResult result;
  Device const device;
  Copy const copy = draw_large_copy(random, device);
  result.problem = Planner<Copy>::problem_text(copy, device);
  Plan const plan = make_plan(copy, device, false);
  if (plan.candidate < 0 && copy.elements()) {
    result.failed = "no candidate takes it";
    return result;
  }
  Operands const operands{{static_cast<char*>(copy.dst) - copy.dst_shift,
                           const_cast<char*>(static_cast<char const*>(copy.src)) - copy.src_shift, nullptr},
                          nullptr};
  std::int64_t elements = 0;
  if (plan.chunks > 1000) {
    result.skipped = true;
  } else {
    result.failed = rejected_launch(plan, operands, device);
    for_each_launch(plan, operands, [&](auto const&, auto const& problem, void*) { elements += problem.elements(); });
    if (elements != copy.elements()) result.failed = "its launches copy " + std::to_string(elements) + " elements";
  }
  return result;
}

// Two of three cases are small enough for a replay. The others have tiles that fill the shared memory: their launches
// are only checked for rejections at the addresses of the run.
FuzzResult run_copy(Random& random, bool transpose) {
  if (!transpose && random.one_in(8)) return run_large(random);
  FuzzResult result;
  bool const replays = !random.one_in(3);
  FuzzedCopy const fuzzed = draw_fuzzed_copy(random, transpose, replays ? kMostElements : kMostPlanned);
  DrawnCopy const& c = fuzzed.copy;
  result.problem = fuzzed.text();
  Device const device;
  Recorder recorder;
  auto const buffer = [&](char const* name, std::size_t bytes, unsigned seed) {
    return static_cast<char*>(replays ? recorder.allocate(name, bytes + kMostShift, 1, seed)
                                      : reinterpret_cast<void*>(std::uint64_t(seed) << 60));
  };
  char *const in = buffer("in", c.src_bytes(), 1), *const out = buffer("out", c.dst_bytes(), 2);
  Plan const plan = plan_of(fuzzed, c.copy(in, out), device);
  Operands const operands{
      {c.dst_at(out) + fuzzed.dst_shift, const_cast<char*>(c.src_at(in)) + fuzzed.src_shift, nullptr}, nullptr};
  if (std::string const rejected = rejected_launch(plan, operands, device); !rejected.empty()) {
    result.refused = !fuzzed.agrees();
    if (fuzzed.agrees()) result.failed = rejected;
  }
  if (!replays || result.refused || !result.failed.empty()) return result;
  try {
    for_each_launch(plan, operands, [&]<class P>(LinkedKernel<P> const& kernel, P const& problem, void*) {
      if constexpr (std::is_same_v<P, Copy>) {
        ++result.launched[kernel.info->name];
        entry_of(kernel.info, registry::copy_kernels()).replay(problem, device, recorder);
      }
    });
  } catch (Error const& e) {
    result.failed = e.what();
    return result;
  }
  result.failed = found(recorder);
  if (!result.failed.empty()) return result;
  // Compares the result by the strides of the caller too, independently of the canonical problem.
  std::int64_t wrong = 0;
  char const *const src = recorder.real(in), *const dst = recorder.real(out);
  for_each_element(c, [&](std::int64_t from, std::int64_t to) {
    wrong += std::memcmp(c.src_at(src) + fuzzed.src_shift + from,
                         c.dst_at(const_cast<char*>(dst)) + fuzzed.dst_shift + to, std::size_t(c.elem)) != 0;
  });
  if (wrong) result.failed = std::to_string(wrong) + " elements are wrong";
  return result;
}

FuzzResult run_gemm(Random& random) {
  FuzzResult result;
  FuzzedGemm const fuzzed = draw_fuzzed_gemm(random, kMostFma);
  result.problem = fuzzed.text();
  Device const device;
  Recorder recorder;
  DrawnMatrix const* const x[] = {&fuzzed.a, &fuzzed.b, &fuzzed.d};
  char const* const name[] = {"A", "B", "D"};
  float *planned[3], *run[3];
  for (int i = 0; i < 3; ++i) {
    planned[i] = recorder.allocate_integers(name[i], std::size_t(x[i]->elements() + kMostShift / 4), unsigned(i) + 1);
    run[i] = planned[i] + fuzzed.shift[i];
  }
  Plan const plan = plan_of(fuzzed, fuzzed.problem(planned[0], planned[1], planned[2]), device);
  if (fuzzed.agrees() && plan.workspace_bytes < std::size_t(1) << 32) {
    void* const workspace = planner::symbolic(planner::kWorkspaceRegion, nullptr);
    Operands operands{{}, workspace};
    for (int i = 0; i < 3; ++i) operands.operand[i] = x[i]->view(run[i], fuzzed.batched).data;
    if (result.failed = rejected_launch(plan, operands, device); !result.failed.empty()) return result;
  }
  Gemm const problem = fuzzed.problem(run[0], run[1], run[2]);
  auto const* const launch = plan.find<Gemm>();
  if (!launch) return result;
  Entry<Gemm> const& entry = entry_of(launch->kernel->info, registry::gemm_kernels());
  if (entry.info().rejects(problem, device)) {
    result.skipped = true;  // the plan packs an operand first
    return result;
  }
  ++result.launched[entry.info().name];
  recorder.allocate_workspace(entry.info().workspace(problem, device));
  entry.replay(problem, device, recorder);
  result.failed = found(recorder);
  return result;
}

}  // namespace

FuzzCase fuzz_on_cpu(FuzzKind kind) {
  return [kind](std::uint64_t seed, std::int64_t number) {
    Random random(seed, std::uint64_t(number));
    return kind == FuzzKind::gemm ? run_gemm(random) : run_copy(random, kind == FuzzKind::transpose);
  };
}

}  // namespace inlay::lab
