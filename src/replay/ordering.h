// What happened before what: clocks of the threads, operations in flight, and a byte-exact shadow of shared memory.
// Sequential execution hides a missing barrier, so this check is part of every replay.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace inlay::replay {

// What a thread knows when it releases a barrier or a flag, for those who acquire it. By thread rank; shorter means zeros.
struct Clock {
  std::vector<std::uint32_t> seen;    // what each thread had done
  std::vector<std::uint32_t> fenced;  // and what of it a fence.proxy.async has followed,
  std::uint32_t fenced_epoch = 0;     // beside all from before this epoch
};

enum class Atomic { add, min, max, exchange, cas };
char const* name_of(Atomic kind);

// When an access happened: by a thread at its clock, or by an asynchronous operation it started.
struct Event {
  static constexpr std::int32_t kPlain = -1;
  static constexpr std::int32_t atomic(Atomic kind) { return kPlain - 1 - std::int32_t(kind); }

  std::uint32_t thread = 0, clock = 0;
  std::uint32_t epoch = 0;          // barriers of the whole block that the thread had passed
  std::int32_t operation = kPlain;  // index of the asynchronous operation; below kPlain: an atomic one of the thread

  bool is_atomic() const { return operation < kPlain; }
  // Two atomic changes whose order nobody sees afterwards.
  bool commutes_with(Event const& e) const {
    return is_atomic() && operation == e.operation && operation != atomic(Atomic::exchange);
  }
  friend bool operator==(Event const&, Event const&) = default;
};

// Through which path of the memory an access goes. What one has done, a fence.proxy.async shows to the other; the end of
// an asynchronous operation needs none.
enum class Proxy { generic, async };

// An asynchronous operation is over for whoever ran after one of these moments.
struct Operation {
  struct Others {
    std::vector<Event> observed;
    std::vector<bool> by;  // by these threads
  };
  char const* name;
  Proxy proxy;
  bool over = false;  // for anybody
  Event first;        // most are over for their own thread, that tells the others
  std::unique_ptr<Others> others;
};

struct ThreadClock {
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t clock = 1, epoch = 0;
  std::uint32_t left = kNever;      // its epoch when it ended: barriers that came later settle nothing of that epoch
  std::vector<std::uint32_t> seen;  // what other threads did, learnt through mbarriers
  // What a fence.proxy.async of this thread, or one that it knows of, has followed: its own accesses up to this clock,
  // those of others, everybody's from before this epoch.
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
  void observe(int operation, unsigned thread);  // its completion is known to this thread
  // Did e happen before what the thread does now?
  bool before(Event const& e, unsigned thread) const {
    if (e.operation >= 0) return over(e.operation, thread);
    ThreadClock const& t = threads_[thread];
    return e.thread == thread || settled(e, t.epoch) || (e.thread < t.seen.size() && t.seen[e.thread] >= e.clock);
  }
  // And does the asynchronous proxy see it, asked by the thread?
  bool visible_to_async(Event const& e, unsigned thread) const;
  std::string who(Event const& e) const;

  void barrier_arrive(unsigned thread);  // one of the whole block's threads arrives
  void barrier_complete();               // all have
  void barrier_leave(unsigned thread);
  void leave(unsigned thread);              // for good
  void fence_proxy_async(unsigned thread);  // fence.proxy.async
  void release(unsigned thread, Clock& into);
  void acquire(unsigned thread, Clock const& from);

  // An access to shared bytes [offset, offset + bytes). Returns the end of a sentence if another access conflicts with it.
  std::string read(std::size_t offset, std::size_t bytes, Event const& e, unsigned thread, Proxy proxy);
  std::string write(std::size_t offset, std::size_t bytes, Event const& e, unsigned thread, Proxy proxy);
  std::string change(std::size_t offset, std::size_t bytes, Event const& e, unsigned thread);  // atomically
  // What would be said of a write, which is not remembered.
  std::string would_write(std::size_t offset, std::size_t bytes, unsigned thread) const;
  // The same of shared bytes that go away, after what this clock knows.
  std::string end(std::size_t offset, std::size_t bytes, Clock const& known);

 private:
  struct Cell {
    Event writer;
    bool written = false, changed = false;  // by a plain store; atomically since, as stands among the readers
    std::uint32_t block = 0;                // what an earlier block left here is void
    std::vector<Event> readers;
  };
  template <class F>
  void each_cell(std::size_t offset, std::size_t bytes, F f);
  // Has a barrier of the whole block, which everybody in this epoch has passed, come after e?
  bool settled(Event const& e, std::uint32_t epoch) const {
    return e.epoch < epoch && (!some_left_ || e.epoch < threads_[e.thread].left);
  }
  bool fenced(Event const& e, unsigned thread) const;
  bool over(int operation, unsigned thread) const;
  std::string since(char const* did, Event const& e) const;
  std::string unordered_change(Cell const& c, unsigned thread, Proxy proxy) const;
  std::string before_write(Cell const& c, unsigned thread, Proxy proxy) const;

  std::vector<ThreadClock> threads_;
  std::vector<Operation> operations_;
  bool some_left_ = false;
  Clock arriving_, published_;  // the fences that barriers of the whole block have told of: at the next one, so far
  std::size_t shared_bytes_ = 0;
  std::size_t cell_bytes_ = 16;  // cells are split when a narrower access comes
  std::vector<Cell> cells_;
  std::uint32_t block_ = 0;
};

}  // namespace inlay::replay
