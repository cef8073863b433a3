// What happened before what: clocks of the threads, operations in flight, and a byte-exact shadow of shared memory.
// Sequential execution hides a missing barrier, so this check is part of every replay.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace inlay::replay {

using Clock = std::vector<std::uint32_t>;  // by thread rank; shorter means zeros

// When an access happened: by a thread at its clock, or by an asynchronous operation it started.
struct Event {
  std::uint32_t thread = 0, clock = 0;
  std::uint32_t epoch = 0;      // barriers of the whole block that the thread had passed
  std::int32_t operation = -1;  // index of the asynchronous operation, or -1: the thread itself
};

// An asynchronous operation is over for whoever ran after one of these moments.
struct Operation {
  struct Others {
    std::vector<Event> observed;
    std::vector<bool> by;  // by these threads
  };
  char const* name;
  bool over = false;  // for anybody
  Event first;        // most are over for their own thread, that tells the others
  std::unique_ptr<Others> others;
};

struct ThreadClock {
  std::uint32_t clock = 1, epoch = 0;
  Clock seen;                      // what other threads did, learnt through mbarriers
  std::uint32_t fenced = 0;        // own plain stores up to this clock are visible to the asynchronous proxy
  std::uint32_t fenced_epoch = 0;  // and everybody's from before this epoch
};

class Ordering {
 public:
  void reset(unsigned threads, std::size_t shared_bytes);

  Event now(unsigned thread) const;
  Event in_operation(unsigned thread, int operation) const;
  int start(char const* name);                   // a new asynchronous operation
  void observe(int operation, unsigned thread);  // its completion is known to this thread
  // Did e happen before what the thread does now?
  bool before(Event const& e, unsigned thread) const {
    if (e.operation >= 0) return over(e.operation, thread);
    ThreadClock const& t = threads_[thread];
    return e.thread == thread || e.epoch < t.epoch || (e.thread < t.seen.size() && t.seen[e.thread] >= e.clock);
  }
  std::string who(Event const& e) const;

  void barrier_arrive(unsigned thread);  // one of the whole block's threads arrives
  void barrier_leave(unsigned thread);
  void fence_async(unsigned thread);  // fence.proxy.async
  void release(unsigned thread, Clock& into);
  void acquire(unsigned thread, Clock const& from);

  // An access to shared bytes [offset, offset + bytes). Returns the end of a sentence if another access conflicts with it.
  enum class Proxy { generic, async };
  std::string read(std::size_t offset, std::size_t bytes, Event const& e, unsigned thread, Proxy proxy);
  std::string write(std::size_t offset, std::size_t bytes, Event const& e, unsigned thread);
  // The same of shared bytes that go away, after what this clock knows.
  std::string end(std::size_t offset, std::size_t bytes, Clock const& known);

 private:
  struct Cell {
    Event writer;
    bool written = false;
    std::uint32_t block = 0;  // what an earlier block left here is void
    std::vector<Event> readers;
  };
  template <class F>
  void each_cell(std::size_t offset, std::size_t bytes, F f);
  bool visible_to_async(Event const& e, unsigned thread) const;
  bool over(int operation, unsigned thread) const;
  void publish_fence(unsigned thread);

  std::vector<ThreadClock> threads_;
  std::vector<Operation> operations_;
  Clock published_fence_;
  std::uint32_t published_fence_epoch_ = 0;
  std::size_t shared_bytes_ = 0;
  std::size_t cell_bytes_ = 16;  // cells are split when a narrower access comes
  std::vector<Cell> cells_;
  std::uint32_t block_ = 0;
};

}  // namespace inlay::replay
