// The concept Kernel: an aggregate of the kernel's parameters with launch_info, Smem, blocks() and a body. It makes a
// misspelt hook a compile error.
#pragma once
#include <atomic>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace inlay::block {

// How a kernel is launched. Written with designated initialisers.
struct LaunchInfo {
  int threads;  // per block
  int min_blocks =
      0;  // second argument of __launch_bounds__: resident blocks per SM that the registers must allow; 0: none
  int blocks_per_sm = 0;  // most resident blocks per SM, enforced by SmemRequest to bound bytes in flight; 0: no bound
  bool clusters = false;  // launched in thread block clusters of cluster() blocks
  // Programmatic dependent launch: may start before the previous kernel ends. Every block calls griddep_wait(), before
  // it accesses global memory; one that ended without would let the next kernel begin before the previous one has
  // ended.
  bool follows = false;
};

// Off: kernels with `follows` wait for the end of the kernel before them, like all others. The lab measures both.
inline std::atomic<bool> launches_programmatically = true;

// Smem names its arrays for findings and tables:
//   static void members(auto name) { name("A", &Smem::A); ... }
struct AnyMember {
  template <class Smem, class Member>
  void operator()(char const*, Member Smem::*) const;
};
template <class Smem>
concept HasNamedMembers = std::is_empty_v<Smem> || requires {
  Smem::members(AnyMember{});
};

template <class K>
concept HasLaunchInfo = requires {
  { K::launch_info } -> std::same_as<LaunchInfo const&>;
};
template <class K>
concept HasGridSize = requires(K const& kernel) {
  { kernel.blocks() } -> std::same_as<std::int64_t>;
};
template <class K>
concept HasClusterSize = K::launch_info.clusters == requires(K const& kernel) {
  { kernel.cluster() } -> std::same_as<int>;
};

template <class K>
concept Kernel = std::is_aggregate_v<K> && requires {
  typename K::Smem;
} && HasLaunchInfo<K> && HasGridSize<K> && HasClusterSize<K> && HasNamedMembers<typename K::Smem>;

template <Kernel K>
constexpr unsigned cluster_of(K const& kernel) {
  if constexpr (K::launch_info.clusters)
    return unsigned(kernel.cluster());
  else
    return 1;
}
template <Kernel K>
inline constexpr int smem_bytes = std::is_empty_v<typename K::Smem> ? 0 : int(sizeof(typename K::Smem));

}  // namespace inlay::block
