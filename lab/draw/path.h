// `inlay draw path`: which threads of a block load and store which elements.
#pragma once
#include <string>
#include <vector>

#include "draw/watch.h"

namespace inlay::lab {

// A hop of a tile: the loads, or the stores, of one operand by one mechanism, by the threads of a block.
struct Hop {
  struct Access {
    std::size_t offset, bytes;  // in the operand
    unsigned thread;
  };
  std::string operand;
  replay::Space space;
  bool store;
  Mechanism mechanism;
  std::uint64_t base;  // the address of the operand's first element
  bool waited;         // whether a thread waited between the first accesses of the previous hop and of this one
  std::vector<Access> accesses;
  std::size_t boxes = 0;      // TMA boxes of this hop; 0: another mechanism
  std::size_t first_box = 0;  // accesses that belong to the first box

  unsigned first_warp() const;  // the lowest warp that has an access
  // The first access of each lane of that warp.
  banks::Request first_request() const;
};

// The hops of a copy's first block, in the order of their first accesses. Throws as replay_sound does.
std::vector<Hop> hops_of(Entry<Copy> const& entry, CopyCase const& c);

// The elements [m0, m1) x [n0, n1) of C.
struct Box {
  std::int64_t m0 = INT64_MAX, n0 = INT64_MAX, m1 = 0, n1 = 0;
  void add(std::int64_t m, std::int64_t n);
};

// The tiles of a GEMM's first block, derived from the elements that its threads read or, with tensor cores, store.
struct BlockTiles {
  struct Thread {
    std::vector<std::int64_t> m, n;  // the rows and columns of C that the thread sums; empty: it does not multiply
  };
  std::vector<Thread> threads;
  Box block;                       // the elements of C that the block sums
  std::int64_t k0 = 0, k1 = 0;     // the block sums over [k0, k1)
  std::int64_t k_tile = 0;         // indices k whose loads are issued before the first wait
  std::vector<Box> stored;         // the elements of C that each block of the grid stores
  std::vector<std::string> sites;  // the block's memory accesses, in the order of their first occurrence
};
// Throws UsageError when the kernel rejects the case or the case is too large, and Error when a check other than that
// of the result fails.
BlockTiles tiles_of(Entry<Gemm> const& entry, GemmCase const& c);

std::string draw_path(Entry<Copy> const& entry, CopyCase const& c);
std::string draw_path(Entry<Gemm> const& entry, GemmCase const& c);

}  // namespace inlay::lab
