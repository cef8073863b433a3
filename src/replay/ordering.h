// The happens-before relation of the threads of a block or cluster, and the accesses to its shared memory, by byte. The
// replay runs threads one after another, which hides races; Ordering finds them: two accesses to one byte, one of them
// a write, must be ordered by a barrier, a flag, an mbarrier or the wait for an asynchronous operation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace inlay::replay {

// A vector clock: what a thread knows of all threads when it releases a barrier or a flag. Vectors are indexed by
// thread rank; missing elements are 0.
struct Clock {
  std::vector<std::uint32_t> seen;    // clock up to which each thread's accesses happened before
  std::vector<std::uint32_t> fenced;  // clock up to which each thread's accesses were followed by a fence.proxy.async
  std::uint32_t fenced_epoch = 0;     // all accesses of earlier epochs were followed by a fence.proxy.async
};

enum class Atomic { add, min, max, exchange, cas };
char const* name_of(Atomic kind);

// When an access happens: at the clock of a thread, or in an asynchronous operation that the thread has started.
struct Event {
  static constexpr std::int32_t kPlain = -1;
  static constexpr std::int32_t atomic(Atomic kind) { return kPlain - 1 - std::int32_t(kind); }

  std::uint32_t thread = 0, clock = 0;
  std::uint32_t epoch = 0;          // number of barriers of all threads that the thread had passed
  std::int32_t operation = kPlain;  // index of the asynchronous operation, kPlain, or atomic(kind)

  bool is_atomic() const { return operation < kPlain; }
  // Two atomic operations of the same kind whose order does not change the result in memory.
  bool commutes_with(Event const& e) const {
    return is_atomic() && operation == e.operation && operation != atomic(Atomic::exchange);
  }
  friend bool operator==(Event const&, Event const&) = default;
};

// The proxy of an access, as in the PTX memory model. Accesses of the generic proxy are visible to the async proxy
// after a fence.proxy.async. The completion of an async operation makes its accesses visible to the generic proxy
// without a fence.
enum class Proxy { generic, async };

// An asynchronous operation. It happened before everything that a thread does after observing its completion, and
// before everything ordered after such an observation.
struct Operation {
  struct Observations {
    std::vector<Event> events;
    std::vector<bool> by_thread;
  };
  char const* name;
  Proxy proxy;
  bool is_observed = false;
  Event first;  // the first observation, by which most operations are ordered
  std::unique_ptr<Observations> further;
};

struct ThreadClock {
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t clock = 1, epoch = 0;
  std::uint32_t exit_epoch = kNever;  // epoch in which the thread exited: no later barrier orders its accesses of it
  std::vector<std::uint32_t> seen;    // clocks of other threads, known through acquire()
  // Accesses that were followed by a fence.proxy.async of this thread, or by another fence that this thread knows of:
  // its own up to clock `fenced`, those of other threads up to fenced_others, and all of epochs before fenced_epoch.
  std::uint32_t fenced = 0;
  std::vector<std::uint32_t> fenced_others;
  std::uint32_t fenced_epoch = 0;
};

class Ordering {
 public:
  void reset(unsigned threads, std::size_t shared_bytes);

  Event now(unsigned thread) const;
  Event in_operation(unsigned thread, int operation) const;
  int start(char const* name, Proxy proxy);      // a new asynchronous operation
  void observe(int operation, unsigned thread);  // the thread observes the operation's completion
  // Whether e happened before what the thread does now.
  bool before(Event const& e, unsigned thread) const {
    if (e.operation >= 0) return is_over(e.operation, thread);
    ThreadClock const& t = threads_[thread];
    return e.thread == thread || is_settled(e, t.epoch) || (e.thread < t.seen.size() && t.seen[e.thread] >= e.clock);
  }
  // Whether e is visible to async operations that the thread starts now.
  bool visible_to_async(Event const& e, unsigned thread) const;
  std::string who(Event const& e) const;

  // A barrier of all threads: each thread arrives, the barrier completes, each thread leaves.
  void barrier_arrive(unsigned thread);
  void barrier_complete();
  void barrier_leave(unsigned thread);
  void leave(unsigned thread);  // the thread exits
  void fence_proxy_async(unsigned thread);
  void release(unsigned thread, Clock& into);
  void acquire(unsigned thread, Clock const& from);

  // Records an access to shared bytes [offset, offset + bytes). Returns the end of a sentence if it races with an
  // earlier access, else an empty string.
  std::string read(std::size_t offset, std::size_t bytes, Event const& e, unsigned thread, Proxy proxy);
  std::string write(std::size_t offset, std::size_t bytes, Event const& e, unsigned thread, Proxy proxy);
  std::string change(std::size_t offset, std::size_t bytes, Event const& e, unsigned thread);  // atomic
  // Returns what read() would, without recording.
  std::string would_read(std::size_t offset, std::size_t bytes, unsigned thread, Proxy proxy) const;
  // Returns what write() of the generic proxy would, without recording.
  std::string would_write(std::size_t offset, std::size_t bytes, unsigned thread) const;
  // Returns the same for shared bytes of a block that has exited: all reads of them must be known to the clock.
  std::string end(std::size_t offset, std::size_t bytes, Clock const& known);

 private:
  struct Cell {
    Event writer;
    bool is_written = false;  // `writer` is valid
    bool is_changed = false;  // atomically after `writer`: `readers` has the atomic operations
    std::uint32_t block =
        0;  // number of reset() calls when the cell was last accessed: the contents of earlier blocks are void
    std::vector<Event> readers;  // reads and atomic operations since `writer`
  };
  template <class F>
  void for_each_cell(std::size_t offset, std::size_t bytes, F f);
  // Whether a barrier of all threads that precedes this epoch has ordered e. Exited threads take no part in barriers.
  bool is_settled(Event const& e, std::uint32_t epoch) const {
    return e.epoch < epoch && (!has_exited_threads_ || e.epoch < threads_[e.thread].exit_epoch);
  }
  bool is_fenced(Event const& e, unsigned thread) const;
  bool is_over(int operation, unsigned thread) const;
  std::string since(char const* did, Event const& e) const;
  std::string unordered_change(Cell const& c, unsigned thread, Proxy proxy) const;
  std::string before_read(Cell const& c, unsigned thread, Proxy proxy) const;
  std::string before_write(Cell const& c, unsigned thread, Proxy proxy) const;

  std::vector<ThreadClock> threads_;
  std::vector<Operation> operations_;
  bool has_exited_threads_ = false;
  // Fences that are known through barriers of all threads: of the threads that have arrived at the next one, and of
  // completed ones.
  Clock arriving_, published_;
  std::size_t shared_bytes_ = 0;
  std::size_t cell_bytes_ = 16;  // halved as often as a narrower access needs it
  std::vector<Cell> cells_;
  std::uint32_t block_ = 0;
};

}  // namespace inlay::replay
