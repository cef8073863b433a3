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
using planner::current_device, planner::for_each_launch;
using problem::Copy;

constexpr std::int64_t kBand = 64 << 10;  // bytes before and behind what a case may write
constexpr std::int64_t kMostElements = 1 << 20, kMostFma = 1 << 22;
constexpr std::int64_t kCopyBytes = 256 << 20, kMatrixBytes = 64 << 20, kWorkspaceBytes = 1 << 30;

void count(planner::Plan const& plan, planner::Operands const& operands, FuzzResult& result) {
  for_each_launch(plan, operands,
                  [&](auto const& kernel, auto const&, void*) { ++result.launched[kernel.info->name]; });
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
        bool const must_refuse = !fuzzed.agrees() && c.elements(), is_timed = random.one_in(8);
        attempt_run(result, must_refuse, [&] {
          inlay::Plan const plan =
              inlay::plan(c.destination(out), c.source(in), is_timed ? Choose::measured : Choose::predicted);
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
    planner::Device const& device = current_device();
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
 public:
  GemmFuzz() : workspace_(device_memory(kWorkspaceBytes + 2 * kBand)) {
    for (DeviceMemory& m : matrix_) m = device_memory(kMatrixBytes);
  }

  FuzzResult run(Random& random) {
    FuzzResult result;
    FuzzedGemm const fuzzed = draw_fuzzed_gemm(random, kMostFma);
    result.problem = fuzzed.text();
    DrawnMatrix const* const x[] = {&fuzzed.a, &fuzzed.b, &fuzzed.d};
    Tensor planned[3], run[3];  // A, B and D at the addresses of the plan and of the run
    for (int i = 0; i < 3; ++i) {
      if (x[i]->elements() * 4 + kMostShift + 2 * kBand > kMatrixBytes) return result.skipped = true, result;
      planned[i] = run[i] = x[i]->view(buffer(i), fuzzed.batched);
      run[i].data = static_cast<float*>(run[i].data) + fuzzed.shift[i];
    }
    GemmArrays const gemm = prepared(fuzzed);
    auto const way = random.below(4);
    switch (!fuzzed.agrees() && way > 1 ? 1 : way) {  // only public plans check the alignment of the addresses
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
    result.failed = check_result(fuzzed, gemm, buffer(2) + fuzzed.shift[2]);
    if (result.failed.empty() && fuzzed.with_workspace)
      for (char const* band : {workspace_.get(), workspace_.get() + kBand + workspace_bytes_})
        if (count_unpoisoned(band, kBand, nullptr).count) result.failed = "bytes beside the workspace were written";
    return result;
  }

 private:
  float* buffer(int i) const { return reinterpret_cast<float*>(matrix_[i].get() + kBand); }

  // Fills A and B between bands of NaN, and D between bands of poison.
  GemmArrays prepared(FuzzedGemm const& fuzzed) {
    DrawnMatrix const* const x[] = {&fuzzed.a, &fuzzed.b, &fuzzed.d};
    float* run[3];
    for (int i = 0; i < 3; ++i) run[i] = buffer(i) + fuzzed.shift[i];
    for (int i = 0; i < 2; ++i) {
      check(cudaMemsetAsync(run[i] + x[i]->base - kBand / 8, 0xFF, std::size_t(kBand / 2), nullptr));
      fill_values(run[i] + x[i]->base, f32, x[i]->elements() - x[i]->base, nested(*x[i]), {3}, unsigned(i) + 1,
                  nullptr);
      check(cudaMemsetAsync(run[i] + x[i]->elements(), 0xFF, kBand / 2, nullptr));
    }
    GemmArrays const gemm = gemm_arrays(fuzzed, run, nested(*x[2]));
    check(cudaMemsetAsync(matrix_[2].get(), kPoison, std::size_t(x[2]->elements() * 4 + kMostShift + 2 * kBand),
                          nullptr));
    prepare_c(gemm, {3}, nullptr);
    return gemm;
  }
  // The workspace, poisoned, with its guard bands. Null if the case has none, or if it is too large, which skips the
  // case.
  void* workspace(FuzzedGemm const& fuzzed, std::size_t bytes, FuzzResult& result) {
    if (result.skipped = bytes > std::size_t(kWorkspaceBytes); result.skipped) return nullptr;
    workspace_bytes_ = std::int64_t(bytes);
    check(cudaMemsetAsync(workspace_.get(), kPoison, bytes + 2 * kBand, nullptr));
    return fuzzed.with_workspace ? workspace_.get() + kBand : nullptr;
  }
  void call(FuzzedGemm const& fuzzed, Tensor const (&run)[3], FuzzResult& result) {
    Epilogue const epilogue{.alpha = fuzzed.alpha, .beta = fuzzed.beta};
    std::size_t const bytes =
        fuzzed.with_workspace ? gemm_workspace(run[0], run[1], run[2], epilogue, {.compute = fuzzed.compute}) : 0;
    void* const at = workspace(fuzzed, bytes, result);
    if (!result.skipped)
      inlay::gemm(run[0], run[1], run[2], epilogue, nullptr,
                  {.compute = fuzzed.compute, .workspace = at, .workspace_bytes = bytes});
  }
  void run_public_plan(FuzzedGemm const& fuzzed, Tensor const (&planned)[3], Tensor const (&run)[3],
                       FuzzResult& result) {
    inlay::Plan const plan =
        inlay::plan(planned[0], planned[1], planned[2], {.alpha = fuzzed.alpha, .beta = fuzzed.beta},
                    {.compute = fuzzed.compute, .may_use_workspace = fuzzed.with_workspace});
    void* const at = workspace(fuzzed, plan.workspace_bytes(), result);
    if (!result.skipped)
      plan.run(run[0].data, run[1].data, run[2].data, nullptr, plan.workspace_bytes() ? at : nullptr,
               plan.workspace_bytes());
  }
  void run_plan(FuzzedGemm const& fuzzed, Tensor const (&run)[3], FuzzResult& result) {
    planner::Device const& device = current_device();
    planner::Plan const plan = plan_of(fuzzed, fuzzed.problem(buffer(0), buffer(1), buffer(2)), device);
    void* const at = workspace(fuzzed, plan.workspace_bytes, result);
    if (result.skipped) return;
    planner::Operands const operands{{run[0].data, run[1].data, run[2].data}, at};
    if (result.failed = rejected_launch(plan, operands, device); !result.failed.empty()) return;
    count(plan, operands, result);
    planner::run(plan, device, operands, nullptr);
  }
  static Nested nested(DrawnMatrix const& x) {
    std::array<std::pair<std::int64_t, std::int64_t>, 3> modes;
    for (std::size_t k = 0; k < 3; ++k) modes[k] = {x.extent[k], std::abs(x.stride[k])};
    return Nested::of(modes);
  }
  // D from its lowest element on.
  static GemmArrays gemm_arrays(FuzzedGemm const& t, float* const (&run)[3], Nested const& used) {
    GemmArrays p{};
    p.M = t.M, p.N = t.N, p.K = t.alpha == 0 ? 0 : t.K, p.batch = t.L, p.alpha = t.alpha, p.beta = t.beta;
    p.type = f32;
    p.a = run[0] + t.a.first(), p.a_l = t.a.stride[0], p.a_m = t.a.stride[1], p.a_k = t.a.stride[2];
    p.b = run[1] + t.b.first(), p.b_l = t.b.stride[0], p.b_k = t.b.stride[1], p.b_n = t.b.stride[2];
    p.c = run[2] + t.d.base, p.c_l = t.d.stride[0], p.c_m = t.d.stride[1], p.c_n = t.d.stride[2];
    p.c_elements = t.M * t.N > 0 ? t.d.elements() - t.d.base : 0, p.c_at = used;
    return p;
  }
  std::string check_result(FuzzedGemm const& t, GemmArrays const& gemm, float* run) {
    std::int64_t const bytes = gemm.c_elements * 4;
    char* const first = static_cast<char*>(gemm.c);
    for (auto [from, size] : {std::pair{matrix_[2].get(), first - matrix_[2].get()}, {first + bytes, kBand}})
      if (Wrong const w = count_unpoisoned(from, size, nullptr); w.count)
        return fmt::format("{} bytes beside D were written, the first {} bytes into {}", w.count, w.first,
                           from == first + bytes ? "what lies behind it" : "what lies before it");
    if (bytes == 0) return "";
    if (std::string const said = sentence(compare_c({gemm}, gemm.c, nullptr)); !said.empty()) return said;
    GemmArrays from_first = gemm;
    from_first.c = run + t.d.first();
    for (std::int64_t l = 0; l < t.L; ++l)
      if (Wrong const w = deviation(from_first, {3}, l, {t.M, t.N}, nullptr).wrong; w.count)
        return fmt::format("{} elements of matrix {} are wrong, the first {} elements from its first", w.count, l,
                           w.first);
    return "";
  }

  DeviceMemory matrix_[3], workspace_;
  std::int64_t workspace_bytes_ = 0;  // of the current case
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
