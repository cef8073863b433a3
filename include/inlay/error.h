// Errors: a sentence with the offending values, thrown before anything is launched.
#pragma once
#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace inlay {

// The exception type of the library. what() is a sentence for the user. If no kernel can run a problem, a line for each
// candidate follows it, with the reason.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

// Throws Error(sentence) unless `ok`. If building the sentence is expensive, test first and throw directly.
inline void require(bool ok, char const* sentence) {
  if (!ok) throw Error(sentence);
}
inline void require(bool ok, std::string const& sentence) { require(ok, sentence.c_str()); }

// Throws Error if a CUDA runtime call failed, with CUDA's description and the call site. Clears the error, so that a
// later cudaGetLastError() does not return it.
inline void check(cudaError_t status, std::source_location at = std::source_location::current()) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw Error(std::string("CUDA: ") + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ", at " +
              at.file_name() + ":" + std::to_string(at.line()) + ")");
}

}  // namespace detail

}  // namespace inlay
