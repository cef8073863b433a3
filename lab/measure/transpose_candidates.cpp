#include "measure/transpose_candidates.h"

#include <fmt/format.h>
#include <inlay/copy.h>
#include <inlay/planner/candidate.h>

#include <algorithm>

#include "measure/buffers.h"
#include "problems/kernels.h"
#ifdef INLAY_CUBLAS
#include "measure/cublas.h"
#endif

namespace inlay::lab {
namespace {

using On = OnDevice<TransposeCase>;
constexpr char const* kPublic = Kind<TransposeCase>::public_function;

// As many bytes as the case moves, as one row at an aligned address: rounded up to whole 16-byte vectors.
TransposeCase contiguous(TransposeCase const& c) {
  std::int64_t const vector = 16 / c.elem_bytes;
  return {1, (c.elements() + vector - 1) / vector * vector, 1, c.elem_bytes};
}

TransposeCandidate memcpy_candidate(TransposeCase const& flat) {
  auto const copy = [bytes = std::size_t(flat.elements() * flat.elem_bytes)](TransposeCall const& call,
                                                                             cudaStream_t stream) {
    check(cudaMemcpyAsync(call.dst, call.src, bytes, cudaMemcpyDeviceToDevice, stream));
  };
  return {{kMemcpy, copy}, placement_of(flat, true)};
}

TransposeCandidate public_candidate(TransposeCase const& c) {
  auto const call = [c](TransposeCall const& now, cudaStream_t stream) {
    transpose(transposed_view(c, now.dst), source_view(c, now.src), stream);
  };
  return {{kPublic, call}, placement_of(c, false)};
}

// The names a table can have besides the copy limit's, in its order.
std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (auto const& name : kernel_names<TransposeCase>())
    if (name != kVectorCopy) names.push_back(name);
  std::stable_partition(names.begin(), names.end(), [](std::string const& name) { return is_copy(name); });
  names.emplace_back(kPublic);
#ifdef INLAY_CUBLAS
  names.emplace_back(kGeam);
#endif
  return names;
}

// Our own transposes, and of our own copies those that the planner may choose; what is no kernel always is.
bool is_production(std::string const& name) {
  Info<Copy> const* const info = info_of<TransposeCase>(name);
  if (!info) return true;
  if (info->origin != Origin::ours) return false;
  auto const candidates = planner::candidates<Copy>();
  return !is_copy(*info) || std::any_of(candidates.begin(), candidates.end(),
                                        [&](planner::Candidate<Copy> const& row) { return row.kernel.info == info; });
}

TransposeCandidate named(std::string const& name, TransposeCase const& c, TransposeCall const& call) {
  if (name == kPublic) return public_candidate(c);
#ifdef INLAY_CUBLAS
  if (name == kGeam) return {{kGeam, geam(c)}, placement_of(c, false)};
#endif
  return On::of_kernel(kernel_named<TransposeCase>(name), is_copy(name) ? contiguous(c) : c, call);
}

}  // namespace

Placement placement_of(TransposeCase const& c, bool copies) {
  std::int64_t const pitch = c.source_pitch();
  if (copies) return {c.batch, c.rows, c.cols, c.base_dst, c.cols, c.base_src, c.rows * pitch, pitch, 1};
  return {c.batch, c.cols, c.rows, c.base_dst, c.destination_pitch(), c.base_src, c.rows * pitch, 1, pitch};
}

TransposeCandidate On::of_kernel(Entry<Copy> const& entry, TransposeCase const& c, TransposeCall const& call) {
  return {candidate_of(entry, c, call), placement_of(c, is_copy(entry.info()))};
}

std::vector<TransposeCandidate> copy_limit(TransposeCase const& c, TransposeCall const& call) {
  TransposeCase const flat = contiguous(c);
  return {memcpy_candidate(flat), On::of_kernel(kernel_named<TransposeCase>(kVectorCopy), flat, call)};
}

std::vector<TransposeCandidate> On::candidates(TransposeCase const& c, TransposeCall const& call, cudaStream_t,
                                               std::vector<std::string> const& asked, BenchOptions const&) {
  auto rows = copy_limit(c, call);
  auto const names = row_names();
  auto known = names;
  for (TransposeCandidate const& always : rows) known.push_back(always.name);
  Selection const selection(asked, known);
  for (auto const& name : names)
    if (selection.has(name, is_production(name))) rows.push_back(named(name, c, call));
  return rows;
}

std::function<void(cudaStream_t)> On::public_call(TransposeCase const& c, TransposeCall const& call, void*,
                                                  std::size_t) {
  return [dst = transposed_view(c, call.dst), src = source_view(c, call.src)](cudaStream_t stream) {
    transpose(dst, src, stream);
  };
}

Operands On::in_order(TransposeCase const& c, TransposeCall const& call, void* workspace) {
  return {{transposed_view(c, call.dst).data, source_view(c, call.src).data, nullptr}, workspace};
}

TransposeChecker::TransposeChecker(TransposeCase const& c, TransposeCall const& call, cudaStream_t stream)
    : c_(c), first_{call}, stream_(stream) {
  fill(call);
}

CheckResult TransposeChecker::operator()(TransposeCandidate const& candidate) {
  poison(first_, candidate);
  auto const launch = [&](cudaStream_t s) { candidate.launch(first_[0], s); };
  if (std::string const said = attempt(candidate.name, launch, stream_); !said.empty()) return {said, {}};
  return {check_result(first_, candidate), {}};
}

void TransposeChecker::fill(TransposeCall const& call) const {
  lab::fill(const_cast<void*>(call.src), c_.elem_bytes,
            padded_bytes(Kind<TransposeCase>::operands(c_)[0]) / c_.elem_bytes, stream_);
}

std::string TransposeChecker::again(TransposeCandidate const& candidate, std::vector<TransposeCall> const& calls,
                                    AllSets const& all_sets) {
  poison(calls, candidate);
  all_sets();
  return check_result(calls, candidate);
}

std::int64_t TransposeChecker::bytes(TransposeCandidate const& candidate) const {
  return std::max(candidate.placement.dst_elements(), c_.destination_elements()) * c_.elem_bytes;
}

void TransposeChecker::poison(std::vector<TransposeCall> const& calls, TransposeCandidate const& candidate) const {
  for (TransposeCall const& call : calls)
    check(cudaMemsetAsync(call.dst, kPoison, std::size_t(bytes(candidate)), stream_));
}

std::string TransposeChecker::check_result(std::vector<TransposeCall> const& calls,
                                           TransposeCandidate const& candidate) const {
  Placement const& placement = candidate.placement;
  std::vector<void const*> dsts;
  for (TransposeCall const& call : calls) dsts.push_back(call.dst);
  Checked checked = check_placement(dsts, c_.elem_bytes, placement, stream_);
  std::int64_t const placed = placement.dst_elements() * c_.elem_bytes, all = bytes(candidate);
  for (TransposeCall const& call : calls)
    if (checked.stray.count == 0 && all > placed)  // a copy packs its rows, and leaves what a transpose would fill
      checked.stray = count_unpoisoned(static_cast<char*>(call.dst) + placed, all - placed, stream_);
  return check_text(checked, placement.elements() * std::int64_t(calls.size()));
}

}  // namespace inlay::lab
