#include "measure/contenders.h"

#include <fmt/format.h>
#include <inlay/copy.h>
#include <inlay/plan/candidate.h>

#include <algorithm>

#include "variants.h"
#ifdef INLAY_CUBLAS
#include "measure/cublas.h"
#endif

namespace inlay::lab {
namespace {

// As many bytes as the case moves, as one row at an aligned address: rounded up to whole 16-byte vectors.
Case contiguous(Case const& c) {
  std::int64_t const vector = 16 / c.elem_bytes;
  return {1, (c.elements() + vector - 1) / vector * vector, 1, c.elem_bytes};
}

Placement copied(Case const& c) {
  std::int64_t const pitch = c.source_pitch();
  return {c.batch, c.rows, c.cols, c.base_dst, c.cols, c.base_src, c.rows * pitch, pitch, 1};
}
Placement transposed(Case const& c) {
  std::int64_t const pitch = c.source_pitch();
  return {c.batch, c.cols, c.rows, c.base_dst, c.destination_pitch(), c.base_src, c.rows * pitch, 1, pitch};
}

Contender memcpy_contender(Case const& flat) {
  auto const bytes = std::size_t(flat.elements() * flat.elem_bytes);
  return {kMemcpy, flat.elem_bytes, copied(flat), [bytes](void* dst, void const* src, cudaStream_t stream) {
            check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream));
          }};
}

Contender public_contender(Case const& c) {
  return {kPublic, c.elem_bytes, transposed(c), [c](void* dst, void const* src, cudaStream_t stream) {
            transpose(transposed_view(c, dst), source_view(c, src), stream);
          }};
}

// The names a table can have besides the copy limit's, in its order.
std::vector<std::string> row_names(bool transposes) {
  std::vector<std::string> names;
  for (auto const& name : variant_names<Move>())
    if (name != kVectorCopy && (is_copy(name) || transposes)) names.push_back(name);
  std::stable_partition(names.begin(), names.end(), [](std::string const& name) { return is_copy(name); });
  if (!transposes) return names;
  names.emplace_back(kPublic);
#ifdef INLAY_CUBLAS
  names.emplace_back(kGeam);
#endif
  return names;
}

// Our own transposes, and of our own copies those that the planner may choose; what is no variant always is.
bool is_production(std::string const& name) {
  Info<Move> const* const info = info_of<Move>(name);
  if (!info) return true;
  if (info->origin != Origin::ours) return false;
  auto const candidates = planning::candidates<Move>();
  return !is_copy(*info) || std::any_of(candidates.begin(), candidates.end(),
                                        [&](Candidate<Move> const& row) { return row.variant.info == info; });
}

Contender named(std::string const& name, Case const& c) {
  if (name == kPublic) return public_contender(c);
#ifdef INLAY_CUBLAS
  if (name == kGeam) {
    auto const launch = geam(c);
    return {kGeam, c.elem_bytes, transposed(c), launch};
  }
#endif
  return variant_contender(variant_named<Move>(name), is_copy(name) ? contiguous(c) : c);
}

}  // namespace

Contender variant_contender(Entry<Move> const& entry, Case const& c) {
  bool const copies = is_copy(entry.info());
  return {entry.info().name, c.elem_bytes, copies ? copied(c) : transposed(c),
          [&entry, c, copies](void* dst, void const* src, cudaStream_t stream) {
            Move const move = copies ? copy_move(c, dst, src) : transpose_move(c, dst, src);
            if (Reason const reason = entry.info().rejects(move, current_device())) throw Rejection(reason.sentence());
            entry.variant.run(move, current_device(), nullptr, stream);
          }};
}

std::vector<Contender> copy_limit(Case const& c) {
  Case const flat = contiguous(c);
  return {memcpy_contender(flat), variant_contender(variant_named<Move>(kVectorCopy), flat)};
}

std::vector<Contender> table_rows(Case const& c, bool transposes, std::vector<std::string> const& typed) {
  auto rows = copy_limit(c);
  auto const names = row_names(transposes);
  auto known = names;
  for (Contender const& always : rows) known.push_back(always.name);
  Selection const selection(typed, known);
  for (auto const& name : names)
    if (selection.has(name, is_production(name))) rows.push_back(named(name, c));
  return rows;
}

std::string verdict(Contender const& contender, void* dst, void const* src, cudaStream_t stream) {
  Placement const& placement = contender.placement;
  check(cudaMemsetAsync(dst, kPoison, std::size_t(placement.dst_elements() * contender.elem_bytes), stream));
  std::string const said = attempt(
      contender.name, [&](cudaStream_t s) { contender.launch(dst, src, s); }, stream);
  if (!said.empty()) return said;
  return judged(check_placement(dst, contender.elem_bytes, placement, stream), placement.elements());
}

}  // namespace inlay::lab
