// Clears flags in the workspace before the kernel that uses them: the workspace may hold anything.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

struct ClearFlags {
  unsigned* flags;
  int count;
  static constexpr int threads = 256;
  static constexpr LaunchInfo launch_info{.threads = threads};
  struct Smem {};
  int64_t blocks() const { return 1; }
  void relocate(auto const& at) { flags = at(flags); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    Copy_Atom<On<Block, UniversalCopy<unsigned>>, unsigned> atom;
    unsigned const zero = 0;
    for (int first = 0; first < count; first += threads)
      copy_one(atom, first + int(block.thread_rank()) < count, &zero,
               make_gmem_ptr(flags + first + block.thread_rank()));
  }
};

}  // namespace inlay::kernels
