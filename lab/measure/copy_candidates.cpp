#include "measure/copy_candidates.h"

#include <inlay/block/kernel.h>
#include <inlay/copy.h>
#include <inlay/planner/candidate.h>
#include <inlay/tuning.h>

#include <algorithm>

#include "problems/kernels.h"
#ifdef INLAY_CUBLAS
#include "measure/cublas.h"
#endif

namespace inlay::lab {

Strided strided(Copy const& copy, CopyCall const& call) {
  Strided s{copy.elem_bytes, copy.rank, {}, {}, {}, 0, 0};
  s.src_base = static_cast<char const*>(copy.src) - static_cast<char const*>(call.src);
  s.dst_base = static_cast<char const*>(copy.dst) - static_cast<char const*>(call.dst);
  for (int k = 0; k < copy.rank; ++k)
    s.extent[k] = copy.mode[k].extent, s.src[k] = copy.mode[k].src_stride, s.dst[k] = copy.mode[k].dst_stride;
  return s;
}

namespace {

// The public function's launches, each of which waits for the end of the one before.
constexpr char const* kPlain = "plain_launches";
constexpr char const* kTuned = "tuned";  // the public function's plan by Choose::measured, only where it is asked for

bool is_planned(std::string const& name) {
  auto const all = planner::candidates<Copy>();
  return std::any_of(all.begin(), all.end(), [&](auto const& candidate) { return candidate.kernel->name == name; });
}

struct Plainly {
  Plainly() { block::launches_programmatically = false; }
  ~Plainly() { block::launches_programmatically = true; }
};

// Whether the word "production" selects the row: baselines and the public function, copy kernels that the planner may
// choose, and, in the table of a transpose, all of inlay's own transposes.
bool is_production(std::string const& name, bool is_transpose) {
  Info<Copy> const* const info = info_of<CopyCase>(name);
  if (!info) return true;
  return is_transpose ? info->origin == Origin::ours && (!is_copy(*info) || is_planned(name)) : is_planned(name);
}

}  // namespace

CopyCandidate of_kernel(Entry<Copy> const& entry, CopyCase const& c, CopyCall const& call,
                        model::Config const& config) {
  return {candidate_of(entry, c, call, config), strided(c.canonical(call, &entry.info()), call), c.limit_bytes()};
}

std::vector<CopyCandidate> copy_limit(CopyCase const& c) {
  std::int64_t const vectors = std::max<std::int64_t>((c.limit_bytes() / 2 + 15) / 16, 1), bytes = 16 * vectors;
  Strided const flat{16, 1, {vectors}, {16}, {16}, 0, 0};
  auto const memcpy = [bytes](CopyCall const& call, cudaStream_t stream) {
    check(cudaMemcpyAsync(call.dst, call.src, std::size_t(bytes), cudaMemcpyDeviceToDevice, stream));
  };
  auto const& entry = kernel_named<CopyCase>(kVectorCopy);
  auto const vector = [&entry, vectors](CopyCall const& call, cudaStream_t stream) {
    Tensor const dst = tensor(call.dst, opaque(16), {vectors});
    entry.kernel->run(make_copy(dst, tensor(call.src, opaque(16), {vectors})), current_device(), nullptr, stream);
  };
  return {{{kMemcpy, memcpy}, flat, 2 * bytes}, {{kVectorCopy, vector}, flat, 2 * bytes}};
}

std::vector<CopyCandidate> candidates(CopyCase const& c, CopyCall const& call, cudaStream_t stream,
                                      std::vector<std::string> const& asked, BenchOptions const& options) {
  std::string const function = c.notation().public_function;
  auto names = kernel_names<CopyCase>();
  std::erase(names, kVectorCopy);  // a row of the copy limit
  if (c.is_transpose) std::stable_partition(names.begin(), names.end(), [](auto const& name) { return is_copy(name); });
  names.insert(c.is_transpose ? names.end() : names.begin(), function);
  for (char const* only_asked : {kPlain, kTuned})
    if (std::ranges::find(asked, only_asked) != asked.end()) names.emplace_back(only_asked);
#ifdef INLAY_CUBLAS
  if (c.is_transpose) names.emplace_back(kGeam);
#endif
  auto const whole = [&](std::string const& name, CopyLaunch launch) {
    return CopyCandidate{{name, std::move(launch)}, strided(c.canonical(call, nullptr), call), c.limit_bytes()};
  };
  auto const named = [&](std::string const& name) -> CopyCandidate {
    if (name == kTuned) {
      auto const [dst, src] = views(c, call);
      Plan const tuned = plan(dst, c.is_transpose ? src.transposed() : src, {Choose::measured, stream});
      forget_tuning();  // the public function's row keeps the predicted choice
      return whole(name, [c, tuned](CopyCall const& now, cudaStream_t s) {
        auto const at = views(c, now);
        tuned.run(at.dst.data, at.src.data, s);
      });
    }
    if (name == kPlain)
      return whole(name, [c](CopyCall const& now, cudaStream_t s) {
        Plainly const plainly;
        public_call(c, now, nullptr, 0)(s);
      });
    if (name == function)
      return whole(name, [c](CopyCall const& now, cudaStream_t stream) { public_call(c, now, nullptr, 0)(stream); });
#ifdef INLAY_CUBLAS
    if (name == kGeam) return whole(name, geam(c));
#endif
    return of_kernel(kernel_named<CopyCase>(name), c.is_transpose && is_copy(name) ? c.contiguous() : c, call);
  };
  auto rows = copy_limit(c);
  auto known = names;
  for (auto const& always : rows) known.push_back(always.name);
  Selection const selection(asked, known);
  for (auto const& name : names)
    if (selection.has(name, is_production(name, c.is_transpose))) rows.push_back(named(name));
  if (options.regret)  // a row for each configuration of the kernels that number theirs
    for (auto const& entry : CopyCase::kernels())
      for (int tile = 1; tile <= entry.info().tiles; ++tile) {
        CopyCandidate row = of_kernel(entry, c, call, {.tile = tile});
        row.name += " " + std::to_string(tile);
        rows.push_back(std::move(row));
      }
  if (options.copy_baselines)
    for (CopyCandidate& baseline : options.copy_baselines(c)) rows.push_back(std::move(baseline));
  return rows;
}

std::function<void(cudaStream_t)> public_call(CopyCase const& c, CopyCall const& call, void*, std::size_t) {
  auto const [dst, src] = views(c, call);
  if (!c.is_transpose) return [dst = dst, src = src](cudaStream_t stream) { copy(dst, src, stream); };
  return [dst = dst, src = src.transposed()](cudaStream_t stream) { transpose(dst, src, stream); };
}

CopyChecker::CopyChecker(std::vector<OperandBuffer> const& operands, CopyCall const& call, cudaStream_t stream)
    : src_bytes_(padded_bytes(operands[0])), dst_bytes_(padded_bytes(operands[1])), first_{call}, stream_(stream) {
  fill(call);
}

CheckResult CopyChecker::operator()(CopyCandidate const& candidate) {
  poison(first_);
  auto const launch = [&](cudaStream_t s) { candidate.launch(first_[0], s); };
  if (std::string const said = attempt(candidate.name, launch, stream_); !said.empty()) return {said, {}};
  return {check_result(first_, candidate.layout), {}};
}

std::string CopyChecker::again(CopyCandidate const& candidate, std::vector<CopyCall> const& calls,
                               AllSets const& all_sets) {
  poison(calls);
  all_sets();
  return check_result(calls, candidate.layout);
}

void CopyChecker::fill(CopyCall const& call) const { lab::fill(const_cast<void*>(call.src), src_bytes_ / 4, stream_); }

void CopyChecker::poison(std::vector<CopyCall> const& calls) const {
  for (CopyCall const& call : calls) check(cudaMemsetAsync(call.dst, kPoison, std::size_t(dst_bytes_), stream_));
}

std::string CopyChecker::check_result(std::vector<CopyCall> const& calls, Strided const& layout) const {
  std::vector<void*> dsts;
  for (CopyCall const& call : calls) dsts.push_back(call.dst);
  Checked const checked = check_strided(dsts, layout, dst_bytes_, stream_);
  return check_text(checked, layout.elements() * std::int64_t(calls.size()));
}

}  // namespace inlay::lab
