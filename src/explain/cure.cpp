#include <inlay/explain/cure.h>
#include <inlay/model/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

namespace inlay::explain {
using banks::Request;
using model::format;
using replay::Mechanism, replay::Site, replay::Space;

namespace {

constexpr std::int64_t kBankBytes = 128;  // of 32 banks; addresses this far apart are in the same bank
constexpr unsigned kTmaGranule = 16;      // bytes that every TMA swizzle keeps contiguous

banks::Access access_of(Site const& s) { return s.store ? banks::Access::store : banks::Access::load; }

// The accesses of a kernel to one array in shared memory.
struct Array {
  std::vector<Site const*> sites;
  Site const* widest = nullptr;
  unsigned granule = 4, narrowest = 16;  // bytes of the widest access, at least of a bank; of the narrowest access
  bool boxes = false;                    // the kernel uses TMA, perhaps for this array: sites do not tell
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;

  Array(Site const& of, std::vector<Site> const& all) {
    for (Site const& s : all) {
      boxes |= s.mechanism == Mechanism::tma;
      if (s.space != Space::shared || s.operand != of.operand || !s.traffic.requests) continue;
      sites.push_back(&s);
      if (!widest || s.bytes > widest->bytes) widest = &s;
      granule = std::max(granule, s.bytes), narrowest = std::min(narrowest, s.bytes);
      for (int lane = 0; lane < 32; ++lane)
        if (s.worst.active >> lane & 1)
          begin = std::min(begin, s.worst.address[lane]), end = std::max(end, s.worst.address[lane] + s.bytes);
    }
    if (boxes) granule = kTmaGranule;
  }
};

// Maps the byte offset of an access in the array to another layout. By default the layout stays the same.
struct Mapping {
  std::uint64_t row_bytes = 1, padding_bytes = 0;
  int shift = 0;
  std::uint64_t mask = 0;  // swizzle: these bits are XORed with those `shift` positions higher

  std::uint64_t operator()(std::uint64_t at) const {
    return (at / row_bytes * padding_bytes + at) ^ (at >> shift & mask);
  }
};
Request mapped(Request r, Array const& array, Mapping const& mapping) {
  for (int lane = 0; lane < 32; ++lane)
    if (r.active >> lane & 1) r.address[lane] = mapping(r.address[lane] - array.begin);
  return r;
}
// Wavefronts of all requests of all sites, where each request of a site counts like its costliest.
double cost(Array const& array, Mapping const& mapping) {
  double sum = 0;
  for (Site const* s : array.sites)
    sum += double(s->traffic.requests) * banks::wavefronts(mapped(s->worst, array, mapping), access_of(*s));
  return sum;
}

// The layout with the lowest cost so far.
struct Best {
  double cost;
  std::string name;
  Mapping mapping;
};

// Paddings up to kBankBytes, the smallest first.
void try_paddings(Array const& array, std::int64_t row_bytes, Best& best) {
  for (std::int64_t by = array.granule; by < kBankBytes && !array.boxes; by += array.granule) {
    Mapping const padded{.row_bytes = std::uint64_t(row_bytes), .padding_bytes = std::uint64_t(by)};
    if (double const c = cost(array, padded); c < best.cost)
      best = {c, format("pad rows by %lld bytes", static_cast<long long>(by)), padded};
  }
}

std::string swizzle_name(int bits, int base, int shift, unsigned elem_bytes) {
  std::string const name = format("Swizzle<%d,%d,%d>", bits, base, shift);
  return elem_bytes == 4 ? name : name + format(" of %u-byte elements", elem_bytes);
}

// Swizzles of byte offsets within a row, the fewest bits first; their names are in elements. TMA has one swizzle each
// for rows of 32, 64 and 128 bytes.
void try_swizzles(Array const& array, std::int64_t row_bytes, Best& best) {
  auto const log2 = [](std::int64_t n) { return std::countr_zero(std::uint64_t(n)); };
  int const whole = log2(array.granule), reach = std::bit_width(array.end - array.begin - 1), row = log2(row_bytes);
  for (int bits = 1; whole + bits <= std::min(row, log2(kBankBytes)); ++bits)
    for (int base = whole; base + bits <= std::min(row, log2(kBankBytes)); ++base)
      for (int shift = bits; base + shift + bits <= reach; ++shift) {
        bool const of_tma = base == 4 && shift == 3 && row_bytes == 16 << bits;
        if (array.boxes && !of_tma) continue;
        Mapping const swizzled{.shift = shift, .mask = ((1u << bits) - 1) << base};
        if (double const c = cost(array, swizzled); c < best.cost)
          best = {c, swizzle_name(bits, base - log2(array.narrowest), shift, array.narrowest), swizzled};
      }
}

// The fewest wavefronts of a request in any layout that keeps granules of `granule` bytes contiguous: words at the same
// offset of different granules can be in 128 / granule banks only.
unsigned least_of_granules(Request const& r, banks::Access access, unsigned granule) {
  unsigned const lanes = banks::lanes_of_pass(r, access), places = unsigned(kBankBytes) / granule;
  unsigned sum = 0;
  for (unsigned first = 0; first < 32; first += lanes) {
    std::map<std::uint64_t, std::set<std::uint64_t>> granules;  // by the word of the granule
    unsigned most = 0;
    for (unsigned lane = first; lane < first + lanes; ++lane) {
      if (!(r.active >> lane & 1)) continue;
      auto& at = granules[r.address[lane] % granule / 4];
      at.insert(r.address[lane] / granule);
      most = std::max(most, unsigned(at.size()));
    }
    sum += (most + places - 1) / places;
  }
  return sum;
}

std::string lanes_of(Site const& s) { return format("%u-byte %s", s.bytes, s.store ? "stores" : "loads"); }

}  // namespace

std::optional<std::int64_t> stride_of(Request const& r) {
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

std::optional<Cure> cure_of(Site const& site, std::vector<Site> const& all) {
  Array const array(site, all);
  Request const& r = site.worst;
  unsigned const now = banks::wavefronts(r, access_of(site));
  if (least_of_granules(r, access_of(site), array.granule) >= now)
    return Cure{"",
                array.boxes ? "no layout that TMA takes needs fewer"
                            : "no layout that keeps its " + lanes_of(*array.widest) + " whole needs fewer",
                now};
  auto const row_bytes = stride_of(r);
  if (!row_bytes || *row_bytes <= std::int64_t(r.bytes) || *row_bytes % array.granule) return {};

  Best const plain{cost(array, {}), "", {}};
  Best padding = plain, swizzle = plain;
  try_paddings(array, *row_bytes, padding);
  try_swizzles(array, *row_bytes, swizzle);
  Best const& best = swizzle.cost < padding.cost ? swizzle : padding;
  Cure cure;
  cure.wavefronts = banks::wavefronts(mapped(r, array, best.mapping), access_of(site));
  if (best.cost >= plain.cost)
    cure.why_not = array.boxes ? "no swizzle that TMA takes does better"
                               : "no padding and no swizzle does better for all that touch the array";
  else if (padding.cost == swizzle.cost)
    cure.layouts = padding.name + ", or " + swizzle.name;
  else
    cure.layouts = best.name;
  return cure;
}

}  // namespace inlay::explain
