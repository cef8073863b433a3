// A block of CUDA threads as stackful fibers: all run until everybody has finished, or until nobody can go on.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace inlay::replay {

// Nobody can go on: who waits for what.
struct Deadlock : std::runtime_error {
  using runtime_error::runtime_error;
};

class Fibers {
 public:
  Fibers();
  ~Fibers();

  // Runs body(rank) for every rank in [0, count) to its end. When all wait, idle() may finish an asynchronous
  // operation and return true; otherwise Deadlock. The first exception of a body ends the run and is rethrown.
  void run(unsigned count, std::function<void(unsigned)> const& body, std::function<bool()> const& idle);

  // From inside a body: returns once ready(). what() is asked only for a deadlock's sentence.
  template <class Ready, class What>
  void wait_until(Ready const& ready, What const& what) {
    if (ready()) return;
    // Both predicates live on the waiting fiber's own stack.
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
  std::string who_waits() const;

  std::unique_ptr<State> state_;
  unsigned current_ = 0;
};

}  // namespace inlay::replay
