// Errors are sentences with the offending values, thrown before anything is launched.
#pragma once
#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace inlay {

// The one exception type of the library. what() is a sentence for the user; where no kernel can run a problem, the planner's
// report follows it, a line for each candidate.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

// Throws Error(sentence) unless `ok`. Where building the sentence costs, test first and throw directly.
inline void require(bool ok, char const* sentence) {
  if (!ok) throw Error(sentence);
}
inline void require(bool ok, std::string const& sentence) { require(ok, sentence.c_str()); }

// Throws Error when a CUDA runtime call failed: its own words, and where it was called. The error is told once: it does
// not stay behind for the next who asks CUDA for the last one.
inline void check(cudaError_t status, std::source_location at = std::source_location::current()) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw Error(std::string("CUDA: ") + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ", at " +
              at.file_name() + ":" + std::to_string(at.line()) + ")");
}

}  // namespace detail

}  // namespace inlay
