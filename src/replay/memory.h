// The memory of a replayed kernel. Each region is mapped twice: the kernel's addresses belong to an inaccessible
// mapping, and the recorder accesses the bytes through the other mapping. An access that bypasses the recorder
// therefore faults.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace inlay::replay {

enum class Space : std::uint8_t { global, shared };

// A named array in a region: an operand of the kernel, or an array of its shared memory.
struct Operand {
  std::string name;
  std::size_t offset, bytes;  // in the region
  int elem_bytes;
};

struct AccessHistory;  // replay/global_ordering.h

struct Region {
  Space space;
  std::size_t bytes;   // that the kernel may use
  std::size_t mapped;  // bytes of both mappings: whole pages, one more than `bytes` needs
  char* seen;          // inaccessible mapping, whose addresses the kernel sees
  char* real;          // accessible mapping
  std::vector<Operand> operands;
  // State of each byte of a global region; 0: belongs to no element of an operand. kWritten: the byte has been written,
  // which a store may do once; with kWrittenEarlier, in an earlier kernel of the replay. kChangedAtomically: by an
  // atomic operation, which is allowed any number of times.
  static constexpr std::uint8_t kReadable = 1, kWritable = 2, kWritten = 4, kWrittenEarlier = 8,
                                kChangedAtomically = 16;
  std::vector<std::uint8_t> state;
  bool stored = false;                     // the current kernel has written to the region
  bool sampled = false;                    // a few blocks are replayed: any byte may be read and written
  bool workspace = false;                  // has no state: GlobalOrdering checks its accesses
  std::shared_ptr<AccessHistory> history;  // of the workspace, and of regions with bytes that are both read and written

  bool contains(std::uint64_t address) const { return address - reinterpret_cast<std::uint64_t>(seen) < mapped; }
  std::size_t offset(void const* address) const { return std::size_t(static_cast<char const*>(address) - seen); }
  // Whether (state & mask) == expected for each of these bytes.
  bool has_state(std::size_t offset, std::size_t bytes, std::uint8_t mask, std::uint8_t expected) const;
  Operand const& operand(std::size_t offset) const;
};

class Memory {
 public:
  Memory() = default;
  Memory(Memory const&) = delete;
  ~Memory();

  Region& map(Space space, std::size_t bytes, std::vector<Operand> operands);
  Region* find(std::uint64_t seen_address);
  Region const* find(void const* seen_address) const;
  Region const* find_real(char const* real_address) const;
  Region& of(void const* seen);  // throws if the address is in no region
  void unmap_shared();
  std::deque<Region>& regions() { return regions_; }

  // Returns the accessible address of an address that the kernel sees.
  char* real(void const* seen);

 private:
  std::deque<Region> regions_;
  Region* last_ = nullptr;  // result of the last find(): consecutive accesses are often to the same region
};

}  // namespace inlay::replay
