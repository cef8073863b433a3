// Errors: a sentence with the offending values, thrown before anything is launched.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/export.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace inlay {

/// What a caller may react to; the sentence is for people.
enum class ErrorCode : int {
  invalid_argument = 1,  ///< A shape, stride, type, pointer, stream or device that does not fit.
  unsupported = 2,       ///< A valid problem that no kernel, or not this build or GPU, can run.
  workspace = 3,         ///< Too small, misaligned, or overlapping an operand.
  cuda = 4,              ///< A CUDA call failed: cuda_status() says how.
  nccl = 6,              ///< An NCCL call failed, or one that had been enqueued.
};

/// The exception type of the library. what() is a sentence for the user. If no kernel can run a problem, a line for
/// each candidate follows it, with the reason.
class INLAY_API Error : public std::runtime_error {
 public:
  explicit Error(std::string const& sentence, ErrorCode code = ErrorCode::invalid_argument)
      : std::runtime_error(sentence), code_(code) {}
  Error(std::string const& sentence, cudaError_t status)
      : std::runtime_error(sentence), code_(ErrorCode::cuda), status_(status) {}

  ErrorCode code() const noexcept { return code_; }
  cudaError_t cuda_status() const noexcept { return status_; }  ///< cudaSuccess unless code() is cuda.

 private:
  ErrorCode code_;
  cudaError_t status_ = cudaSuccess;
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
                  at.file_name() + ":" + std::to_string(at.line()) + ")",
              status);
}

}  // namespace detail

}  // namespace inlay
