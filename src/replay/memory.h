// The memory a replayed kernel sees. Every region is mapped twice: the kernel gets a mapping that nobody may touch, the
// recorder reaches the bytes through the other. So an access that bypasses the recorder is a fault, not a silent gap.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace inlay::replay {

enum class Space : std::uint8_t { global, shared };

// A named part of a region: an operand of the kernel, in elements.
struct Operand {
  std::string name;
  std::size_t offset, bytes;
  int elem_bytes;
};

struct Places;  // replay/global_ordering.h

struct Region {
  Space space;
  std::size_t bytes;   // what the kernel may use
  std::size_t mapped;  // whole pages, one more than needed
  char* seen;          // the kernel's addresses
  char* real;          // the recorder's
  std::vector<Operand> operands;
  // Global regions, per byte; 0: no element of an operand. Written: what awaited its one write has had it, in an earlier
  // kernel or in this one; changed: atomically, as often as one likes.
  static constexpr std::uint8_t kReadable = 1, kWritable = 2, kWritten = 4, kEarlier = 8, kChanged = 16;
  std::vector<std::uint8_t> state;
  bool stored = false;             // this kernel has written some of it
  bool loose = false;              // any byte may be read and written: of a replay of a few blocks
  bool workspace = false;          // has rules of its own instead
  std::shared_ptr<Places> places;  // of the workspace, and where bytes are both read and written

  bool contains(std::uint64_t address) const { return address - reinterpret_cast<std::uint64_t>(seen) < mapped; }
  std::size_t offset(void const* address) const { return std::size_t(static_cast<char const*>(address) - seen); }
  // Are the bits of `mask` in the state of each of these bytes those of `want`?
  bool all(std::size_t offset, std::size_t bytes, std::uint8_t mask, std::uint8_t want) const;
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
  Region& of(void const* seen);  // throws where there is none
  void unmap_shared();
  std::deque<Region>& regions() { return regions_; }

  // The real bytes behind an address the kernel sees.
  char* real(void const* seen);

 private:
  std::deque<Region> regions_;
  Region* last_ = nullptr;  // found: accesses come in runs
};

}  // namespace inlay::replay
