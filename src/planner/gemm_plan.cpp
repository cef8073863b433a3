// The plan of one candidate for a GEMM: which operands it packs, whether it splits K, and what it leaves to sum_slices.
// How a batch is cut into pieces.
#include <inlay/planner/gemm_packing.h>
#include <inlay/planner/kernel_list.h>
#include <inlay/planner/wgmma_times.h>

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

// The slices of K are the same for every tile and for the transpose of D.
WgmmaTimes::Slices slices_of_all(Gemm const& g, Device const& device, Planner<Gemm>::Shared& shared) {
  if (!shared.slices) {
    WgmmaTimes::Slices const found = WgmmaTimes::slices(g, device);
    shared.slices = {found.count, found.K};
  }
  return {shared.slices->first, shared.slices->second};
}

}  // namespace

Attempt Planner<Gemm>::attempt(Candidate<Gemm> const& candidate, Gemm const& gemm, Device const& device,
                               bool may_use_workspace, Shared& shared) {
  Packing a{misplaced_a(gemm, candidate.requirements), gemm.A}, b{misplaced_b(gemm, candidate.requirements), gemm.B};
  if (a && !may_use_workspace) return {{"A would have to be packed, for which there is no workspace"}, {}};
  if (b && !may_use_workspace) return {{"B would have to be packed, for which there is no workspace"}, {}};
  if (a.bytes() + b.bytes() > device.memory_bytes)
    return {{"its packed operands would not fit the device's memory"}, {}};
  a.put(0), b.put(std::int64_t(a.bytes()));
  std::int64_t const own_offset = std::int64_t(a.bytes() + b.bytes());

  Info<Gemm> const& info = *candidate.kernel.info;
  Gemm g = gemm;
  g.A = a.used(), g.B = b.used(), g.tile = candidate.requirements.tile;
  if (candidate.requirements.transposes) g = g.transposed();
  Gemm const whole = g;  // with the epilogue of the call
  RestOfEpilogue const rest = info.has_full_epilogue ? RestOfEpilogue{} : RestOfEpilogue::taken_from(g);
  auto const* const slices_of = candidate.requirements.slices_of;
  if (slices_of) {
    g.slice_K = slices_of->info->split(g, device).slice_K;
    if (g.slice_K == 0) return {{"a single matrix is not split"}, {}};
  }
  if (Reason const rejected = info.rejects(g, device)) return {rejected, {}};
  // A batch that sums in slices asks for a workspace too, although it needs none: without one, one matrix is not split.
  Gemm const whole_split = !info.split                       ? g
                           : info.split == WgmmaTimes::split ? WgmmaTimes::sliced(g, slices_of_all(g, device, shared))
                                                             : info.split(g, device);
  std::size_t const partial_sums = !info.split ? info.workspace(g, device)
                                   : whole_split.slices > 1
                                       ? std::size_t(whole_split.slices * g.elements()) * sizeof(float)
                                       : 0;
  bool const fits = partial_sums <= std::size_t(device.memory_bytes);  // otherwise K is not split
  if (!info.split && !fits)
    return {{"its workspace of {} bytes would not fit the device's memory", {std::int64_t(partial_sums)}}, {}};
  std::size_t const own = slices_of ? 256 : fits ? partial_sums : 0;
  if (own && !may_use_workspace && !candidate.requirements.workspace_is_optional)
    return {{"it needs a workspace of {} bytes, and there is none", {std::int64_t(own)}}, {}};

  Attempt result;
  Plan& plan = result.plan;
  plan.workspace_bytes = may_use_workspace ? std::size_t(own_offset) + own : 0;
  if ((result.rejected =
           add_packing(plan, a, slot_of(gemm, 0), device, shared.packed[0], "no kernel of copy can pack A")) ||
      (result.rejected =
           add_packing(plan, b, slot_of(gemm, 1), device, shared.packed[1], "no kernel of copy can pack B")))
    return result;
  OperandSlot slot_a = a ? in_workspace(a.offset) : slot_of(gemm, 0),
              slot_b = b ? in_workspace(b.offset) : slot_of(gemm, 1), slot_d{OperandSlot::In::operand, 2, 0},
              own_slot = own && may_use_workspace ? in_workspace(own_offset) : OperandSlot{};
  if (candidate.requirements.transposes) std::swap(slot_a, slot_b);
  auto const slot_c = [](Operand const& C) {
    return C.base ? OperandSlot{OperandSlot::In::operand, 3, 0} : OperandSlot{};
  };
  Gemm const split = may_use_workspace && fits ? whole_split : g;
  if (predicts(gemm) && info.seconds)
    plan.seconds = a.seconds(device) + b.seconds(device) + info.seconds(split, device);
  static LinkedKernel<Reduction> const sum = kernels::sum_slices::kernel();
  auto const reduce = [&](Reduction const& r, OperandSlot const& partial) {
    plan.add(LaunchOf<Reduction>{&sum, r, {partial, slot_d, slot_c(r.C)}});
  };
  if (split.slices == 1) {
    OperandSlot const packed =
        g.packed_operand() ? OperandSlot{OperandSlot::In::operand, kPackedOperand, 0} : OperandSlot{};
    plan.add(LaunchOf<Gemm>{&candidate.kernel, g, {slot_a, slot_b, slot_d, slot_c(g.C), packed}, own_slot});
    if (rest.is_needed) reduce({.D = gemm.D, .epilogue = rest.epilogue, .C = rest.C}, {});
    return result;
  }
  Gemm slices = split;
  slices.D.base = static_cast<char*>(symbolic(kWorkspaceRegion, nullptr)) + own_offset;
  plan.add(LaunchOf<Gemm>{&candidate.kernel, slices, {slot_a, slot_b, own_slot}});
  reduce(add_slices(whole, slices), own_slot);
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
