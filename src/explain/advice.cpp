#include <inlay/explain/advice.h>

#include <bit>
#include <optional>

#include <inlay/explain/busiest_bank.h>
#include <inlay/plan/format.h>

namespace inlay::explain {
using planning::format;
using replay::Mechanism;

namespace {

// Bytes from each active lane to the next, if they are the same all through the request.
std::optional<std::int64_t> stride_of(banks::Request const& r) {
  std::optional<std::int64_t> stride;
  int last = -1;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(r.active >> lane & 1)) continue;
    if (last >= 0) {
      auto const step = std::int64_t(r.address[lane] - r.address[last]) / (lane - last);
      if (stride && *stride != step) return {};
      stride = step;
    }
    last = lane;
  }
  return stride;
}

// How to lay out rows of so many bytes so that elements below each other meet all banks: the xor of ConflictFree in
// kernels/move/smem_tile.h. Swizzles are of elements as wide as the access.
std::string cure_of_column(std::int64_t row_bytes, unsigned access_bytes) {
  unsigned const granule = access_bytes > 4 ? access_bytes : 4;
  std::string cure = format("pad rows by %u bytes", granule);
  if (row_bytes >= 128 && std::has_single_bit(std::uint64_t(row_bytes))) {
    int const B = std::countr_zero(128 / granule), M = std::countr_zero(granule / access_bytes),
              S = std::countr_zero(std::uint64_t(row_bytes) / access_bytes) - M;
    cure += format(", or Swizzle<%d,%d,%d>", B, M, S);
  }
  return cure;
}

std::string advice_for_shared(Site const& s) {
  banks::Request const& r = s.worst;
  auto const access = s.store ? banks::Access::store : banks::Access::load;
  BusiestBank const b = busiest_bank(r, access);
  std::string text = format("%u wavefronts where %u would do, %u words in bank %u", banks::wavefronts(r, access),
                            banks::passes(r, access), b.words, b.bank);
  auto const stride = stride_of(r);
  if (stride && *stride > 0 && *stride % 4 == 0 && *stride > std::int64_t(r.bytes))
    text += ", " + std::to_string(*stride) + " bytes apart: " + cure_of_column(*stride, r.bytes);
  return text;
}

std::string advice_for_global(Site const& s) {
  banks::Request const& r = s.worst;
  if (s.worst_by_halves)
    return "global and shared addresses lie half a sector apart, each sector is asked for twice: pad rows by whole "
           "sectors";
  unsigned const sectors = banks::sectors(r), least = unsigned((banks::distinct_bytes(r) + 31) / 32);
  std::string const text = format("%u sectors where %u would do", sectors, least);
  auto const stride = stride_of(r);
  if (stride && *stride >= 32)
    return text + format(", lanes %lld bytes apart: let them run along what is contiguous, by way of shared memory",
                         static_cast<long long>(*stride));
  if (sectors == least + 1) return text + ": it begins in the middle of a sector, align its first byte to 32";
  return text;
}

}  // namespace

std::string advice_for(Site const& s) {
  if (s.mechanism == Mechanism::tma || s.traffic.transactions <= s.ideal || s.worst_excess == 0) return {};
  return s.space == replay::Space::shared ? advice_for_shared(s) : advice_for_global(s);
}

std::string advice_for(Resource const& limit) {
  if (limit.name == "DRAM") return "every byte moves once and the DRAM is busy: only moving fewer bytes would help";
  if (limit.name == "FMA" || limit.name == "beside FMA")
    return "the multiply-add units are busy: what is left is in the instructions between them";
  if (limit.name == "L1") return "load more per wavefront: wider accesses, larger tiles of a thread";
  if (limit.name == "issue") return "fewer, wider accesses: each brings its instructions with it";
  if (limit.name == "latency") return "more bytes on their way at once: more blocks, or more loads of a thread";
  if (limit.name == "launch") return "the work is small: what a launch costs counts most";
  return "let more of what is loaded be used again before it leaves the multiprocessor";
}

}  // namespace inlay::explain
