// Recorder: the buffers of a replay, what kernels may do to them, and what the replay has counted and found. Needs no
// CuTe.
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

// The check that reports a finding.
enum class Check { result, bounds, alignment, race, divergence, deadlock, coverage, unrecorded, misuse };
char const* name_of(Check check);

struct Finding {
  Check check;
  std::string sentence;  // names kernel, block, thread, access and element
};

// How accesses are made: ordinary instructions, cp.async, TMA, atomic operations or wgmma.
enum class Mechanism { plain, cp_async, tma, atomic, wgmma };

// The requests that a kernel makes for one operand in one direction, with one mechanism and one access width.
struct Site {
  std::string operand;  // "in", "out", "A", "workspace", "shared A"
  Space space;
  bool store;
  Mechanism mechanism;
  unsigned bytes;  // per lane; 0 for TMA
  Traffic traffic{};
  std::int64_t ideal = 0;    // the fewest transactions that the distinct bytes of each request can take
  std::int64_t lines = 0;    // global memory: cache lines of 128 bytes in the L1
  std::int64_t sectors = 0;  // TMA: sectors in the L2
  std::int64_t useful = 0;   // global memory: distinct bytes that the lanes requested
  // The first request with the most transactions beyond its ideal; none for TMA.
  banks::Request worst{};
  unsigned worst_excess = 0;
  bool worst_by_halves = false;  // some lanes of the worst request requested their bytes of a sector separately

  // split_sector_lanes: the lanes that request their bytes separately, see Executor::note_split_sectors.
  void count(banks::Request const& request, std::uint32_t split_sector_lanes = 0);
  void add(Site const& other, std::int64_t times);
};

// How a replayed kernel is launched on a GPU.
struct RecordedLaunch {
  std::int64_t blocks;
  unsigned threads, cluster;  // threads per block, blocks per cluster
  std::size_t shared_bytes;   // per block
  int min_blocks;             // see block::LaunchInfo
  int blocks_per_sm;          // see block::LaunchInfo
};

class Executor;

class Recorder {
 public:
  Recorder();
  // With an executor that make(recorder) returns: a mutant.
  explicit Recorder(std::function<std::unique_ptr<Executor>(Recorder&)> const& make);
  ~Recorder();

  // Allocates a buffer of global memory, filled with pseudo-random bytes that depend on the position and on `seed`.
  // Returns the address that kernels see, which must not be dereferenced.
  void* allocate(std::string name, std::size_t bytes, int elem_bytes, unsigned seed);
  // Allocates a buffer of zeros. Its pages take no memory before they are accessed.
  void* reserve(std::string name, std::size_t bytes, int elem_bytes);
  // Allocates floats that are integers from -3 to 3, so that GEMMs and sums of them are exact.
  float* allocate_integers(std::string name, std::size_t count, unsigned seed);
  char* real(void const* seen) const;  // the host address of the bytes at an address that kernels see
  float number(float const* seen) const;

  // Allocates the workspace of the next replay, as NaNs; reserve_workspace: as zeros whose pages take no memory before
  // they are accessed. Kernels must write a word of the workspace before they read it. With 0 bytes, workspace() is
  // null.
  void allocate_workspace(std::size_t bytes);
  void reserve_workspace(std::size_t bytes);
  void* workspace() const { return workspace_; }

  // ---- what the next kernels may access. Buffers that are not named here must not be accessed.
  void begin();  // begins the replay of a list of launches: the workspace has no values yet
  // Whole buffers: each byte may be read; each byte must be written exactly once, over all launches. With both, a byte
  // may be read before it is written.
  void reads(void const* buffer);
  void writes(void const* buffer);
  // Epilogues the replay: reports elements that were not written, and forgets what buffers may be accessed.
  void conclude();

  // Single bytes: forget_expectations() forbids all accesses to the buffer, may_read() and must_write() then allow
  // some.
  void forget_expectations(void const* buffer);
  void may_read(void const* p, std::size_t bytes) { permit(p, bytes, Region::kReadable); }
  void must_write(void const* p, std::size_t bytes) { permit(p, bytes, Region::kWritable); }
  bool written(void const* p, std::size_t bytes) const;  // whether each of these bytes has been written
  std::size_t offset_of(void const* p) const;            // bytes from the start of its buffer

  // Replaces begin() where a few blocks are replayed as a sample of all. Each byte may be read and written.
  void expect_samples();
  // Calls f, which replays blocks, and adds their counts n times.
  void times(std::int64_t n, std::function<void()> const& f);

  std::string kernel;  // name of the kernel, with which findings begin
  std::vector<Finding> findings;
  std::int64_t finding_count = 0;  // of all findings; `findings` has the first four of each check
  std::vector<Site> sites;
  std::vector<RecordedLaunch> launches;  // of replay_kernel() or a sampled replay
  // Number of times that thread 0 of a block stores to shared memory after a load from global memory with no FMA in
  // between that would overlap the load.
  std::int64_t exposed_loads = 0;
  std::int64_t fma = 0;                     // FMAs of threads
  std::int64_t mma_fma = 0, wgmma_fma = 0;  // FMAs of mma.sync and of wgmma instructions
  std::int64_t shuffles = 0, votes = 0;     // of warps

  bool found(Check check) const;
  void report(Check check, std::string sentence);
  Site& site(std::string const& operand, Space space, bool store, Mechanism mechanism, unsigned bytes);

  // Calls `trace` for each event of the following replays. An empty trace ends that.
  void watch(Trace trace);

  Executor& executor() { return *executor_; }

 private:
  void forget_accesses();
  void permit(void const* p, std::size_t bytes, std::uint8_t state);

  std::unique_ptr<Executor> executor_;
  void* workspace_ = nullptr;
};

}  // namespace inlay::replay
