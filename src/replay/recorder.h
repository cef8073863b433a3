// What one replay is given and what it found. Plain C++: tests and the lab use this without CuTe.
#pragma once
#include <inlay/banks.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plan/variant.h"
#include "replay/memory.h"
#include "replay/trace.h"

namespace inlay {

// Which check spoke.
enum class Check { result, bounds, alignment, race, divergence, deadlock, coverage, unrecorded, misuse };
char const* name_of(Check check);

struct Finding {
  Check check;
  std::string sentence;  // kernel, block, thread, access, element
};

// How a site moves data.
enum class Mechanism { plain, cp_async, tma };

// All accesses of one operand in one direction. TMA counts boxes, and bytes as transactions.
struct Site {
  std::string operand;  // "in", "out", "A", "workspace", "shared A"
  replay::Space space;
  bool store;
  Mechanism mechanism;
  unsigned bytes;  // of one lane; 0 for a box
  Traffic traffic{};
  std::int64_t ideal = 0;    // transactions, had every request as few as its lanes' bytes can need
  std::int64_t lines = 0;    // global: of 128 bytes, in the L1
  std::int64_t sectors = 0;  // of a box: in the L2
  std::int64_t useful = 0;   // global: distinct bytes that the requests' lanes asked for
  banks::Request worst{};    // the first of the requests that cost most beyond their ideal; of a box, none
  unsigned worst_excess = 0;
  bool worst_by_halves = false;  // its sectors are asked for by halves: see count()

  void count(banks::Request const& request,
             std::uint32_t halves = 0);  // halves: lanes whose sectors are asked for by halves
  void add(Site const& other, std::int64_t times);
};

// How a kernel would be launched.
struct Launch {
  std::int64_t blocks;
  unsigned threads, cluster;
  std::size_t shared_bytes;  // of a block
  int min_blocks;            // of a multiprocessor, for which the compiler bounds the registers; 0: it is free
  int blocks_per_sm;         // as many as the launch lets a multiprocessor hold; 0: as many as fit
};

namespace replay {
class Executor;
}

class Recorder {
 public:
  Recorder();
  ~Recorder();

  // A buffer of global memory filled with a pattern that depends on the position and on `seed`. The address is the one
  // kernels see; nobody may dereference it.
  void* allocate(std::string name, std::size_t bytes, int elem_bytes, unsigned seed);
  // A buffer of zeros that takes no memory before it is touched.
  void* reserve(std::string name, std::size_t bytes, int elem_bytes);
  // Floats that are small integers, -3 .. 3: their products and sums are exact.
  float* allocate_integers(std::string name, std::size_t count, unsigned seed);
  char* real(void const* seen) const;  // the bytes behind such an address
  float number(float const* seen) const;

  // The workspace of what is replayed next: bytes that are no number, nobody's yet. No bytes: none, and null.
  void allocate_workspace(std::size_t bytes);
  void reserve_workspace(std::size_t bytes);  // of zeros that take no memory before they are touched
  void* workspace() const { return workspace_; }

  // The move about to be replayed: which bytes may be read, which must be written, each exactly once.
  void expect(Move const& move);
  // After the replay: bytes left unwritten, elements that differ from the source.
  void conclude(Move const& move);

  // The product about to be replayed: A and B may be read if K > 0, C if beta != 0 and only before it is written; each
  // of its elements must be written exactly once, over all kernels of the variant. The workspace is nobody's yet.
  void expect(Gemm const& gemm);
  // After the replay: elements left unwritten, elements that differ from alpha A B + beta C, summed in double.
  void conclude(Gemm const& gemm);

  // A few blocks are about to be replayed in the place of all: any byte of a buffer may be read and written.
  void expect_samples();
  // What f replays counts so many times.
  void times(std::int64_t n, std::function<void()> const& f);
  // Any other kernel about to be replayed, buffer by buffer: what it may read, and what it must write, each byte
  // exactly once. Both: it may read what it has not written yet. A buffer of which nothing is said may not be touched.
  void reads(void const* buffer);
  void writes(void const* buffer);
  // After the replay: elements left unwritten. What was said of buffers is forgotten.
  void conclude();

  std::string kernel;  // the name that findings begin with
  Device device;       // for which variants size their grids
  std::vector<Finding> findings;
  std::int64_t finding_count = 0;  // all of them; `findings` keeps the first four of each check
  std::vector<Site> sites;
  std::vector<Launch> launches;  // of replay_kernel() or a sampled replay
  // How often thread 0 of a block puts into shared memory what it has just loaded from global memory, with no FMA in
  // between to hide the load.
  std::int64_t exposed_loads = 0;
  std::int64_t fma = 0;  // fused multiply-adds of threads

  bool found(Check check) const;
  void report(Check check, std::string sentence);
  Site& site(std::string const& operand, replay::Space space, bool store, Mechanism mechanism, unsigned bytes);

  // Is told of everything that happens in the replays that follow; an empty one ends that.
  void watch(replay::Trace trace);

  replay::Executor& executor() { return *executor_; }

 private:
  void allow(void const* buffer, std::uint8_t what);

  std::unique_ptr<replay::Executor> executor_;
  void* workspace_ = nullptr;
  std::vector<float> old_;  // C before the replay, [l][m][n]
};

// The sites' traffic in the form of a variant's prediction.
Cost counted(Recorder const& recorder);

template <class P>
using Replay = void (*)(P const&, Recorder&);

}  // namespace inlay
