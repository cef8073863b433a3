// The memory model: what one request of a warp costs, in sectors of global memory and wavefronts of shared memory.
// Pure constexpr, no CuTe: usable at run time by the recorder and at compile time in a static_assert.
//
// Calibrated against Nsight Compute on an H200: exact for the 101 requests of tests/calibration.cu, of 1 to 16 bytes a
// lane, with all lanes on or some. Full-size kernels mostly add 1 to 4 % of replays that come from arbitration, not from
// the layout (docs/04_measuring.md has those that add more).
//
// A layout is anything callable as layout(i, j) -> offset in elements; a CuTe layout is one. In a program of your own:
//
//   constexpr auto tile = [](int i, int j) { return 64 * i + (j ^ i % 32); };  // (64,64) floats, swizzled
//   static_assert(worst_column_wavefronts(tile, 64, 64, sizeof(float), Access::load) == least_wavefronts(sizeof(float)));
//
// examples/banks.cpp is a whole one, and shows a claim that the compiler refuses. What lanes do is free: fill a Request,
// ask wavefronts(). The proof of a tile of 10^4 elements takes a compiler less than a second and no flag; g++ wants
// -fconstexpr-ops-limit=1000000000 for much larger ones.
#pragma once
#include <cstdint>

namespace inlay::banks {

// One instruction of one warp: the byte address of each lane, which lanes are on, bytes per lane (1, 2, 4, 8, 16).
struct Request {
  std::uint64_t address[32]{};
  std::uint32_t active = 0;
  std::uint32_t bytes = 0;
};

// Warp requests and their transactions: 32-byte sectors in global memory, wavefronts in shared memory. For TMA, requests are
// boxes and transactions are the bytes inside the tensor.
struct Traffic {
  std::int64_t requests = 0, transactions = 0;
  constexpr double per_request() const { return requests ? double(transactions) / double(requests) : 0; }
  friend bool operator==(Traffic const&, Traffic const&) = default;
};
constexpr Traffic& operator+=(Traffic& sum, Traffic const& t) {
  sum.requests += t.requests, sum.transactions += t.transactions;
  return sum;
}

// Distinct 32-byte sectors that the active lanes touch.
constexpr unsigned sectors(Request const& r) {
  std::uint64_t seen[64]{};
  unsigned n = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(r.active >> lane & 1)) continue;
    for (auto s = r.address[lane] / 32; s <= (r.address[lane] + r.bytes - 1) / 32; ++s) {
      bool found = false;
      for (unsigned i = n; i-- > 0 && !found;) found = seen[i] == s;  // newest first: neighbours share sectors
      if (!found) seen[n++] = s;
    }
  }
  return n;
}

// Distinct lines of four sectors that the active lanes touch: the L1 looks up one in a clock.
constexpr unsigned lines(Request const& r) {
  std::uint64_t seen[32]{};
  unsigned n = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    bool found = !(r.active >> lane & 1);
    for (unsigned i = n; i-- > 0 && !found;) found = seen[i] == r.address[lane] / 128;
    if (!found) seen[n++] = r.address[lane] / 128;
  }
  return n;
}

// Distinct bytes that the active lanes ask for.
constexpr std::uint64_t distinct_bytes(Request const& r) {
  std::uint64_t n = 0, beyond = 0;  // no lane so far has asked for this byte or one behind it
  for (unsigned lane = 0; lane < 32; ++lane) {
    bool seen = !(r.active >> lane & 1);
    if (!seen && r.address[lane] >= beyond) {
      n += r.bytes, beyond = r.address[lane] + r.bytes;
      continue;
    }
    for (unsigned other = lane; other-- > 0 && !seen;)  // lanes are aligned to their width: they agree or are apart
      seen = (r.active >> other & 1) && r.address[other] == r.address[lane];
    if (!seen) n += r.bytes;
  }
  return n;
}

namespace detail {
// Do each active lane t and its partner t ^ x, if active, ask for the same address?
constexpr bool partners_share(Request const& r, unsigned x) {
  for (unsigned t = 0; t < 32; ++t)
    if ((r.active >> t & 1) && (r.active >> (t ^ x) & 1) && r.address[t] != r.address[t ^ x]) return false;
  return true;
}
}  // namespace detail

enum class Access { load, store };

// Lanes that one pass through the 32 banks of 4 bytes serves: 32 of up to 4 bytes, 16 of 8 or 8 of 16. Loads whose lanes
// agree in pairs (t and t^1, or t and t^2, throughout the warp) serve twice as many in a pass; stores never do.
constexpr unsigned lanes_of_pass(Request const& r, Access access) {
  unsigned const lanes = r.bytes == 16 ? 8 : r.bytes == 8 ? 16 : 32;
  bool const pairs =
      access == Access::load && lanes < 32 && (detail::partners_share(r, 1) || detail::partners_share(r, 2));
  return pairs ? lanes * 2 : lanes;
}

// Passes in which any lane is active: the wavefronts of a request without bank conflicts.
constexpr unsigned passes(Request const& r, Access access) {
  unsigned const lanes = lanes_of_pass(r, access);
  unsigned n = 0;
  for (unsigned first = 0; first < 32; first += lanes)
    n += (r.active >> first & (lanes == 32 ? ~0u : (1u << lanes) - 1)) != 0;
  return n;
}

// Wavefronts of shared memory: a pass takes as many as the busiest bank has distinct words.
constexpr unsigned wavefronts(Request const& r, Access access) {
  unsigned const lanes = lanes_of_pass(r, access);
  unsigned total = 0;
  for (unsigned first = 0; first < 32; first += lanes) {
    std::uint64_t word[32][32];  // [bank][i]: the distinct words asked of a bank so far
    unsigned count[32]{}, worst = 0;
    for (unsigned lane = first; lane < first + lanes; ++lane) {
      if (!(r.active >> lane & 1)) continue;
      for (auto w = r.address[lane] / 4; w <= (r.address[lane] + r.bytes - 1) / 4; ++w) {
        unsigned const bank = w % 32;
        bool found = false;
        for (unsigned i = 0; i < count[bank] && !found; ++i) found = word[bank][i] == w;
        if (!found) word[bank][count[bank]++] = w;
        if (count[bank] > worst) worst = count[bank];
      }
    }
    total += worst;
  }
  return total;
}

// The fewest wavefronts a full warp can need: 1 up to 4 bytes a lane, 2 at 8, 4 at 16.
constexpr unsigned least_wavefronts(unsigned bytes_per_lane) {
  return bytes_per_lane == 16 ? 4 : bytes_per_lane == 8 ? 2 : 1;
}

// The bank of element (i, j), for elements of `elem_bytes` (of its first byte).
template <class Layout>
constexpr unsigned bank(Layout const& layout, int i, int j, int elem_bytes) {
  return unsigned(std::uint64_t(layout(i, j)) * unsigned(elem_bytes) / 4 % 32);
}

// The most wavefronts of any full-warp request that walks a (rows, cols) tile: lanes run along a row (32 accesses of
// `vector` elements) or down a column (32 rows, one element each). A tile is free of bank conflicts in a direction where
// this is least_wavefronts() of the bytes of a lane. What lies beyond the last whole request is not walked: a column of
// fewer than 32 rows gives 0.
template <class Layout>
constexpr unsigned worst_row_wavefronts(Layout const& layout, int rows, int cols, int elem_bytes, int vector,
                                        Access access) {
  unsigned worst = 0;
  int const along = cols / vector < 32 ? cols / vector : 32;  // lanes along one row; the others take the next rows
  for (int i = 0; i + 32 / along <= rows; i += 32 / along)
    for (int j = 0; j + along * vector <= cols; j += along * vector) {
      Request r{{}, ~0u, unsigned(elem_bytes * vector)};
      for (int t = 0; t < 32; ++t)
        r.address[t] = std::uint64_t(layout(i + t / along, j + t % along * vector)) * unsigned(elem_bytes);
      unsigned const w = wavefronts(r, access);
      if (w > worst) worst = w;
    }
  return worst;
}
template <class Layout>
constexpr unsigned worst_column_wavefronts(Layout const& layout, int rows, int cols, int elem_bytes, Access access) {
  unsigned worst = 0;
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i + 32 <= rows; i += 32) {
      Request r{{}, ~0u, unsigned(elem_bytes)};
      for (int t = 0; t < 32; ++t) r.address[t] = std::uint64_t(layout(i + t, j)) * unsigned(elem_bytes);
      unsigned const w = wavefronts(r, access);
      if (w > worst) worst = w;
    }
  return worst;
}

}  // namespace inlay::banks
