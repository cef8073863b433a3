#include <fmt/format.h>
#include <inlay/kernels/kernel_list.h>
#include <inlay/model/copy_time.h>
#include <inlay/planner/candidate.h>

namespace inlay::planner {
namespace {

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

// All copy kernels of the library, compared by predicted time.
std::span<Candidate<Copy> const> Planner<Copy>::candidates() {
#define INLAY_UNIT(NAME, PTXAS, ARCH)
#define INLAY_KERNEL(NAME) Candidate<Copy>{.kernel = &kernels::NAME::kernel},
#define INLAY_INSTANCE(NAME, FAMILY, VALUES) INLAY_KERNEL(NAME)
  static std::array const all{
#include <inlay/kernels/copy/kernels.def>
  };
  return all;
}

bool Planner<Copy>::is_best(Plan const& plan, Copy const& copy, Device const& device) {
  double const bytes = 2 * double(copy.elements()) * copy.elem_bytes * double(copy.pairs);
  return plan.seconds < 1.04 * seconds_of({.bytes = bytes}, device) && bytes > 8 << 20;
}

Attempt Planner<Copy>::attempt(Candidate<Copy> const& candidate, Copy const& copy, Device const& device, bool, Shared&,
                               Config const& given) {
  Attempt a;
  Info<Copy> const& info = *candidate.kernel;
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
  a.plan.add(LaunchOf<Copy>{.kernel = candidate.kernel,
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
