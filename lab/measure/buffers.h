// Buffers that are not in the L2 cache when a kernel comes to them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "measure/cuda_handles.h"
#include "problems/case.h"

namespace inlay::lab {

// A multiple of 256.
std::int64_t padded_bytes(OperandBuffer const& operand);

// Throws UsageError when the GPU has less free memory than `whose` needs.
void require_memory(std::string const& whose, std::int64_t bytes);

// Poisoned memory with a band before it and one behind, in which nothing may be written.
class Guarded {
 public:
  static constexpr std::int64_t kGuard = 64 << 10;  // a tile that is one row off still lands in it

  explicit Guarded(std::int64_t bytes);
  char* get() const { return memory_.get() + kGuard; }

  // The check result on what lies between the bands, or, if that is ok, on the bands. `what` lies between them. Synchronises the
  // stream.
  std::string check_result(std::string const& said, char const* what, cudaStream_t stream) const;

 private:
  std::int64_t bytes_;
  DeviceMemory memory_;
};

// Sets of buffers that together are at least as large as four L2 caches; a single set if one is. Each buffer is aligned to 256
// bytes.
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

// A case's operands.
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
