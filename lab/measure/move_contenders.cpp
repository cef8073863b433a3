#include "measure/move_contenders.h"

#include <fmt/format.h>
#include <inlay/copy.h>
#include <inlay/plan/candidate.h>

#include <algorithm>

#include "measure/buffers.h"
#include "problems/variants.h"
#ifdef INLAY_CUBLAS
#include "measure/cublas.h"
#endif

namespace inlay::lab {
namespace {

using On = OnDevice<MoveCase>;
constexpr char const* kPublic = Kind<MoveCase>::public_function;

// As many bytes as the case moves, as one row at an aligned address: rounded up to whole 16-byte vectors.
MoveCase contiguous(MoveCase const& c) {
  std::int64_t const vector = 16 / c.elem_bytes;
  return {1, (c.elements() + vector - 1) / vector * vector, 1, c.elem_bytes};
}

MoveContender memcpy_contender(MoveCase const& flat) {
  auto const copy = [bytes = std::size_t(flat.elements() * flat.elem_bytes)](MoveCall const& call,
                                                                             cudaStream_t stream) {
    check(cudaMemcpyAsync(call.dst, call.src, bytes, cudaMemcpyDeviceToDevice, stream));
  };
  return {{kMemcpy, copy}, placement_of(flat, true)};
}

MoveContender public_contender(MoveCase const& c) {
  auto const call = [c](MoveCall const& now, cudaStream_t stream) {
    transpose(transposed_view(c, now.dst), source_view(c, now.src), stream);
  };
  return {{kPublic, call}, placement_of(c, false)};
}

// The names a table can have besides the copy limit's, in its order.
std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (auto const& name : variant_names<MoveCase>())
    if (name != kVectorCopy) names.push_back(name);
  std::stable_partition(names.begin(), names.end(), [](std::string const& name) { return is_copy(name); });
  names.emplace_back(kPublic);
#ifdef INLAY_CUBLAS
  names.emplace_back(kGeam);
#endif
  return names;
}

// Our own transposes, and of our own copies those that the planner may choose; what is no variant always is.
bool is_production(std::string const& name) {
  Info<Move> const* const info = info_of<MoveCase>(name);
  if (!info) return true;
  if (info->origin != Origin::ours) return false;
  auto const candidates = planning::candidates<Move>();
  return !is_copy(*info) || std::any_of(candidates.begin(), candidates.end(),
                                        [&](Candidate<Move> const& row) { return row.variant.info == info; });
}

MoveContender named(std::string const& name, MoveCase const& c, MoveCall const& call) {
  if (name == kPublic) return public_contender(c);
#ifdef INLAY_CUBLAS
  if (name == kGeam) return {{kGeam, geam(c)}, placement_of(c, false)};
#endif
  return On::of_variant(variant_named<MoveCase>(name), is_copy(name) ? contiguous(c) : c, call);
}

}  // namespace

Placement placement_of(MoveCase const& c, bool copies) {
  std::int64_t const pitch = c.source_pitch();
  if (copies) return {c.batch, c.rows, c.cols, c.base_dst, c.cols, c.base_src, c.rows * pitch, pitch, 1};
  return {c.batch, c.cols, c.rows, c.base_dst, c.destination_pitch(), c.base_src, c.rows * pitch, 1, pitch};
}

MoveContender On::of_variant(Entry<Move> const& entry, MoveCase const& c, MoveCall const& call) {
  return {contender_of(entry, c, call), placement_of(c, is_copy(entry.info()))};
}

std::vector<MoveContender> copy_limit(MoveCase const& c, MoveCall const& call) {
  MoveCase const flat = contiguous(c);
  return {memcpy_contender(flat), On::of_variant(variant_named<MoveCase>(kVectorCopy), flat, call)};
}

std::vector<MoveContender> On::contenders(MoveCase const& c, MoveCall const& call, cudaStream_t,
                                          std::vector<std::string> const& asked, BenchOptions const&) {
  auto rows = copy_limit(c, call);
  auto const names = row_names();
  auto known = names;
  for (MoveContender const& always : rows) known.push_back(always.name);
  Selection const selection(asked, known);
  for (auto const& name : names)
    if (selection.has(name, is_production(name))) rows.push_back(named(name, c, call));
  return rows;
}

std::function<void(cudaStream_t)> On::public_call(MoveCase const& c, MoveCall const& call, void*, std::size_t) {
  return [dst = transposed_view(c, call.dst), src = source_view(c, call.src)](cudaStream_t stream) {
    transpose(dst, src, stream);
  };
}

Operands On::in_order(MoveCase const& c, MoveCall const& call, void* workspace) {
  return {{transposed_view(c, call.dst).data, source_view(c, call.src).data, nullptr}, workspace};
}

MoveJudge::MoveJudge(MoveCase const& c, MoveCall const& call, cudaStream_t stream)
    : c_(c), first_{call}, stream_(stream) {
  fill(call);
}

Verdict MoveJudge::operator()(MoveContender const& contender) {
  poison(first_, contender);
  auto const launch = [&](cudaStream_t s) { contender.launch(first_[0], s); };
  if (std::string const said = attempt(contender.name, launch, stream_); !said.empty()) return {said, {}};
  return {verdict(first_, contender), {}};
}

void MoveJudge::fill(MoveCall const& call) const {
  lab::fill(const_cast<void*>(call.src), c_.elem_bytes, padded_bytes(Kind<MoveCase>::operands(c_)[0]) / c_.elem_bytes,
            stream_);
}

std::string MoveJudge::again(MoveContender const& contender, std::vector<MoveCall> const& calls,
                             AllSets const& all_sets) {
  poison(calls, contender);
  all_sets();
  return verdict(calls, contender);
}

std::int64_t MoveJudge::bytes(MoveContender const& contender) const {
  return std::max(contender.placement.dst_elements(), c_.destination_elements()) * c_.elem_bytes;
}

void MoveJudge::poison(std::vector<MoveCall> const& calls, MoveContender const& contender) const {
  for (MoveCall const& call : calls) check(cudaMemsetAsync(call.dst, kPoison, std::size_t(bytes(contender)), stream_));
}

std::string MoveJudge::verdict(std::vector<MoveCall> const& calls, MoveContender const& contender) const {
  Placement const& placement = contender.placement;
  std::vector<void const*> dsts;
  for (MoveCall const& call : calls) dsts.push_back(call.dst);
  Checked checked = check_placement(dsts, c_.elem_bytes, placement, stream_);
  std::int64_t const placed = placement.dst_elements() * c_.elem_bytes, all = bytes(contender);
  for (MoveCall const& call : calls)
    if (checked.stray.count == 0 && all > placed)  // a copy packs its rows, and leaves what a transpose would fill
      checked.stray = count_unpoisoned(static_cast<char*>(call.dst) + placed, all - placed, stream_);
  return judged(checked, placement.elements() * std::int64_t(calls.size()));
}

}  // namespace inlay::lab
