#include "results/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace inlay::lab {

Progress::Progress(std::size_t cases) : cases_(cases), shown_(isatty(fileno(stderr))) {}

void Progress::next(std::string const& what) {
  ++case_;
  say(what);
}

void Progress::say(std::string const& what) {
  using std::chrono::duration;
  auto const now = Clock::now();
  double const seconds = duration<double>(now - start_).count();
  if (!shown_ || seconds < 2 || (on_screen_ && duration<double>(now - last_).count() < .1)) return;
  last_ = now, on_screen_ = true;
  std::string where;
  if (cases_ > 1 && case_ > 0) {
    where = fmt::format("{} of {}", case_, cases_);
    if (case_ > 1) where += fmt::format(", {:.0f} s left", seconds / double(case_ - 1) * double(cases_ - case_ + 1));
    where += ": ";
  }
  fmt::print(stderr, "\r\033[K{}{}", where, what);
  std::fflush(stderr);
}

void Progress::erase() {
  if (on_screen_) std::fputs("\r\033[K", stderr);
  on_screen_ = false;
}

}  // namespace inlay::lab
