// Lists of copies: one layout, many pairs of operands, in one launch. The pair is the fastest digit of the grid, so
// that all pairs progress together: where their destinations are the memory of several GPUs, all links are busy from
// the first block to the last.
#pragma once
#include <inlay/block/register_ops.h>
#include <inlay/kernels/common/dispatch.h>

#include <algorithm>
#include <span>

namespace inlay::kernels {

// The block of one pair. Bodies compute with symbolic addresses; gmem() gives them the pair's. HostBlock is its own, so
// that the replay of a kernel serves lists too.
template <class Block>
struct BlockOfPair : Block {
  unsigned index;    // among the blocks of the pair
  int64_t dst, src;  // bytes from the symbolic addresses to the pair's
  CUTE_DEVICE unsigned block_index() const { return index; }
  template <class T>
  CUTE_DEVICE auto gmem(T* p) const {
    uintptr_t there = reinterpret_cast<uintptr_t>(p) + uintptr_t(std::is_const_v<T> ? src : dst);
#ifdef __CUDA_ARCH__  // says that the address is a global one; else generic instructions access it
    there = reinterpret_cast<uintptr_t>(__cvta_global_to_generic(there));
#endif
    return Block::gmem(reinterpret_cast<T*>(there));
  }
};

template <class Block>
CUTE_DEVICE auto block_of_pair(Block block, unsigned index, int64_t dst, int64_t src) {
  if constexpr (requires { block.of_pair(index, dst, src); })
    return block.of_pair(index, dst, src);
  else
    return BlockOfPair<Block>{block, index, dst, src};
}

// Whether a kernel's parameters do not depend on the alignment of its operands: its body sees it in the addresses.
template <class K>
inline constexpr bool takes_any_alignment = requires {
  K::takes_any_alignment;
};

template <Kernel K>
struct Listed {
  struct Offsets {
    int64_t dst, src;  // as in BlockOfPair
  };
  using Smem = typename K::Smem;
  static constexpr LaunchInfo launch_info = K::launch_info;
  static constexpr int kMostPairs = 1536;  // 24 KB of the 32,764 bytes that parameters may have
  K kernel;                                // with symbolic addresses
  Divisor pairs;
  Offsets offsets[kMostPairs];  // (pair); the first pairs.by of them

  int64_t blocks() const { return kernel.blocks() * pairs.by; }

  static Offsets offsets_of(K const& kernel, Pair const& pair) {
    if constexpr (takes_any_alignment<K>)
      return {reinterpret_cast<char*>(pair.dst) - reinterpret_cast<char*>(kernel.out),
              reinterpret_cast<char const*>(pair.src) - reinterpret_cast<char const*>(kernel.in)};
    else
      return {offset(0, pair.dst), offset(1, pair.src)};
  }
  static int64_t offset(int region, void const* address) {
    return int64_t(std::uintptr_t(address) - std::uintptr_t(symbolic(region, address)));
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int index, pair;
    pairs(index, pair, int(block.block_index()));
    auto here = block_of_pair(block, unsigned(index), offsets[pair].dst, offsets[pair].src);
    if constexpr (takes_any_alignment<K>) {  // its few parameters are copied, with the addresses of the pair
      K moved = kernel;
      moved.in = here.gmem(kernel.in).get(), moved.out = here.gmem(kernel.out).get();
      here.dst = here.src = 0;
      moved(here, smem);
    } else {
      kernel(here, smem);
    }
  }
};

// Calls f(Listed<K>) for the pairs, in as few launches as hold them. `kernel` has symbolic addresses, with which those
// of all pairs agree modulo kPlanAlignment unless it takes any alignment.
template <Kernel K, class F>
void list_launches(K const& kernel, std::span<Pair const> pairs, F const& f) {
  if (kernel.blocks() == 0 || pairs.empty()) return;
  Listed<K> listed;
  listed.kernel = kernel;
  auto const most = std::size_t(std::min<int64_t>(Listed<K>::kMostPairs, kMostBlocks / kernel.blocks()));
  std::size_t const times = (pairs.size() + most - 1) / most, each = (pairs.size() + times - 1) / times;
  for (; !pairs.empty(); pairs = pairs.subspan(std::min(each, pairs.size()))) {
    auto const now = pairs.first(std::min(each, pairs.size()));
    listed.pairs = int(now.size());
    for (std::size_t i = 0; i < now.size(); ++i) listed.offsets[i] = Listed<K>::offsets_of(kernel, now[i]);
    f(listed);
  }
}

// A dispatch type whose kernels take lists. Its Info says so too.
template <class D>
struct Listable : D {
  static constexpr bool takes_lists = true;
};
template <class D>
inline constexpr bool takes_lists = requires {
  D::takes_lists;
};

}  // namespace inlay::kernels
