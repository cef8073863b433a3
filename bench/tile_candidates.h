// Candidates with other tiles and block sizes, from the kernel families of the ladder.
#pragma once
#include <inlay/block/launch.h>
#include <inlay/kernels/copy/direct_tile.h>
#include <inlay/tutorial/transpose/smem_tile.h>

#include "tiles.h"

namespace inlay::kernels {

// A kernel of this program as a candidate of the lab, which checks and times it.
template <class Kernel>
lab::CopyCandidate candidate(std::string name, lab::CopyCase const& c, lab::CopyCall const& call) {
  auto const problem = [c](lab::CopyCall const& at) {
    return Kernel::transposes ? c.canonical(at, nullptr) : lab::packing_copy(c, at);
  };
  auto const launch = [problem](lab::CopyCall const& now, cudaStream_t stream) {
    Copy const copy = problem(now);
    Device const& device = current_device();
    if (Reason const reason = Kernel::rejects(copy, device)) throw lab::Rejection(reason.sentence());
    Setting<DriverEncoder> const setting{device, nullptr, {}};
    block::launch(Kernel::make(copy, setting), {device.id, device.compute_capability}, stream);
  };
  return {{std::move(name), launch}, lab::strided(problem(call), call), c.limit_bytes()};
}

// transpose_06 (one element a load) and transpose_09 (16 bytes) with tiles of M x N.
template <int M, int N, int kThreads, int kVector, bool kInterior = true>
struct TransposeStep : SmemStep {
  static constexpr int threads = kThreads, vector = kVector;
  static constexpr bool interior_path = kInterior;
  using Tile = Shape<Int<M>, Int<N>>;  // (BLK_M,BLK_N)
  using Swz = typename ConflictFree<N, sizeof(float), kVector * sizeof(float)>::type;
  using SmemLayout = SwizzledRows<Tile, Swz>;  // (BLK_M,BLK_N)
  using Load = std::conditional_t<kVector == 1, UniversalCopy<float>, UniversalCopy<Vector16>>;
};
template <int M, int N, int kThreads, int kVector, bool kInterior = true>
lab::CopyCandidate transpose(lab::CopyCase const& c, lab::CopyCall const& call) {
  return candidate<SmemTile<TransposeStep<M, N, kThreads, kVector, kInterior>>>(
      std::string(kVector == 1 ? "transpose_06, " : "transpose_09, ") + std::to_string(M) + " x " + std::to_string(N) +
          ", " + std::to_string(kThreads) + " threads" + (kInterior ? "" : ", always predicated"),
      c, call);
}

}  // namespace inlay::kernels
