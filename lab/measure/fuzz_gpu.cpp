// Cases of `inlay fuzz` on the GPU, between guard bands, every byte of the result's buffer compared.
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

// Runs f and waits for it. An Error sets result.refused; it is a failure too unless `may_refuse`, or if CUDA reports it.
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
    CopyTrial const trial = draw_copy_trial(random, transpose, kMostElements);
    DrawnCopy const& c = trial.copy;
    result.problem = trial.text();
    char *const in = src_.get() + kBand, *const out = dst_.get() + kBand;
    std::int64_t const bytes = std::int64_t(c.dst_bytes()) + kMostShift + 2 * kBand;
    if (bytes > kCopyBytes || std::int64_t(c.src_bytes()) + kMostShift + kBand > kCopyBytes)
      return result.skipped = true, result;
    void *const to = c.dst_at(out) + trial.dst_shift, *const from = const_cast<char*>(c.src_at(in)) + trial.src_shift;
    Tensor const planned_dst = c.destination(out);
    ConstTensor const planned_src = c.source(in);
    bool const may_refuse = !trial.agrees();
    switch (random.below(4)) {
      case 0:  // the public call, where the plan would run
        result.problem += ", by a call";
        attempt_run(result, false, [&] {
          Tensor dst = planned_dst;
          ConstTensor src = planned_src;
          dst.data = to, src.data = from;
          if (transpose)
            inlay::transpose(dst, src.transposed());
          else
            inlay::copy(dst, src);
        });
        break;
      case 1:  // the public plan
        result.problem += ", by a public plan";
        attempt_run(result, may_refuse && c.elements(), [&] {
          bool const times = random.one_in(8);
          inlay::Plan const plan = inlay::plan(planned_dst, planned_src, times ? Choose::measured : Choose::predicted);
          if (times) check(cudaMemset(dst_.get(), kPoison, std::size_t(bytes)));
          plan.run(to, from);
        });
        if (may_refuse && c.elements() && !result.refused)
          result.failed = "a plan ran where its addresses do not agree";
        break;
      default:
        attempt_run(result, false, [&] {
          planner::Device const& device = current_device();
          planner::Plan const plan = plan_of(trial, c.copy(in, out), device);
          planner::Operands const operands{{to, from, nullptr}, nullptr};
          std::string const rejected = rejected_launch(plan, operands, device);
          result.refused = !rejected.empty();
          if (!may_refuse) result.failed = rejected;
          if (result.refused) return;
          count(plan, operands, result);
          planner::run(plan, device, operands, nullptr);
        });
    }
    if (!result.failed.empty()) return result;
    Strided layout{c.elem, int(c.extents.size()), {}, {}, {}, 0, 0};
    for (std::size_t k = 0; k < c.extents.size(); ++k)
      layout.extent[k] = c.extents[k], layout.src[k] = c.src[k] * c.elem, layout.dst[k] = c.dst[k] * c.elem;
    layout.src_base = static_cast<char*>(from) - src_.get(), layout.dst_base = static_cast<char*>(to) - dst_.get();
    if (result.refused) layout.rank = 1, layout.extent[0] = 0;  // then nothing is written
    result.failed = sentence(check_strided({dst_.get()}, layout, bytes, nullptr));
    return result;
  }

 private:
  DeviceMemory src_, dst_;
};

class GemmFuzz {
 public:
  GemmFuzz() : workspace_(device_memory(kWorkspaceBytes + 2 * kBand)) {
    for (DeviceMemory& m : matrix_) m = device_memory(kMatrixBytes);
  }

  FuzzResult run(Random& random) {
    FuzzResult result;
    GemmTrial const trial = draw_gemm_trial(random, kMostFma);
    result.problem = trial.text();
    DrawnMatrix const* const x[] = {&trial.a, &trial.b, &trial.d};
    float *planned[3], *run[3];
    Nested used[3];
    for (int i = 0; i < 3; ++i) {
      planned[i] = reinterpret_cast<float*>(matrix_[i].get() + kBand);
      run[i] = planned[i] + trial.shift[i];
      if (x[i]->elements() * 4 + kMostShift + 2 * kBand > kMatrixBytes) return result.skipped = true, result;
      used[i] = nested(*x[i]);
    }
    // Bands of NaN around A and B, of poison around D.
    for (int i = 0; i < 2; ++i) {
      check(cudaMemsetAsync(run[i] + x[i]->base - kBand / 8, 0xFF, std::size_t(kBand / 2), nullptr));
      fill_values(run[i] + x[i]->base, x[i]->elements() - x[i]->base, used[i], {3}, unsigned(i) + 1, nullptr);
      check(cudaMemsetAsync(run[i] + x[i]->elements(), 0xFF, kBand / 2, nullptr));
    }
    GemmArrays const gemm = gemm_arrays(trial, run, used[2]);
    check(cudaMemsetAsync(matrix_[2].get(), kPoison, std::size_t(x[2]->elements() * 4 + kMostShift + 2 * kBand),
                          nullptr));
    prepare_c(gemm, {3}, nullptr);

    bool const may_refuse = !trial.agrees();
    Tensor views[3];
    for (int i = 0; i < 3; ++i) views[i] = x[i]->view(planned[i], trial.batched);
    Epilogue const epilogue{.alpha = trial.alpha, .beta = trial.beta};
    void* const workspace = trial.with_workspace ? workspace_.get() + kBand : nullptr;
    std::int64_t workspace_bytes = 0;
    auto const poison_workspace = [&](std::size_t bytes) {
      workspace_bytes = std::int64_t(bytes);
      check(cudaMemsetAsync(workspace_.get(), kPoison, bytes + 2 * kBand, nullptr));
    };
    auto const way = random.below(4);
    switch (may_refuse && way > 1 ? 1 : way) {  // only a public plan says which addresses it takes

      case 0:
        result.problem += ", by a call";
        attempt_run(result, false, [&] {
          Tensor at[3] = {views[0], views[1], views[2]};
          for (int i = 0; i < 3; ++i) at[i].data = static_cast<float*>(at[i].data) + trial.shift[i];
          std::size_t const bytes = workspace ? gemm_workspace(at[0], at[1], at[2], epilogue, trial.compute) : 0;
          if (bytes > std::size_t(kWorkspaceBytes)) return void(result.skipped = true);
          poison_workspace(bytes);
          inlay::gemm(at[0], at[1], at[2], epilogue, nullptr,
                      {.compute = trial.compute, .workspace = workspace, .workspace_bytes = bytes});
        });
        break;
      case 1:
        result.problem += ", by a public plan";
        attempt_run(result, may_refuse, [&] {
          inlay::Plan const plan =
              inlay::plan(views[0], views[1], views[2], epilogue, trial.compute, trial.with_workspace);
          if (plan.workspace_bytes() > std::size_t(kWorkspaceBytes)) return void(result.skipped = true);
          poison_workspace(plan.workspace_bytes());
          plan.run(static_cast<float*>(views[0].data) + trial.shift[0],
                   static_cast<float*>(views[1].data) + trial.shift[1],
                   static_cast<float*>(views[2].data) + trial.shift[2], nullptr,
                   plan.workspace_bytes() ? workspace : nullptr, plan.workspace_bytes());
        });
        break;
      default:
        attempt_run(result, false, [&] {
          planner::Device const& device = current_device();
          planner::Plan const plan = plan_of(trial, trial.problem(planned[0], planned[1], planned[2]), device);
          if (plan.workspace_bytes > std::size_t(kWorkspaceBytes)) return void(result.skipped = true);
          poison_workspace(plan.workspace_bytes);
          planner::Operands operands{{}, workspace};
          for (int i = 0; i < 3; ++i) operands.operand[i] = static_cast<float*>(views[i].data) + trial.shift[i];
          if (result.failed = rejected_launch(plan, operands, device); !result.failed.empty()) return;
          count(plan, operands, result);
          planner::run(plan, device, operands, nullptr);
        });
    }
    if (!result.failed.empty() || result.refused || result.skipped) return result;
    result.failed = check_result(trial, gemm, run[2]);
    if (result.failed.empty() && workspace)
      for (char const* band : {workspace_.get(), workspace_.get() + kBand + workspace_bytes})
        if (count_unpoisoned(band, kBand, nullptr).count) result.failed = "bytes beside the workspace were written";
    return result;
  }

 private:
  static Nested nested(DrawnMatrix const& x) {
    std::array<std::pair<std::int64_t, std::int64_t>, 3> modes;
    for (std::size_t k = 0; k < 3; ++k) modes[k] = {x.extent[k], std::abs(x.stride[k])};
    return Nested::of(modes);
  }
  // D from its lowest element on.
  static GemmArrays gemm_arrays(GemmTrial const& t, float* const (&run)[3], Nested const& used) {
    GemmArrays p{};
    p.M = t.M, p.N = t.N, p.K = t.alpha == 0 ? 0 : t.K, p.batch = t.L, p.alpha = t.alpha, p.beta = t.beta;
    p.a = run[0] + t.a.first(), p.a_l = t.a.stride[0], p.a_m = t.a.stride[1], p.a_k = t.a.stride[2];
    p.b = run[1] + t.b.first(), p.b_l = t.b.stride[0], p.b_k = t.b.stride[1], p.b_n = t.b.stride[2];
    p.c = run[2] + t.d.base, p.c_l = t.d.stride[0], p.c_m = t.d.stride[1], p.c_n = t.d.stride[2];
    p.c_elements = t.M * t.N > 0 ? t.d.elements() - t.d.base : 0, p.c_at = used;
    return p;
  }
  std::string check_result(GemmTrial const& t, GemmArrays const& gemm, float* run) {
    std::int64_t const bytes = gemm.c_elements * 4;
    char* const first = reinterpret_cast<char*>(gemm.c);
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
