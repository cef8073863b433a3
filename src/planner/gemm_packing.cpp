#include <inlay/planner/gemm_packing.h>

#include <cmath>

namespace inlay::planner {

Reason misplaced(Operand const& o, Layout wanted) {
  if (wanted == Layout::any || o.cols == 0) return {};
  if (!along_mn(o) && !along_k(o)) return {"it is contiguous along neither mode"};
  if (along_k(o) && wanted == Layout::aligned_mn) return {"it is contiguous along k"};
  if (o.misalignment_bytes()) return {"it begins {} bytes past a multiple of 16", {o.misalignment_bytes()}};
  std::int64_t const vector = 16 / bytes_of(o.type);
  if (pitch(o) % vector) return {"its rows are {} elements apart, which is no multiple of {}", {pitch(o), vector}};
  if (std::int64_t const run = along_mn(o) ? o.rows : o.cols; pitch(o) < run)
    return {"its rows of {} elements are {} apart", {run, pitch(o)}};
  if (o.batch_stride % vector)
    return {"its matrices are {} elements apart, which is no multiple of {}", {o.batch_stride, vector}};
  if (o.batch_stride < 0) return {"its matrices are {} elements apart", {o.batch_stride}};
  return {};
}
Reason misplaced_a(Gemm const& g, Candidate<Gemm> const& candidate) { return misplaced(g.A, candidate.a); }
Reason misplaced_b(Gemm const& g, Candidate<Gemm> const& candidate) {
  bool const both_along_k = candidate.packs_b_along_n && along_k(g.A) && !misplaced_a(g, candidate);
  return misplaced(g.B, both_along_k ? Layout::aligned_mn : candidate.b);
}

__int128 Packing::pitch_of(std::int64_t extent) const {
  auto const whole = [extent](int multiple) { return (__int128(extent) + multiple - 1) / multiple * multiple; };
  __int128 const vector = whole(16 / bytes_of(from.type)), line = whole(64);
  return is_half(from.type) && line <= 2 * vector ? line : vector;
}
bool Packing::is_along_k() const {
  if (!is_half(from.type)) return false;
  __int128 const along_k_takes = from.rows * pitch_of(from.cols), along_mn_takes = from.cols * pitch_of(from.rows);
  return along_k(from) ? along_k_takes <= 2 * along_mn_takes : along_mn_takes > 2 * along_k_takes;
}
__int128 Packing::bytes() const {
  if (!reason) return 0;
  __int128 const all = pitch_of(run()) * rows() * from.matrices * bytes_of(from.type);
  return (all + 255) / 256 * 256;
}
void Packing::put(std::int64_t at) {
  offset = at, to = from;
  to.base = static_cast<char*>(symbolic(kWorkspaceRegion, nullptr)) + offset;
  auto const pitch = std::int64_t(pitch_of(run()));
  to.row_stride = is_along_k() ? pitch : 1, to.col_stride = is_along_k() ? 1 : pitch;
  to.batch_stride = to.batch_stride ? rows() * pitch : 0;
}
Plan Packing::plan(Device const& device) const {
  auto const view = [](Operand const& o) {
    Tensor t = matrix(o.base, o.type, o.cols, o.rows);
    t.rank = 3;
    t.extent[2] = o.rows, t.extent[1] = o.cols, t.extent[0] = o.matrices;
    t.stride[2] = o.row_stride, t.stride[1] = o.col_stride, t.stride[0] = o.batch_stride;
    return t;
  };
  return make_plan(make_copy(view(to), view(from)), device, false);
}

double Packing::seconds(Device const& device) const {
  if (!reason) return 0;
  constexpr double launch = 2.5e-6, of_copy = .82;  // on an H200: seconds; bytes per second, of those of a copy
  double const rate = of_copy * device.copy_gbps * 1e9;
  int const e = bytes_of(from.type);
  double const read = double(run()) * e, written = 32 * std::ceil(read / 32);  // of a row
  return launch + (read + written) * double(rows()) * double(from.matrices) / rate;
}

Reason add_packing(Plan& plan, Packing const& p, OperandSlot const& from, Device const& device,
                   std::optional<Planner<Gemm>::Shared::Packed>& shared, char const* no_kernel) {
  if (!p) return {};
  if (!shared || !(shared->from == p.from && shared->to == p.to)) shared = {p.from, p.to, p.plan(device)};
  Plan const& by = shared->plan;
  auto const* copy = by.find<Copy>();
  if (!copy) return {no_kernel};
  if (!by.is_whole()) return {"an operand is more than a grid holds to pack", {}, by.chunks + 1};
  LaunchOf<Copy> launch = *copy;
  launch.slots[0] = in_workspace(p.offset + launch.slots[0].offset);
  launch.slots[1] = {from.in, from.operand, launch.slots[1].offset};
  plan.add(launch);
  return {};
}

}  // namespace inlay::planner
