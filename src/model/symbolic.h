// Symbolic addresses: the parameters of a kernel are made before the addresses of its operands are known. They depend
// on each address modulo kPlanAlignment alone. So they are made for symbolic addresses, which keep it, and
// BaseAddresses puts the addresses of a call in their place.
#pragma once
#include <inlay/problem/copy.h>
#include <inlay/problem/gemm.h>
#include <inlay/problem/reduction.h>

#include <cstdint>

namespace inlay::model {
using namespace problem;

// A plan is valid for operands whose addresses agree, modulo this many bytes, with those that it was made for: kernels
// derive their geometry from the address modulo the 32 bytes of a sector.
inline constexpr std::int64_t kPlanAlignment = 32;

// Regions of 4 PiB, beyond all addresses: the operands of a launch in the order of their slots, and the workspace.
inline constexpr int kOperands = 6, kPackedOperand = 4, kGroupEnds = 5, kRegions = kOperands + 1,
                     kWorkspaceRegion = kOperands, kRegionBits = 52;

// The symbolic address of what lies at `address`, if it begins region `region`.
inline void* symbolic(int region, void const* address) {
  return reinterpret_cast<void*>((std::uintptr_t(region + 1) << kRegionBits) +
                                 std::uintptr_t(address) % std::uintptr_t(kPlanAlignment));
}
// An address that the driver takes for a tensor map, aligned like the symbolic one, which replaces it later.
inline void* stand_in(void const* p) {
  return reinterpret_cast<void*>((std::uintptr_t(1) << 20) + std::uintptr_t(p) % std::uintptr_t(kPlanAlignment));
}

// Where each region begins.
struct BaseAddresses {
  std::uintptr_t base[kRegions]{};  // address of the symbolic address with offset 0

  BaseAddresses() = default;
  explicit BaseAddresses(void const* first, void const* second, void const* third = nullptr,
                         void const* fourth = nullptr, void const* fifth = nullptr, void const* sixth = nullptr) {
    set(0, first), set(1, second), set(2, third), set(3, fourth), set(4, fifth), set(5, sixth);
  }
  void set(int region, void const* address) {
    base[region] = std::uintptr_t(address) - std::uintptr_t(address) % std::uintptr_t(kPlanAlignment);
  }
  // The address for a symbolic address, before or after which a region may begin; other addresses stay.
  template <class T>
  T* operator()(T* p) const {
    constexpr std::uintptr_t half = std::uintptr_t(1) << (kRegionBits - 1);
    std::uintptr_t const region = (std::uintptr_t(p) + half) >> kRegionBits;
    if (region == 0 || region > kRegions) return p;
    return reinterpret_cast<T*>(std::uintptr_t(p) - (region << kRegionBits) + base[region - 1]);
  }
};

// The problem with symbolic addresses. Regions are in the order of the slots of a plan's launches.
inline Copy symbolic(Copy const& c) { return c.between(symbolic(1, c.src), symbolic(0, c.dst)); }
inline Gemm symbolic(Gemm g) {
  g.A.base = symbolic(0, g.A.base), g.B.base = symbolic(1, g.B.base), g.D.base = symbolic(2, g.D.base);
  if (g.C.base) g.C.base = symbolic(3, g.C.base);
  for (Operand* o : {&g.A, &g.B})
    if (o->packed) o->packed = symbolic(kPackedOperand, o->packed);
  if (g.groups) g.group_ends = static_cast<std::int32_t*>(symbolic(kGroupEnds, g.group_ends));
  return g;
}
inline Reduction symbolic(Reduction r) {
  r.partial.base = symbolic(0, r.partial.base), r.D.base = symbolic(1, r.D.base);
  if (r.C.base) r.C.base = symbolic(2, r.C.base);
  return r;
}
// Those of the problem itself.
inline BaseAddresses base_addresses_of(Copy const& c) { return BaseAddresses(c.dst, c.src); }
inline BaseAddresses base_addresses_of(Gemm const& g) {
  return BaseAddresses(g.A.base, g.B.base, g.D.base, g.C.base, g.packed_operand(), g.group_ends);
}
inline BaseAddresses base_addresses_of(Reduction const& r) { return BaseAddresses(r.partial.base, r.D.base, r.C.base); }

}  // namespace inlay::model
