// Progress on stderr of what takes longer than two seconds: one line that is overwritten. Nothing where stderr is no
// terminal.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

namespace inlay::lab {

class Progress {
 public:
  // `cases`: how many next() begins; 0: not known.
  explicit Progress(std::size_t cases = 0);
  Progress(Progress const&) = delete;
  ~Progress() { erase(); }

  // The next case begins.
  void next(std::string const& what);
  // What is done in it now: "3 of 17, 40 s left: warming up transpose_registers".
  void say(std::string const& what);
  // Before a line is printed on stdout.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;
  std::size_t const cases_;
  std::size_t case_ = 0;
  bool const shown_;
  bool on_screen_ = false;
  Clock::time_point const start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace inlay::lab
