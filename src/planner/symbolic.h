// Symbolic addresses: the parameters of a kernel are made before the addresses of its operands are known. They depend on
// each address modulo kPlanAlignment alone. So they are made for symbolic addresses, which keep it, and Places puts the
// addresses of a call in their place.
#pragma once
#include <inlay/problem/copy.h>
#include <inlay/problem/gemm.h>
#include <inlay/problem/reduction.h>

#include <cstdint>

namespace inlay::planner {
using namespace problem;

// A plan is valid for operands whose addresses agree, modulo this many bytes, with those that it was made for: kernels
// derive their geometry from the address modulo the 32 bytes of a sector.
inline constexpr std::int64_t kPlanAlignment = 32;

// Regions of 4 PiB, beyond all addresses: the operands of a launch in the order of their slots, and the workspace.
inline constexpr int kOperands = 5, kKeptOperand = 4, kRegions = kOperands + 1, kWorkspaceRegion = kOperands,
                     kRegionBits = 52;

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
struct Places {
  std::uintptr_t begins[kRegions]{};  // address of the symbolic address with offset 0

  Places() = default;
  explicit Places(void const* first, void const* second, void const* third = nullptr, void const* fourth = nullptr,
                  void const* fifth = nullptr) {
    set(0, first), set(1, second), set(2, third), set(3, fourth), set(4, fifth);
  }
  void set(int region, void const* address) {
    begins[region] = std::uintptr_t(address) - std::uintptr_t(address) % std::uintptr_t(kPlanAlignment);
  }
  // The address for a symbolic address, before or after which a region may begin; other addresses stay.
  template <class T>
  T* operator()(T* p) const {
    constexpr std::uintptr_t half = std::uintptr_t(1) << (kRegionBits - 1);
    std::uintptr_t const region = (std::uintptr_t(p) + half) >> kRegionBits;
    if (region == 0 || region > kRegions) return p;
    return reinterpret_cast<T*>(std::uintptr_t(p) - (region << kRegionBits) + begins[region - 1]);
  }
};

// The problem with symbolic addresses. Regions are in the order of the slots of a plan's launches.
inline Copy symbolic(Copy const& c) { return c.between(symbolic(1, c.src), symbolic(0, c.dst)); }
inline Gemm symbolic(Gemm g) {
  g.A.base = symbolic(0, g.A.base), g.B.base = symbolic(1, g.B.base), g.D.base = symbolic(2, g.D.base);
  if (g.C.base) g.C.base = symbolic(3, g.C.base);
  for (Operand* o : {&g.A, &g.B})
    if (o->kept) o->kept = symbolic(kKeptOperand, o->kept);
  return g;
}
inline Reduction symbolic(Reduction r) {
  r.partial.base = symbolic(0, r.partial.base), r.D.base = symbolic(1, r.D.base);
  if (r.C.base) r.C.base = symbolic(2, r.C.base);
  return r;
}
// The problem's own places.
inline Places places_of(Copy const& c) { return Places(c.dst, c.src); }
inline Places places_of(Gemm const& g) { return Places(g.A.base, g.B.base, g.D.base, g.C.base, g.kept()); }
inline Places places_of(Reduction const& r) { return Places(r.partial.base, r.D.base, r.C.base); }

}  // namespace inlay::planner
