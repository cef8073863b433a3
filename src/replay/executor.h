// Executes thread blocks of a kernel on the CPU, one block or cluster at a time. Each thread is a fiber. Every memory
// access is recorded, and checked for bounds, alignment and its order with other accesses.
//
// A mutant is a subclass that overrides an operation: it leaves the operation out or changes its operands. Tests replay
// kernels with mutants, each of which a check must find.
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
#include <span>
#include <stdexcept>
#include <typeinfo>

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

// Ends the replay of a kernel after an error that leaves no meaningful way to continue.
struct Fault : std::runtime_error {
  Fault(Check check, std::string const& sentence) : runtime_error(sentence), check(check) {}
  Check check;
};

inline std::string str(std::uint64_t n) { return std::to_string(n); }  // for sentences

enum class Where { registers, global, shared };
struct Lane {   // one execution of a copy operation by one lane
  bool active;  // its predicate
  void const* src;
  void* dst;
  unsigned src_bytes, dst_bytes;
  Where src_in, dst_in;
  bool zero_fills_when_off;
};
struct SmemOperand;  // of wgmma

// A kernel that is about to be replayed.
class Executor;
struct Launch {
  std::type_info const& type;
  void* kernel;  // of that type
  std::size_t bytes;
  std::int64_t first, count;                             // blocks; a count of kAllBlocks: all of the grid
  void (*replay)(Launch const& launch, Executor& with);  // calls Executor::run()

  static constexpr std::int64_t kAllBlocks = -1;
  template <class K>
  K* as() const {  // null: the kernel has another type
    return type == typeid(K) ? static_cast<K*>(kernel) : nullptr;
  }
};

class Executor {
 public:
  explicit Executor(Recorder& recorder) : recorder_(recorder) {}
  virtual ~Executor() = default;
  Executor(Executor const&) = delete;

  Memory memory;
  GlobalOrdering global;

  // Replays a kernel. A mutant may change it before, or leave it out.
  virtual void launch(Launch const& x) { x.replay(x, *this); }

  // Replays blocks first .. first+blocks-1; the blocks of a cluster run together. `smem` names the arrays of a block's
  // shared memory of `smem_bytes` bytes. `body` runs one thread.
  using Body = std::function<void(unsigned block_index, unsigned thread_rank, void* shared)>;
  void run(std::int64_t first, std::int64_t blocks, LaunchInfo const& launch_info, unsigned cluster,
           std::size_t smem_bytes, std::vector<Operand> const& smem, Body const& body);

  // See replay/run.h.
  void guarded(std::function<void()> const& f);

  // ---- Operations of the kernel. All act for the thread that runs now.
  unsigned rank() const { return fibers_.current(); }  // of the thread, in the cluster
  unsigned lane() const { return rank() % 32; }
  unsigned block_index() const { return first_block_ + block_rank(); }

  // A call site is one copy or atomic operation with its tensor types; new_call_site() returns the id of a new one. A
  // pass is one execution of a call site by a lane. The n-th passes of the lanes of a warp since its last syncwarp()
  // form one request. A lane calls begin_pass(), then access(), or end_pass() if its predicate is false.
  struct CallSite;
  struct Warp;
  struct Request;
  struct Pass {
    CallSite* call_site;
    Warp* warp;
    Request* request;
  };
  static int new_call_site();
  Pass begin_pass(int call_site);
  void end_pass(Pass pass);

  // Called before a lane executes a copy, and before wgmma reads an operand. Only mutants do something.
  virtual void edit(Lane&) {}
  virtual void edit(SmemOperand&, bool /*is_A*/) {}

  enum class Direction { load, store };
  // Records and checks the access of one lane, then ends the pass. Returns the host address of the bytes. `operation`
  // is the Event::operation of the access.
  char* access(Pass pass, void const* address, unsigned bytes, Direction direction, Mechanism mechanism,
               int operation = Event::kPlain);
  // Records and checks an atomic operation of one lane before the caller performs it. Returns the host address of the
  // bytes.
  char* atomic(Pass pass, void const* address, unsigned bytes, Atomic kind);
  // Reports a floating-point sum that depends on the order of the threads. Called for each atomic addition of `value`
  // to `old` at host address `target`; the format has `mantissa_digits` binary digits.
  void check_sum_order(char const* target, double old, double value, int mantissa_digits);
  void fma() { ++recorder_.fma; }
  void count_mma_fma(std::int64_t n) { recorder_.mma_fma += n; }
  [[noreturn]] void misuse(std::string const& sentence) { fault(Check::misuse, sentence); }
  // Called before the access of a cp.async that bypasses the L1. The hardware splits such a copy by 32-byte sectors of
  // shared memory. If source and destination differ modulo 32 bytes, each lane's 16 bytes cost a global sector request
  // of their own.
  void note_split_sectors(Pass pass, void const* from, void const* to);

  virtual void sync(std::source_location at);
  virtual void sync(int id, unsigned threads, std::source_location at);  // named barrier
  virtual void syncwarp(std::source_location at);
  virtual void sync_cluster(unsigned threads, std::source_location at);  // `threads` of each block
  // Executes an instruction of a warp or of another aligned group of `threads` threads: each of them passes its
  // operands and waits until all have arrived; the last one calls execute(operands of all, by rank in the group), where
  // the operands of exited threads are null. With `needs_all`, exited threads are waited for as well: a deadlock. It
  // orders no memory accesses.
  template <class Operands, class F>
  void collective(char const* what, std::source_location at, unsigned threads, bool needs_all, Operands& operands,
                  F const& execute) {
    collective(
        what, at, threads, needs_all, &operands,
        [](void const* f, std::vector<void*> const& all) {
          std::array<Operands*, 128> typed{};
          for (std::size_t i = 0; i < all.size(); ++i) typed[i] = static_cast<Operands*>(all[i]);
          (*static_cast<F const*>(f))(std::span<Operands* const>(typed.data(), all.size()));
        },
        &execute);
  }
  std::uint64_t shuffle(char const* what, std::uint64_t value, unsigned from, std::source_location at);
  std::uint32_t vote(char const* what, bool value, std::source_location at);
  // Returns the address of p, which is in this block's shared memory, in the shared memory of another block of the
  // cluster.
  virtual void const* map_shared_rank(void const* p, unsigned block_rank);

  // Flags are words of the workspace. Polls of acquire() are not counted.
  virtual void release(void const* flag, std::uint32_t value);
  virtual void acquire(void const* flag, std::uint32_t value);

  struct PendingCopy {  // bytes of an asynchronous copy that are not written yet; from == nullptr: zeros
    char* to;
    char const* from;
    std::size_t bytes;
  };
  void cp_async(PendingCopy copy) { thread().cp_pending.push_back(copy); }
  int cp_async_operation();
  void cp_async_fence();
  virtual void cp_async_wait(int groups_in_flight);

  virtual void mbarrier_init(void const* address, unsigned count);
  virtual void fence_barrier_init();
  virtual void mbarrier_arrive(void const* address, std::int64_t expected_bytes);
  virtual void mbarrier_arrive_at(void const* address, unsigned block_rank);  // at the one of another block
  virtual void mbarrier_wait(void const* address, unsigned parity);

  // ranks: a bit for each block of the cluster in whose shared memory the box arrives; 0: the running block's.
  virtual void tma_load(TmaTensor const& map, void const* mbarrier, void const* smem, std::int64_t const (&c)[3],
                        unsigned ranks);
  void tma_store(TmaTensor const& map, void const* smem, std::int64_t const (&c)[3]);
  void tma_store_commit();
  virtual void tma_store_wait_read(int groups_in_flight);
  void tma_store_wait(int groups_in_flight);
  virtual void fence_proxy_async() { ordering_.fence_proxy_async(rank()); }

  // ---- wgmma. All threads of a warpgroup call each of them.
  virtual void wgmma_fence();
  // Begins an instruction that accumulates into `count` registers of the running thread. Returns their values as the
  // instruction finds them. Until the wait that names the instruction's group, the registers hold NaN and the values
  // are elsewhere: reading registers in flight gives wrong results.
  float* wgmma_accumulators(float* registers, std::size_t count);
  int wgmma_operation() { return ordering_.start("wgmma", Proxy::async); }
  // Records that wgmma reads 16 bytes of shared memory for the operand; returns their host address.
  char const* wgmma_read(void const* address, int operation);
  void count_wgmma(void const* operand, std::int64_t bytes);
  void wgmma_issued(float* registers, int operation);
  // Says that the thread's wgmma `operation` reads A from these registers.
  void wgmma_reads_registers(void const* registers, std::size_t bytes, int operation);
  virtual void wgmma_commit();
  virtual void wgmma_wait(int groups_in_flight);
  void count_wgmma_fma(std::int64_t n) { recorder_.wgmma_fma += n; }

  virtual void griddep_wait();
  virtual void set_registers(int count);  // per thread, for the warpgroup of the running thread

  void watch(Trace trace) { trace_ = std::move(trace); }  // an empty trace ends watching

  // Returns the sentence for an access that bypassed the recorder and faulted at `address`; nothing if `address` is in
  // no region. Called by the signal handler.
  std::optional<std::string> unrecorded(void const* address) const;

 private:
  struct Group {  // of cp.async copies or TMA stores
    int operation;
    std::vector<PendingCopy> copies;
  };
  // wgmma instructions of a thread's warpgroup.
  struct Wgmma {
    struct Accumulators {
      std::vector<float> values;
      int last_operation;  // that accumulates into them
    };
    bool is_fenced = false;               // by wgmma_fence(), since registers were last accessible
    std::vector<int> pending;             // operations that are not committed yet
    std::deque<std::vector<int>> groups;  // committed
    std::map<float*, Accumulators> in_flight;
    struct Registers {    // of A
      std::string bytes;  // when they were read
      int operation;      // the last one that reads them
    };
    std::map<void const*, Registers> read, read_since_fence;  // in flight; by wgmma since the last wgmma_fence()
  };
  struct Thread {
    Wgmma wgmma;
    std::vector<PendingCopy> cp_pending, store_pending;  // not committed yet
    int cp_operation = -1, store_operation = -1,
        store_write_operation = -1;              // of the group that is not committed yet; -1: none
    std::vector<Group> cp_groups, store_groups;  // committed
    std::vector<int> write_operations;           // of committed TMA stores: the operations that write global memory
    bool may_access_global =
        false;  // with launch_info.follows: the previous kernel has ended, as far as this thread knows
  };
  // One phase of a barrier: from its first arrival until all threads have arrived. Exited threads count as arrived if
  // `exited` is set. A barrier that counts warps has `arrived_of_warp`: a warp counts as 32 threads once all its lanes
  // have arrived.
  struct BarrierPhase {
    unsigned threads, arrived = 0;
    bool complete = false;
    unsigned const* exited = nullptr;
    std::vector<unsigned> arrived_of_warp{};
    Clock clock{};
  };
  struct Mbarrier {
    unsigned count = 0, pending = 0;  // arrivals: of each phase, still missing in this one
    std::int64_t pending_bytes = 0;
    std::uint64_t phase = 0;
    Event init;
    std::optional<Event> fence;                       // fence_barrier_init of the thread that initialised it
    Clock arriving, released;                         // of the threads that arrived: in this phase, in the last one
    std::vector<int> completed_loads, visible_loads;  // TMA loads: completed in this phase, in the last one
  };
  struct Collective {
    char const* what;
    std::source_location at;
    unsigned threads;
    bool needs_all;
    void (*execute)(void const* f, std::vector<void*> const& operands);
    std::vector<void*> operands;  // per thread; null: it has not arrived
    unsigned arrived = 0;
    bool complete = false;
    void const* f = nullptr;  // of a thread that waits
  };
  struct Sum {  // of floating-point numbers that threads add atomically to one element
    double magnitude;
    int lowest_digit;        // binary exponent of the lowest set digit of all addends
    unsigned block, thread;  // that added first
    bool reported = false;
  };

  Thread& thread() { return threads_[rank()]; }
  unsigned num_blocks() const { return num_threads_ / block_threads_; }  // of the cluster
  unsigned block_rank() const { return rank() / block_threads_; }        // in the cluster
  // The first thread of the thread's warp or warpgroup, which begin with its block; the warpgroup's number.
  unsigned first_of(unsigned threads) const { return rank() - rank() % block_threads_ % threads; }
  unsigned warpgroups_of_block() const { return (block_threads_ + 127) / 128; }
  unsigned warpgroup() const { return block_rank() * warpgroups_of_block() + rank() % block_threads_ / 128; }
  unsigned lanes_of(unsigned warp) const { return std::min(32u, num_threads_ - 32 * warp); }

  void begin_kernel(LaunchInfo const& launch_info, unsigned cluster, std::size_t smem_bytes,
                    std::vector<Operand> const& smem);
  void begin_cluster(unsigned first);
  void run_cluster(unsigned first, Body const& body);
  bool complete_tma_load();  // the oldest one in flight; false: none is
  void check_end_of_cluster();
  void check_registers();

  Region& find_region(void const* p, unsigned bytes, char const* verb);
  void add_to_request(Request& request, Region& r, std::size_t offset, unsigned bytes, Direction direction,
                      Mechanism mechanism);
  void check_global(Region& r, std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                    Proxy proxy);
  void check_operand_access(Region& r, std::size_t offset, std::size_t bytes, Direction direction);
  void check_atomic_access(Region& r, std::size_t offset, std::size_t bytes, Event const& event);
  void check_global_order(Region& r, std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                          Proxy proxy);
  void check_griddep_wait(Region const& r, std::size_t offset, char const* verb);
  void check_shared(std::size_t offset, std::size_t bytes, Direction direction, Event const& event, Proxy proxy);
  void count_exposed_loads(Region const& r, Direction direction, Mechanism mechanism);
  void count_request(CallSite& call_site, Request const& request);
  void count_incomplete_requests(unsigned warp);  // those that not all of its lanes have passed
  void count_incomplete_requests();

  template <class NewPhase, class What>
  void arrive_and_wait(std::shared_ptr<BarrierPhase>& current, NewPhase const& new_phase, What const& what);
  template <class What>
  void check_thread_count(std::shared_ptr<BarrierPhase> const& current, unsigned threads, What const& what);
  unsigned num_arrived(BarrierPhase const& phase) const;
  void complete_sync_if_due();
  void complete_if_due(std::shared_ptr<BarrierPhase>& current) const;
  void complete_if_due(std::shared_ptr<Collective>& current, unsigned exited);
  void collective(char const* what, std::source_location at, unsigned threads, bool needs_all, void* operands,
                  void (*execute)(void const*, std::vector<void*> const&), void const* f);
  void thread_exits();
  std::size_t flag_offset(void const* address, char const* verb);

  void complete_groups(std::vector<Group>& groups, int groups_in_flight);
  bool holds_mbarrier(std::size_t offset, std::size_t bytes) const;
  std::size_t shared_offset(void const* address) const {
    return std::size_t(static_cast<char const*>(address) - shared_->seen);
  }
  std::size_t mbarrier_offset(void const* address, char const* verb);
  Mbarrier& mbarrier(void const* address);
  void complete_phase(Mbarrier& m, std::size_t offset);
  void complete_phase_if_due(Mbarrier& m, std::size_t offset);
  void start_box(TmaTensor const& map, void const* mbarrier, void const* smem, std::int64_t const (&c)[3],
                 bool reads_global);
  void complete_box(Mbarrier& m, std::size_t offset, std::int64_t bytes, int operation, unsigned issuer);
  void check_box_alignment(TmaTensor const& map, std::size_t offset, std::int64_t const (&c)[3], char const* what);
  // Calls f(global address, shared offset, bytes inside the tensor, bytes, whether the row is inside the tensor) for
  // each chunk of a box that is contiguous in shared memory: a row, or 16 bytes of a swizzled row.
  template <class F>
  void for_each_box_chunk(TmaTensor const& map, std::size_t shared_offset, std::int64_t const (&c)[3], F f);

  // Reports an event of the running thread to the trace. The overload for accesses requires a trace: callers check it
  // first, because accesses are frequent.
  void emit(Happens what, std::size_t count = 0) const;
  void emit(Happens what, std::size_t mbarrier, std::size_t bytes) const;
  void emit(Region const& r, std::size_t offset, std::size_t bytes, Direction direction, Mechanism mechanism) const;

  std::string thread_name(unsigned rank) const;
  std::string location() const;  // kernel, block and thread that run now; empty outside all blocks
  std::string element(Region const& r, std::size_t offset) const;
  void report(Check check, std::string const& sentence) { recorder_.report(check, location() + sentence); }
  [[noreturn]] void fault(Check check, std::string const& sentence) { throw Fault(check, location() + sentence); }

  Recorder& recorder_;
  Fibers fibers_;
  Ordering ordering_;
  Trace trace_;

  // State of the running kernel
  LaunchInfo launch_info_{};
  unsigned block_threads_ = 0;
  std::size_t block_smem_bytes_ = 0;  // from the shared memory of one block of a cluster to that of the next
  Region* shared_ = nullptr;          // shared memory of all blocks of the cluster
  std::deque<CallSite> call_sites_;
  std::vector<CallSite*> call_site_by_id_;
  std::map<char const*, Sum> sums_;  // by host address of the element

  // State of the running cluster; a block that is launched without clusters is a cluster of one
  unsigned first_block_ = 0, num_threads_ = 0;  // num_threads_ == 0: no block runs
  std::vector<Thread> threads_;
  std::optional<std::int64_t> fma_at_last_load_;  // FMAs counted before the last global load of a block's thread 0
  std::map<std::size_t, Mbarrier> mbarriers_;     // by offset in shared memory
  std::vector<bool> is_mbarrier_;                 // for each 8 bytes of shared memory
  std::deque<std::function<void()>> tma_loads_in_flight_;  // completed when no thread can run: as late as possible
  unsigned sync_arrivals_ = 0;                             // at sync() of a block without cluster
  std::uint64_t sync_generation_ = 0;
  std::source_location sync_location_;
  std::vector<std::shared_ptr<BarrierPhase>> named_barriers_;  // 16 per block; barrier 0 is sync() in a cluster
  std::vector<std::shared_ptr<BarrierPhase>> warp_barriers_;
  std::shared_ptr<BarrierPhase> cluster_barrier_;
  std::vector<std::shared_ptr<Collective>> warp_collectives_, warpgroup_collectives_;
  std::vector<BarrierPhase> block_ends_;                    // per block: complete when all its threads have exited
  std::vector<unsigned> exited_of_block_, exited_of_warp_;  // threads
  std::vector<Event> griddep_waits_;                        // calls of griddep_wait()
  std::vector<int> registers_of_warpgroup_;                 // per thread; 0: as launched
};

struct Executor::Request {
  banks::Request lanes;
  Region* region = nullptr;
  Operand const* operand = nullptr;
  bool store = false;
  Mechanism mechanism{};
  unsigned passed = 0;                   // lanes that have passed
  std::uint32_t split_sector_lanes = 0;  // see note_split_sectors()
};
struct Executor::Warp {   // the requests of a warp at a call site that not all its lanes have passed
  std::size_t first = 0;  // number of requests[0], counted from the start of the block
  std::size_t done = 0;   // leading requests that all lanes have passed
  std::vector<Request> requests;
};
struct Executor::CallSite {
  std::vector<Warp> warps;
  std::vector<std::size_t> passes;  // per thread
  Request last;                     // the last request that was counted, and the index of its site in the recorder
  std::size_t site = 0;
};

// The executor whose block runs now on this host thread. Kernel bodies reach it through running().
inline constinit thread_local Executor* current_executor = nullptr;
inline Executor& running() { return *current_executor; }

// The encoder of the replay: stores the TmaTensor in the 128 bytes of a CUtensorMap. decode() is the inverse.
struct ReplayEncoder {
  CUtensorMap operator()(TmaTensor const& tensor) const;  // throws Fault where the driver would reject the tensor
  static void replace_address(CUtensorMap& map, void const* address);
};
TmaTensor decode(CUtensorMap const& map);

}  // namespace inlay::replay
