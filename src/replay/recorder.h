// What one replay is given and what it found. Plain C++: tests and the lab use this without CuTe.
#pragma once
#include <inlay/banks.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <inlay/replay/memory.h>
#include <inlay/replay/trace.h>

namespace inlay::replay {
using banks::Traffic;

// Which check spoke.
enum class Check { result, bounds, alignment, race, divergence, deadlock, coverage, unrecorded, misuse };
char const* name_of(Check check);

struct Finding {
  Check check;
  std::string sentence;  // kernel, block, thread, access, element
};

// How a site moves data.
enum class Mechanism { plain, cp_async, tma, atomic };

// All accesses of one operand in one direction.
struct Site {
  std::string operand;  // "in", "out", "A", "workspace", "shared A"
  Space space;
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

  void count(banks::Request const& request, std::uint32_t halves = 0);  // halves: the lanes that ask for sectors so
  void add(Site const& other, std::int64_t times);
};

// How a kernel would be launched.
struct RecordedLaunch {
  std::int64_t blocks;
  unsigned threads, cluster;
  std::size_t shared_bytes;  // of a block
  int min_blocks;            // of a multiprocessor, for which the compiler bounds the registers; 0: it is free
  int blocks_per_sm;         // as many as the launch lets a multiprocessor hold; 0: as many as fit
};

class Executor;

class Recorder {
 public:
  Recorder();
  ~Recorder();

  // A buffer of global memory filled with a pattern that depends on the position and on `seed`. The address is the one
  // kernels see; nobody may dereference it.
  void* allocate(std::string name, std::size_t bytes, int elem_bytes, unsigned seed);
  // A buffer of zeros that takes no memory before it is touched.
  void* reserve(std::string name, std::size_t bytes, int elem_bytes);
  // Floats that are small integers, -3 .. 3: their GEMMs and sums are exact.
  float* allocate_integers(std::string name, std::size_t count, unsigned seed);
  char* real(void const* seen) const;  // the bytes behind such an address
  float number(float const* seen) const;

  // The workspace of what is replayed next: bytes that are no number, nobody's yet. No bytes: none, and null.
  void allocate_workspace(std::size_t bytes);
  void reserve_workspace(std::size_t bytes);  // of zeros that take no memory before they are touched
  void* workspace() const { return workspace_; }

  // ---- what the kernels about to be replayed may do. A buffer of which nothing is said may not be touched.
  void begin();  // a kernel's first kernel comes next: the workspace is nobody's yet, and wholly watched
  // Buffer by buffer: any byte may be read; each byte must be written, exactly once, over all kernels. Both: it may be
  // read before its write.
  void reads(void const* buffer);
  void writes(void const* buffer);
  // After the replay: elements left unwritten. What was said of buffers is forgotten.
  void conclude();

  // Byte by byte: first no byte of the buffer may be touched, then these may.
  void forget_expectations(void const* buffer);
  void may_read(void const* p, std::size_t bytes) { permit(p, bytes, Region::kReadable); }
  void must_write(void const* p, std::size_t bytes) { permit(p, bytes, Region::kWritable); }
  bool written(void const* p, std::size_t bytes) const;  // has each of these bytes had its write?
  std::size_t offset_of(void const* p) const;            // in its buffer, bytes

  // Instead of begin(): a few blocks are about to be replayed in the place of all. Any byte may be read and written.
  void expect_samples();
  // The counts of what f replays are multiplied by n.
  void times(std::int64_t n, std::function<void()> const& f);

  std::string kernel;  // the name that findings begin with
  std::vector<Finding> findings;
  std::int64_t finding_count = 0;  // all of them; `findings` keeps the first four of each check
  std::vector<Site> sites;
  std::vector<RecordedLaunch> launches;  // of replay_kernel() or a sampled replay
  // How often thread 0 of a block puts into shared memory what it has just loaded from global memory, with no FMA in
  // between to hide the load.
  std::int64_t exposed_loads = 0;
  std::int64_t fma = 0;                  // fused multiply-adds of threads
  std::int64_t shuffles = 0, votes = 0;  // of warps

  bool found(Check check) const;
  void report(Check check, std::string sentence);
  Site& site(std::string const& operand, Space space, bool store, Mechanism mechanism, unsigned bytes);

  // Is told of everything that happens in the replays that follow; an empty one ends that.
  void watch(Trace trace);

  Executor& executor() { return *executor_; }

 private:
  void forget_accesses();
  void permit(void const* p, std::size_t bytes, std::uint8_t what);

  std::unique_ptr<Executor> executor_;
  void* workspace_ = nullptr;
};

}  // namespace inlay::replay
