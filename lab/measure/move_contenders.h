// Moves on the GPU: variants, the public function, and others' work on the same bytes.
#pragma once
#include <inlay/plan/plan.h>

#include "measure/device_data.h"
#include "measure/on_device.h"
#include "problems/move_case.h"
#include "results/bench.h"

namespace inlay::lab {

using Launch = std::function<void(MoveCall const&, cudaStream_t)>;

struct MoveContender : Contender<MoveCase> {
  Placement placement;  // which source element belongs where
};

// Of a transpose, or of a copy, which packs the rows.
Placement placement_of(MoveCase const& c, bool copies);

inline constexpr char const* kMemcpy = "cudaMemcpyAsync";
inline constexpr char const* kVectorCopy = "copy_03_vector";
inline constexpr char const* kGeam = "cublas_geam";

// The faster of these two is the copy limit: as many bytes as the case moves, contiguous, a multiple of 16, from and to
// aligned addresses.
std::vector<MoveContender> copy_limit(MoveCase const& c, MoveCall const& call);

template <>
struct OnDevice<MoveCase> {
  using Contender = MoveContender;
  static MoveContender of_variant(Entry<Move> const& entry, MoveCase const& c, MoveCall const& call);
  // The copy limit's, copies of as many contiguous bytes, then transposes, the public function, baselines.
  static std::vector<MoveContender> contenders(MoveCase const& c, MoveCall const& call, cudaStream_t stream,
                                               std::vector<std::string> const& asked, BenchOptions const& options);
  // Poisons the destination, launches, checks every element.
  static CheckOf<MoveCase> check(MoveCase const& c, MoveCall const& call, cudaStream_t stream);
  static bool is_yardstick(MoveContender const& x) { return x.name == kMemcpy || x.name == kVectorCopy; }
  // Bytes read plus bytes written.
  static double work(MoveCase const& c, MoveContender const& x) {
    return 2e-6 * double(x.placement.elements()) * c.elem_bytes;
  }
  static std::int64_t check_bytes(MoveCase const&) { return 0; }
  // The padding too: the copy limit takes whole vectors.
  static void fill(MoveCase const& c, MoveCall const& call, cudaStream_t stream);
  static void add_errors(MoveCase const&, MoveCall const&, std::vector<MoveContender> const&, std::vector<Row>&,
                         cudaStream_t) {}
  static double peak(Device const& device, double) { return device.peak_gbps; }
  static std::function<void(cudaStream_t)> public_call(MoveCase const& c, MoveCall const& call, void*, std::size_t);
  static Operands in_order(MoveCase const& c, MoveCall const& call, void* workspace);
};

}  // namespace inlay::lab
