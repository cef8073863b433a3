// The memory a replayed kernel sees. Every region is mapped twice: the kernel gets a mapping that nobody may touch, the
// recorder reaches the bytes through the other. So an access that bypasses the recorder is a fault, not a silent gap.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
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

struct Region {
  Space space;
  std::size_t bytes;   // what the kernel may use
  std::size_t mapped;  // whole pages, one more than needed
  char* seen;          // the kernel's addresses
  char* real;          // the recorder's
  std::vector<Operand> operands;
  // Global regions, per byte; 0: no element of an operand. Written: what awaited its one write has had it.
  static constexpr std::uint8_t kReadable = 1, kWritable = 2, kWritten = 4;
  std::vector<std::uint8_t> state;
  bool loose = false;      // any byte may be read and written: of a replay of a few blocks
  bool workspace = false;  // has rules of its own instead: replay/workspace.h

  bool contains(std::uint64_t address) const { return address - reinterpret_cast<std::uint64_t>(seen) < mapped; }
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
  void unmap_shared();
  std::deque<Region>& regions() { return regions_; }

  // The real bytes behind an address the kernel sees.
  char* real(void const* seen);

 private:
  std::deque<Region> regions_;
};

}  // namespace inlay::replay
