// The cost of one request of a warp: sectors of global memory, or wavefronts of shared memory. All functions are
// constexpr and need no CuTe, so they also work in a static_assert.
//
// Calibrated against Nsight Compute on an H200: exact for the 101 requests of tests/calibration.cu, with 1 to 16 bytes
// per lane and all or some lanes active. Full-size kernels mostly need 1 to 4 % more wavefronts, because of
// arbitration, not of the layout (docs/04_measuring.md lists those that need more).
//
// A layout is anything callable as layout(i, j) -> offset in elements; a CuTe layout is one. Example:
//
//   constexpr auto tile = [](int i, int j) { return 64 * i + (j ^ i % 32); };  // (64,64) floats, swizzled
//   static_assert(worst_column_wavefronts(tile, 64, 64, sizeof(float), Access::load) ==
//   least_wavefronts(sizeof(float)));
//
// examples/banks.cpp is a complete program, with a static_assert that fails. For any other access pattern, fill a
// Request and call wavefronts(). A compiler evaluates a tile of 10^4 elements in less than a second; for much larger
// ones, g++ needs -fconstexpr-ops-limit=1000000000.
#pragma once
#include <cstdint>

namespace inlay::banks {

/// One memory instruction of a warp: byte address of each lane, mask of active lanes, bytes per lane (1, 2, 4, 8 or
/// 16).
struct Request {
  std::uint64_t address[32]{};
  std::uint32_t active = 0;
  std::uint32_t bytes = 0;
};

/// Requests of warps and their transactions: 32-byte sectors in global memory, wavefronts in shared memory. For TMA,
/// requests are boxes and transactions are the bytes inside the tensor.
struct Traffic {
  std::int64_t requests = 0, transactions = 0;
  constexpr double per_request() const { return requests ? double(transactions) / double(requests) : 0; }
  friend bool operator==(Traffic const&, Traffic const&) = default;
};
constexpr Traffic& operator+=(Traffic& sum, Traffic const& t) {
  sum.requests += t.requests, sum.transactions += t.transactions;
  return sum;
}

/// Distinct 32-byte sectors that the active lanes touch.
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

/// Distinct 128-byte cache lines that contain the first bytes of active lanes. The L1 looks up one line per clock.
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

/// Distinct bytes that the active lanes request.
constexpr std::uint64_t distinct_bytes(Request const& r) {
  std::uint64_t n = 0, beyond = 0;  // no previous lane has requested a byte at or after this address
  for (unsigned lane = 0; lane < 32; ++lane) {
    bool seen = !(r.active >> lane & 1);
    if (!seen && r.address[lane] >= beyond) {
      n += r.bytes, beyond = r.address[lane] + r.bytes;
      continue;
    }
    for (unsigned other = lane; other-- > 0 && !seen;)  // aligned accesses of one width are equal or disjoint
      seen = (r.active >> other & 1) && r.address[other] == r.address[lane];
    if (!seen) n += r.bytes;
  }
  return n;
}

namespace detail {
// Whether all pairs of active lanes t and t ^ x request the same address.
constexpr bool partners_share(Request const& r, unsigned x) {
  for (unsigned t = 0; t < 32; ++t)
    if ((r.active >> t & 1) && (r.active >> (t ^ x) & 1) && r.address[t] != r.address[t ^ x]) return false;
  return true;
}
}  // namespace detail

enum class Access { load, store };

/// Lanes that one pass through the 32 banks of 4 bytes serves: 32 with up to 4 bytes each, 16 with 8 or 8 with 16.
/// Twice as many for loads of 8 and 16 bytes in which lanes t and t ^ 1, or t and t ^ 2, have equal addresses
/// throughout the warp; never for stores.
constexpr unsigned lanes_of_pass(Request const& r, Access access) {
  unsigned const lanes = r.bytes == 16 ? 8 : r.bytes == 8 ? 16 : 32;
  bool const pairs =
      access == Access::load && lanes < 32 && (detail::partners_share(r, 1) || detail::partners_share(r, 2));
  return pairs ? lanes * 2 : lanes;
}

/// Passes with at least one active lane. Without bank conflicts, this is the number of wavefronts.
constexpr unsigned passes(Request const& r, Access access) {
  unsigned const lanes = lanes_of_pass(r, access);
  unsigned n = 0;
  for (unsigned first = 0; first < 32; first += lanes)
    n += (r.active >> first & (lanes == 32 ? ~0u : (1u << lanes) - 1)) != 0;
  return n;
}

/// Wavefronts of a request to shared memory: for each pass, the number of distinct words in the busiest bank.
constexpr unsigned wavefronts(Request const& r, Access access) {
  unsigned const lanes = lanes_of_pass(r, access);
  unsigned total = 0;
  for (unsigned first = 0; first < 32; first += lanes) {
    std::uint64_t word[32][32];  // [bank][i]: distinct words requested from a bank
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

/// The fewest wavefronts of a full warp: 1 for up to 4 bytes per lane, 2 for 8, 4 for 16.
constexpr unsigned least_wavefronts(unsigned bytes_per_lane) {
  return bytes_per_lane == 16 ? 4 : bytes_per_lane == 8 ? 2 : 1;
}

/// The bank of the first byte of element (i, j).
template <class Layout>
constexpr unsigned bank(Layout const& layout, int i, int j, int elem_bytes) {
  return unsigned(std::uint64_t(layout(i, j)) * unsigned(elem_bytes) / 4 % 32);
}

/// The most wavefronts of any full-warp request that accesses a (rows, cols) tile with lanes along a row (32 accesses
/// of `vector` elements) or down a column (32 rows, one element each). The tile has no bank conflicts in that direction
/// if the result is least_wavefronts() of the bytes per lane. Requests with fewer than 32 lanes are ignored: a column
/// of fewer than 32 rows gives 0.
template <class Layout>
constexpr unsigned worst_row_wavefronts(Layout const& layout, int rows, int cols, int elem_bytes, int vector,
                                        Access access) {
  unsigned worst = 0;
  int const along = cols / vector < 32 ? cols / vector : 32;  // lanes along one row; further lanes access the next rows
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
