// The plan of one candidate for a GEMM: which operands it packs, whether it splits K, and what it leaves to sum_slices.
// How a batch is cut into pieces.
#include <inlay/kernels/kernel_list.h>
#include <inlay/model/half_slices.h>
#include <inlay/planner/gemm_packing.h>
#include <inlay/planner/long_sums.h>

#include <cmath>
#include <utility>

namespace inlay::planner {
namespace {

// What a kernel leaves to another launch: a C of its own, and the activation.
struct RestOfEpilogue {
  bool is_needed = false;
  Operand C = {};
  Epilogue epilogue = {};

  static RestOfEpilogue taken_from(Gemm& g) {
    if (!g.has_further_epilogue()) return {};
    RestOfEpilogue rest{true, g.C, {.activation = g.epilogue.activation}};
    if (g.C.base) rest.epilogue.beta = g.epilogue.beta, g.epilogue.beta = 0;
    g.C = {}, g.epilogue.activation = Activation::none;
    return rest;
  }
};

// The slices of K are the same for every kernel on wgmma, every tile and the transpose of D.
HalfSlices slices_of_all(Gemm const& g, Device const& device, bool has_workspace, Planner<Gemm>::Shared& shared) {
  HalfSlices const known = shared.slices ? HalfSlices{shared.slices->first, shared.slices->second} : HalfSlices{};
  if (!shared.slices || (!has_workspace && !known.fit_cluster())) {
    HalfSlices const found = HalfSlices::choose(g, device, has_workspace);
    shared.slices = {found.count, found.K};
  }
  return {shared.slices->first, shared.slices->second};
}

// Bytes of workspace that a plan asks for at most: overlapping windows are not written out, few rows not padded to many
// times their size.
__int128 most_workspace(Gemm const& g, Device const& device) {
  __int128 const operands = data_bytes(g.A) + data_bytes(g.B) + data_bytes(g.D) + data_bytes(g.C);
  return std::min(4 * operands + (64 << 20), __int128(device.memory_bytes));
}
// Why packed operands and the kernel's `own` bytes are more than a plan may ask for. A matrix that would need too much
// alone is rejected with every batch, because bits must not depend on the batch. A batch that needs too much is
// rejected with the number of chunks in which it can run.
Reason too_much_workspace(Gemm const& g, Packing const& a, Packing const& b, __int128 own, Device const& device) {
  auto const per_matrix = [](Packing const& p) { return p ? p.bytes() / p.from.matrices : __int128(0); };
  __int128 const of_one = per_matrix(a) + per_matrix(b) + own / g.L(), all = a.bytes() + b.bytes() + own;
  __int128 const most_of_one = most_workspace(Planner<Gemm>::chunk(g, 1), device), most = most_workspace(g, device);
  auto const number = [](__int128 bytes) { return std::int64_t(std::min(bytes, __int128(INT64_MAX))); };
  constexpr char const* format =
      "its workspace of {} bytes would be more than {}: 4 times the operands and 64 MB, or what the device has";
  if (of_one > most_of_one) return {format, {number(of_one), number(most_of_one)}};
  if (all > most) return {format, {number(all), number(most)}, number((all + most - 1) / most)};
  return {};
}

// Why all of K must not be one sum.
Reason too_long_a_sum(Gemm const& g) {
  if (g.compute != Compute::fp32_blocked || g.K() <= 1024) return {};
  return {"it may add {} FMAs in one register, and blocks of at most 1024 are asked for", {g.K()}};
}
// Why the sums of a candidate are not those that the call asks for.
Reason unasked(Sums sums, Gemm const& g) {
  bool const split = is_split(g.compute), fast = g.compute == Compute::split_fast,
             is_blocked = sums == Sums::blocked || sums == Sums::blocked_in_registers;
  if (is_of_element_slices(sums) && !split) return {"sums in slices are not asked for"};
  if (sums == Sums::f16_slices && !fast) return {"f16 slices are not asked for"};
  if (sums == Sums::bf16_slices_packed && fast && g.packed_operand()) return {"B is packed as f16 slices"};
  if (is_blocked && g.compute != Compute::fp32_blocked) return {"blocked summation is not asked for"};
  bool const splits_K = sums >= Sums::slices_32x32 && sums <= Sums::slices_narrow;
  return is_of_halves(sums) || is_blocked || splits_K ? Reason{} : too_long_a_sum(g);
}

// What a candidate makes of a problem, before anything is planned: which operands it packs, whether it computes the
// transpose of D, which part of the epilogue it leaves, its slices of K, whether the kernel rejects that, the
// workspace, and the predicted time, in this order. Kernels on wgmma take HalfSlices, all the same ones, instead of
// Info::split.
struct Examined {
  Reason rejected;
  Packing a, b;
  Gemm whole = {}, g = {}, split = {};  // with the epilogue of the call; what the kernel computes; in its slices
  RestOfEpilogue rest = {};
  std::int64_t own_offset = 0;
  std::size_t own = 0;  // bytes of workspace for the kernel itself
  double seconds = 0;   // predicted; 0: there is no prediction
};

Examined examine(Candidate<Gemm> const& candidate, Gemm const& gemm, Device const& device, bool may_use_workspace,
                 Planner<Gemm>::Shared& shared) {
  Examined p{
      unasked(candidate.sums, gemm), {misplaced_a(gemm, candidate), gemm.A}, {misplaced_b(gemm, candidate), gemm.B}};
  auto const rejected = [&](Reason const& reason) {
    p.rejected = reason;
    return p;
  };
  if (p.rejected) return p;
  if (gemm.groups && !candidate.kernel->takes_groups) return rejected({"the kernel takes no groups of rows"});
  if (!gemm.groups && candidate.for_groups) return rejected({"it is for groups of rows, of which there are none"});
  if (is_long_sum(gemm))
    return rejected({"K = {} is more than the {} that one launch sums", {gemm.K(), most_K(gemm.A.type)}});
  if (p.a && !may_use_workspace) return rejected({"A would have to be packed, for which there is no workspace"});
  if (p.b && !may_use_workspace) return rejected({"B would have to be packed, for which there is no workspace"});
  if (Reason const reason = too_much_workspace(gemm, p.a, p.b, 0, device)) return rejected(reason);
  p.a.put(0), p.b.put(std::int64_t(p.a.bytes()));
  p.own_offset = std::int64_t(p.a.bytes() + p.b.bytes());

  Info<Gemm> const& info = *candidate.kernel;
  Gemm& g = p.g = gemm;
  g.A = p.a.used(), g.B = p.b.used();
  Config const config{.tile = candidate.tile};
  if (candidate.transposes) g = g.transposed();
  p.whole = g;
  if (!info.has_full_epilogue) p.rest = RestOfEpilogue::taken_from(g);
  if (candidate.slices_of) {
    g.slice_K = candidate.slices_of->split(g, device).slice_K;
    if (g.slice_K == 0) return rejected({"a single matrix is not split"});
  }
  HalfSlices slices;
  if (candidate.sums == Sums::wgmma && !g.groups) slices = slices_of_all(g, device, may_use_workspace, shared);
  if (info.adds_slices) g = HalfSlices::in_cluster(g, slices);
  if (Reason const reason = info.rejects(g, device, config)) return rejected(reason);
  p.split = !info.split ? g : candidate.sums == Sums::wgmma ? HalfSlices::sliced(g, slices) : info.split(g, device);
  std::size_t const partial_sums = !info.split          ? info.workspace(g, device)
                                   : p.split.slices > 1 ? std::size_t(p.split.slices * g.elements()) * sizeof(float)
                                                        : 0;
  Reason const too_much =
      may_use_workspace ? too_much_workspace(gemm, p.a, p.b, __int128(partial_sums), device) : Reason{};
  if (too_much && (!info.split || too_much.chunks)) return rejected(too_much);
  bool const fits = !too_much;  // otherwise K is not split
  // A batch that sums in slices asks for a few bytes, although it needs none: without a workspace, one matrix is not
  // split.
  p.own = candidate.slices_of ? 256 : fits ? partial_sums : 0;
  if (p.own && !may_use_workspace && !candidate.workspace_is_optional)
    return rejected({"it needs a workspace of {} bytes, and there is none", {std::int64_t(p.own)}});
  if (p.split.slices > 1 && (!may_use_workspace || !fits)) {
    if (candidate.sums == Sums::wgmma && slices.fit_cluster())
      return rejected({"{} slices of K are added in a cluster, without a workspace", {slices.count}});
    p.split = g;
  }
  if (std::int64_t const summed = p.split.slice_K ? p.split.slice_K : p.split.K();
      is_of_halves(candidate.sums) && summed > HalfSlices::kMostSum)
    return rejected({"it would add {} indices of K on tensor cores, which truncate: at most {} keep 8 bits",
                     {summed, HalfSlices::kMostSum}});
  if (info.split && p.split.slices == 1 && !is_of_halves(candidate.sums) && !is_of_element_slices(candidate.sums))
    if (Reason const reason = too_long_a_sum(gemm)) return rejected(reason);
  bool const lacks = p.own && !may_use_workspace && candidate.without;
  if (auto const seconds = lacks ? candidate.without->seconds : info.seconds)
    p.seconds = p.a.seconds(device) + p.b.seconds(device) + seconds(p.split, device, config);
  return p;
}

}  // namespace

double Planner<Gemm>::seconds(Candidate<Gemm> const& candidate, Gemm const& gemm, Device const& device,
                              bool may_use_workspace) {
  Shared shared;
  Examined const p = examine(candidate, gemm, device, may_use_workspace, shared);
  return p.rejected || !(p.seconds > 0) ? HUGE_VAL : p.seconds;
}

Attempt Planner<Gemm>::attempt(Candidate<Gemm> const& candidate, Gemm const& gemm, Device const& device,
                               bool may_use_workspace, Shared& shared, Config const& config) {
  Examined const p = examine(candidate, gemm, device, may_use_workspace, shared);
  Attempt result{p.rejected, {}};
  if (p.rejected) return result;
  auto const config_of = [&](Gemm const& g) {
    Config const given{.tile = candidate.tile, .columns = config.columns};
    auto const& choose = candidate.kernel->choose;
    return choose ? choose(g, device, given) : given;
  };
  Plan& plan = result.plan;
  plan.workspace_bytes = may_use_workspace ? std::size_t(p.own_offset) + p.own : 0;
  plan.seconds = p.seconds;
  if ((result.rejected =
           add_packing(plan, p.a, slot_of(gemm, 0), device, shared.packed[0], "no kernel of copy can pack A")) ||
      (result.rejected =
           add_packing(plan, p.b, slot_of(gemm, 1), device, shared.packed[1], "no kernel of copy can pack B")))
    return result;
  OperandSlot slot_a = p.a ? in_workspace(p.a.offset) : slot_of(gemm, 0),
              slot_b = p.b ? in_workspace(p.b.offset) : slot_of(gemm, 1), slot_d{OperandSlot::In::operand, 2, 0},
              own_slot = p.own && may_use_workspace ? in_workspace(p.own_offset) : OperandSlot{};
  if (candidate.transposes) std::swap(slot_a, slot_b);
  auto const slot_c = [](Operand const& C) {
    return C.base ? OperandSlot{OperandSlot::In::operand, 3, 0} : OperandSlot{};
  };
  auto const reduce = [&](Reduction const& r, OperandSlot const& partial) {
    plan.add(LaunchOf<Reduction>{&kernels::sum_slices::kernel, r, {partial, slot_d, slot_c(r.C)}});
  };
  if (p.split.slices == 1) {
    auto const slot_if = [](bool has, int operand) {
      return has ? OperandSlot{OperandSlot::In::operand, operand, 0} : OperandSlot{};
    };
    OperandSlot const packed = slot_if(p.g.packed_operand(), kPackedOperand), ends = slot_if(p.g.groups, kGroupEnds);
    plan.add(LaunchOf<Gemm>{
        candidate.kernel, p.g, {slot_a, slot_b, slot_d, slot_c(p.g.C), packed, ends}, own_slot, config_of(p.g)});
    if (p.rest.is_needed) reduce({.D = gemm.D, .epilogue = p.rest.epilogue, .C = p.rest.C}, {});
    return result;
  }
  Gemm slices = p.split;
  slices.D.base = static_cast<char*>(symbolic(kWorkspaceRegion, nullptr)) + p.own_offset;
  plan.add(LaunchOf<Gemm>{candidate.kernel, slices, {slot_a, slot_b, own_slot}, {}, config_of(slices)});
  reduce(add_slices(p.whole, slices), own_slot);
  return result;
}

Batch Planner<Gemm>::batch(Gemm const& g) {
  Batch batch{g.L(), {}};
  for (auto const& [operand, at] : {std::pair{&g.A, slot_of(g, 0)}, std::pair{&g.B, slot_of(g, 1)}})
    batch.stride_bytes[std::size_t(at.operand)] = operand->batch_stride * bytes_of(operand->type);
  batch.stride_bytes[2] = g.D.batch_stride * bytes_of(g.D.type);
  batch.stride_bytes[3] = g.C.batch_stride * bytes_of(g.C.type);
  return batch;
}
Gemm Planner<Gemm>::chunk(Gemm const& g, std::int64_t count) {
  Gemm part = g;
  for (Operand* o : {&part.A, &part.B})
    if (o->batch_stride) o->matrices = count;  // otherwise the batch shares one matrix
  part.D.matrices = count;
  if (g.C.base) part.C.matrices = count;
  if (count == 1)
    for (Operand* o : {&part.A, &part.B, &part.D, &part.C}) o->batch_stride = 0;
  return part;
}

}  // namespace inlay::planner
