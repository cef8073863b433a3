// Device buffers in several sets, so that no launch finds its operands in the L2 cache.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "measure/cuda_handles.h"
#include "problems/case.h"

namespace inlay::lab {

// The bytes of the operand's buffer, rounded up to a multiple of 256.
std::int64_t padded_bytes(OperandBuffer const& operand);

// Throws UsageError when the GPU has less free memory than `whose` needs.
void require_memory(std::string const& whose, std::int64_t bytes);

// Poisoned memory between two guard bands, in which nothing may be written.
class Guarded {
 public:
  static constexpr std::int64_t kGuard = 64 << 10;  // bytes of a band: catches a tile that is stored one row off

  explicit Guarded(std::int64_t bytes);
  char* get() const { return memory_.get() + kGuard; }

  // `said` unless it is "ok", otherwise the check result of the bands, whose message names the memory between them
  // `what`.
  // Synchronises the stream.
  std::string check_result(std::string const& said, char const* what, cudaStream_t stream) const;

 private:
  std::int64_t bytes_;
  DeviceMemory memory_;
};

// As many sets of buffers as are together at least as large as four L2 caches. Each buffer is aligned to 256 bytes.
class BufferSets {
 public:
  // Throws UsageError when the GPU has not enough free memory.
  BufferSets(std::string const& whose, std::vector<OperandBuffer> const& operands, std::int64_t l2_bytes);

  int count() const { return count_; }
  // The addresses of a set's buffers.
  std::vector<void*> at(int set) const;

 private:
  int count_;
  std::vector<std::int64_t> bytes_;  // of each buffer, with its padding
  std::vector<DeviceMemory> memory_;
};

// Sets of buffers for the operands of a case.
template <class C>
class CaseBuffers {
 public:
  CaseBuffers(C const& c, std::int64_t l2_bytes) : c_(c), sets_(c.sentence(), c.operands(), l2_bytes) {}

  int count() const { return sets_.count(); }
  typename C::Call call(int set) const { return c_.call(sets_.at(set)); }

 private:
  C c_;
  BufferSets sets_;
};

}  // namespace inlay::lab
