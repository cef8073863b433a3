// An operand that is contiguous in k is turned inside the kernel, so that nn and tt need no packing.
#pragma once
#include "kernels/sgemm_ring.h"

namespace inlay::kernels::sgemm_13_turned {

// The turned side is the tile's shorter one: it costs helper warps and shared memory.
struct StepA : RingStep {
  static constexpr Turned turned = Turned::A;
};
struct StepB : RingStep {
  static constexpr int WARPS_M = 4, WARPS_N = 2;
  static constexpr Turned turned = Turned::B;
};

struct Kernel {
  // Calls f(kernel type) for the operand that is contiguous in k: B if A is not.
  template <class F>
  static auto with_kernel(Gemm const& g, F f) {
    return g.a_k == 1 ? f(std::type_identity<SgemmRing<StepA>>{}) : f(std::type_identity<SgemmRing<StepB>>{});
  }
  template <class Encoder, class Launch>
  static void launches(Gemm const& g, Device const& device, void* workspace, Encoder const& encode,
                       Launch const& launch) {
    with_kernel(g, [&]<class K>(std::type_identity<K>) { K::launches(g, device, workspace, encode, launch); });
  }
  template <class Encoder, class Sampler>
  static void samples(Gemm const& g, Device const& device, void* workspace, Encoder const& encode,
                      Sampler const& sample) {
    with_kernel(g, [&]<class K>(std::type_identity<K>) { K::samples(g, device, workspace, encode, sample); });
  }
  static Reason rejects(Gemm const& g, Device const& device) {
    return with_kernel(g, [&]<class K>(std::type_identity<K>) { return K::rejects(g, device); });
  }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    return with_kernel(g, [&]<class K>(std::type_identity<K>) { return K::workspace(g, device); });
  }
};

inline constexpr Info<Gemm> info = {"sgemm_13_turned",
                                    "Step 12 where one operand is contiguous in k: TMA brings it as it lies, three "
                                    "helper warps turn 4 x 4 elements at a time; "
                                    "their shared-memory traffic comes on top.",
                                    "inlay",
                                    Kernel::rejects,
                                    nullptr,
                                    Kernel::workspace};

}  // namespace inlay::kernels::sgemm_13_turned
