// Makes the kernels that are launched for a problem, mostly one, on the GPU and in a replay.
#pragma once
#include <inlay/block/block.h>
#include <inlay/block/kernel.h>
#include <inlay/model/kernel_info.h>
#include <inlay/model/repeats.h>
#include <inlay/model/symbolic.h>

#include <bit>
#include <tuple>

namespace inlay::kernels {
using namespace cute;
using cute::Tensor;  // here it is CuTe's, not the public view
using namespace problem;
using namespace model;
using namespace block;

// What a kernel gets besides its problem. `encode` makes TMA descriptors: for the driver, or for the replay.
template <class Encoder>
struct Setting {
  Device const& device;
  void* workspace;
  Encoder encode;
  Config config = {};
};

// Makes tensor maps of symbolic addresses.
template <class Encoder>
struct SymbolicEncoder {
  CUtensorMap operator()(TmaTensor tensor) const {
    tensor.base = stand_in(tensor.base);
    return Encoder{}(tensor);
  }
};
// Replaces symbolic addresses: at(p) for a pointer, at.map(map, address) for the tensor map of an operand that begins
// at `address`.
template <class Encoder>
struct Relocation : BaseAddresses {
  explicit Relocation(BaseAddresses const& places) : BaseAddresses(places) {}
  void map(CUtensorMap& map, void const* address) const { Encoder::replace_address(map, address); }
};

// A dispatch type V has either make(problem, setting), which returns its one kernel, or launches(problem, setting, f),
// which calls f(kernel) for each of several. A type with neither or both does not compile.
struct LaunchProbe {
  template <class K>
  void operator()(K const&) const;
};
template <class V, class P, class S>
concept LaunchesKernels = requires(P const& problem, S const& setting) {
  V::launches(problem, setting, LaunchProbe{});
};

// Calls f(kernel) for each kernel that V launches, in launch order; never for a problem without elements.
template <class V, class P, class S, class F>
void launches(P const& problem, S const& setting, F const& f) {
  if (problem.elements() == 0) return;
  if constexpr (LaunchesKernels<V, P, S>) {
    static_assert(
        !requires { V::make(problem, setting); }, "a kernel has make() or launches(), not both");
    V::launches(problem, setting, f);
  } else {
    Kernel auto const kernel = V::make(problem, setting);
    f(kernel);
  }
}

// Calls f(kernel) like launches(), for kernels with symbolic addresses.
template <class V, class Encoder, class P, class F>
void symbolic_launches(P const& problem, Device const& device, bool with_workspace, F const& f,
                       Config const& config = {}) {
  void* const workspace = with_workspace ? symbolic(kWorkspaceRegion, nullptr) : nullptr;
  launches<V>(symbolic(problem), Setting<SymbolicEncoder<Encoder>>{device, workspace, {}, config}, f);
}
// The same, with the addresses of the problem and of the workspace put in their place.
template <class V, class P, class Encoder, class F>
void placed_launches(P const& problem, Setting<Encoder> const& setting, F const& f) {
  BaseAddresses places = base_addresses_of(problem);
  places.set(kWorkspaceRegion, setting.workspace);
  auto const placed = [&](auto kernel) {
    kernel.relocate(Relocation<Encoder>(places));
    f(kernel);
  };
  symbolic_launches<V, Encoder>(problem, setting.device, setting.workspace != nullptr, placed, setting.config);
}

// ---- a kernel for every element size

// An unsigned integer of E bytes: copies depend on the size of an element, not on its type.
template <int E>
using Bytes = std::tuple_element_t<std::countr_zero(unsigned(E)),
                                   std::tuple<uint8_t, uint16_t, uint32_t, uint64_t, cute::uint128_t>>;

// Returns f(Bytes<E>{}) for the element size of a copy: 1, 2, 4, 8 or 16 bytes.
template <class F>
auto with_element(int elem_bytes, F f) {
  if (elem_bytes == 1) return f(Bytes<1>{});
  if (elem_bytes == 2) return f(Bytes<2>{});
  if (elem_bytes == 4) return f(Bytes<4>{});
  if (elem_bytes == 8) return f(Bytes<8>{});
  return f(Bytes<16>{});
}

// Kernel<T> for the element size of the copy.
template <template <class> class Kernel>
struct ByElement {
  template <class S, class F>
  static void launches(Copy const& copy, S const& setting, F const& f) {
    with_element(copy.elem_bytes, [&](auto e) { kernels::launches<Kernel<decltype(e)>>(copy, setting, f); });
  }
};
// Kernel<T> for the element size of the widened copy.
template <template <class> class Kernel>
struct ByWidenedElement {
  static constexpr bool reads_gaps = true;  // wide loads also read the gaps between source elements
  template <class S, class F>
  static void launches(Copy const& copy, S const& setting, F const& f) {
    Copy const wide = copy.widened();
    with_element(wide.elem_bytes, [&](auto e) { kernels::launches<Kernel<decltype(e)>>(wide, setting, f); });
  }
};
// What V says, where it may have no use for the configuration.
template <class V, class P>
Reason rejects_of(P const& problem, Device const& device, Config const& config) {
  if constexpr (requires { V::rejects(problem, device, config); })
    return V::rejects(problem, device, config);
  else
    return V::rejects(problem, device);
}
template <class V, class P>
double seconds_of(P const& problem, Device const& device, Config const& config) {
  if constexpr (requires { V::seconds(problem, device, config); })
    return V::seconds(problem, device, config);
  else
    return V::seconds(problem, device);
}
template <template <class> class Kernel>
Reason rejects(Copy const& copy, Device const& device, Config const& config) {
  if (copy.elements() == 0) return {};
  return with_element(copy.elem_bytes, [&](auto e) { return rejects_of<Kernel<decltype(e)>>(copy, device, config); });
}
template <template <class> class Kernel>
Reason rejects_wide(Copy const& copy, Device const& device, Config const& config) {
  return rejects<Kernel>(copy.widened(), device, config);
}
template <template <class> class Kernel>
double seconds(Copy const& copy, Device const& device, Config const& config) {
  return with_element(copy.elem_bytes, [&](auto e) { return seconds_of<Kernel<decltype(e)>>(copy, device, config); });
}
template <template <class> class Kernel>
double seconds_wide(Copy const& copy, Device const& device, Config const& config) {
  return seconds<Kernel>(copy.widened(), device, config);
}

// ---- one of several kernels, chosen by the problem

// Choice::with(gemm, device, config, f) returns f(std::type_identity<V>{}) for the dispatch type V that it chooses.
template <class Choice>
struct OneOf {
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    Choice::with(g, setting.device, setting.config,
                 [&]<class V>(std::type_identity<V>) { kernels::launches<V>(g, setting, f); });
  }
  static Reason rejects(Gemm const& g, Device const& device, Config const& config = {}) {
    return Choice::with(g, device, config,
                        [&]<class V>(std::type_identity<V>) { return rejects_of<V>(g, device, config); });
  }
  static double seconds(Gemm const& g, Device const& device, Config const& config = {}) {
    return Choice::with(g, device, config,
                        [&]<class V>(std::type_identity<V>) { return seconds_of<V>(g, device, config); });
  }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    return Choice::with(g, device, {}, [&]<class V>(std::type_identity<V>) { return V::workspace(g, device); });
  }
  static Gemm split(Gemm const& g, Device const& device) {
    return Choice::with(g, device, {}, [&]<class V>(std::type_identity<V>) { return V::split(g, device); });
  }
};

}  // namespace inlay::kernels
