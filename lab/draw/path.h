// The way of a tile: which threads of a block take which elements, and where to.
#pragma once
#include <string>
#include <vector>

#include "draw/watch.h"

namespace inlay::lab {

// What the threads of a block did to one memory in one direction.
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
  bool waited;         // since the hop before
  std::vector<Access> accesses;
  // Of TMA, and how many pieces the first one has.
  std::size_t boxes = 0, first_box = 0;

  unsigned first_warp() const;
  // The first access of each of its lanes.
  banks::Request first_request() const;
};

// The hops of a copy's first block, in the order in which they begin. Throws what replay_sound does.
std::vector<Hop> hops_of(Entry<Copy> const& entry, TransposeCase const& c);

// [m0, m1) x [n0, n1) of C.
struct Box {
  std::int64_t m0 = INT64_MAX, n0 = INT64_MAX, m1 = 0, n1 = 0;
  void add(std::int64_t m, std::int64_t n);
};

// What the first block of a GEMM does, found by what its threads read.
struct BlockTiles {
  struct Thread {
    std::vector<std::int64_t> m, n;  // the rows and columns of C that it sums; none: it does not multiply
  };
  std::vector<Thread> threads;
  Box block;                       // what its threads sum
  std::int64_t k0 = 0, k1 = 0;     // [k0, k1) of K
  std::int64_t k_tile = 0;         // how much of that is asked for before the first wait
  std::vector<Box> stored;         // of C, by each block
  std::vector<std::string> sites;  // what it does to memory, in the order in which that begins
};
// Throws UsageError when the kernel rejects the case or it is too large, Error when a check finds something.
BlockTiles tiles_of(Entry<Gemm> const& entry, GemmCase const& c);

std::string draw_path(Entry<Copy> const& entry, TransposeCase const& c);
std::string draw_path(Entry<Gemm> const& entry, GemmCase const& c);

}  // namespace inlay::lab
