// What a kernel is: an aggregate of its parameters with a grid, a body, and facts for its launch. A concept, so that a
// misspelt hook does not compile.
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace inlay::block {

// Filled by designated initialisers.
struct LaunchInfo {
  int threads;            // of a block
  int min_blocks = 0;     // of it on a multiprocessor, at least: bounds its registers; 0: the compiler is free
  int blocks_per_sm = 0;  // at most: bounds the bytes in flight, see SmemRequest; 0: as many as fit
  bool clusters = false;  // launched in clusters, of as many blocks as cluster() says
  bool follows = false;   // may be launched while the kernel before it ends: it calls griddep_wait()
};

// Static shared memory names its arrays, for findings and tables:
//   static void members(auto name) { name("A", &Smem::A); ... }
struct AnyMember {
  template <class Smem, class Member>
  void operator()(char const*, Member Smem::*) const;
};
template <class Smem>
concept NamesItsMembers = std::is_empty_v<Smem> || requires {
  Smem::members(AnyMember{});
};

template <class K>
concept SaysHowItIsLaunched = requires {
  { K::launch_info } -> std::same_as<LaunchInfo const&>;
};
template <class K>
concept SaysItsGrid = requires(K const& kernel) {
  { kernel.blocks() } -> std::same_as<std::int64_t>;
};
template <class K>
concept SaysItsCluster = K::launch_info.clusters == requires(K const& kernel) {
  { kernel.cluster() } -> std::same_as<int>;
};

template <class K>
concept Kernel = std::is_aggregate_v<K> && requires {
  typename K::Smem;
} && SaysHowItIsLaunched<K> && SaysItsGrid<K> && SaysItsCluster<K> && NamesItsMembers<typename K::Smem>;

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
