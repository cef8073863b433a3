#include "plan/plan.h"

#include <fmt/format.h>

#include "variants.h"

namespace inlay {
namespace {

// In order of preference, by what was measured (results/). Copies come first: a transpose that is one is better moved so.
Variant<Move> const* const preferred[] = {
    &kernels::copy_03_vector::variant,
    &kernels::copy_01_scalar::variant,
    &kernels::transpose_09_vector_swizzled::variant,
    &kernels::transpose_06_smem_swizzled::variant,
};

// A row-wise copy of short runs is a transpose's worst case: prefer copies only where a row fills a warp.
Reason too_narrow(Variant<Move> const* v, Move const& move) {
  if (v != &kernels::copy_03_vector::variant && v != &kernels::copy_01_scalar::variant) return {};
  auto const x = as_copy(move);
  if (x && x->N * move.elem_bytes < 128 && x->M * x->L > 1)
    return {"rows of {} bytes leave most lanes of a row-wise copy idle", {x->N * move.elem_bytes}};
  return {};
}

std::string line(char const* what, Traffic const& t, char const* unit) {
  return t.requests ? fmt::format("  {:<14}{:>12} requests, {:.2f} {} each\n", what, t.requests, t.per_request(), unit)
                    : std::string();
}

}  // namespace

MovePlan plan_move(Move const& move, Device const& device) {
  MovePlan plan{move, device, nullptr, {}};
  for (Variant<Move> const* v : preferred) {
    Reason r = v->info->rejects(move, device);
    if (!r) r = too_narrow(v, move);
    if (!r && !plan.chosen) plan.chosen = v;
    plan.candidates.push_back({v, r});
  }
  return plan;
}

std::string MovePlan::why() const {
  std::string s = fmt::format("move of {} elements of {} bytes on {}\n", move.elements(), move.elem_bytes, device.name);
  for (int k = 0; k < move.rank; ++k)
    s += fmt::format("  mode {}: extent {}, source stride {} B, destination stride {} B\n", k, move.mode[k].extent,
                     move.mode[k].src_stride, move.mode[k].dst_stride);
  if (!chosen) s += "no variant can run it\n";
  else {
    Cost const c = chosen->info->cost(move, device);
    s += fmt::format("chosen: {}. {}\n", chosen->info->name, chosen->info->idea);
    s += line("global load", c.global_load, "sectors") + line("global store", c.global_store, "sectors") +
         line("shared store", c.shared_store, "wavefronts") + line("shared load", c.shared_load, "wavefronts");
    if (device.peak_gbps > 0)
      s += fmt::format("  at least {:.4f} ms: {} bytes through DRAM at the datasheet's {:.0f} GB/s\n",
                       2e-6 * double(move.elements()) * move.elem_bytes / device.peak_gbps,
                       2 * move.elements() * move.elem_bytes, device.peak_gbps);
  }
  for (Candidate const& c : candidates)
    s += fmt::format("  {} {}: {}\n", c.variant == chosen ? "->" : "  ", c.variant->info->name,
                     c.rejected ? c.rejected.sentence() : c.variant == chosen ? "runs" : "could run, comes later");
  return s;
}

}  // namespace inlay
