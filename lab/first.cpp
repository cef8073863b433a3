// The first screen: the steps of the ladders, replayed. `make demo` builds this without the planner and the kernels of
// the library.
#include <cstdio>
#include <exception>

#include "explain/demo.h"

int main() {
  try {
    std::fputs(inlay::lab::demo_screen(inlay::registry::copy_steps(), inlay::registry::gemm_steps()).c_str(), stdout);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "inlay: %s\n", e.what());
    return 1;
  }
  std::puts(
      "\nmake report: every step and every kernel of the library explained, with pictures and code. make lab: the "
      "command build/inlay.");
  return std::fflush(stdout) ? 1 : 0;
}
