#include <fmt/format.h>
#include <inlay/kernels/kernel_list.h>
#include <inlay/model/copy_time.h>
#include <inlay/planner/candidate.h>

namespace inlay::planner {
namespace {

using Properties = Planner<Copy>::Properties;

// A copy that takes a few microseconds, almost all of it latency: many small blocks without a barrier are the fastest,
// although their loads are strided.
bool small(Properties const& f) {
  auto const& x = f.copy.as_transpose();
  int const e = f.copy.elem_bytes;
  if (!x || x->L > 1 || e > 4) return false;
  std::int64_t const most = !f.registers_accepts ? 9 << 18 : e < 4 ? 1 << 18 : 0;  // bytes of its tiles
  auto const tiles = [](std::int64_t extent) { return (extent + 31) / 32; };
  return tiles(x->M) * tiles(x->N) <= most / (1024 * e);
}

Applicability<Copy> const kSmall{
    small, "larger than what latency alone decides",
    "results/h200/squares.json; the model does not tell exposed loads from overlapped ones"};
Applicability<Copy> const kAny{[](Properties const&) { return true; }};

// ", tiles of mode 0: 64, mode 2: 32"
std::string config_text(Config const& config) {
  if (config.tile) return fmt::format(", configuration {}", config.tile);
  std::string s;
  for (int i = 0; i < config.tiling.modes; ++i)
    s += fmt::format("{}mode {}: {}", i ? ", " : ", tiles of ", config.tiling.tiled[i].mode,
                     config.tiling.tiled[i].extent);
  return s;
}

// Index of the longest mode, along which a copy that exceeds a grid is split into chunks.
std::size_t longest(Copy const& copy) {
  auto const shorter = [](Mode const& a, Mode const& b) { return a.extent < b.extent; };
  return std::size_t(std::max_element(copy.mode, copy.mode + copy.rank, shorter) - copy.mode);
}

}  // namespace

Planner<Copy>::Properties::Properties(Copy const& copy, Device const& device, WorkspaceLimit)
    : copy(copy), registers_accepts(!kernels::transpose_registers::kernel_info->rejects(copy, device)) {}

// All copy kernels of the library, compared by predicted time; transpose_direct only for small transposes.
std::span<Candidate<Copy> const> Planner<Copy>::candidates() {
#define INLAY_UNIT(NAME, PTXAS, ARCH)
#define INLAY_KERNEL(NAME) Candidate<Copy>{.kernel = kernels::NAME::kernel(), .applies = kAny},
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_KERNEL(NAME)
  static auto const all = [] {
    std::array listed{
#include <inlay/kernels/copy/kernels.def>
    };
    for (Candidate<Copy>& candidate : listed)
      if (candidate.kernel.info == kernels::transpose_direct::kernel_info) candidate.applies = kSmall;
    return listed;
  }();
  return all;
}

bool Planner<Copy>::is_best(Plan const& plan, Copy const& copy, Device const& device) {
  double const bytes = 2 * double(copy.elements()) * copy.elem_bytes * double(copy.pairs);
  return plan.seconds < 1.04 * seconds_of({.bytes = bytes}, device) && bytes > 8 << 20;
}

Attempt Planner<Copy>::attempt(Candidate<Copy> const& candidate, Copy const& copy, Device const& device, bool, Shared&,
                               Config const& given) {
  Attempt a;
  Info<Copy> const& info = *candidate.kernel.info;
  if (copy.pairs > 1 && !info.takes_lists) {
    a.rejected = {"it copies one pair of operands in a launch, not {}", {copy.pairs}};
    return a;
  }
  if (copy.any_alignment && !info.takes_any_alignment) {
    a.rejected = {"the pairs of the list begin at different addresses modulo {}", {kPlanAlignment}};
    return a;
  }
  Config config;
  if (info.choose) config = given.tiling.modes || given.tile ? given : info.choose(copy, device);
  a.rejected = info.rejects(copy, device, config);
  if (copy.pairs > 1) a.rejected.chunks = 0;  // pairs whose copy exceeds a grid are copied one after the other
  if (a.rejected) return a;
  a.plan.seconds = info.seconds ? info.seconds(copy, device, config) : 0;
  a.plan.add(LaunchOf<Copy>{.kernel = &candidate.kernel,
                            .problem = copy,
                            .slots = {OperandSlot{OperandSlot::In::operand, 0, copy.dst_shift},
                                      OperandSlot{OperandSlot::In::operand, 1, copy.src_shift}},
                            .config = config});
  return a;
}

Batch Planner<Copy>::batch(Copy const& copy) {
  Mode const& mode = copy.mode[longest(copy)];
  return {mode.extent, {mode.dst_stride, mode.src_stride}};
}
Copy Planner<Copy>::chunk(Copy const& copy, std::int64_t count) {
  Copy part = copy;
  part.mode[longest(copy)].extent = count;
  part.analyse();
  return part;
}

std::string Planner<Copy>::problem_text(Copy const& copy, Device const& device) {
  std::string s = copy.pairs > 1 ? fmt::format("list of {} copies, each a ", copy.pairs) : std::string();
  s += fmt::format("copy of {} elements of {} bytes, a {}, on {}\n", copy.elements(), copy.elem_bytes,
                   name_of(copy.kind), device.name);
  for (int k = 0; k < copy.rank; ++k)
    s += fmt::format("  mode {}: extent {}, source stride {} B, destination stride {} B\n", k, copy.mode[k].extent,
                     copy.mode[k].src_stride, copy.mode[k].dst_stride);
  return s;
}

std::string Planner<Copy>::choice_text(Plan const&, Candidate<Copy> const&, Copy const& copy, Device const& device,
                                       WorkspaceLimit) {
  if (!(device.peak_gbps > 0)) return {};
  std::int64_t const bytes = 2 * copy.elements() * copy.elem_bytes * copy.pairs;
  return fmt::format("  at least {:.4f} ms: {} bytes through DRAM at the datasheet's {:.0f} GB/s\n",
                     1e-6 * double(bytes) / device.peak_gbps, bytes, device.peak_gbps);
}

std::string Planner<Copy>::candidate_text(Plan const& plan, Candidate<Copy> const&, Copy const&, Device const&) {
  return fmt::format("{:.2f} us predicted", 1e6 * plan.seconds) + config_text(plan.find<Copy>()->config);
}

}  // namespace inlay::planner
