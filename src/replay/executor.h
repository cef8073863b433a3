// One block at a time: fibers for its threads, every access recorded, every ordering checked.
#pragma once
#include <inlay/banks.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <source_location>
#include <stdexcept>

#include "block/tensor_map.h"
#include "replay/fibers.h"
#include "replay/memory.h"
#include "replay/ordering.h"
#include "replay/recorder.h"

namespace inlay::replay {

// Ends the replay of the kernel: going on would make no sense.
struct Fault : std::runtime_error {
  Fault(Check check, std::string const& sentence) : runtime_error(sentence), check(check) {}
  Check check;
};

class Executor {
 public:
  explicit Executor(Recorder& recorder) : recorder_(recorder) {}

  Memory memory;

  // Replays blocks 0 .. blocks-1. `smem` describes the shared memory (no bytes: none); body(block, rank, shared).
  using Body = std::function<void(unsigned block, unsigned rank, void* shared)>;
  void run(std::int64_t blocks, unsigned threads, std::size_t smem_bytes, std::vector<Operand> const& smem,
           Body const& body);

  // ---- what operations of the kernel call; all act for the thread that runs now
  unsigned rank() const { return fibers_.current(); }

  // A place in the code: one number per copy operation and pair of tensor types. Ticks the thread's counter there, so
  // that the lanes' n-th passes form one request. Lanes that are predicated off tick too.
  struct Slot {
    int place;
    std::size_t occurrence;
  };
  Slot tick(int place);
  static int new_place();

  enum class Direction { load, store };
  // Records and checks one lane's access; returns where the bytes really are.
  char* access(Slot slot, void const* address, unsigned bytes, Direction direction, Mechanism mechanism,
               int operation = -1);
  void sync(std::source_location at);

  void cp_async(std::function<void()> land) { thread().cp_pending.push_back(std::move(land)); }
  int cp_async_operation();
  void cp_async_fence();
  void cp_async_wait(int keep);

  void mbarrier_init(void const* address, unsigned count);
  void mbarrier_arrive(void const* address, std::int64_t expected_bytes);
  void mbarrier_wait(void const* address, unsigned parity);

  void tma_load(TmaTensor const& map, void const* mbarrier, void const* smem, std::int64_t const (&c)[3]);
  void tma_store(TmaTensor const& map, void const* smem, std::int64_t const (&c)[3]);
  void tma_store_commit();
  void tma_store_wait(int keep);
  void fence_async() { ordering_.fence_async(rank()); }

  // The faulting address of an access that nobody recorded, for the signal handler.
  std::optional<std::string> unrecorded(void const* address) const;

 private:
  struct Request {
    banks::Request lanes;
    Region* region = nullptr;
    Operand const* operand = nullptr;
    bool store = false;
    Mechanism mechanism{};
  };
  struct Group {  // of cp.async or TMA stores: lands together
    int operation;
    std::vector<std::function<void()>> land;
  };
  struct Thread {
    std::vector<std::size_t> passes;  // by place
    std::vector<std::function<void()>> cp_pending, store_pending;
    int cp_operation = -1, store_operation = -1;
    std::deque<Group> cp_groups, store_groups;
  };
  struct Mbarrier {
    unsigned count = 0, pending = 0;
    std::int64_t missing_bytes = 0;
    std::uint64_t phase = 0;
    Event init;
    Clock arriving, released;
    std::vector<int> landed;  // TMA loads whose bytes have arrived
  };

  Thread& thread() { return threads_[rank()]; }
  void run_block(unsigned block, unsigned count, Body const& body);
  void check_global(Region& r, std::size_t offset, std::size_t bytes, Direction direction);
  void check_shared(std::size_t offset, std::size_t bytes, Direction direction, Event const& event,
                    Ordering::Proxy proxy);
  Mbarrier& mbarrier(void const* address);
  void flip(Mbarrier& m);
  void check_box_place(TmaTensor const& map, std::size_t offset, char const* what);
  // Calls f(global address, shared offset, bytes inside the tensor, bytes) for each piece of a box that stays together: a
  // row, or 16 bytes where rows are swizzled.
  template <class F>
  void over_box(TmaTensor const& map, std::size_t shared_offset, std::int64_t const (&c)[3], F f);
  void tally();

  std::string here() const;
  std::string element(Region const& r, std::size_t offset) const;
  void report(Check check, std::string const& sentence) { recorder_.report(check, here() + sentence); }
  [[noreturn]] void fault(Check check, std::string const& sentence) { throw Fault(check, here() + sentence); }

  Recorder& recorder_;
  Fibers fibers_;
  Ordering ordering_;
  unsigned block_ = 0, count_ = 0;
  std::vector<Thread> threads_;
  Region* shared_ = nullptr;
  std::vector<std::vector<std::vector<Request>>> log_;  // [place][warp][occurrence]
  std::map<std::size_t, Mbarrier> mbarriers_;           // by offset in shared memory
  std::deque<std::function<void()>> in_flight_;         // TMA loads land when nobody can run: as late as possible
  unsigned arrived_ = 0;
  std::uint64_t generation_ = 0;
  std::source_location barrier_at_;
};

// The executor whose block runs now on this thread of the host; operations reach it from inside kernel bodies.
Executor& running();

// The replay's encoder: the description itself, in the opaque 128 bytes.
struct ReplayEncoder {
  CUtensorMap operator()(TmaTensor const& tensor) const;
};
TmaTensor decode(CUtensorMap const& map);

}  // namespace inlay::replay
