#include "plan/plan.h"

#include <fmt/format.h>

#include <span>

#include "variants.h"

namespace inlay {
namespace {

struct Preference {
  Variant<Move> variant;
  bool needs_wide_rows;  // a row-wise copy of short runs leaves most lanes idle: only where nothing else runs
};
// In order of preference, by what was measured (results/, docs/log.md). Copies come first: a transpose that is one is
// better moved so.
std::span<Preference const> preferences() {
  using namespace kernels;
  static Preference const all[] = {
      {{copy_03_vector::facts, copy_03_vector::run}, true},
      {{copy_01_scalar::facts, copy_01_scalar::run}, true},
      {{transpose_09_vector_swizzled::facts, transpose_09_vector_swizzled::run}, false},
      {{transpose_10_cp_async::facts, transpose_10_cp_async::run}, false},  // at odd pitches it loses less than 06
      {{transpose_06_smem_swizzled::facts, transpose_06_smem_swizzled::run}, false},
  };
  return all;
}
bool has_narrow_rows(Move const& move) {
  auto const x = as_copy(move);
  return x && x->N * move.elem_bytes < 128 && x->M * x->L > 1;
}

std::string line(char const* what, Traffic const& t, char const* unit) {
  return t.requests ? fmt::format("  {:<14}{:>12} requests, {:.2f} {} each\n", what, t.requests, t.per_request(), unit)
                    : std::string();
}

}  // namespace

MovePlan plan_move(Move const& move, Device const& device) {
  MovePlan plan{move, device, nullptr, {}};
  bool const narrow = has_narrow_rows(move);
  Variant<Move> const* fallback = nullptr;
  for (Preference const& p : preferences()) {
    Reason const rejected = p.variant.info->rejects(move, device);
    bool const unwanted = narrow && p.needs_wide_rows;
    if (!rejected && !unwanted && !plan.chosen) plan.chosen = &p.variant;
    if (!rejected && !fallback) fallback = &p.variant;
    plan.candidates.push_back({&p.variant, rejected, unwanted});
  }
  if (!plan.chosen) plan.chosen = fallback;
  return plan;
}

std::string MovePlan::why() const {
  std::string s = fmt::format("move of {} elements of {} bytes on {}\n", move.elements(), move.elem_bytes, device.name);
  for (int k = 0; k < move.rank; ++k)
    s += fmt::format("  mode {}: extent {}, source stride {} B, destination stride {} B\n", k, move.mode[k].extent,
                     move.mode[k].src_stride, move.mode[k].dst_stride);
  if (!chosen)
    s += "no variant can run it\n";
  else {
    Cost const c = chosen->info->cost(move, device);
    s += fmt::format("chosen: {}. {}\n", chosen->info->name, chosen->info->idea);
    s += line("global load", c.global_load, "sectors") + line("cp.async", c.async_copy, "sectors") +
         line("global store", c.global_store, "sectors") + line("shared store", c.shared_store, "wavefronts") +
         line("shared load", c.shared_load, "wavefronts");
    if (device.peak_gbps > 0)
      s += fmt::format("  at least {:.4f} ms: {} bytes through DRAM at the datasheet's {:.0f} GB/s\n",
                       2e-6 * double(move.elements()) * move.elem_bytes / device.peak_gbps,
                       2 * move.elements() * move.elem_bytes, device.peak_gbps);
  }
  for (Candidate const& c : candidates) {
    Cost const cost = c.rejected ? Cost{} : c.variant->info->cost(move, device);
    s += fmt::format("  {} {}: ", c.variant == chosen ? "->" : "  ", c.variant->info->name);
    if (c.rejected)
      s += c.rejected.sentence() + "\n";
    else
      s += fmt::format("{} sectors, {} shared wavefronts{}\n",
                       cost.global_load.transactions + cost.async_copy.transactions + cost.global_store.transactions,
                       cost.shared_store.transactions + cost.shared_load.transactions,
                       c.variant == chosen ? ""
                       : c.unwanted        ? "; its rows would leave most lanes idle"
                                           : "; comes later");
  }
  return s;
}

}  // namespace inlay
