#include <inlay/replay/fibers.h>

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/fiber.hpp>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

namespace inlay::replay {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024;  // the deepest body seen used 6 KB; untouched pages cost nothing

// Stacks that no replay uses now. It outlives all replays and is never destroyed. The page below each stack is
// inaccessible, so that an overflow faults.
class UnusedStacks {
 public:
  static UnusedStacks& all() {
    static UnusedStacks& stacks = *new UnusedStacks;
    return stacks;
  }
  char* take() {
    {
      std::lock_guard const lock(mutex_);
      if (!stacks_.empty()) {
        char* const p = stacks_.back();
        stacks_.pop_back();
        return p;
      }
    }
    void* p =
        mmap(nullptr, page + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::runtime_error("replay: no memory for another fiber's stack");
    mprotect(p, page, PROT_NONE);
    return static_cast<char*>(p);
  }
  void give_back(std::vector<char*> const& stacks) {
    std::lock_guard const lock(mutex_);
    stacks_.insert(stacks_.end(), stacks.begin(), stacks.end());
  }
  std::size_t const page = std::size_t(sysconf(_SC_PAGESIZE));

 private:
  std::mutex mutex_;
  std::vector<char*> stacks_;
};

}  // namespace

// The stacks of a replay, reused by all its blocks.
class Stacks {
 public:
  ~Stacks() { UnusedStacks::all().give_back(all_); }
  boost::context::stack_context get(std::size_t i) {
    while (all_.size() <= i) all_.push_back(UnusedStacks::all().take());
    boost::context::stack_context s;
    s.size = kStackBytes - i % 32 * 128;  // different offsets in the page spread the stack tops over the L1 sets
    s.sp = all_[i] + UnusedStacks::all().page + s.size;
    return s;
  }

 private:
  std::vector<char*> all_;
};

namespace {

struct Pooled {  // Boost's stack-allocator concept
  Stacks* stacks;
  std::size_t i;
  boost::context::stack_context allocate() { return stacks->get(i); }
  void deallocate(boost::context::stack_context&) {}
};

// {0,1,2,7} -> "0-2,7"
std::string ranges(std::vector<unsigned> const& v) {
  std::string s;
  for (std::size_t i = 0; i < v.size();) {
    std::size_t j = i;
    while (j + 1 < v.size() && v[j + 1] == v[j] + 1) ++j;
    s += (i ? "," : "") + std::to_string(v[i]) + (j > i ? "-" + std::to_string(v[j]) : "");
    i = j + 1;
  }
  return s;
}

}  // namespace

struct Fibers::State {
  struct Fiber {
    boost::context::fiber context;
    Wait wait;
    bool done = false;
  };
  Stacks stacks;
  std::vector<Fiber> fibers;
  boost::context::fiber scheduler;
  std::exception_ptr error;
};

Fibers::Fibers() : state_(std::make_unique<State>()) {}
Fibers::~Fibers() = default;

void Fibers::wait(Wait const& wait) {
  state_->fibers[current_].wait = wait;
  state_->scheduler = std::move(state_->scheduler).resume();
}

void Fibers::run(unsigned count, std::function<void(unsigned)> const& body, std::function<bool()> const& idle) {
  State& s = *state_;
  s.fibers.clear();
  s.fibers.resize(count);
  s.error = nullptr;
  for (unsigned i = 0; i < count; ++i)
    s.fibers[i].context =
        boost::context::fiber(std::allocator_arg, Pooled{&s.stacks, i}, [&s, &body, i](boost::context::fiber&& from) {
          s.scheduler = std::move(from);
          try {
            body(i);
          } catch (boost::context::detail::forced_unwind const&) {
            throw;
          } catch (...) {
            if (!s.error) s.error = std::current_exception();
          }
          s.fibers[i].done = true;
          return std::move(s.scheduler);
        });

  for (unsigned live = count; live;) {
    bool progress = false;
    for (unsigned i = 0; i < count; ++i) {
      State::Fiber& f = s.fibers[i];
      if (f.done || (f.wait.ready && !f.wait.ready(f.wait.ready_of))) continue;
      f.wait = {};
      progress = true;
      current_ = i;
      f.context = std::move(f.context).resume();
      if (s.error) {
        s.fibers.clear();  // destroying a suspended fiber unwinds its stack
        std::rethrow_exception(s.error);
      }
      if (f.done) --live;
    }
    if (progress || idle()) continue;
    std::string const waits = describe_waits();
    s.fibers.clear();
    throw Deadlock(waits);
  }
  s.fibers.clear();
}

std::string Fibers::describe_waits() const {
  std::map<std::string, std::vector<unsigned>> groups;
  unsigned done = 0;
  for (unsigned i = 0; i < state_->fibers.size(); ++i) {
    auto const& f = state_->fibers[i];
    if (f.done)
      ++done;
    else
      groups[f.wait.what(f.wait.what_of)].push_back(i);
  }
  std::string s;
  for (auto const& [what, ranks] : groups)
    s += (s.empty() ? "" : "; ") + std::string(ranks.size() > 1 ? "threads " : "thread ") + ranges(ranks) +
         (ranks.size() > 1 ? " wait for " : " waits for ") + what;
  return s + "; " + std::to_string(done) + " threads have finished";
}

}  // namespace inlay::replay
