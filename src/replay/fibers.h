// The threads of a block or cluster as stackful fibers. They run until all have finished, or until none can continue.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace inlay::replay {

// No thread can continue. what() lists which threads wait for what.
struct Deadlock : std::runtime_error {
  using runtime_error::runtime_error;
};

class Fibers {
 public:
  Fibers();
  ~Fibers();

  // Runs body(rank) for every rank in [0, count) to its end. When all fibers wait, calls idle(), which completes an
  // asynchronous operation and returns true; if it returns false, throws Deadlock. The first exception of a body ends
  // the run and is rethrown.
  void run(unsigned count, std::function<void(unsigned)> const& body, std::function<bool()> const& idle);

  // Called by a body: suspends the fiber until ready() is true. what() says what it waits for; it is called on a
  // deadlock only.
  template <class Ready, class What>
  void wait_until(Ready const& ready, What const& what) {
    if (ready()) return;
    // `ready` and `what` live on the stack of the waiting fiber.
    wait({[](void const* p) { return (*static_cast<Ready const*>(p))(); }, &ready,
          [](void const* p) { return std::string((*static_cast<What const*>(p))()); }, &what});
  }

  unsigned current() const { return current_; }

 private:
  struct Wait {
    bool (*ready)(void const*) = nullptr;
    void const* ready_of = nullptr;
    std::string (*what)(void const*) = nullptr;
    void const* what_of = nullptr;
  };
  struct State;

  void wait(Wait const& wait);
  std::string describe_waits() const;

  std::unique_ptr<State> state_;
  unsigned current_ = 0;
};

}  // namespace inlay::replay
