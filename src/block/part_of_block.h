// Code for a whole block, run by its first threads.
#pragma once
#include <inlay/block/block.h>

namespace inlay::block {

// The first `Threads` threads of a block: sync() is named barrier Id, for them alone.
template <class Block, int Id, int Threads>
struct PartOfBlock : Block {
  CUTE_HOST_DEVICE void sync() const {
    Block::syncwarp();  // the barrier is of whole warps
    Block::sync(cute::Int<Id>{}, cute::Int<Threads>{});
  }
};

}  // namespace inlay::block
