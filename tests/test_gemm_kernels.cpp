// Every kernel of Gemm, replayed on the CPU over the corpus: all checks silent, and bit for bit the oracle's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <inlay/explain/explanation.h>
#include <inlay/model/cluster_times.h>
#include <inlay/model/mma_times.h>
#include <inlay/model/small_times.h>
#include <inlay/problem/batched_gemm.h>
#include <inlay/registry/number.h>
#include <inlay/registry/registry.h>
#include <inlay/registry/rounding.h>
#include "gemm_corpus.h"

namespace inlay::test {
namespace {
using namespace registry;
using replay::Finding;

// Replays one case; whether the kernel took it.
bool runs(Entry<Gemm> const& entry, GemmCase const& c, DType type, Compute compute, Numbers numbers = Numbers::whole) {
  SCOPED_TRACE(c.name() + " " + name_of(type));
  Recorder recorder;
  auto const buffer = [&](char const* name, Stored const& stored, unsigned seed) {
    return allocate_numbers(recorder, name, std::size_t(stored.elements(c.L)) + 16, type, seed, numbers);
  };
  void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
              *const D = buffer("D", stored_c(c), 3);
  std::size_t const elements = std::size_t(stored_c(c).elements(c.L)) + 16, bytes = std::size_t(bytes_of(type));
  if (c.beta == 0)
    for (std::size_t i = 0; i < elements; ++i) write_number(recorder.real(D) + i * bytes, type, NAN);
  Gemm const gemm = gemm_of(c, A, B, D, compute, type);
  if (Reason const why = entry.info().rejects(gemm, Device{})) {
    EXPECT_GT(why.sentence().size(), 20u);
    return false;
  }
  std::string const old(recorder.real(D), elements * bytes);
  std::size_t const workspace = entry.info().workspace(gemm, Device{});
  recorder.allocate_workspace(workspace);
  entry.replay(gemm, Device{}, recorder);
  EXPECT_GE(recorder.fma + recorder.mma_fma + recorder.wgmma_fma, gemm.elements() * gemm.K());
  if (workspace) {  // once more, on what the first run left there
    std::memcpy(recorder.real(D), old.data(), old.size());
    entry.replay(gemm, Device{}, recorder);
  }
  for (Finding const& f : recorder.findings) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
  return true;
}

// Kernels that take any epilogue: an f32 D, a C that is repeated, activations.
enum class AddedC { none, row, column, matrix };
bool runs_epilogue(Entry<Gemm> const& entry, GemmCase const& c, DType type_of_D, AddedC added, Activation activation,
                   Config const& config = {}, std::int64_t slice_K = 0) {
  SCOPED_TRACE(c.name() + " to " + name_of(type_of_D) + ", C " + std::to_string(int(added)) + ", " +
               name_of(activation));
  Recorder recorder;
  auto const buffer = [&](char const* name, Stored const& stored, DType type, unsigned seed) {
    return allocate_numbers(recorder, name, std::size_t(stored.elements(c.L)) + 16, type, seed, Numbers::significands);
  };
  void *const A = buffer("A", stored_a(c), bf16, 1), *const B = buffer("B", stored_b(c), bf16, 2),
              *const D = buffer("D", stored_c(c), type_of_D, 3), *const C = buffer("C", stored_c(c), type_of_D, 4);
  Tensor of_C = stored_c(c).view(C, c.L, type_of_D);
  int const m = of_C.rank - 2, n = of_C.rank - 1;
  if (added == AddedC::row) of_C.extent[m] = 1;
  if (added == AddedC::column) of_C.extent[n] = 1;
  ConstTensor const read = of_C;
  BatchedGemm batched = make_batched_gemm(stored_a(c).view(A, c.L, bf16), stored_b(c).view(B, c.L, bf16),
                                          stored_c(c).view(D, c.L, type_of_D), {.25f, -2, activation}, Compute::fp32,
                                          added == AddedC::none ? nullptr : &read);
  batched.gemm.slice_K = slice_K;
  if (entry.info().rejects(batched.gemm, Device{}, config)) return false;
  recorder.allocate_workspace(entry.info().workspace(batched.gemm, Device{}));
  entry.replay(batched.gemm, Device{}, recorder, config);
  for (Finding const& f : recorder.findings) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
  return true;
}
TEST(GemmKernels, AnyEpilogue) {
  for (auto const& entry : gemm_kernels()) {
    if (!entry.info().has_full_epilogue) continue;
    SCOPED_TRACE(entry.info().name);
    int ran = 0;
    for (GemmCase const& c :
         {GemmCase{72, 80, 24, 1, "nt"}, GemmCase{67, 83, 40, 2, "nn", 1, 0, 0, 5, 3, 0, 0, 1, false, false, 8}})
      for (DType type : {bf16, f32})
        for (auto const& [added, activation] : {std::pair{AddedC::none, Activation::relu},
                                                {AddedC::row, Activation::gelu_erf},
                                                {AddedC::column, Activation::silu},
                                                {AddedC::matrix, Activation::gelu_tanh},
                                                {AddedC::row, Activation::none}})
          ran += runs_epilogue(entry, c, type, added, activation);
    EXPECT_GE(ran, 10);
  }
}

// Blocks of a cluster add their slices of K, with a C of D's own, an activation, and a B that the batch shares.
TEST(GemmKernels, AnyEpilogueOfSlicesInACluster) {
  if (runs_quick_tests()) GTEST_SKIP();
  auto const& cluster = *std::ranges::find_if(
      gemm_kernels(), [](auto const& entry) { return entry.info().name == std::string("hgemm_cluster"); });
  int number = 0;
  for (int tile = 1; tile <= int(std::size(kClusterTiles)); ++tile)
    for (std::int64_t slice_K : {192, 320}) {
      GemmCase c{72, 136, 584, 2, "nt"};
      c.gap_c = number % 3 ? 0 : 3, c.one_b = true, c.gap_batch = 8;
      SCOPED_TRACE(kClusterTiles[tile - 1].label);
      EXPECT_TRUE(runs_epilogue(cluster, c, (number + number / 2) % 2 ? f32 : bf16,
                                std::array{AddedC::matrix, AddedC::row, AddedC::column}[std::size_t(number) % 3],
                                std::array{Activation::gelu_erf, Activation::relu, Activation::silu,
                                           Activation::none}[std::size_t(number) % 4],
                                {.tile = tile}, slice_K));
      ++number;
    }
}

// Every tile and cluster of the ring, for D and for its transpose: ragged, several tiles for a cluster, rows of D that
// TMA takes and others. Slices are multiplied by blocks that compute several tiles, and by clusters, on devices with
// few multiprocessors. Of the kernel that packs nothing, every tile and every cluster.
TEST(GemmKernels, SlicesOnFewMultiprocessors) {
  if (runs_quick_tests()) GTEST_SKIP();
  struct Named {
    char const* name;
    int tile;
  };
  std::vector<Named> all{{"sgemm_split_safe", 0}, {"sgemm_split_fast", 0}};
  for (int tile = 0; tile <= 16; ++tile) all.push_back({"sgemm_split_unpacked", tile});
  for (auto const& [name, tile] : all)
    for (int sm_count : {4, 2})
      for (GemmCase c : {GemmCase{264, 520, 136, 1, "nn", 2, 1}, GemmCase{264, 267, 72, 2, "tn", 1.5f, -1},
                         GemmCase{264, 267, 72, 2, "tn"}, GemmCase{135, 70, 77, 2, "nt"},
                         GemmCase{60, 70, 600, 3, "nt"}, GemmCase{60, 130, 290, 1, "tt"}}) {
        if ((tile > 0) != (c.K == 290) || (tile > 0 && sm_count == 2)) continue;
        if (!runs_long_tests() && (sm_count == 2 || tile % 3 == 2 || (tile == 0 && c.L == 1 && c.M > 200))) continue;
        auto const& entry =
            *std::ranges::find_if(gemm_kernels(), [&](auto const& e) { return e.info().name == std::string(name); });
        Device device;
        device.sm_count = sm_count;
        SCOPED_TRACE(c.name() + " " + name + " " + std::to_string(tile) + " on " + std::to_string(sm_count));
        Recorder recorder;
        auto const buffer = [&](char const* of, Stored const& stored, unsigned seed) {
          return allocate_numbers(recorder, of, std::size_t(stored.elements(c.L)), f32, seed);
        };
        void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
                    *const D = buffer("D", stored_c(c), 3);
        Gemm gemm = gemm_of(c, A, B, D, Compute::fp32, f32);
        Config const config{.tile = tile};
        Reason const reason = entry.info().rejects(gemm, device, config);
        ASSERT_FALSE(reason) << reason.sentence();
        recorder.allocate_workspace(entry.info().workspace(gemm, device));
        entry.replay(gemm, device, recorder, config);
        for (Finding const& f : recorder.findings) FAIL() << name_of(f.check) << ": " << f.sentence;
      }
}
// Replays a kernel on bf16 with one of its tiles; `transposes`: for the transpose of D. Returns the bytes of D.
std::string expect_right(char const* kernel, Config const& config, GemmCase const& c, bool transposes,
                         std::int64_t slice_K, DType type_of_D = bf16, Numbers numbers = Numbers::whole) {
  auto const& entry =
      *std::ranges::find_if(gemm_kernels(), [&](auto const& e) { return e.info().name == std::string(kernel); });
  Device device;
  device.sm_count = 4;
  Recorder recorder;
  auto const buffer = [&](char const* name, Stored const& stored, unsigned seed, DType type) {
    return allocate_numbers(recorder, name, std::size_t(stored.elements(c.L)), type, seed, numbers);
  };
  void *const A = buffer("A", stored_a(c), 1, bf16), *const B = buffer("B", stored_b(c), 2, bf16),
              *const D = buffer("D", stored_c(c), 3, type_of_D);
  if (numbers == Numbers::significands)  // of very different size, or few sums would be rounded
    for (auto const& [at, stored] : {std::pair{A, stored_a(c)}, {B, stored_b(c)}})
      for (std::int64_t i = 0; i < stored.elements(c.L); i += 3) {
        char* const x = recorder.real(at) + 2 * i;
        write_number(x, bf16, std::ldexp(read_number(x, bf16), -11));
      }
  Gemm gemm = gemm_of(c, A, B, D, Compute::fp32, bf16);
  gemm.D.type = type_of_D;
  if (transposes) gemm = gemm.transposed();
  gemm.slice_K = slice_K;
  if (Reason const reason = entry.info().rejects(gemm, device, config)) {
    ADD_FAILURE() << kernel << ": " << reason.sentence();
    return {};
  }
  entry.replay(gemm, device, recorder, config);
  for (Finding const& f : recorder.findings) ADD_FAILURE() << kernel << ", " << name_of(f.check) << ": " << f.sentence;
  return {recorder.real(D), std::size_t(stored_c(c).elements(c.L) * bytes_of(type_of_D))};
}
TEST(GemmKernels, EveryTileAndItsTranspose) {
  if (runs_quick_tests()) GTEST_SKIP();
  for (int tile = 1; tile <= int(std::size(kWgmmaTiles)); ++tile)
    for (bool transposes : {false, true})
      for (int i : {0, 1, 2}) {
        if (!runs_long_tests() && i != (tile + transposes) % 3) continue;
        GemmCase c =
            std::array{GemmCase{264, 520, 136}, GemmCase{520, 267, 64}, GemmCase{136, 72, 640, 2}}[std::size_t(i)];
        c.transposes = std::array{"nn", "nt", "tn", "tt"}[std::size_t(tile + transposes + i) % 4], c.gap_batch = 8;
        if (c.N % 8 && c.transposes != std::string_view("nt")) c.N = 272, c.gap_c = 3;  // rows of D that begin anywhere
        SCOPED_TRACE(c.name() + " " + kWgmmaTiles[tile - 1].label + (transposes ? ", transposed" : ""));
        expect_right("hgemm_10_narrow_tiles", {.tile = tile}, c, transposes, 0);
      }
}
// Tiles of fewer columns than their kernel's: several of them and one that D ends in, stored by TMA, in rows that it
// does not take, from registers (f32), and in a batch; D contiguous along m too.
TEST(GemmKernels, EveryNumberOfColumns) {
  if (runs_quick_tests()) GTEST_SKIP();
  int number = 0;
  auto const expect_right_in = [&](char const* kernel, int tile, int width, char const* label, int cluster_m) {
    for (int columns = width - kColumnStep; columns >= width - kFewerColumns; columns -= kColumnStep) {
      ++number;
      GemmCase c{128 * cluster_m + 40, 2 * columns + 8, 136, 1 + number % 5 / 4,
                 std::array{"nt", "nn", "tt", "tn"}[std::size_t(number) % 4]};
      c.gap_batch = 8, c.columns_c = number % 3 == 0;
      if (number % 7 == 3) c.gap_c = 3;
      SCOPED_TRACE(c.name() + " in tiles of " + std::to_string(columns) + " columns, " + label);
      expect_right(kernel, {.tile = tile, .columns = columns}, c, false, 0, number % 11 == 5 ? f32 : bf16);
    }
  };
  for (int tile = 1; auto const& t : kWgmmaTiles)
    expect_right_in("hgemm_10_narrow_tiles", tile++, t.width, t.label, t.cluster.m);
  for (int tile = 1; auto const& t : kClusterTiles) {
    if (t.columns >= 64) expect_right_in("hgemm_cluster", tile, t.columns, t.label, 1);
    ++tile;
  }
}
// Slices of K that the blocks of a cluster add; rows of D that begin anywhere; old elements of D; D in f32.
TEST(GemmKernels, EveryTileOfACluster) {
  if (runs_quick_tests()) GTEST_SKIP();
  int number = 0;
  for (int tile = 1; tile <= int(std::size(kClusterTiles)); ++tile)
    for (bool transposes : {false, true})
      for (auto const& [K, slice_K] : {std::pair{136, 0}, {776, 0}, {136, 128}, {640, 192}, {1000, 128}}) {
        ++number;
        if (!runs_long_tests() && number % 3 != tile % 3) continue;
        GemmCase c{72, 200, K, 1 + number % 2, "nt"};
        bool const is_narrow = kClusterTiles[tile - 1].columns < 64;
        if (!is_narrow) c.transposes = std::array{"nn", "nt", "tn", "tt"}[std::size_t(number) % 4];
        if (number % 4 == 1) c.alpha = 2, c.beta = -1;
        if (number % 5 < 2) c.gap_c = 3, c.base_c = number % 3 ? 1 : 0;
        c.columns_c = number % 7 == 1, c.gap_batch = 8;
        SCOPED_TRACE(c.name() + " in slices of " + std::to_string(slice_K) + ", " + kClusterTiles[tile - 1].label);
        expect_right("hgemm_cluster", {.tile = tile}, c, transposes, slice_K, number % 3 ? bf16 : f32);
      }
}

// Both tiles by mma.sync, for all majors: whole vectors, parts of them along K or across it, operands that begin
// anywhere; as many stages as there are, and more.
TEST(GemmKernels, EveryTileOfMma) {
  if (runs_quick_tests()) GTEST_SKIP();
  int number = 0;
  for (int tile = 1; tile <= int(std::size(kMmaTiles)); ++tile)
    for (char const* transposes : {"nn", "nt", "tn", "tt"})
      for (int K : {1, 8, 36, 64, 200}) {
        ++number;
        GemmCase c{number % 2 ? 72 : 67, number % 3 ? 136 : 139, K, 1 + number % 2, transposes};
        if (number % 4 == 1) c.alpha = 2, c.beta = -1;
        if (number % 5 < 2) c.gap_c = 3, c.base_c = number % 3 ? 1 : 0;
        c.columns_c = number % 7 == 1, c.gap_batch = number % 3 ? 8 : 1;
        SCOPED_TRACE(c.name() + ", " + std::to_string(kMmaTiles[tile - 1].size));
        expect_right("hgemm_mma", {.tile = tile}, c, false, 0, number % 3 ? bf16 : f32);
      }
}

// Both tiles of small matrices: more and fewer of them than a block multiplies, operands in vectors of 8, 4 and 2
// elements and in single ones, D along either mode, stored in quads, in one run and in rows.
TEST(GemmKernels, EveryTileOfSmallMatrices) {
  int number = 0;
  for (int tile = 1; tile <= int(std::size(kSmallTiles)); ++tile)
    for (char const* transposes : {"nn", "nt", "tn", "tt"})
      for (int K : {1, 16, 20, 24, 49, 50, 64, 200}) {
        ++number;
        GemmCase c{std::array{49, 36, 54, 80, 16}[std::size_t(number) % 5],
                   std::array{33, 96, 29, 70, 24, 72, 48}[std::size_t(number) % 7], K, 1 + number % 6, transposes};
        if (number % 4 == 1) c.alpha = 2, c.beta = -1;
        if (number % 5 < 2) c.gap_c = 3, c.base_c = number % 3 ? 1 : 0;
        c.columns_c = number % 7 < 2, c.gap_batch = number % 3 ? 8 : 1;
        SCOPED_TRACE(c.name() + ", " + std::to_string(kSmallTiles[tile - 1].size));
        expect_right("hgemm_small", {.tile = tile}, c, false, 0, number % 6 ? bf16 : f32);
      }
}

// The kernels by mma.sync, in each of their tiles: the same bits, for sums that are rounded.
TEST(GemmKernels, EveryKernelOfMmaSyncAddsInTheSameOrder) {
  for (GemmCase c : {GemmCase{49, 33, 49, 2}, GemmCase{40, 72, 136}})
    for (char const* transposes : {"nn", "nt", "tn", "tt"}) {
      c.transposes = transposes, c.alpha = 1.3f, c.beta = -.7f;
      SCOPED_TRACE(c.name());
      auto const bits = [&](char const* kernel, int tile) {
        return expect_right(kernel, {.tile = tile}, c, false, 0, f32, Numbers::significands);
      };
      std::string const expected = bits("hgemm_simple", 0);
      for (char const* kernel : {"hgemm_mma", "hgemm_small"})
        for (int tile : {1, 2}) EXPECT_TRUE(bits(kernel, tile) == expected) << kernel << ", tile " << tile;
    }
}

// What would not fit its 31-bit counters, and a K that it is not made for.
TEST(GemmKernels, SmallMatricesAreSmallAndCounted) {
  auto const& entry = *std::ranges::find_if(
      gemm_kernels(), [](auto const& entry) { return entry.info().name == std::string("hgemm_small"); });
  auto const sentence = [&](std::int64_t M, std::int64_t N, std::int64_t K, std::int64_t matrices, int tile) {
    auto* const base = reinterpret_cast<void*>(4096);
    Gemm g =
        problem::make_gemm(matrix(base, bf16, M, K), matrix(base, bf16, K, N),
                           matrix(static_cast<char*>(base) + (std::int64_t(1) << 50), bf16, M, N), {}, Compute::fp32);
    for (Operand* o : {&g.A, &g.B, &g.D}) o->matrices = matrices, o->batch_stride = o->rows * o->cols;
    return entry.info().rejects(g, Device{}, {.tile = tile}).sentence();
  };
  for (int tile : {1, 2}) {
    EXPECT_EQ(sentence(16, 16, 256, 1000, tile), "");
    EXPECT_EQ(sentence(16, 16, 257, 1, tile), "K is 257, more than the 256 of small matrices");
    EXPECT_EQ(sentence(1, std::int64_t(1) << 31, 8, 1, tile), "M 1 or N 2147483648 is more than 31 bits count");
    int const of_block = tile == 1 ? 4 : 1;
    EXPECT_EQ(sentence(1, 1, 1, INT32_MAX - of_block, tile), "");
    EXPECT_EQ(sentence(1, 1, 1, INT32_MAX, tile), "1 x 1 tiles in 2147483647 matrices are more than 31 bits count");
  }
}

constexpr DType kTypes[] = {f32, bf16, f16};
// The cases with elements that each kernel runs at least, in each type that it takes: else the corpus does not test it.
constexpr int kFewest = 6;

class GemmKernels : public testing::TestWithParam<int> {};

TEST_P(GemmKernels, ReplayIsRight) {
  auto const& entry = gemm_kernels()[std::size_t(GetParam())];
  int types = 0;
  for (DType type : kTypes) {
    int ran = 0;
    for (GemmCase const& c : gemm_corpus_of(entry.info().name, GetParam())) {
      ran += runs(entry, c, type, Compute::fp32) && c.M * c.N > 0;
      if (type == f32 && c.K >= 64) runs(entry, c, type, Compute::fp32_blocked);  // has accumulations to end
      if (HasFailure()) return;
    }
    EXPECT_TRUE(ran == 0 || ran >= kFewest / share_of_cases(entry.info().name)) << ran << " of " << name_of(type);
    types += ran > 0;
  }
  EXPECT_GE(types, runs_quick_tests() ? 0 : 1);
}

// Whole numbers are exact in TF32 too; of significands the last bit counts.
TEST_P(GemmKernels, RoundsAsItsType) {
  if (runs_quick_tests()) GTEST_SKIP();
  auto const& entry = gemm_kernels()[std::size_t(GetParam())];
  int ran = 0, number = 0;
  for (DType type : kTypes) {
    int long_runs = 0;
    for (char const* transposes : {"nn", "nt", "tn", "tt"}) {
      ++number;
      for (GemmCase const& c : {GemmCase{40, 36, 700, 1, transposes, 1.3f, -.7f},
                                GemmCase{40, 36, 704, 1, transposes, 1.3f, -.7f}, GemmCase{1, 3, 5, 2, transposes},
                                GemmCase{6, 7, 200, 3, transposes, 1.3f, -.7f, 0, 0, 0, 0, 0, 0, false, false, 0}})
        for (Compute compute : {Compute::fp32, Compute::fp32_blocked}) {
          GemmCase tried = shortened(c, entry.info().name);
          if (!runs_long_tests() && c.K >= 700) {
            // With one pair of transposes of each type, and with the next pair with the next kernel; of both K only
            // one; as long as this if K is split.
            if (long_runs && number % 4 != GetParam() % 4) continue;
            if (c.K == (number % 2 ? 704 : 700)) continue;
            if (!entry.info().split) tried.K = 256 + c.K % 8;
          }
          if (type != f32 && compute != Compute::fp32) continue;
          bool const taken = runs(entry, tried, type, compute, Numbers::significands);
          ran += taken, long_runs += taken && c.K >= 700;
        }
    }
  }
  EXPECT_GE(ran, runs_long_tests() ? 2 : 1);
}

// The error, relative in the Frobenius norm, on significands times 2^exponent.
double error_of_slices(Entry<Gemm> const& entry, int exponent_A, int exponent_B) {
  GemmCase const c{20, 24, 64, 1, "nt"};
  Recorder recorder;
  auto const buffer = [&](char const* name, Stored const& stored, unsigned seed, int exponent) {
    auto const elements = std::size_t(stored.elements(c.L));
    void* const address = allocate_numbers(recorder, name, elements, f32, seed, Numbers::significands);
    auto* const x = reinterpret_cast<float*>(recorder.real(address));
    for (std::size_t i = 0; i < elements; ++i) x[i] = std::ldexp(x[i], exponent);
    return address;
  };
  void *const A = buffer("A", stored_a(c), 1, exponent_A), *const B = buffer("B", stored_b(c), 2, exponent_B),
              *const D = buffer("D", stored_c(c), 3, 0);
  Gemm const gemm = gemm_of(c, A, B, D);
  entry.replay(gemm, Device{}, recorder);
  for (Finding const& f : recorder.findings)
    if (f.check != replay::Check::result) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
  auto const number = [&](Operand const& o, std::int64_t i, std::int64_t j) {
    float x;
    std::memcpy(&x, recorder.real(o.as<float>() + (i * o.row_stride + j * o.col_stride)), sizeof x);
    return double(x);
  };
  double errors = 0, sums = 0;
  for (std::int64_t m = 0; m < c.M; ++m)
    for (std::int64_t n = 0; n < c.N; ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < c.K; ++k) sum += number(gemm.A, m, k) * number(gemm.B, n, k);
      double const error = number(gemm.D, m, n) - sum;
      errors += error * error, sums += sum * sum;
    }
  return std::sqrt(errors / sums);
}
// What each step of the ladder of slices adds: as accurate as fp32 on these numbers, or not.
TEST(SlicesOfFp32, NumbersThatEachStepTakes) {
  struct {
    int exponent_A, exponent_B, first_step;
  } const numbers[] = {
      {0, 0, 1},      {-7, -7, 3},  // lo is a subnormal number of f16
      {-7, 4, 3},     {-30, 0, 4},  // hi is 0
      {20, 0, 4},                   // hi is infinite
      {-120, 100, 4}, {127, -126, 4}, {-125, 60, 4},
  };
  for (auto const& entry : gemm_kernels()) {
    if (entry.info().ladder != model::Ladder::sgemm_tc) continue;
    int const step = std::stoi(std::string(entry.info().name).substr(9, 2));
    for (auto const& [exponent_A, exponent_B, first_step] : numbers) {
      SCOPED_TRACE(std::string(entry.info().name) + ", 2^" + std::to_string(exponent_A) + " and 2^" +
                   std::to_string(exponent_B));
      double const error = error_of_slices(entry, exponent_A, exponent_B);
      if (step >= first_step)
        EXPECT_LT(error, 2e-7);
      else
        EXPECT_FALSE(error < 1e-6) << error;  // or NaN
    }
  }
}

TEST(ThinGemm, RowsAndSumsBeyondTilesAndStages) {
  auto const thin = std::ranges::find_if(
      gemm_kernels(), [](auto const& entry) { return entry.info().name == std::string("sgemm_thin"); });
  for (GemmCase const& c : thin_corpus()) EXPECT_TRUE(runs(*thin, c, f32, Compute::fp32));
}

// The sum of a split K: slices in ascending k, then the slices of a group, then the groups.
float sum_of_slices(std::vector<float> const& a, std::vector<float> const& b, std::int64_t slice,
                    std::int64_t elements) {
  auto const K = std::int64_t(a.size());
  int const slices = int((K + slice - 1) / slice), groups = groups_of_slices(slices, elements),
            share = (slices + groups - 1) / groups;
  float total = 0;
  for (int group = 0; group < groups; ++group) {
    float sum = 0;
    for (std::int64_t s = group * share; s < std::min((group + 1) * share, slices); ++s) {
      float acc = 0;
      for (std::int64_t k = s * slice; k < std::min((s + 1) * slice, K); ++k)
        acc += a[std::size_t(k)] * b[std::size_t(k)];  // not fused: the replay multiplies like the CPU
      sum += acc;
    }
    total += sum;
  }
  return total;
}
TEST(SlicesGemm, SumsAsSlicesInOtherBlocks) {
  auto const slices = std::ranges::find_if(
      gemm_kernels(), [](auto const& entry) { return entry.info().name == std::string("sgemm_slices_64x64"); });
  for (char const* transposes : {"nn", "nt", "tn", "tt"})
    for (auto const& [K, slice] : {std::pair{100, 24}, {96, 32}, {133, 8}, {2083, 8}, {40, 0}}) {
      if (K > 2000 && transposes != std::string_view("nn") && !runs_long_tests()) continue;
      GemmCase const c{37, 41, K, 2, transposes, 1.3f, -.7f};
      SCOPED_TRACE(c.name() + ", slices of " + std::to_string(slice));
      Recorder recorder;
      auto const buffer = [&](char const* name, Stored const& stored, unsigned seed) {
        return allocate_numbers(recorder, name, std::size_t(stored.elements(c.L)) + 16, f32, seed,
                                Numbers::significands);
      };
      void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
                  *const D = buffer("D", stored_c(c), 3);
      Gemm gemm = gemm_of(c, A, B, D, Compute::fp32, f32);
      gemm.slice_K = slice;
      auto const number = [&](Operand const& o, std::int64_t l, std::int64_t i, std::int64_t j) {
        float x;
        std::memcpy(&x, recorder.real(o.as<float>() + (l * o.batch_stride + i * o.row_stride + j * o.col_stride)), 4);
        return x;
      };
      std::vector<float> expected;
      for (std::int64_t l = 0; l < gemm.L(); ++l)
        for (std::int64_t m = 0; m < gemm.M(); ++m)
          for (std::int64_t n = 0; n < gemm.N(); ++n) {
            std::vector<float> a, b;
            for (std::int64_t k = 0; k < K; ++k)
              a.push_back(number(gemm.A, l, m, k)), b.push_back(number(gemm.B, l, n, k));
            float const sum = sum_of_slices(a, b, slice ? slice : K, gemm.M() * gemm.N());
            expected.push_back(std::fma(c.alpha, sum, c.beta * number(gemm.D, l, m, n)));
          }
      slices->replay(gemm, Device{}, recorder);
      for (Finding const& f : recorder.findings) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
      std::size_t at = 0;
      for (std::int64_t l = 0; l < gemm.L(); ++l)
        for (std::int64_t m = 0; m < gemm.M(); ++m)
          for (std::int64_t n = 0; n < gemm.N(); ++n)
            ASSERT_EQ(number(gemm.D, l, m, n), expected[at++]) << m << ", " << n;
    }
}

INSTANTIATE_TEST_SUITE_P(Ladder, GemmKernels, testing::Range(0, int(gemm_kernels().size())), [](auto const& info) {
  return std::string(gemm_kernels()[std::size_t(info.param)].info().name);
});

}  // namespace
}  // namespace inlay::test
