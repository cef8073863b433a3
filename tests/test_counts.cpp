// Golden counts: what every step asks of memory per warp request, on one aligned and one ragged shape. The aligned
// numbers are derived here in a line each; the ragged ones follow from the same forms with the edges' lanes switched
// off.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <inlay/explain/explanation.h>
#include <inlay/registry/registry.h>
#include "corpus.h"
#include "long_tests.h"

namespace inlay::test {
namespace {
using namespace registry;
using explain::counted;

struct PerRequest {
  double load, store;                // sectors: E bytes by 32 lanes are E sectors; strided lanes cost one sector each
  double shared_store, shared_load;  // wavefronts
};
// The form behind the aligned row of each step, for elements of E bytes. `least` is a conflict-free warp of E bytes a
// lane; 16 bytes a lane are 16 sectors and 4 wavefronts; n lanes in one bank are n wavefronts.
std::optional<PerRequest> aligned(std::string const& name, int E) {
  double const e = E, least = E == 16 ? 4 : E == 8 ? 2 : 1, worst = 32, vector = 16, wide = 4;
  if (name == "copy_01_scalar") return PerRequest{e, e, 0, 0};
  if (name == "copy_02_smem") return PerRequest{e, e, least, least};
  if (name == "copy_03_vector" || name == "copy_03_tiled" || name == "copy_contiguous")
    return PerRequest{vector, vector, 0, 0};
  if (name == "copy_04_tma") return PerRequest{0, 0, 0, 0};
  if (name == "transpose_01_naive_read") return PerRequest{e, 32, 0, 0};
  if (name == "transpose_02_naive_write") return PerRequest{32, e, 0, 0};
  if (name == "transpose_03_smem_read_conflict") return PerRequest{e, e, least, worst};
  if (name == "transpose_04_smem_write_conflict") return PerRequest{e, e, worst, least};
  if (name == "transpose_05_smem_padded") return PerRequest{e, e, least, least};
  if (name == "transpose_06_smem_swizzled") return PerRequest{e, e, least, least};
  if (name == "transpose_07_vector_conflict") return PerRequest{vector, e, wide, worst};
  // 8 places for 32 lanes: 4 wavefronts, also at 8 bytes (2 passes of 2) and at 16, where 4 is the least.
  if (name == "transpose_08_vector_padded") return PerRequest{vector, e, wide, 4};
  if (name == "transpose_09_vector_swizzled") return PerRequest{vector, e, wide, 4};
  if (name == "transpose_10_cp_async") return PerRequest{0, e, 0, least};  // its reads and shared writes are cp.async's
  // 4 vectors of a row meet one bank: 4 wavefronts in each pass of 32, 16 or 8 lanes.
  if (name == "transpose_11_tma_store") return PerRequest{vector, 0, 4 * least, 0};
  // 12 to 14: 16 bytes a lane everywhere, half a warp on 256 contiguous bytes; squares are transposed in registers.
  if (name == "transpose_12_register_tile" || name == "transpose_13_in_flight" || name == "transpose_registers")
    return PerRequest{vector, vector, wide, wide};
  if (name == "transpose_realigned") {
    // From 4 bytes on lanes run along rows as in 06; the skewed stores begin on sectors here without a skew.
    if (E >= 4) return PerRequest{e, e, least, least};
    // Below, 8 lanes load 128 bytes of each of 4 rows, then once more 16 bytes on: 4 and 5 sectors a row. Tiles of 128
    // rows read 32 / E more, from above: 128 + (128 + 32 / E) + 32 / E rows in columns of 128 bytes, 2 E of them. What
    // lies behind the matrix is not read: a sector less in the request of the last row, which two tiles make.
    double const rows = 256 + 64 / e, requests = 2 * rows / 4 * 2 * e;
    return PerRequest{18 - 2 / requests, vector, 1, wide};
  }
  if (name == "transpose_14_tma") return PerRequest{0, 0, wide, wide};
  // Matrices of 16 x 16. Loads: a row of a matrix is E vectors of 16 bytes, which E neighbouring lanes load; the next E
  // lanes load a row 256 bytes further on. A warp therefore loads 32 / E runs of 16 E bytes: 16 sectors, but 32 sectors
  // at 1 byte, because each of its runs is half a sector. Stores into shared memory: neighbouring lanes store vectors
  // that lie 16 vectors apart, and the swizzle puts these at 4 of the 8 vectors of a line of 128 bytes: each store
  // takes twice the fewest wavefronts. At 2 and 4 bytes only 2 or 4 of 8 lanes store so far apart, and there is no
  // conflict.
  if (name == "transpose_batched")
    return PerRequest{E == 1 ? 32 : vector, vector, E == 2 || E == 4 ? wide : 2 * wide, wide};
  return std::nullopt;  // a newcomer has none yet
}

// The aligned shape on which a step's numbers are golden: the one it is for.
Case aligned_case(std::string const& name) {
  if (name == "transpose_batched") return packed(16, 16, 64);
  return {256, 256};
}

Counts replayed(Entry<Copy> const& entry, Case const& c, int e) {
  Views const v = views_of(c, is_transpose(entry.info()));
  Recorder recorder;
  void* const in = recorder.allocate("in", std::size_t(v.in_elements * e), e, 1);
  void* const out = recorder.allocate("out", std::size_t(v.out_elements * e), e, 2);
  Copy const copy = copy_of(c, v, in, out, e);
  if (entry.info().rejects(copy, Device{})) return {};
  entry.replay(copy, Device{}, recorder);
  return counted(recorder);
}

bool name_is(Entry<Copy> const& entry, char const* name) { return std::string(entry.info().name) == name; }

TEST(GoldenCounts, AlignedPerRequest) {
  int met = 0;
  for (auto const& entry : copy_kernels())
    for (int e : kElementSizes) {
      SCOPED_TRACE(std::string(entry.info().name) + ", " + std::to_string(e) + " bytes");
      if (!takes_elements_of(entry.info().name, e)) continue;
      auto const golden = aligned(entry.info().name, e);
      if (!golden) continue;
      PerRequest const p = *golden;
      ++met;
      Counts const c = replayed(entry, aligned_case(entry.info().name), e);
      EXPECT_DOUBLE_EQ(c.global_load.per_request(), p.load);
      EXPECT_DOUBLE_EQ(c.global_store.per_request(), p.store);
      EXPECT_DOUBLE_EQ(c.shared_store.per_request(), p.shared_store);
      EXPECT_DOUBLE_EQ(c.shared_load.per_request(), p.shared_load);
      // every byte once each way
      std::int64_t const tma = name_is(entry, "copy_04_tma") || name_is(entry, "transpose_14_tma") ? 256 * 256 * e : 0;
      EXPECT_EQ(c.tma_load.transactions, tma);
      EXPECT_EQ(c.tma_store.transactions, name_is(entry, "transpose_11_tma_store") ? 256 * 256 * e : tma);
      EXPECT_DOUBLE_EQ(c.async_copy.per_request(), std::string(entry.info().name) == "transpose_10_cp_async" ? e : 0);
    }
  EXPECT_EQ(met, 17 + 6 * 5);  // steps at 4 bytes; copies of vectors and kernels of the library at every size
}

// 203 x 149, two primes: lengths that no tile divides. 203 = 6 * 32 + 11 and 149 = 4 * 32 + 21, so the input has
// 203 * 5 row requests, the output 149 * 7; sums of sectors run over rows whose bases walk through all residues mod 32.
TEST(GoldenCounts, RaggedTotals) {
  constexpr int e = 4;
  constexpr std::int64_t in = 203 * 5, out = 149 * 7, lanes = 203 * 149;
  // Sectors of rows of n bytes from residue r: a row of 149 * e bytes starts at r = 149 * e * i mod 32.
  auto const row_sectors = [](std::int64_t rows, std::int64_t cols) {
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; j += 32) {
        std::int64_t const first = (i * cols + j) * e, last = (i * cols + std::min(j + 32, cols)) * e - 1;
        total += last / 32 - first / 32 + 1;
      }
    return total;
  };
  std::int64_t const ld = row_sectors(203, 149), st = row_sectors(149, 203), one = row_sectors(1, lanes);
  struct {
    char const* name;
    Traffic load, store, shared_store, shared_load;
  } const rows[] = {
      {"transpose_01_naive_read", {in, ld}, {in, lanes}, {}, {}},
      {"transpose_02_naive_write", {out, lanes}, {out, st}, {}, {}},
      {"transpose_03_smem_read_conflict", {in, ld}, {out, st}, {in, in}, {out, lanes}},
      {"transpose_04_smem_write_conflict", {in, ld}, {out, st}, {in, lanes}, {out, out}},
      {"transpose_05_smem_padded", {in, ld}, {out, st}, {in, in}, {out, out}},
      {"transpose_06_smem_swizzled", {in, ld}, {out, st}, {in, in}, {out, out}},
      // cp.async's loads and shared stores are in neither counter
      {"transpose_10_cp_async", {}, {out, st}, {}, {out, out}},
      // a copy is one row: 203 * 149 = 30247 elements, 945 whole warps and 7 lanes
      {"copy_01_scalar", {946, one}, {946, one}, {}, {}},
      {"copy_02_smem", {946, one}, {946, one}, {946, 946}, {946, 946}},
  };
  for (auto const& row : rows) {
    int met = 0;
    for (auto const& entry : copy_kernels())
      if (name_is(entry, row.name)) {
        ++met;
        SCOPED_TRACE(row.name);
        Counts const c = replayed(entry, {203, 149}, e);
        EXPECT_EQ(c.global_load, row.load);
        EXPECT_EQ(c.global_store, row.store);
        EXPECT_EQ(c.shared_store, row.shared_store);
        EXPECT_EQ(c.shared_load, row.shared_load);
      }
    EXPECT_EQ(met, 1) << row.name;
  }
}

// 208 x 144: rows of whole vectors on both sides, as TMA stores them, and nothing else that a tile of 64 x 64 divides.
TEST(GoldenCounts, RaggedTotalsOfVectors) {
  constexpr std::int64_t M = 208, N = 144, gap_out = 16, e = 4, lanes = 16, tile = 64;
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  auto const load_sectors = [&](std::int64_t bytes_per_run) {  // rows of 144 e bytes in runs of one request's row
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < M; ++i)
      for (std::int64_t j = 0; j < N * e; j += bytes_per_run) {
        std::int64_t const first = i * N * e + j, last = i * N * e + std::min(j + bytes_per_run, N * e) - 1;
        total += last / 32 - first / 32 + 1;
      }
    return total;
  };
  std::int64_t quarters = 0;  // of a warp: 8 vectors of a row in a wavefront
  for (std::int64_t j = 0; j < N * e; j += lanes * 16)
    quarters += up(std::min<std::int64_t>(lanes * 16, N * e - j), 128);
  std::int64_t const requests = up(M, 32 / lanes) * up(N * e, lanes * 16);
  std::int64_t column = 0;  // of M rows, 32 lanes a request, in 8 places
  for (std::int64_t i = 0; i < M; i += 32) column += up(std::min<std::int64_t>(32, M - i), 8);
  std::int64_t const scattered = up(M, 8) * up(N * e, 64);  // 8 rows by 4 vectors, an element of each vector a request

  int met = 0;
  for (auto const& entry : copy_kernels()) {
    std::string const name = entry.info().name;
    constexpr std::string_view vector_steps[] = {"transpose_07_vector_conflict", "transpose_08_vector_padded",
                                                 "transpose_09_vector_swizzled", "transpose_11_tma_store"};
    if (std::find(std::begin(vector_steps), std::end(vector_steps), name) == std::end(vector_steps)) continue;
    ++met;
    SCOPED_TRACE(name);
    Counts const c = replayed(entry, {M, N, 1, 0, gap_out}, e);
    if (name.starts_with("transpose_11")) {
      EXPECT_EQ(c.global_load, (Traffic{scattered, load_sectors(64)}));
      EXPECT_EQ(c.shared_store, (Traffic{scattered * 16 / e, up(M, 8) * N}));
      EXPECT_EQ(c.tma_store, (Traffic{up(M, tile) * up(N, tile), M * N * e}));
      continue;
    }
    EXPECT_EQ(c.global_load, (Traffic{requests, load_sectors(lanes * 16)}));
    EXPECT_EQ(c.shared_store, (Traffic{requests, M * quarters}));
    EXPECT_EQ(c.shared_load, (Traffic{N * up(M, 32), N * (name.starts_with("transpose_07") ? M : column)}));
  }
  EXPECT_EQ(met, 4);
}

}  // namespace
}  // namespace inlay::test
