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

// Poisons destinations, and checks every element.
class MoveJudge {
 public:
  MoveJudge(MoveCase const& c, MoveCall const& call, cudaStream_t stream);
  Verdict operator()(MoveContender const& contender);
  // The padding too: the copy limit takes whole vectors.
  void fill(MoveCall const& call) const;
  std::string again(MoveContender const& contender, std::vector<MoveCall> const& calls, AllSets const& all_sets);

 private:
  void poison(std::vector<MoveCall> const& calls, MoveContender const& contender) const;
  std::string verdict(std::vector<MoveCall> const& calls, MoveContender const& contender) const;
  // As much of a destination as is looked at.
  std::int64_t bytes(MoveContender const& contender) const;

  MoveCase c_;
  std::vector<MoveCall> first_;  // the one call of the first verdict
  cudaStream_t stream_;
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
  using Judge = MoveJudge;
  static void best(std::vector<Row>&) {}
  static bool is_yardstick(MoveContender const& x) { return x.name == kMemcpy || x.name == kVectorCopy; }
  // Bytes read plus bytes written.
  static double work(MoveCase const& c, MoveContender const& x) {
    return 2e-6 * double(x.placement.elements()) * c.elem_bytes;
  }
  static std::int64_t check_bytes(MoveCase const&) { return 0; }
  static double peak(Device const& device, double) { return device.peak_gbps; }
  static std::function<void(cudaStream_t)> public_call(MoveCase const& c, MoveCall const& call, void*, std::size_t);
  static Operands in_order(MoveCase const& c, MoveCall const& call, void* workspace);
};

}  // namespace inlay::lab
