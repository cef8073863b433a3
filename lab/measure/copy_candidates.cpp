#include "measure/copy_candidates.h"

#include <inlay/copy.h>
#include <inlay/planner/candidate.h>

#include <algorithm>

#include "problems/kernels.h"
#include "problems/transpose_case.h"

namespace inlay::lab {
namespace {

using On = OnDevice<CopyCase>;
constexpr char const *kPublic = Kind<CopyCase>::public_function, *kMemcpy = "cudaMemcpyAsync",
                     *kVectorCopy = "copy_03_vector";

Strided moved(CopyCase const& c, CopyCall const& call) {
  Copy const m = Kind<CopyCase>::canonical(c, call, nullptr);
  Strided s{m.elem_bytes, m.rank, {}, {}, {}, 0, 0};
  s.src_base = static_cast<char const*>(m.src) - static_cast<char const*>(call.src);
  s.dst_base = static_cast<char const*>(m.dst) - static_cast<char const*>(call.dst);
  for (int k = 0; k < m.rank; ++k)
    s.extent[k] = m.mode[k].extent, s.src[k] = m.mode[k].src_stride, s.dst[k] = m.mode[k].dst_stride;
  return s;
}

// A contiguous copy between aligned addresses, of as many bytes each way as the case's sectors have on average.
std::vector<CopyCandidate> copy_limit(CopyCase const& c) {
  std::int64_t const vectors = std::max<std::int64_t>(c.sector_bytes() / 32, 1);
  Strided const flat{16, 1, {vectors}, {16}, {16}, 0, 0};
  auto const memcpy = [bytes = std::size_t(vectors) * 16](CopyCall const& call, cudaStream_t stream) {
    check(cudaMemcpyAsync(call.dst, call.src, bytes, cudaMemcpyDeviceToDevice, stream));
  };
  auto const& entry = kernel_named<CopyCase>(kVectorCopy);
  auto const vector = [&entry, vectors](CopyCall const& call, cudaStream_t stream) {
    Tensor const dst = tensor(call.dst, opaque(16), {vectors});
    entry.kernel.run(make_copy(dst, tensor(call.src, opaque(16), {vectors})), current_device(), nullptr, stream);
  };
  return {{{kMemcpy, memcpy}, flat}, {{kVectorCopy, vector}, flat}};
}

}  // namespace

bool On::is_baseline(CopyCandidate const& x) { return x.name == kMemcpy || x.name == kVectorCopy; }

CopyCandidate On::of_kernel(Entry<Copy> const& entry, CopyCase const& c, CopyCall const& call) {
  return {candidate_of(entry, c, call), moved(c, call)};
}

std::vector<CopyCandidate> On::candidates(CopyCase const& c, CopyCall const& call, cudaStream_t,
                                          std::vector<std::string> const& asked, BenchOptions const&) {
  auto rows = copy_limit(c);
  auto const candidates = planner::candidates<Copy>();
  std::vector<std::string> names{kPublic};
  for (auto const& name : kernel_names<CopyCase>())
    if (name != kVectorCopy) names.push_back(name);
  auto known = names;
  for (CopyCandidate const& always : rows) known.push_back(always.name);
  Selection const selection(asked, known);
  for (auto const& name : names) {
    bool const production = name == kPublic || std::any_of(candidates.begin(), candidates.end(), [&](auto const& row) {
                              return row.kernel.info->name == name;
                            });
    if (!selection.has(name, production)) continue;
    if (name == kPublic)
      rows.push_back({{kPublic,
                       [c](CopyCall const& now, cudaStream_t stream) {
                         auto const [dst, src] = views(c, now);
                         copy(dst, src, stream);
                       }},
                      moved(c, call)});
    else
      rows.push_back(of_kernel(kernel_named<CopyCase>(name), c, call));
  }
  return rows;
}

std::function<void(cudaStream_t)> On::public_call(CopyCase const& c, CopyCall const& call, void*, std::size_t) {
  auto const [dst, src] = views(c, call);
  return [dst = dst, src = src](cudaStream_t stream) { copy(dst, src, stream); };
}

Operands On::in_order(CopyCase const& c, CopyCall const& call, void* workspace) {
  auto const [dst, src] = views(c, call);
  return {{dst.data, const_cast<void*>(src.data), nullptr}, workspace};
}

CopyChecker::CopyChecker(CopyCase const& c, CopyCall const& call, cudaStream_t stream)
    : operands_(Kind<CopyCase>::operands(c)), first_{call}, stream_(stream) {
  fill(call);
}

void CopyChecker::fill(CopyCall const& call) const {
  lab::fill(const_cast<void*>(call.src), 4, padded_bytes(operands_[0]) / 4, stream_);
}

CheckResult CopyChecker::operator()(CopyCandidate const& candidate) {
  poison(first_);
  auto const launch = [&](cudaStream_t s) { candidate.launch(first_[0], s); };
  if (std::string const said = attempt(candidate.name, launch, stream_); !said.empty()) return {said, {}};
  return {check_result(first_, candidate), {}};
}

std::string CopyChecker::again(CopyCandidate const& candidate, std::vector<CopyCall> const& calls,
                               AllSets const& all_sets) {
  poison(calls);
  all_sets();
  return check_result(calls, candidate);
}

void CopyChecker::poison(std::vector<CopyCall> const& calls) const {
  for (CopyCall const& call : calls)
    check(cudaMemsetAsync(call.dst, kPoison, std::size_t(padded_bytes(operands_[1])), stream_));
}

std::string CopyChecker::check_result(std::vector<CopyCall> const& calls, CopyCandidate const& candidate) const {
  std::vector<void*> dsts;
  for (CopyCall const& call : calls) dsts.push_back(call.dst);
  Checked const checked = check_strided(dsts, candidate.moved, padded_bytes(operands_[1]), stream_);
  return check_text(checked, candidate.moved.elements() * std::int64_t(calls.size()));
}

}  // namespace inlay::lab
