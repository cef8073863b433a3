// One block at a time: fibers for its threads, every access recorded, every ordering checked.
#pragma once
#include <inlay/banks.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>

#include <inlay/block/kernel.h>
#include <inlay/block/tensor_map.h>
#include <inlay/replay/fibers.h>
#include <inlay/replay/global_ordering.h>
#include <inlay/replay/memory.h>
#include <inlay/replay/ordering.h>
#include <inlay/replay/recorder.h>
#include <inlay/replay/trace.h>

namespace inlay::replay {
using namespace block;

// Ends the replay of the kernel: going on would make no sense.
struct Fault : std::runtime_error {
  Fault(Check check, std::string const& sentence) : runtime_error(sentence), check(check) {}
  Check check;
};

inline std::string str(std::uint64_t n) { return std::to_string(n); }  // for sentences

class Executor {
 public:
  explicit Executor(Recorder& recorder) : recorder_(recorder) {}

  Memory memory;
  GlobalOrdering global;

  // Replays blocks first .. first+blocks-1, those of a cluster together. `smem` describes a block's shared memory (no
  // bytes: none); body(block, rank, shared).
  using Body = std::function<void(unsigned block, unsigned rank, void* shared)>;
  void run(std::int64_t first, std::int64_t blocks, LaunchInfo const& facts, unsigned cluster, std::size_t smem_bytes,
           std::vector<Operand> const& smem, Body const& body);

  // See replay/run.h.
  void guarded(std::function<void()> const& f);

  // ---- what operations of the kernel call; all act for the thread that runs now
  unsigned rank() const { return fibers_.current(); }  // in the cluster

  // A lane's pass through a place in the code, of which each copy operation and pair of tensor types has a number. The
  // lanes' n-th passes form one request; access() ends the pass; of a lane that is predicated off, end_pass().
  struct Place;
  struct Warp;
  struct Request;
  struct Slot {
    Place* place;
    Warp* warp;
    Request* request;
  };
  Slot tick(int place);
  void end_pass(Slot slot);
  static int new_place();

  enum class Direction { load, store };
  // Records and checks one lane's access; returns where the bytes really are.
  char* access(Slot slot, void const* address, unsigned bytes, Direction direction, Mechanism mechanism,
               int operation = Event::kPlain);
  // A lane's atomic operation, before it is done: the bytes that it changes. Sums of floating-point numbers are exact,
  // whatever their order, or are reported.
  char* atomic(Slot slot, void const* address, unsigned bytes, Atomic kind);
  void adds(char const* place, double old, double value, int digits);
  void fma() { ++recorder_.fma; }
  // A lane's cp.async that bypasses the L1, before its access: it arrives in sectors of shared memory, and where those lie half
  // a sector beside those of global memory, each asks for two halves.
  void meets_halves(Slot slot, void const* from, void const* to);

  void sync(std::source_location at);
  void sync(int id, unsigned threads, std::source_location at);  // a named barrier
  void syncwarp(std::source_location at);
  // What each lane of the warp has brought, and which are there. It orders no memory.
  struct Exchange {
    char const* what;
    std::source_location at;
    std::array<std::uint64_t, 32> value{};
    std::uint32_t lanes = 0;
    bool over = false;
  };
  std::shared_ptr<Exchange const> exchange(char const* what, std::uint64_t value, std::source_location at);
  std::uint64_t shuffle(char const* what, std::uint64_t value, unsigned from, std::source_location at);
  std::uint32_t vote(char const* what, bool value, std::source_location at);
  unsigned lane() const { return rank() % 32; }
  void sync_cluster(unsigned threads, std::source_location at);  // `threads` of each block
  // The place of p, in the shared memory of this block, in that of a block of the cluster.
  void const* peer(void const* p, unsigned member);

  // Flags: words of the workspace. Polls and the store are in no count.
  void release(void const* flag, std::uint32_t value);
  void acquire(void const* flag, std::uint32_t value);

  struct Landing {  // of bytes that a thread copied asynchronously; from nowhere: zeros
    char* to;
    char const* from;
    std::size_t bytes;
  };
  void cp_async(Landing land) { thread().cp_pending.push_back(land); }
  int cp_async_operation();
  void cp_async_fence();
  void cp_async_wait(int keep);

  void mbarrier_init(void const* address, unsigned count);
  void fence_barrier_init();
  void mbarrier_arrive(void const* address, std::int64_t expected_bytes);
  void mbarrier_wait(void const* address, unsigned parity);

  void tma_load(TmaTensor const& map, void const* mbarrier, void const* smem, std::int64_t const (&c)[3]);
  void tma_store(TmaTensor const& map, void const* smem, std::int64_t const (&c)[3]);
  void tma_store_commit();
  void tma_store_wait_read(int keep);  // for what is read of shared memory
  void tma_store_wait(int keep);       // for what is written to global memory
  void fence_proxy_async() { ordering_.fence_proxy_async(rank()); }

  void griddep_wait();
  void registers(int count);  // of each thread of this warpgroup, from now on

  void watch(Trace trace) { trace_ = std::move(trace); }  // an empty one: nobody watches

  // The sentence for an access that nobody recorded, at this faulting address, for the signal handler.
  std::optional<std::string> unrecorded(void const* address) const;

 private:
  struct Group {  // of cp.async or TMA stores: lands together
    int operation;
    std::vector<Landing> land;
  };
  struct Thread {
    std::vector<Landing> cp_pending, store_pending;
    int cp_operation = -1, store_operation = -1, store_writes = -1;
    std::vector<Group> cp_groups, store_groups;
    std::vector<int> unwritten;  // of the groups of TMA stores: the operations that write global memory
    bool may_touch = false;      // global memory: the kernel before has ended
  };
  struct Round {  // of a barrier of some of the threads
    unsigned threads, arrived = 0;
    bool over = false;
    unsigned const* left = nullptr;   // these count as arrived: of the threads, those that have ended
    std::vector<unsigned> of_warp{};  // arrived, where warps count: as 32 threads, when all their lanes are there
    Clock clock{};
  };
  struct Mbarrier {
    unsigned count = 0, pending = 0;
    std::int64_t missing_bytes = 0;
    std::uint64_t phase = 0;
    Event init;
    std::optional<Event> fenced;  // its fence_barrier_init
    Clock arriving, released;
    std::vector<int> landing, landed;  // TMA loads whose bytes have arrived: in this phase, in the last one
  };

  Thread& thread() { return threads_[rank()]; }
  void run_cluster(unsigned first, Body const& body);
  unsigned member() const { return rank() / block_threads_; }  // which block of the cluster
  std::string who(unsigned rank) const;
  unsigned lanes_of(unsigned warp) const { return std::min(32u, count_ - 32 * warp); }
  void check_global(Region& r, std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                    Proxy proxy);
  void check_state(Region& r, std::size_t offset, std::size_t bytes, Direction direction);
  void check_change(Region& r, std::size_t offset, std::size_t bytes, Event const& event);
  void check_order(Region& r, std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                   Proxy proxy);
  void check_after_previous(Region const& r, std::size_t offset, char const* verb);
  void check_registers();
  std::size_t flag(void const* address, char const* verb);
  template <class Fresh, class What>
  void meet(std::shared_ptr<Round>& open, Fresh const& fresh, What const& what);
  template <class What>
  void check_threads(std::shared_ptr<Round> const& open, unsigned threads, What const& what);
  unsigned counted(Round const& round) const;
  void settle();  // what may be complete now
  void settle(std::shared_ptr<Round>& open) const;
  void settle(std::shared_ptr<Exchange>& open);
  void leave();
  void land(std::vector<Group>& groups, int keep);
  void check_shared(std::size_t offset, std::size_t bytes, Direction direction, Event const& event, Proxy proxy);
  bool holds_mbarrier(std::size_t offset, std::size_t bytes) const;
  Mbarrier& mbarrier(void const* address);
  std::size_t mbarrier_place(void const* address, char const* verb);
  void flip(Mbarrier& m, std::size_t offset);
  void end_phase(Mbarrier& m, std::size_t offset);
  void box_lands(Mbarrier& m, std::size_t offset, std::int64_t bytes, int operation, unsigned issuer);
  void check_box_place(TmaTensor const& map, std::size_t offset, char const* what);
  // Calls f(global address, shared offset, bytes inside the tensor, bytes) for each piece of a box that stays together: a
  // row, or 16 bytes where rows are swizzled.
  template <class F>
  void over_box(TmaTensor const& map, std::size_t shared_offset, std::int64_t const (&c)[3], F f);
  void watch_for_exposed_loads(Region const& r, Direction direction, Mechanism mechanism);
  void tally(Place& place, Request const& q);
  void tally();

  // Reports the running thread to the trace, if there is one. For accesses, which are many, call it only then.
  void tell(Happens what, std::size_t count = 0) const;
  void tell(Happens what, std::size_t mbarrier, std::size_t bytes) const;
  void tell(Region const& r, std::size_t offset, std::size_t bytes, Direction direction, Mechanism mechanism) const;

  std::string here() const;  // outside all blocks nothing
  std::string element(Region const& r, std::size_t offset) const;
  void report(Check check, std::string const& sentence) { recorder_.report(check, here() + sentence); }
  [[noreturn]] void fault(Check check, std::string const& sentence) { throw Fault(check, here() + sentence); }

  Recorder& recorder_;
  Fibers fibers_;
  Ordering ordering_;
  unsigned block_ = 0, count_ = 0;  // the cluster's first block, its threads; none: no block runs
  unsigned block_threads_ = 0;
  LaunchInfo facts_{};
  std::size_t block_smem_ = 0;  // bytes from one block's shared memory to the next's
  std::vector<Thread> threads_;
  std::optional<std::int64_t> loaded_at_;  // FMAs before thread 0's last load from global memory
  Region* shared_ = nullptr;
  std::deque<Place> places_;                     // of this kernel
  std::vector<Place*> place_of_;                 // by number
  std::map<std::size_t, Mbarrier> mbarriers_;    // by offset in shared memory
  std::vector<bool> is_mbarrier_;                // by 8 bytes
  std::deque<std::function<void()>> in_flight_;  // TMA loads land when nobody can run: as late as possible
  unsigned arrived_ = 0;
  std::uint64_t generation_ = 0;
  std::source_location barrier_at_;
  std::vector<std::shared_ptr<Round>> named_, warps_;  // 16 of each block; 0 is sync() in a cluster
  std::shared_ptr<Round> cluster_;
  std::vector<std::shared_ptr<Exchange>> exchanges_;    // of each warp
  std::vector<Round> ends_;                             // of a cluster's blocks: their threads have finished
  std::vector<unsigned> left_of_block_, left_of_warp_;  // threads
  std::vector<Event> previous_ended_;                   // for who comes after these: the kernel before has
  bool waited_ = false;                                 // for it, any thread of this kernel
  std::vector<int> registers_;                          // of a thread, by warpgroup; 0: as launched
  struct Sum {                                          // of floats that threads add to a place
    double magnitude;
    int digit;               // the lowest that any of them has
    unsigned block, thread;  // the first that added
    bool reported = false;
  };
  std::map<char const*, Sum> sums_;
  Trace trace_;
};

struct Executor::Request {
  banks::Request lanes;
  Region* region = nullptr;
  Operand const* operand = nullptr;
  bool store = false;
  Mechanism mechanism{};
  unsigned passed = 0;       // lanes
  std::uint32_t halves = 0;  // lanes: meets_halves
};
struct Executor::Warp {  // its requests at a place that not all its lanes have passed
  std::size_t first = 0, done = 0;
  std::vector<Request> requests;  // from number `first` on; the first ones are done
};
struct Executor::Place {
  std::vector<Warp> warps;
  std::vector<std::size_t> passes;  // by thread
  Request last;                     // the last one counted, and where
  std::size_t site = 0;
};

// The executor whose block runs now on this thread of the host; operations reach it from inside kernel bodies.
inline constinit thread_local Executor* current_executor = nullptr;
inline Executor& running() { return *current_executor; }

// The replay's encoder: the description itself, in the opaque 128 bytes.
struct ReplayEncoder {
  CUtensorMap operator()(TmaTensor const& tensor) const;  // throws Fault where the driver would refuse
};
TmaTensor decode(CUtensorMap const& map);

}  // namespace inlay::replay
