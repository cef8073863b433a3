// Runs cases of `inlay fuzz` on the CPU: replays every launch of a plan with all checks.
#include <inlay/registry/number.h>
#include <inlay/registry/registry.h>
#include <inlay/registry/rounding.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fuzz/draw.h"
#include "fuzz/fuzz.h"

namespace inlay::lab {
namespace {
using namespace planner;
using registry::Entry, replay::Recorder;

constexpr std::int64_t kMostElements = 6000, kMostPlanned = 1 << 22;
constexpr MostFma kMostFma{40000, 4000000, 40 << 20};
constexpr std::size_t kMostWorkspace = 256 << 20;  // bytes, of a GEMM that is replayed

template <class P>
Entry<P> const& entry_of(Info<P> const* info, std::span<Entry<P> const> entries) {
  for (Entry<P> const& entry : entries)
    if (entry.kernel == info) return entry;
  throw Error(std::string("nobody replays ") + info->name);
}

template <class P>
std::span<Entry<P> const> entries() {
  if constexpr (std::is_same_v<P, Copy>)
    return registry::copy_kernels();
  else if constexpr (std::is_same_v<P, Gemm>)
    return registry::gemm_kernels();
  else
    return registry::reductions();
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
    for_each_launch(plan, operands, [&](auto const& launch, auto const&) { elements += launch.problem.elements(); });
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
    for_each_launch(plan, operands, [&]<class P>(LaunchOf<P> const& launch, Operands const& now) {
      if constexpr (std::is_same_v<P, Copy>) {
        ++result.launched[launch.kernel->name];
        entry_of(launch.kernel, registry::copy_kernels()).replay(at(launch, now), device, recorder, launch.config);
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

// The result of a drawn GEMM, by the strides of the caller, independently of the canonical problem. It is exact:
// operands are whole numbers.
class GemmCheck {
 public:
  GemmCheck(FuzzedGemm const& fuzzed, void* const (&run)[FuzzedGemm::kOperands], Recorder const& recorder)
      : t_(fuzzed) {
    for (int i = 0; i < t_.kOperands; ++i) first_[i] = recorder.real(t_.view(i, run[i]).data);
    DrawnMatrix const& added = t_.x[t_.has_C ? t_.C : t_.D];
    over_D([&](std::int64_t const(&at)[kModes]) {
      addend_.push_back(t_.epilogue.beta != 0 ? number(t_.has_C ? t_.C : t_.D, offset(added, at)) : 0);
    });
  }
  // The number of elements of D that are wrong now.
  std::int64_t wrong() const {
    std::int64_t count = 0;
    std::size_t i = 0;
    over_D([&](std::int64_t const(&at)[kModes]) {
      double sum = 0;
      std::int64_t const a = offset(t_.x[t_.A], {at[0], at[1], at[2], 0}),
                         b = offset(t_.x[t_.B], {at[0], t_.ends.empty() ? at[1] : group_of(at[2]), 0, at[3]});
      if (t_.epilogue.alpha != 0)
        for (std::int64_t k = 0; k < t_.K; ++k)
          sum +=
              double(number(t_.A, a + k * t_.x[t_.A].stride[3])) * double(number(t_.B, b + k * t_.x[t_.B].stride[2]));
      double const x = t_.epilogue.alpha * sum + t_.epilogue.beta * double(addend_[i++]);
      count +=
          !registry::is_activated(number(t_.D, offset(t_.x[t_.D], at)), t_.epilogue.activation, x, t_.x[t_.D].type);
    });
    return count;
  }

 private:
  static constexpr int kModes = DrawnMatrix::kModes;

  template <class F>
  void over_D(F const& f) const {
    auto const& extent = t_.x[t_.D].extent;
    for (std::int64_t h = 0; h < extent[0]; ++h)
      for (std::int64_t l = 0; l < extent[1]; ++l)
        for (std::int64_t m = 0; m < std::min(extent[2], t_.rows()); ++m)
          for (std::int64_t n = 0; n < extent[3]; ++n) f({h, l, m, n});
  }
  std::int64_t group_of(std::int64_t m) const {
    std::size_t group = 0;
    while (t_.end_of(group) <= m) ++group;
    return std::int64_t(group);
  }
  static std::int64_t offset(DrawnMatrix const& x, std::int64_t const (&at)[kModes]) {
    std::int64_t elements = 0;
    for (int k = 0; k < kModes; ++k) elements += at[k] * x.stride[k];
    return elements;
  }
  float number(int operand, std::int64_t at) const {
    DType const type = t_.x[operand].type;
    return registry::read_number(first_[operand] + at * bytes_of(type), type);
  }
  FuzzedGemm const& t_;
  char const* first_[FuzzedGemm::kOperands];
  std::vector<float> addend_;  // what beta scales
};

// Replays every launch of the plan at these operands, each with the checks of its own problem, until one finds
// something. Packed operands and partial sums lie in memory like that of operands, filled with NaN; what a GEMM keeps
// for itself is a workspace of the replay, whose words must be written before they are read.
std::string replay_launches(Plan const& plan, Operands operands, Device const& device, Recorder& recorder,
                            FuzzResult& result) {
  if (plan.workspace_bytes) {
    operands.workspace = recorder.allocate("packed operands and partial sums", plan.workspace_bytes, 4, 0);
    std::memset(recorder.real(operands.workspace), 0xFF, plan.workspace_bytes);
  }
  for_each_launch(plan, operands, [&]<class P>(LaunchOf<P> const& launch, Operands const& now) {
    if (!recorder.findings.empty()) return;
    ++result.launched[launch.kernel->name];
    bool const has_own = launch.workspace.in == OperandSlot::In::workspace;
    recorder.allocate_workspace(has_own ? plan.workspace_bytes - std::size_t(launch.workspace.offset) : 0);
    entry_of(launch.kernel, entries<P>()).replay(at(launch, now), device, recorder, launch.config);
  });
  return found(recorder);
}

FuzzResult run_gemm(Random& random) {
  FuzzResult result;
  FuzzedGemm const fuzzed = draw_fuzzed_gemm(random, kMostFma);
  result.problem = fuzzed.text();
  Device const device;
  Recorder recorder;
  void *planned[FuzzedGemm::kOperands], *run[FuzzedGemm::kOperands];
  for (int i = 0; i < FuzzedGemm::kOperands; ++i) {
    DrawnMatrix const& x = fuzzed.x[i];
    auto const elements = std::size_t(x.elements() + kMostShift / bytes_of(x.type));
    planned[i] = registry::allocate_numbers(recorder, std::string(1, "ABDC"[i]), elements, x.type, unsigned(i) + 1);
    run[i] = static_cast<char*>(planned[i]) + fuzzed.shift[i] * bytes_of(x.type);
  }
  void* const ends = recorder.allocate("ends", (fuzzed.ends.size() + 8) * sizeof fuzzed.ends[0], 4, 5);
  std::ranges::copy(fuzzed.ends, reinterpret_cast<std::int32_t*>(recorder.real(ends)) + fuzzed.ends_at);
  GemmCheck const check(fuzzed, run, recorder);
  // A plan whose addresses do not agree is made anew, as the library does.
  problem::BatchedGemm const batched = fuzzed.problem(fuzzed.agrees() ? planned : run, ends);
  batched.for_each([&](problem::BatchedGemm::Bytes const& offset) {
    if (!result.failed.empty()) return;
    Plan const plan = plan_of(fuzzed, batched.at(offset), device);
    Operands operands{{}, symbolic(kWorkspaceRegion, nullptr)};
    for (std::size_t i = 0; i < offset.size(); ++i)
      operands.operand[i] = static_cast<char*>(fuzzed.view(int(i), run[i]).data) + offset[i];
    operands.operand[model::kGroupEnds] = static_cast<std::int32_t*>(ends) + fuzzed.ends_at;
    result.failed = rejected_launch(plan, operands, device);
    result.skipped |= plan.workspace_bytes > kMostWorkspace;
    if (!result.failed.empty() || result.skipped) return;
    try {
      result.failed = replay_launches(plan, operands, device, recorder, result);
    } catch (std::exception const& e) {  // a launch whose operands leave their buffers
      result.failed = e.what();
    }
  });
  if (result.failed.empty() && !result.skipped)
    if (std::int64_t const wrong = check.wrong()) result.failed = std::to_string(wrong) + " elements are wrong";
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
