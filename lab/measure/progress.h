// Progress on stderr: one line that is overwritten on a terminal; otherwise a line for each message.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <string>

namespace inlay::lab {

class Progress {
 public:
  Progress() = default;
  Progress(Progress const&) = delete;
  ~Progress() {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }
  void say(std::string const& what) { std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", what.c_str()); }

 private:
  bool const terminal_ = isatty(STDERR_FILENO);
};

}  // namespace inlay::lab
