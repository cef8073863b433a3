// libinlay_lab.so: the commands of the lab that need no GPU, for a caller in another language. One C function takes a
// command line and gives what the command printed.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "run.h"

namespace {

// What is printed to `stream` as long as this lives.
class Captured {
 public:
  explicit Captured(FILE*& stream) : stream_(stream), before_(stream), memory_(open_memstream(&text_, &size_)) {
    stream_ = memory_;
  }
  Captured(Captured const&) = delete;
  ~Captured() {
    if (memory_) std::free(end());
  }
  // Ends it. The text, which free() frees.
  char* end() {
    std::fclose(std::exchange(memory_, nullptr));
    stream_ = before_;
    return text_;
  }

 private:
  FILE*& stream_;
  FILE* before_;
  char* text_ = nullptr;
  std::size_t size_ = 0;
  FILE* memory_;
};

}  // namespace

// Runs `list`, `layout`, `explain` or `draw` with these arguments, argv[0] included, and returns the exit code of the
// command. *out and *err: what it printed, to be freed by free(). Not thread-safe: it redirects the C library's stdout
// and stderr.
extern "C" [[gnu::visibility("default")]] int inlay_lab(int argc, char** argv, char** out, char** err) {
  Captured printed(stdout), complained(stderr);
  int status = 0;
  try {
    status = inlay::lab::run_without_gpu(argc, argv);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "inlay: %s\n", e.what());
    status = 1;
  }
  *out = printed.end(), *err = complained.end();
  return status;
}
