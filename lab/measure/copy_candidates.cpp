#include "measure/copy_candidates.h"

#include <inlay/copy.h>
#include <inlay/planner/candidate.h>

#include <algorithm>

#include "problems/kernels.h"
#ifdef INLAY_CUBLAS
#include "measure/cublas.h"
#endif

namespace inlay::lab {

Strided strided(Copy const& copy, TransposeCall const& call) {
  Strided s{copy.elem_bytes, copy.rank, {}, {}, {}, 0, 0};
  s.src_base = static_cast<char const*>(copy.src) - static_cast<char const*>(call.src);
  s.dst_base = static_cast<char const*>(copy.dst) - static_cast<char const*>(call.dst);
  for (int k = 0; k < copy.rank; ++k)
    s.extent[k] = copy.mode[k].extent, s.src[k] = copy.mode[k].src_stride, s.dst[k] = copy.mode[k].dst_stride;
  return s;
}

namespace {

template <class C>
CopyCandidate<C> public_candidate(C const& c, TransposeCall const& call) {
  auto const launch = [c](TransposeCall const& now, cudaStream_t stream) { public_call(c, now, nullptr, 0)(stream); };
  return {{C::public_function, launch}, strided(c.canonical(call, nullptr), call), c.limit_bytes()};
}

bool is_planned(std::string const& name) {
  auto const all = planner::candidates<Copy>();
  return std::any_of(all.begin(), all.end(),
                     [&](auto const& candidate) { return candidate.kernel.info->name == name; });
}

// inlay's own transposes, the copies that the planner may choose, and candidates that are not kernels.
bool is_production(std::string const& name) {
  Info<Copy> const* const info = info_of<TransposeCase>(name);
  return !info || (info->origin == Origin::ours && (!is_copy(*info) || is_planned(name)));
}

// The names of the kernels, without the one of the copy limit.
template <class C>
std::vector<std::string> other_kernels() {
  auto names = kernel_names<C>();
  std::erase(names, kVectorCopy);
  return names;
}

// Adds those of `names` that were asked for to the copy limit.
template <class C, class IsProduction, class Named>
std::vector<CopyCandidate<C>> selected(C const& c, std::vector<std::string> const& names,
                                       std::vector<std::string> const& asked, IsProduction const& is_production,
                                       Named const& named) {
  auto rows = copy_limit(c);
  auto known = names;
  for (auto const& always : rows) known.push_back(always.name);
  Selection const selection(asked, known);
  for (auto const& name : names)
    if (selection.has(name, is_production(name))) rows.push_back(named(name));
  return rows;
}

}  // namespace

template <class C>
CopyCandidate<C> of_kernel(Entry<Copy> const& entry, C const& c, TransposeCall const& call) {
  return {candidate_of(entry, c, call), strided(c.canonical(call, &entry.info()), call), c.limit_bytes()};
}
template CopyCandidate<TransposeCase> of_kernel(Entry<Copy> const&, TransposeCase const&, TransposeCall const&);
template CopyCandidate<CopyCase> of_kernel(Entry<Copy> const&, CopyCase const&, TransposeCall const&);

template <class C>
std::vector<CopyCandidate<C>> copy_limit(C const& c) {
  std::int64_t const vectors = std::max<std::int64_t>((c.limit_bytes() / 2 + 15) / 16, 1), bytes = 16 * vectors;
  Strided const flat{16, 1, {vectors}, {16}, {16}, 0, 0};
  auto const memcpy = [bytes](TransposeCall const& call, cudaStream_t stream) {
    check(cudaMemcpyAsync(call.dst, call.src, std::size_t(bytes), cudaMemcpyDeviceToDevice, stream));
  };
  auto const& entry = kernel_named<C>(kVectorCopy);
  auto const vector = [&entry, vectors](TransposeCall const& call, cudaStream_t stream) {
    Tensor const dst = tensor(call.dst, opaque(16), {vectors});
    entry.kernel.run(make_copy(dst, tensor(call.src, opaque(16), {vectors})), current_device(), nullptr, stream);
  };
  return {{{kMemcpy, memcpy}, flat, 2 * bytes}, {{kVectorCopy, vector}, flat, 2 * bytes}};
}
template std::vector<CopyCandidate<TransposeCase>> copy_limit(TransposeCase const&);
template std::vector<CopyCandidate<CopyCase>> copy_limit(CopyCase const&);

std::vector<CopyCandidate<TransposeCase>> candidates(TransposeCase const& c, TransposeCall const& call, cudaStream_t,
                                                     std::vector<std::string> const& asked, BenchOptions const&) {
  auto names = other_kernels<TransposeCase>();
  std::stable_partition(names.begin(), names.end(), [](std::string const& name) { return is_copy(name); });
  names.emplace_back(TransposeCase::public_function);
#ifdef INLAY_CUBLAS
  names.emplace_back(kGeam);
#endif
  return selected(c, names, asked, is_production, [&](std::string const& name) -> CopyCandidate<TransposeCase> {
    if (name == TransposeCase::public_function) return public_candidate(c, call);
#ifdef INLAY_CUBLAS
    if (name == kGeam) return {{kGeam, geam(c)}, strided(c.canonical(call, nullptr), call), c.limit_bytes()};
#endif
    return of_kernel(kernel_named<TransposeCase>(name), is_copy(name) ? c.contiguous() : c, call);
  });
}

std::vector<CopyCandidate<CopyCase>> candidates(CopyCase const& c, TransposeCall const& call, cudaStream_t,
                                                std::vector<std::string> const& asked, BenchOptions const&) {
  auto names = other_kernels<CopyCase>();
  names.insert(names.begin(), CopyCase::public_function);
  auto const in_production = [](std::string const& name) {
    return name == CopyCase::public_function || is_planned(name);
  };
  return selected(c, names, asked, in_production, [&](std::string const& name) {
    return name == CopyCase::public_function ? public_candidate(c, call)
                                             : of_kernel(kernel_named<CopyCase>(name), c, call);
  });
}

std::function<void(cudaStream_t)> public_call(TransposeCase const& c, TransposeCall const& call, void*, std::size_t) {
  auto const [dst, transposed] = views(c, call);
  return [dst = dst, src = transposed.transposed()](cudaStream_t stream) { transpose(dst, src, stream); };
}
std::function<void(cudaStream_t)> public_call(CopyCase const& c, TransposeCall const& call, void*, std::size_t) {
  auto const [dst, src] = views(c, call);
  return [dst = dst, src = src](cudaStream_t stream) { copy(dst, src, stream); };
}

CopyChecker::CopyChecker(std::vector<OperandBuffer> const& operands, TransposeCall const& call, cudaStream_t stream)
    : src_bytes_(padded_bytes(operands[0])), dst_bytes_(padded_bytes(operands[1])), first_{call}, stream_(stream) {
  fill(call);
}

void CopyChecker::fill(TransposeCall const& call) const {
  lab::fill(const_cast<void*>(call.src), src_bytes_ / 4, stream_);
}

void CopyChecker::poison(std::vector<TransposeCall> const& calls) const {
  for (TransposeCall const& call : calls) check(cudaMemsetAsync(call.dst, kPoison, std::size_t(dst_bytes_), stream_));
}

std::string CopyChecker::check_result(std::vector<TransposeCall> const& calls, Strided const& layout) const {
  std::vector<void*> dsts;
  for (TransposeCall const& call : calls) dsts.push_back(call.dst);
  Checked const checked = check_strided(dsts, layout, dst_bytes_, stream_);
  return check_text(checked, layout.elements() * std::int64_t(calls.size()));
}

}  // namespace inlay::lab
