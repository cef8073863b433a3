// Lists of copies: one layout, many pairs of operands, in one launch. The pair is the fastest digit of the grid, so that all pairs
// progress together: where their destinations are the memory of several GPUs, all links are busy from the first block to the last.
#pragma once
#include <inlay/block/register_ops.h>
#include <inlay/kernels/common/dispatch.h>

#include <algorithm>
#include <span>

namespace inlay::kernels {

// The block of one pair. Bodies compute with symbolic addresses; gmem() gives them the pair's.
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

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int index, pair;
    pairs(index, pair, int(block.block_index()));
    kernel(BlockOfPair<Block>{block, unsigned(index), offsets[pair].dst, offsets[pair].src}, smem);
  }
};

// Calls f(Listed<K>) for the pairs, in as few launches as hold them. `kernel` has symbolic addresses, with which those of
// all pairs agree modulo kPlanAlignment.
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
    for (std::size_t i = 0; i < now.size(); ++i) {
      Places const places(now[i].dst, now[i].src);
      for (auto [offset, region] : {std::pair{&listed.offsets[i].dst, 0}, std::pair{&listed.offsets[i].src, 1}})
        *offset = int64_t(places.begins[region] - std::uintptr_t(symbolic(region, nullptr)));
    }
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
