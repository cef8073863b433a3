// Runs cases of `inlay fuzz` on the GPU, between guard bands, and compares every byte of the result's buffer.
#include <fmt/format.h>
#include <inlay/copy.h>
#include <inlay/gemm.h>

#include <algorithm>
#include <memory>

#include "fuzz/draw.h"
#include "fuzz/fuzz.h"
#include "measure/cuda_handles.h"
#include "measure/device_data.h"
#include "measure/gemm_data.h"
#include "measure/gpu.h"

namespace inlay::lab {
namespace {
using model::current_device, planner::for_each_launch;
using problem::Copy;

constexpr std::int64_t kBand = 64 << 10;  // bytes before and behind what a case may write
constexpr std::int64_t kMostElements = 1 << 20;
constexpr MostFma kMostFma{1 << 22, 1 << 25, std::int64_t(1) << 36};
constexpr Values kValues{3};  // with K up to 65536 all sums are exact in fp32
constexpr std::int64_t kCopyBytes = 256 << 20, kMatrixBytes = 64 << 20, kWorkspaceBytes = 1 << 30;

void count(planner::Plan const& plan, planner::Operands const& operands, FuzzResult& result) {
  for_each_launch(plan, operands, [&](auto const& launch, auto const&) { ++result.launched[launch.kernel->name]; });
}

std::string sentence(Checked const& checked) {
  if (checked.wrong.count)
    return fmt::format("{} elements are wrong, the first is number {}", checked.wrong.count, checked.wrong.first);
  if (checked.stray.count)
    return fmt::format("{} bytes or elements beside the result were written, the first at {}", checked.stray.count,
                       checked.stray.first);
  return "";
}

// Runs f and waits for it. An Error sets result.refused; it is a failure too unless `may_refuse`, or if CUDA reports
// it.
template <class F>
void attempt_run(FuzzResult& result, bool may_refuse, F const& f) {
  try {
    f();
    check(cudaStreamSynchronize(nullptr));
  } catch (Error const& e) {
    result.refused = true;
    if (!may_refuse || std::string(e.what()).starts_with("CUDA:")) result.failed = e.what();
  }
}

class CopyFuzz {
 public:
  CopyFuzz() : src_(device_memory(kCopyBytes)), dst_(device_memory(kCopyBytes)) {
    fill(src_.get(), kCopyBytes / 4, nullptr);
    check(cudaMemset(dst_.get(), kPoison, kCopyBytes));
  }

  FuzzResult run(Random& random, bool transpose) {
    FuzzResult result;
    FuzzedCopy const fuzzed = draw_fuzzed_copy(random, transpose, kMostElements);
    DrawnCopy const& c = fuzzed.copy;
    result.problem = fuzzed.text();
    char *const in = src_.get() + kBand, *const out = dst_.get() + kBand;
    std::int64_t const bytes = std::int64_t(c.dst_bytes()) + kMostShift + 2 * kBand;
    if (bytes > kCopyBytes || std::int64_t(c.src_bytes()) + kMostShift + kBand > kCopyBytes)
      return result.skipped = true, result;
    void *const to = c.dst_at(out) + fuzzed.dst_shift, *const from = const_cast<char*>(c.src_at(in)) + fuzzed.src_shift;
    switch (random.below(4)) {
      case 0:
        result.problem += ", by a call";
        attempt_run(result, false, [&] { call(c, transpose, to, from); });
        break;
      case 1: {
        result.problem += ", by a public plan";
        // Plan::run() makes another plan for addresses that agree modulo 16 bytes alone.
        bool const must_refuse = (fuzzed.src_shift % 16 || fuzzed.dst_shift % 16) && c.elements(),
                   is_timed = random.one_in(8);
        attempt_run(result, must_refuse, [&] {
          inlay::Plan const plan =
              inlay::plan(c.destination(out), c.source(in), {is_timed ? Choose::measured : Choose::predicted});
          if (is_timed) check(cudaMemset(dst_.get(), kPoison, std::size_t(bytes)));
          plan.run(to, from);
        });
        if (must_refuse && !result.refused) result.failed = "a plan ran where its addresses do not agree";
        break;
      }
      default:
        attempt_run(result, false, [&] { run_plan(fuzzed, c.copy(in, out), to, from, result); });
    }
    if (result.failed.empty()) result.failed = checked(c, to, from, bytes, result.refused);
    return result;
  }

 private:
  static void call(DrawnCopy const& c, bool transpose, void* to, void const* from) {
    Tensor dst = c.destination(nullptr);
    ConstTensor src = c.source(nullptr);
    dst.data = to, src.data = from;
    if (transpose)
      inlay::transpose(dst, src.transposed());
    else
      inlay::copy(dst, src);
  }
  // Runs the planner's own plan for `planned` at two addresses, unless a launch there would be rejected.
  static void run_plan(FuzzedCopy const& fuzzed, Copy const& planned, void* to, void* from, FuzzResult& result) {
    model::Device const& device = current_device();
    planner::Plan const plan = plan_of(fuzzed, planned, device);
    planner::Operands const operands{{to, from, nullptr}, nullptr};
    std::string const rejected = rejected_launch(plan, operands, device);
    result.refused = !rejected.empty();
    if (fuzzed.agrees()) result.failed = rejected;
    if (result.refused) return;
    count(plan, operands, result);
    planner::run(plan, device, operands, nullptr);
  }
  // Checks the first `bytes` bytes of the destination's buffer, which a refused copy must not change. Empty if they are
  // right.
  std::string checked(DrawnCopy const& c, void* to, void* from, std::int64_t bytes, bool refused) const {
    Strided layout{c.elem, int(c.extents.size()), {}, {}, {}, 0, 0};
    for (std::size_t k = 0; k < c.extents.size(); ++k)
      layout.extent[k] = c.extents[k], layout.src[k] = c.src[k] * c.elem, layout.dst[k] = c.dst[k] * c.elem;
    layout.src_base = static_cast<char*>(from) - src_.get(), layout.dst_base = static_cast<char*>(to) - dst_.get();
    if (refused) layout.rank = 1, layout.extent[0] = 0;
    return sentence(check_strided({dst_.get()}, layout, bytes, nullptr));
  }

  DeviceMemory src_, dst_;
};

class GemmFuzz {
  using Case = FuzzedGemm;

 public:
  GemmFuzz() : workspace_(device_memory(kWorkspaceBytes + 2 * kBand)) {
    for (DeviceMemory& m : matrix_) m = device_memory(kMatrixBytes);
    ends_memory_ = device_memory(4096), ends_ = reinterpret_cast<std::int32_t*>(ends_memory_.get());
  }

  FuzzResult run(Random& random) {
    FuzzResult result;
    Case const fuzzed = draw_fuzzed_gemm(random, kMostFma);
    result.problem = fuzzed.text();
    Views planned, run;  // at the addresses of the plan and of the run
    for (int i = 0; i < Case::kOperands; ++i) {
      DrawnMatrix const& x = fuzzed.x[i];
      if (x.elements() * bytes_of(x.type) + kMostShift + 2 * kBand > kMatrixBytes) return result.skipped = true, result;
      planned[std::size_t(i)] = fuzzed.view(i, buffer(i)), run[std::size_t(i)] = fuzzed.view(i, shifted(fuzzed, i));
    }
    prepare(fuzzed);
    auto const way = random.below(4);
    if (!fuzzed.ends.empty())
      check(cudaMemcpyAsync(ends_ + fuzzed.ends_at, fuzzed.ends.data(), fuzzed.ends.size() * sizeof(std::int32_t),
                            cudaMemcpyHostToDevice, nullptr));
    bool const has_public_plan = fuzzed.ends.empty();
    switch (!has_public_plan && !(way > 1 && fuzzed.agrees()) ? 0
            : !fuzzed.agrees() && way > 1                     ? 1
                                          : way) {  // only public plans check the alignment of the addresses
      case 0:
        result.problem += ", by a call";
        attempt_run(result, false, [&] { call(fuzzed, run, result); });
        break;
      case 1:
        result.problem += ", by a public plan";
        attempt_run(result, !fuzzed.agrees(), [&] { run_public_plan(fuzzed, planned, run, result); });
        break;
      default:
        attempt_run(result, false, [&] { run_plan(fuzzed, run, result); });
    }
    if (!result.failed.empty() || result.refused || result.skipped) return result;
    result.failed = check_result(fuzzed);
    if (result.failed.empty() && fuzzed.workspace_percent)
      for (char const* band : {workspace_.get(), workspace_.get() + kBand + workspace_bytes_})
        if (count_unpoisoned(band, kBand, nullptr).count) result.failed = "bytes beside the workspace were written";
    return result;
  }

 private:
  using Views = std::array<Tensor, Case::kOperands>;

  void* buffer(int i) const { return matrix_[i].get() + kBand; }
  // The buffer's start in the run.
  char* shifted(Case const& t, int i) const {
    return static_cast<char*>(buffer(i)) + t.shift[i] * bytes_of(t.x[i].type);
  }
  // The lowest element in the run.
  char* lowest(Case const& t, int i) const { return shifted(t, i) + t.x[i].base * bytes_of(t.x[i].type); }

  // Fills A, B and C between bands of NaN, and D between bands of poison.
  void prepare(Case const& t) {
    for (int i : {Case::A, Case::B, Case::C}) {
      DrawnMatrix const& x = t.x[i];
      std::int64_t const elements = x.elements() - x.base;
      check(cudaMemsetAsync(lowest(t, i) - kBand / 2, 0xFF, std::size_t(kBand / 2), nullptr));
      fill_values(lowest(t, i), x.type, elements, nested(x), kValues, unsigned(i) + 1, nullptr);
      check(cudaMemsetAsync(lowest(t, i) + elements * bytes_of(x.type), 0xFF, kBand / 2, nullptr));
    }
    DrawnMatrix const& d = t.x[Case::D];
    check(cudaMemsetAsync(matrix_[Case::D].get(), kPoison,
                          std::size_t(d.elements() * bytes_of(d.type) + kMostShift + 2 * kBand), nullptr));
    prepare_d(arrays(t, 0), kValues, nullptr);
  }
  // The workspace, poisoned, with its guard bands. Null if the case has none, or if it is too large, which skips the
  // case.
  void* workspace(Case const& t, std::size_t bytes, FuzzResult& result) {
    if (result.skipped = bytes > std::size_t(kWorkspaceBytes); result.skipped) return nullptr;
    workspace_bytes_ = std::int64_t(bytes);
    check(cudaMemsetAsync(workspace_.get(), kPoison, bytes + 2 * kBand, nullptr));
    return t.workspace_percent ? workspace_.get() + kBand : nullptr;
  }
  void call(Case const& t, Views const& run, FuzzResult& result) {
    if (!t.ends.empty())
      return inlay::grouped_gemm(run[Case::A], t.x[Case::B].view(shifted(t, Case::B), 3), run[Case::D],
                                 t.ends_in(ends_), t.epilogue);
    GemmOptions options{.compute = t.compute};
    if (t.has_C) options.C = run[Case::C];
    if (t.workspace_percent)
      options.workspace_bytes =
          t.workspace_of(gemm_workspace(run[Case::A], run[Case::B], run[Case::D], t.epilogue, options));
    options.workspace = workspace(t, options.workspace_bytes, result);
    if (!result.skipped) inlay::gemm(run[Case::A], run[Case::B], run[Case::D], t.epilogue, nullptr, options);
  }
  void run_public_plan(Case const& t, Views const& planned, Views const& run, FuzzResult& result) {
    GemmOptions options{.compute = t.compute};
    if (t.has_C) options.C = planned[Case::C];
    std::size_t const wanted =
        gemm_workspace(planned[Case::A], planned[Case::B], planned[Case::D], t.epilogue, options);
    inlay::Plan const plan = inlay::plan(planned[Case::A], planned[Case::B], planned[Case::D], t.epilogue, options,
                                         {.most_workspace_bytes = t.workspace_of(wanted)});
    void* const at = workspace(t, plan.workspace_bytes(), result);
    bool const reads_C = t.has_C && t.epilogue.beta != 0;  // else the plan has no C
    if (!result.skipped)
      plan.run(run[Case::A].data, run[Case::B].data, run[Case::D].data, nullptr, plan.workspace_bytes() ? at : nullptr,
               plan.workspace_bytes(), reads_C ? run[Case::C].data : nullptr);
  }
  // Runs the planner's own plans, one for each index of the outer batch modes.
  void run_plan(Case const& t, Views const& run, FuzzResult& result) {
    model::Device const& device = current_device();
    problem::BatchedGemm const batched =
        t.problem({buffer(Case::A), buffer(Case::B), buffer(Case::D), buffer(Case::C)}, ends_);
    batched.for_each([&](problem::BatchedGemm::Bytes const& offset) {
      if (result.skipped || !result.failed.empty()) return;
      planner::Plan const plan = plan_of(t, batched.at(offset), device);
      planner::Operands operands{{}, workspace(t, plan.workspace_bytes, result)};
      if (result.skipped) return;
      for (std::size_t i = 0; i < Case::kOperands; ++i)
        operands.operand[i] = static_cast<char*>(run[i].data) + offset[i];
      operands.operand[model::kGroupEnds] = ends_ + t.ends_at;
      if (result.failed = rejected_launch(plan, operands, device); !result.failed.empty()) return;
      count(plan, operands, result);
      planner::run(plan, device, operands, nullptr);
    });
  }
  static Nested nested(DrawnMatrix const& x) {
    std::array<std::pair<std::int64_t, std::int64_t>, Nested::kModes> modes;
    for (std::size_t k = 0; k < modes.size(); ++k) modes[k] = {x.extent[k], std::abs(x.stride[k])};
    return Nested::of(modes);
  }
  // The batch at an index of the outer batch mode. D's buffer begins at its lowest element.
  GemmArrays arrays(Case const& t, std::int64_t outer) const {
    auto const first = [&](int i) {
      return static_cast<char*>(t.view(i, shifted(t, i)).data) + outer * t.x[i].stride[0] * bytes_of(t.x[i].type);
    };
    DrawnMatrix const &a = t.x[Case::A], &b = t.x[Case::B], &c = t.x[Case::C];
    DrawnMatrix d = t.x[Case::D];
    GemmArrays p{};
    p.M = d.extent[2] = t.rows(), p.N = t.N, p.K = t.epilogue.alpha == 0 ? 0 : t.K, p.batch = d.extent[1];
    p.alpha = t.epilogue.alpha, p.beta = t.epilogue.beta, p.activation = t.epilogue.activation;
    p.type = a.type, p.type_d = d.type;
    p.a = first(Case::A), p.a_l = a.stride[1], p.a_m = a.stride[2], p.a_k = a.stride[3];
    p.b = first(Case::B), p.b_l = b.stride[1], p.b_k = b.stride[2], p.b_n = b.stride[3];
    if (t.has_C) p.c = first(Case::C), p.c_l = c.stride[1], p.c_m = c.stride[2], p.c_n = c.stride[3];
    p.d = lowest(t, Case::D), p.d_l = d.stride[1], p.d_m = d.stride[2], p.d_n = d.stride[3];
    p.d_first = d.first() - d.base + outer * d.stride[0];
    p.d_elements = t.M * t.N > 0 ? t.x[Case::D].elements() - d.base : 0, p.d_at = nested(d);
    return p;
  }
  // The rows of one group.
  GemmArrays of_group(Case const& t, std::size_t group) const {
    GemmArrays p = arrays(t, 0);
    std::int64_t const first = group ? t.end_of(group - 1) : 0, bytes = bytes_of(t.x[Case::A].type);
    auto const moved = [&](void const* from, std::int64_t elements) {
      return static_cast<char const*>(from) + elements * bytes;
    };
    p.M = t.end_of(group) - first;
    p.a = moved(p.a, first * p.a_m), p.b = moved(p.b, std::int64_t(group) * t.x[Case::B].stride[1]);
    p.d_first += first * p.d_m;
    return p;
  }
  std::string check_result(Case const& t) const {
    GemmArrays const all = arrays(t, 0);
    char *const first = static_cast<char*>(all.d), *const end = first + all.d_elements * bytes_of(all.type_d);
    for (auto [from, size] : {std::pair{matrix_[Case::D].get(), first - matrix_[Case::D].get()}, {end, kBand}})
      if (Wrong const w = count_unpoisoned(from, size, nullptr); w.count)
        return fmt::format("{} bytes beside D were written, the first {} bytes into {}", w.count, w.first,
                           from == end ? "what lies behind it" : "what lies before it");
    if (first == end) return "";
    if (std::string const said = sentence(compare_d({all}, all.d, nullptr)); !said.empty()) return said;
    for (std::size_t group = 0; group < t.ends.size(); ++group)
      if (GemmArrays const p = of_group(t, group); p.M > 0)
        if (Wrong const w = deviation(p, kValues, 0, {p.M, t.N}, nullptr).wrong; w.count)
          return fmt::format("{} elements of group {} are wrong, the first {} elements from the lowest", w.count, group,
                             w.first);
    if (!t.ends.empty()) return "";
    for (std::int64_t outer = 0; outer < t.x[Case::D].extent[0]; ++outer)
      for (std::int64_t l = 0; l < all.batch; ++l)
        if (Wrong const w = deviation(arrays(t, outer), kValues, l, {t.M, t.N}, nullptr).wrong; w.count)
          return fmt::format("{} elements of matrix ({},{}) are wrong, the first {} elements from the lowest", w.count,
                             outer, l, w.first);
    return "";
  }

  DeviceMemory matrix_[Case::kOperands], workspace_, ends_memory_;
  std::int32_t* ends_ = nullptr;
  std::int64_t workspace_bytes_ = 0;  // of the current launch
};

}  // namespace

FuzzCase fuzz_on_gpu(FuzzKind kind) {
  if (std::string const why = why_no_gpu(); !why.empty()) throw Error("there is no GPU to use: " + why);
  auto const one = [kind](auto run) {
    return [run](std::uint64_t seed, std::int64_t number) {
      Random random(seed, std::uint64_t(number));
      return run(random);
    };
  };
  if (kind == FuzzKind::gemm)
    return one([fuzz = std::make_shared<GemmFuzz>()](Random& random) { return fuzz->run(random); });
  return one([fuzz = std::make_shared<CopyFuzz>(), kind](Random& random) {
    return fuzz->run(random, kind == FuzzKind::transpose);
  });
}

}  // namespace inlay::lab
