#include "measure/copy_contenders.h"

#include <inlay/copy.h>
#include <inlay/plan/candidate.h>

#include <algorithm>

#include "problems/move_case.h"
#include "problems/variants.h"

namespace inlay::lab {
namespace {

using On = OnDevice<CopyCase>;
constexpr char const *kPublic = Kind<CopyCase>::public_function, *kMemcpy = "cudaMemcpyAsync",
                     *kVectorCopy = "copy_03_vector";

Strided moved(CopyCase const& c, CopyCall const& call) {
  Move const m = Kind<CopyCase>::canonical(c, call, nullptr);
  Strided s{m.elem_bytes, m.rank, {}, {}, {}, 0, 0};
  s.src_base = static_cast<char const*>(m.src) - static_cast<char const*>(call.src);
  s.dst_base = static_cast<char const*>(m.dst) - static_cast<char const*>(call.dst);
  for (int k = 0; k < m.rank; ++k)
    s.extent[k] = m.mode[k].extent, s.src[k] = m.mode[k].src_stride, s.dst[k] = m.mode[k].dst_stride;
  return s;
}

// A contiguous copy between aligned addresses, of as many bytes each way as the case's sectors have on average.
std::vector<CopyContender> copy_limit(CopyCase const& c) {
  std::int64_t const vectors = std::max<std::int64_t>(c.sector_bytes() / 32, 1);
  Strided const flat{16, 1, {vectors}, {16}, {16}, 0, 0};
  auto const memcpy = [bytes = std::size_t(vectors) * 16](CopyCall const& call, cudaStream_t stream) {
    check(cudaMemcpyAsync(call.dst, call.src, bytes, cudaMemcpyDeviceToDevice, stream));
  };
  auto const& entry = variant_named<CopyCase>(kVectorCopy);
  auto const vector = [&entry, vectors](CopyCall const& call, cudaStream_t stream) {
    Tensor const dst = tensor(call.dst, opaque(16), {vectors});
    entry.variant.run(make_move(dst, tensor(call.src, opaque(16), {vectors})), current_device(), nullptr, stream);
  };
  return {{{kMemcpy, memcpy}, flat}, {{kVectorCopy, vector}, flat}};
}

}  // namespace

bool On::is_yardstick(CopyContender const& x) { return x.name == kMemcpy || x.name == kVectorCopy; }

CopyContender On::of_variant(Entry<Move> const& entry, CopyCase const& c, CopyCall const& call) {
  return {contender_of(entry, c, call), moved(c, call)};
}

std::vector<CopyContender> On::contenders(CopyCase const& c, CopyCall const& call, cudaStream_t,
                                          std::vector<std::string> const& asked, BenchOptions const&) {
  auto rows = copy_limit(c);
  auto const candidates = planning::candidates<Move>();
  std::vector<std::string> names{kPublic};
  for (auto const& name : variant_names<CopyCase>())
    if (name != kVectorCopy) names.push_back(name);
  auto known = names;
  for (CopyContender const& always : rows) known.push_back(always.name);
  Selection const selection(asked, known);
  for (auto const& name : names) {
    bool const production = name == kPublic || std::any_of(candidates.begin(), candidates.end(), [&](auto const& row) {
                              return row.variant.info->name == name;
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
      rows.push_back(of_variant(variant_named<CopyCase>(name), c, call));
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

CopyJudge::CopyJudge(CopyCase const& c, CopyCall const& call, cudaStream_t stream)
    : operands_(Kind<CopyCase>::operands(c)), first_{call}, stream_(stream) {
  fill(call);
}

void CopyJudge::fill(CopyCall const& call) const {
  lab::fill(const_cast<void*>(call.src), 4, padded_bytes(operands_[0]) / 4, stream_);
}

Verdict CopyJudge::operator()(CopyContender const& contender) {
  poison(first_);
  auto const launch = [&](cudaStream_t s) { contender.launch(first_[0], s); };
  if (std::string const said = attempt(contender.name, launch, stream_); !said.empty()) return {said, {}};
  return {verdict(first_, contender), {}};
}

std::string CopyJudge::again(CopyContender const& contender, std::vector<CopyCall> const& calls,
                             AllSets const& all_sets) {
  poison(calls);
  all_sets();
  return verdict(calls, contender);
}

void CopyJudge::poison(std::vector<CopyCall> const& calls) const {
  for (CopyCall const& call : calls)
    check(cudaMemsetAsync(call.dst, kPoison, std::size_t(padded_bytes(operands_[1])), stream_));
}

std::string CopyJudge::verdict(std::vector<CopyCall> const& calls, CopyContender const& contender) const {
  std::vector<void*> dsts;
  for (CopyCall const& call : calls) dsts.push_back(call.dst);
  Checked const checked = check_strided(dsts, contender.moved, padded_bytes(operands_[1]), stream_);
  return judged(checked, contender.moved.elements() * std::int64_t(calls.size()));
}

}  // namespace inlay::lab
