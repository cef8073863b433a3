#include <inlay/replay/memory.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace inlay::replay {
namespace {
void unmap(Region& r) {
  munmap(r.seen, r.mapped);
  munmap(r.real, r.mapped);
}
}  // namespace

Operand const& Region::operand(std::size_t offset) const {
  for (Operand const& o : operands)
    if (offset - o.offset < o.bytes) return o;
  return operands.front();
}

bool Region::has_state(std::size_t offset, std::size_t n, std::uint8_t mask, std::uint8_t expected) const {
  constexpr std::uint64_t kEachByte = 0x0101010101010101u;
  std::uint8_t const* s = state.data() + offset;
  std::uint64_t different = 0, eight;
  for (; n >= 8; n -= 8, s += 8) {
    std::memcpy(&eight, s, 8);
    different |= (eight & kEachByte * mask) ^ kEachByte * expected;
  }
  for (; n; --n, ++s) different |= (*s & mask) ^ expected;
  return !different;
}

Memory::~Memory() {
  for (Region& r : regions_) unmap(r);
}

Region& Memory::map(Space space, std::size_t bytes, std::vector<Operand> operands) {
  Region r{};
  r.space = space, r.bytes = bytes;
  r.mapped = (bytes + 4095) / 4096 * 4096 + 4096;
  r.operands = std::move(operands);
  int const fd = memfd_create("inlay-replay", 0);
  if (fd < 0 || ftruncate(fd, off_t(r.mapped)) != 0) throw std::runtime_error("replay: no memory for a buffer");
  void* const real = mmap(nullptr, r.mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  void* const seen = mmap(nullptr, r.mapped, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  close(fd);
  if (real == MAP_FAILED || seen == MAP_FAILED) throw std::runtime_error("replay: no address space for a buffer");
  r.real = static_cast<char*>(real), r.seen = static_cast<char*>(seen);
  return regions_.emplace_back(std::move(r));
}

Region* Memory::find(std::uint64_t address) {
  if (last_ && last_->contains(address)) return last_;
  for (Region& r : regions_)
    if (r.contains(address)) return last_ = &r;
  return nullptr;
}

Region const* Memory::find(void const* address) const {
  return const_cast<Memory*>(this)->find(reinterpret_cast<std::uint64_t>(address));
}

Region const* Memory::find_real(char const* p) const {
  for (Region const& r : regions_)
    if (p >= r.real && p < r.real + r.mapped) return &r;
  return nullptr;
}

void Memory::unmap_shared() {
  last_ = nullptr;
  auto const shared = [](Region const& r) { return r.space == Space::shared; };
  for (Region& r : regions_)
    if (shared(r)) unmap(r);
  regions_.erase(std::remove_if(regions_.begin(), regions_.end(), shared), regions_.end());
}

Region& Memory::of(void const* seen) {
  if (Region* const r = find(reinterpret_cast<std::uint64_t>(seen))) return *r;
  throw std::runtime_error("replay: the address is in no buffer");
}
char* Memory::real(void const* seen) {
  Region const& r = of(seen);
  return r.real + r.offset(seen);
}

}  // namespace inlay::replay
