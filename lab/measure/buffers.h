// Buffers that are not in the L2 cache when a kernel comes to them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "measure/cuda_handles.h"
#include "problems/cases.h"

namespace inlay::lab {

// Throws UsageError when the GPU has less free memory than `whose` needs.
void require_memory(std::string const& whose, std::int64_t bytes);

// One set of buffers when it is worth four L2s by itself, else so many sets, to be used in turn. Each buffer starts at a
// multiple of 256 bytes.
class BufferSets {
 public:
  // The bytes of each buffer of a set. Throws UsageError when the GPU has not enough free memory.
  BufferSets(std::string const& whose, std::vector<std::int64_t> const& bytes, std::int64_t l2_bytes);

  int count() const { return count_; }
  char* get(int set, int buffer) const;
  std::int64_t bytes(int buffer) const { return bytes_[std::size_t(buffer)]; }  // what was asked for and the padding

 private:
  int count_;
  std::vector<std::int64_t> bytes_;
  std::vector<DeviceMemory> memory_;
};

// Sources and destinations, with room for the case's bases and pitches.
class BufferPairs {
 public:
  // Fills every source and its padding: the copy limit takes whole vectors.
  BufferPairs(Case const& c, std::int64_t l2_bytes, cudaStream_t stream);

  int count() const { return sets_.count(); }
  void const* src(int k) const { return sets_.get(k, 0); }
  void* dst(int k) const { return sets_.get(k, 1); }

 private:
  BufferSets sets_;
};

}  // namespace inlay::lab
