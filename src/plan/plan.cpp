#include "plan/plan.h"

#include <fmt/format.h>

#include <span>

#include "move_variants.h"

namespace inlay {
namespace {

// What the preferences ask of a move.
struct Facts {
  std::optional<Matrices> transpose, copy;
  int elem_bytes;
  bool vectors;  // the big kernel for aligned matrices could run

  Facts(Move const& move, Device const& device)
      : transpose(as_transpose(move)),
        copy(as_copy(move)),
        elem_bytes(move.elem_bytes),
        vectors(!kernels::transpose_14_evict_last::facts->rejects(move, device)) {}

  // A copy of short rows leaves most lanes idle.
  bool wide_rows() const { return copy && (copy->N * elem_bytes >= 128 || copy->M * copy->L == 1); }
  // A few microseconds, all of them latency: many small blocks without a barrier win, though their reads are strided. The
  // bounds are where the curves meet on an H200 (results/h200/squares.json).
  bool small() const {
    if (!transpose || transpose->L > 1 || elem_bytes > 4) return false;
    std::int64_t const most = !vectors ? 9 << 18 : elem_bytes < 4 ? 1 << 18 : 0;  // bytes that its tiles cover
    auto const tiles = [](std::int64_t extent) { return (extent + 31) / 32; };
    return tiles(transpose->M) * tiles(transpose->N) <= most / (1024 * elem_bytes);
  }
  // A tile of the big kernels is 256 bytes both ways: what is smaller leaves most of it empty.
  bool small_batch() const {
    return transpose && transpose->L > 1 && (transpose->M * elem_bytes < 256 || transpose->N * elem_bytes < 256);
  }
  bool few_columns() const { return transpose && transpose->N * elem_bytes < 128; }
  bool few_rows() const { return transpose && transpose->M * elem_bytes < 128; }
  bool any() const { return true; }
};

struct Preference {
  Variant<Move> variant;
  bool (Facts::*wanted)() const;
  char const* otherwise;  // why it is passed over although it could run
};
// In order of preference, by what was measured (results/, docs/log.md). Copies come first: a transpose that is one is
// better moved so. What is not wanted is taken where nothing else runs.
std::span<Preference const> preferences() {
  using namespace kernels;
  static Preference const all[] = {
      {{copy_05_evict_last::facts, copy_05_evict_last::run}, &Facts::wide_rows, "its rows would leave most lanes idle"},
      {{copy_01_scalar::facts, copy_01_scalar::run}, &Facts::wide_rows, "its rows would leave most lanes idle"},
      {{transpose_02_naive_write::facts, transpose_02_naive_write::run},
       &Facts::small,
       "tiles in shared memory are faster for these extents and elements, by measurement"},
      {{transpose_19_batch_squares::facts, transpose_19_batch_squares::run},
       &Facts::small_batch,
       "no batch of matrices smaller than a tile"},
      {{transpose_20_batch::facts, transpose_20_batch::run},
       &Facts::small_batch,
       "no batch of matrices smaller than a tile"},
      {{transpose_17_few_columns::facts, transpose_17_few_columns::run},
       &Facts::few_columns,
       "rows of 128 bytes and more fill a tile"},
      {{transpose_18_few_rows::facts, transpose_18_few_rows::run},
       &Facts::few_rows,
       "columns of 128 bytes and more fill a tile"},
      {{transpose_14_evict_last::facts, transpose_14_evict_last::run}, &Facts::any, ""},
      {{transpose_15_odd_pitch::facts, transpose_15_odd_pitch::run}, &Facts::any, ""},
      {{transpose_06_smem_swizzled::facts, transpose_06_smem_swizzled::run}, &Facts::any, ""},
  };
  return all;
}

std::string line(char const* what, Traffic const& t, char const* unit) {
  return t.requests ? fmt::format("  {:<14}{:>12} requests, {:.2f} {} each\n", what, t.requests, t.per_request(), unit)
                    : std::string();
}

}  // namespace

MovePlan plan_move(Move const& move, Device const& device) {
  MovePlan plan{move};
  Facts const facts(move, device);
  for (bool wanted : {true, false})
    for (Preference const& p : preferences())
      if ((facts.*p.wanted)() == wanted && !p.variant.info->rejects(move, device))
        return plan.chosen = &p.variant, plan;
  return plan;
}

std::string MovePlan::why(Device const& device) const {
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
  Facts const facts(move, device);
  for (Preference const& p : preferences()) {
    s += fmt::format("  {} {}: ", &p.variant == chosen ? "->" : "  ", p.variant.info->name);
    if (Reason const rejected = p.variant.info->rejects(move, device)) {
      s += rejected.sentence() + "\n";
      continue;
    }
    Cost const c = p.variant.info->cost(move, device);
    s += fmt::format("{} sectors, {} shared wavefronts{}\n",
                     c.global_load.transactions + c.async_copy.transactions + c.global_store.transactions,
                     c.shared_store.transactions + c.shared_load.transactions,
                     &p.variant == chosen   ? std::string()
                     : !(facts.*p.wanted)() ? fmt::format("; {}", p.otherwise)
                                            : "; comes later");
  }
  return s;
}

}  // namespace inlay
