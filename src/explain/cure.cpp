#include <inlay/explain/cure.h>
#include <inlay/planner/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <set>

namespace inlay::explain {
using banks::Request;
using planner::format;
using replay::Mechanism, replay::Site, replay::Space;

namespace {

constexpr std::int64_t kBanks = 128;  // bytes
constexpr unsigned kOfBoxes = 16;     // bytes that TMA keeps together, whatever its swizzle

banks::Access access_of(Site const& s) { return s.store ? banks::Access::store : banks::Access::load; }

// All that is done to one array.
struct Array {
  std::vector<Site const*> sites;
  Site const* widest = nullptr;
  unsigned granule = 4, narrowest = 16;  // bytes of its widest access, or of a bank; of its narrowest
  bool boxes = false;                    // TMA takes part in the kernel, and may in this array: sites do not tell
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
    if (boxes) granule = kOfBoxes;
  }
};

using Mapping = std::function<std::uint64_t(std::uint64_t)>;  // of an offset in the array
Request mapped(Request r, Array const& array, Mapping const& mapping) {
  for (int lane = 0; lane < 32; ++lane)
    if (r.active >> lane & 1) r.address[lane] = mapping(r.address[lane] - array.begin);
  return r;
}
// For all requests of all sites; each request of a site counts like its costliest.
double cost(Array const& array, Mapping const& mapping) {
  double sum = 0;
  for (Site const* s : array.sites)
    sum += double(s->traffic.requests) * banks::wavefronts(mapped(s->worst, array, mapping), access_of(*s));
  return sum;
}

// What costs least of what is tried; the first of those that cost as much.
struct Best {
  double cost;
  std::string name;
  Mapping mapping;

  void consider(Array const& array, Mapping const& other, std::function<std::string()> const& other_name) {
    if (double const c = explain::cost(array, other); c < cost) *this = {c, other_name(), other};
  }
};

// The banks repeat after 128 bytes.
void try_paddings(Array const& array, std::int64_t row_bytes, Best& best) {
  for (std::int64_t by = array.granule; by < kBanks && !array.boxes; by += array.granule)
    best.consider(
        array, [=](std::uint64_t at) { return at / std::uint64_t(row_bytes) * std::uint64_t(by) + at; },
        [=] { return format("pad rows by %lld bytes", static_cast<long long>(by)); });
}

std::string swizzle_name(int bits, int base, int shift, unsigned elem_bytes) {
  std::string const name = format("Swizzle<%d,%d,%d>", bits, base, shift);
  return elem_bytes == 4 ? name : name + format(" of %u-byte elements", elem_bytes);
}

// Swizzles of byte offsets that stay within a row, printed as those of elements; the fewest bits first. TMA has one for
// rows of 32, 64 and 128 bytes each.
void try_swizzles(Array const& array, std::int64_t row_bytes, Best& best) {
  auto const log2 = [](std::int64_t n) { return std::countr_zero(std::uint64_t(n)); };
  int const whole = log2(array.granule), reach = std::bit_width(array.end - array.begin - 1), row = log2(row_bytes);
  for (int bits = 1; whole + bits <= std::min(row, log2(kBanks)); ++bits)
    for (int base = whole; base + bits <= std::min(row, log2(kBanks)); ++base)
      for (int shift = bits; base + shift + bits <= reach; ++shift) {
        bool const of_tma = base == 4 && shift == 3 && row_bytes == 16 << bits;
        if (array.boxes && !of_tma) continue;
        best.consider(
            array, [=](std::uint64_t at) { return at ^ ((at >> shift) & (((1u << bits) - 1) << base)); },
            [=] { return swizzle_name(bits, base - log2(array.narrowest), shift, array.narrowest); });
      }
}

// The fewest wavefronts of a request in any layout that keeps granules of `bytes` bytes whole: for words at the same
// place of different granules there are only 128 / granule banks.
unsigned least_of_granules(Request const& r, banks::Access access, unsigned granule) {
  unsigned const lanes = banks::lanes_of_pass(r, access), places = unsigned(kBanks) / granule;
  unsigned sum = 0;
  for (unsigned first = 0; first < 32; first += lanes) {
    std::map<std::uint64_t, std::set<std::uint64_t>> granules;  // by where in them
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

  Mapping const as_it_is = [](std::uint64_t at) { return at; };
  Best const plain{cost(array, as_it_is), "", as_it_is};
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
