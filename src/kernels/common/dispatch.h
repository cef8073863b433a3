// How a kernel becomes launches, on the GPU and in a replay alike: most make one kernel, some make several.
#pragma once
#include <inlay/block/block.h>
#include <inlay/block/kernel.h>
#include <inlay/planner/counts.h>
#include <inlay/planner/kernel_info.h>

#include <bit>
#include <tuple>

namespace inlay::kernels {
using namespace cute;
using cute::Tensor;  // here it is CuTe's, not the public view
using namespace problem;
using namespace planner;
using namespace block;
using planner::Traffic;

// What a kernel is given beside its problem. `encode` makes TMA descriptors: the driver's, or the replay's double.
template <class Encoder>
struct Setting {
  Device const& device;
  void* workspace;
  Encoder encode;
};

// A kernel either makes its one kernel, make(problem, setting), or hands several, one after the other, to a function:
// launches(problem, setting, f). One that has neither, or both, does not compile.
struct AnyLaunch {
  template <class K>
  void operator()(K const&) const;
};
template <class V, class P, class S>
concept MakesOneKernel = requires(P const& problem, S const& setting) {
  { V::make(problem, setting) } -> Kernel;
};
template <class V, class P, class S>
concept LaunchesKernels = requires(P const& problem, S const& setting) {
  V::launches(problem, setting, AnyLaunch{});
};

// Calls f(kernel) for each kernel that a kernel launches, in order. Nothing to do: nothing is launched.
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

// ---- a kernel for every element size

// The carrier of an element of E bytes: movement knows sizes, not types.
template <int E>
using Bytes = std::tuple_element_t<std::countr_zero(unsigned(E)),
                                   std::tuple<uint8_t, uint16_t, uint32_t, uint64_t, cute::uint128_t>>;

// Calls f(Bytes<E>{}) for the element size of a copy.
template <class F>
void with_element(int elem_bytes, F f) {
  switch (elem_bytes) {
    case 1:
      return f(Bytes<1>{});
    case 2:
      return f(Bytes<2>{});
    case 4:
      return f(Bytes<4>{});
    case 8:
      return f(Bytes<8>{});
    case 16:
      return f(Bytes<16>{});
  }
}

// Kernel<T> for the element size of the copy.
template <template <class> class Kernel>
struct ByElement {
  template <class S, class F>
  static void launches(Copy const& copy, S const& setting, F const& f) {
    with_element(copy.elem_bytes, [&](auto e) { kernels::launches<Kernel<decltype(e)>>(copy, setting, f); });
  }
};
// Kernel<T> for the access width of the widened copy, which may be wider than its elements.
template <template <class> class Kernel>
struct ByUnit {
  static constexpr bool reads_gaps = true;  // between the source's elements, as wide loads do
  template <class S, class F>
  static void launches(Copy const& copy, S const& setting, F const& f) {
    Copy const wide = copy.widened();
    with_element(wide.elem_bytes, [&](auto e) { kernels::launches<Kernel<decltype(e)>>(wide, setting, f); });
  }
};
template <template <class> class Kernel>
Reason rejects_wide(Copy const& copy, Device const& device) {
  if (copy.elements() == 0) return {};
  Copy const wide = copy.widened();
  Reason reason;
  with_element(wide.elem_bytes, [&](auto e) { reason = Kernel<decltype(e)>::rejects(wide, device); });
  return reason;
}
template <template <class> class Kernel>
double seconds_wide(Copy const& copy, Device const& device) {
  Copy const wide = copy.widened();
  double s = 0;
  with_element(wide.elem_bytes, [&](auto e) { s = Kernel<decltype(e)>::seconds(wide, device); });
  return s;
}
template <template <class> class Kernel>
Reason rejects(Copy const& copy, Device const& device) {
  if (copy.elements() == 0) return {};
  Reason reason;
  with_element(copy.elem_bytes, [&](auto e) { reason = Kernel<decltype(e)>::rejects(copy, device); });
  return reason;
}
template <template <class> class Kernel>
Counts counts(Copy const& copy, Device const&) {
  Counts c;
  if (copy.elements()) with_element(copy.elem_bytes, [&](auto e) { c = Kernel<decltype(e)>::counts(copy); });
  return c;
}

template <template <class> class Kernel>
double seconds(Copy const& copy, Device const& device) {
  double s = 0;
  with_element(copy.elem_bytes, [&](auto e) { s = Kernel<decltype(e)>::seconds(copy, device); });
  return s;
}

// ---- a kernel that is one of several, by the problem

// Choice::with(gemm, device, f) calls f(std::type_identity<V>{}) for the kernel V that answers, and returns what f does.
template <class Choice>
struct OneOf {
  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& f) {
    Choice::with(g, setting.device, [&]<class V>(std::type_identity<V>) { kernels::launches<V>(g, setting, f); });
  }
  static Reason rejects(Gemm const& g, Device const& device) {
    return Choice::with(g, device, [&]<class V>(std::type_identity<V>) { return V::rejects(g, device); });
  }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    return Choice::with(g, device, [&]<class V>(std::type_identity<V>) { return V::workspace(g, device); });
  }
  static Gemm split(Gemm const& g, Device const& device) {
    return Choice::with(g, device, [&]<class V>(std::type_identity<V>) { return V::split(g, device); });
  }
};

}  // namespace inlay::kernels
