// GEMMs on the device: every kernel and gemm() itself, small integers compared bit for bit; then what numbers can
// do: NaN, infinities, rounding, and the same bits every time.
#include <algorithm>
#include <atomic>

#include <inlay/planner/candidate.h>
#include <inlay/registry/registry.h>
#include <inlay/tuning.h>
#include "gemm_gpu.h"

namespace inlay::test {
namespace {
using namespace planner;
using namespace registry;

// gemm() with and without a workspace: how many bytes of C's buffer are wrong.
std::size_t wrong_bytes_of_gemm(GemmOnDevice const& g, cudaStream_t stream = nullptr) {
  Workspace const workspace(g);
  std::size_t wrong = 0;
  for (GemmOptions const& options : {GemmOptions{}, workspace.options}) {
    g.reset();
    g.multiply(stream, options);
    check(cudaStreamSynchronize(stream));
    wrong += g.wrong_bytes();
  }
  return wrong;
}
// Bytes: C's, and what lies between its elements.
std::vector<char> bytes_of_gemm(GemmOnDevice const& g, GemmOptions const& options = {}, cudaStream_t stream = nullptr) {
  g.reset();
  g.multiply(stream, options);
  check(cudaStreamSynchronize(stream));
  return g.bytes();
}
constexpr DType kTypes[] = {f32, bf16, f16};
// Types of A and B, and of D.
constexpr std::pair<DType, DType> kTypePairs[] = {{f32, f32}, {bf16, bf16}, {f16, f16}, {bf16, f32}, {f16, f32}};
GemmCase square(std::int64_t n, char const* transposes) { return {n, n, n, 1, transposes, 2, -1}; }

// ---- integers: bit for bit
class GpuGemmKernels : public testing::TestWithParam<int> {};

TEST_P(GpuGemmKernels, MultiplyTheCorpus) {
  NEEDS_GPU();
  Info<Gemm> const& kernel = *gemm_kernels()[std::size_t(GetParam())].kernel;
  int ran = 0;
  for (auto const& [type, type_of_D] : kTypePairs)
    for (GemmCase const& c : gemm_corpus()) {
      SCOPED_TRACE(c.name() + " " + name_of(type) + " to " + name_of(type_of_D));
      GemmOnDevice const here(c, integers, type, type_of_D);
      Gemm const problem = here.problem();
      bool const rejected = bool(kernel.rejects(problem, current_device()));
      EXPECT_EQ(rejected, bool(kernel.rejects(problem, Device{})));  // the H200 of the CPU's tests
      if (rejected) continue;
      Workspace const workspace(kernel.workspace(problem, current_device()));
      kernel.run(problem, current_device(), workspace.options.workspace, nullptr);
      check(cudaDeviceSynchronize());
      EXPECT_EQ(here.wrong_bytes(), 0u);
      ran += c.M * c.N > 0;
      if (problem.elements() == 0) continue;
      // What a plan keeps of it, at other addresses.
      GemmOnDevice const there(c, integers, type, type_of_D);
      void* const workspace_address = workspace.options.workspace;
      model::BaseAddresses places = model::base_addresses_of(there.problem());
      places.set(model::kWorkspaceRegion, workspace_address);
      auto const made = kernel.make(problem, current_device(), workspace_address != nullptr);
      ASSERT_TRUE(made);
      made->run(places, nullptr);
      check(cudaDeviceSynchronize());
      EXPECT_EQ(there.wrong_bytes(), 0u) << "made for other addresses";
    }
  EXPECT_GE(ran, 6);
}
// TF32 and bf16 would multiply the integers as well.
TEST_P(GpuGemmKernels, RoundsAsItsType) {
  NEEDS_GPU();
  Info<Gemm> const& kernel = *gemm_kernels()[std::size_t(GetParam())].kernel;
  int ran = 0;
  for (DType type : kTypes)
    for (char const* transposes : kTransposes)
      for (GemmCase const& c : {GemmCase{96, 80, 36, 1, transposes}, GemmCase{96, 80, 40, 1, transposes},
                                GemmCase{96, 80, 1000, 1, transposes}, GemmCase{96, 80, 16384, 1, transposes},
                                GemmCase{200, 3, 16384, 1, transposes},
                                GemmCase{9, 8, 100, 50, transposes, 1, 0, 0, 0, 0, 0, 0, 0, false, false, 0}}) {
        SCOPED_TRACE(c.name() + " " + name_of(type));
        GemmOnDevice const here(c, significands, type);
        Gemm const problem = here.problem();
        if (kernel.rejects(problem, current_device())) continue;
        Workspace const workspace(kernel.workspace(problem, current_device()));
        kernel.run(problem, current_device(), workspace.options.workspace, nullptr);
        check(cudaDeviceSynchronize());
        RoundedSum const sum{c.K, kernel.accumulation_length, 1, 0, type, kernel.truncates};
        EXPECT_LE(here.error().absolute, error_bound(sum, c.M * c.N * c.L));
        ++ran;
      }
  EXPECT_GE(ran, 3);
}
INSTANTIATE_TEST_SUITE_P(Ladder, GpuGemmKernels, testing::Range(0, int(gemm_kernels().size())), [](auto const& info) {
  return std::string(gemm_kernels()[std::size_t(info.param)].info().name);
});

TEST(GpuGemm, MultipliesTheCorpus) {
  NEEDS_GPU();
  for (auto const& [type, type_of_D] : kTypePairs) {
    SCOPED_TRACE(std::string(name_of(type)) + " to " + name_of(type_of_D));
    for (GemmCase const& c : gemm_corpus())
      EXPECT_EQ(wrong_bytes_of_gemm(GemmOnDevice(c, integers, type, type_of_D)), 0u) << c.name();
    for (GemmCase const& c : thin_corpus())
      EXPECT_EQ(wrong_bytes_of_gemm(GemmOnDevice(c, integers, type, type_of_D)), 0u) << c.name();
  }
}
// The naive kernel takes any operand, and so shows what packing does to them.
TEST(GpuGemm, MultipliesPackedOperands) {
  NEEDS_GPU();
  Info<Gemm> const& naive = *std::find_if(gemm_kernels().begin(), gemm_kernels().end(), [](auto const& entry) {
                               return entry.info().name == std::string("sgemm_01_naive");
                             })->kernel;
  Info<Gemm> timed = naive;  // the planner takes none without a predicted time
  timed.seconds = [](Gemm const&, Device const&) { return 1e-6; };
  for (auto lies : {planner::Layout::aligned, planner::Layout::aligned_mn}) {
    Candidate<Gemm> const packing[] = {{.kernel = &timed, .a = lies, .b = lies}};
    std::span<Candidate<Gemm> const> const rows = packing;
    int packed = 0;
    for (GemmCase const& c : gemm_corpus()) {
      GemmOnDevice const here(c);
      planner::Plan const plan = make_plan(here.problem(), current_device(), true, rows);
      if (plan.candidate < 0) continue;
      packed += (plan.find<Copy>(0) != nullptr) + (plan.find<Copy>(1) != nullptr);
      Workspace const workspace(plan.workspace_bytes);
      run(plan, current_device(), {{here.A().data, here.B().data, here.C().data}, workspace.options.workspace},
          nullptr);
      check(cudaDeviceSynchronize());
      EXPECT_EQ(here.wrong_bytes(), 0u) << c.name();
    }
    EXPECT_GT(packed, 10);
  }
}
TEST(GpuGemm, EverySizeTo130) {
  NEEDS_GPU();
  for (int dimension = 0; dimension < 3; ++dimension)
    for (std::int64_t n = 1; n <= 130; ++n)
      for (char const* transposes : kTransposes) {
        std::int64_t size[] = {67, 131, 45};
        size[dimension] = n;
        auto const [M, N, K] = size;
        GemmCase const c{M, N, K, 1, transposes, 2, float(n % 2), n % 3, n % 5, n % 7};
        for (DType type : {f32, n % 2 ? bf16 : f16})
          EXPECT_EQ(wrong_bytes_of_gemm(GemmOnDevice(c, integers, type)), 0u) << c.name() << " " << name_of(type);
      }
}
// What the tiles of a single wave do not meet: several waves, split sums, skinny and deep shapes, batches.
TEST(GpuGemm, LargerShapes) {
  NEEDS_GPU();
  for (char const* transposes : kTransposes)
    for (GemmCase const& c :
         {GemmCase{1024, 1024, 1024, 1, transposes, 3, 2}, GemmCase{2048, 2048, 1024, 1, transposes},
          GemmCase{2047, 1999, 1023, 1, transposes, 1, 1}, GemmCase{128, 4096, 2048, 1, transposes},
          GemmCase{4096, 16, 2048, 1, transposes}, GemmCase{64, 64, 1 << 16, 1, transposes},
          GemmCase{3, 5, 70000, 1, transposes}, GemmCase{256, 256, 256, 16, transposes},
          GemmCase{80, 520, 9000, 2, transposes, 2, -1}, GemmCase{133, 201, 4100, 1, transposes, 1, 1, 3, 5, 7}})
      for (auto const& [type, type_of_D] : {std::pair{f32, f32}, {bf16, bf16}, {f16, f32}})
        EXPECT_EQ(wrong_bytes_of_gemm(GemmOnDevice(c, integers, type, type_of_D)), 0u)
            << c.name() << " " << name_of(type) << " to " << name_of(type_of_D);
}
// Packed operands, and results whose rows begin anywhere.
// Every tile, for D and for its transpose, with K in slices and not, packed and not.
TEST(GpuGemm, EveryCandidateOfHalves) {
  NEEDS_GPU();
  for (Candidate<Gemm> const& row : planner::candidates<Gemm>()) {
    if (row.tile == 0 || row.sums != planner::Sums::wgmma || row.for_groups) continue;
    int ran = 0;
    for (GemmCase c : {GemmCase{520, 264, 136}, GemmCase{136, 72, 2048, 2}, GemmCase{1300, 1100, 200},
                       GemmCase{263, 521, 129, 1, "nn", 2, -1, 1, 3, 5, 1, 0, 1}, GemmCase{2048, 2056, 64}})
      for (char const* transposes : kTransposes) {
        c.transposes = transposes;
        GemmOnDevice const here(c, integers, bf16);
        planner::Plan const plan = make_plan(here.problem(), current_device(), true, std::span(&row, 1));
        if (plan.candidate != 0) continue;  // more slices than a cluster has blocks, or a narrow tile
        ++ran;
        Workspace const workspace(plan.workspace_bytes);
        run(plan, current_device(), {{here.A().data, here.B().data, here.C().data}, workspace.options.workspace},
            nullptr);
        check(cudaDeviceSynchronize());
        EXPECT_EQ(here.wrong_bytes(), 0u) << c.name() << ", " << row.label;
      }
    EXPECT_GE(ran, row.kernel->adds_slices ? 5 : 20) << row.label;
  }
}
// Expects the same bits of every candidate that adds in this order and takes c. Returns their number.
int expect_same_bits(planner::Sums sums, GemmCase const& c) {
  std::vector<char> expected;
  int ran = 0;
  for (Candidate<Gemm> const& row : planner::candidates<Gemm>()) {
    if (row.sums != sums || row.for_groups) continue;
    GemmOnDevice const here(c, normal, bf16);
    planner::Plan const plan = make_plan(here.problem(), current_device(), true, std::span(&row, 1));
    if (plan.candidate != 0) continue;
    Workspace const workspace(plan.workspace_bytes);
    run(plan, current_device(), {{here.A().data, here.B().data, here.C().data}, workspace.options.workspace}, nullptr);
    check(cudaDeviceSynchronize());
    std::vector<float> const found = here.elements();
    std::vector<char> const bytes(reinterpret_cast<char const*>(found.data()),
                                  reinterpret_cast<char const*>(found.data() + found.size()));
    if (ran++ == 0) expected = bytes;
    EXPECT_TRUE(bytes == expected) << c.name() << ", " << row.kernel->name << " " << row.label;
  }
  return ran;
}
// K in slices whose sums go to the workspace, and in slices that a cluster adds: the same bits, with any tile.
TEST(GpuGemm, EveryTileAddsInTheSameOrder) {
  NEEDS_GPU();
  for (GemmCase c : {GemmCase{136, 72, 2048, 2}, GemmCase{64, 520, 4096}, GemmCase{256, 264, 1032},
                     GemmCase{16, 2048, 2048}, GemmCase{512, 512, 512}})
    for (char const* transposes : kTransposes) {
      c.transposes = transposes, c.alpha = 1.3f, c.beta = -.7f, c.gap_batch = 8;
      EXPECT_GT(expect_same_bits(planner::Sums::wgmma, c), 18) << c.name();
    }
}
// By mma.sync: both tiles of hgemm_mma and of hgemm_small, and hgemm_simple.
TEST(GpuGemm, EveryKernelOfMmaSyncAddsInTheSameOrder) {
  NEEDS_GPU();
  for (GemmCase c : {GemmCase{136, 72, 256, 2}, GemmCase{49, 33, 49, 5}, GemmCase{100, 100, 100, 3},
                     GemmCase{16, 16, 16, 9}, GemmCase{77, 129, 130}})
    for (char const* transposes : kTransposes) {
      c.transposes = transposes, c.alpha = 1.3f, c.beta = -.7f;
      EXPECT_EQ(expect_same_bits(planner::Sums::mma_sync, c), 5) << c.name();
    }
}
TEST(GpuGemm, HalvesOfAnyPitch) {
  NEEDS_GPU();
  for (char const* transposes : kTransposes)
    for (DType type : {bf16, f16})
      for (std::int64_t gap : {0, 1, 2, 4, 7, 8, 24})
        for (std::int64_t base : {0, 1, 3, 8}) {
          GemmCase const c{300, 513 - gap, 257, 2, transposes, 1, -1, gap, gap, gap, base, base, base};
          EXPECT_EQ(wrong_bytes_of_gemm(GemmOnDevice(c, integers, type)), 0u) << c.name() << " " << name_of(type);
        }
}
// C's that a kernel for rows along n does not know, and operands that go backwards or stand still.
TEST(GpuGemm, AnyStrides) {
  NEEDS_GPU();
  std::int64_t const L = 3, M = 40, N = 50, K = 60;
  auto const floats = [](std::int64_t base, std::initializer_list<std::int64_t> extents,
                         std::initializer_list<std::int64_t> strides) {
    Tensor t = view(reinterpret_cast<void*>(4 * base), 4, extents, strides);
    t.dtype = f32;
    return t;
  };
  GemmCase const plain{M, N, K, L};
  Tensor const A = stored_a(plain).view(nullptr, L), B = stored_b(plain).view(nullptr, L),
               C = stored_c(plain).view(nullptr, L);
  for (Tensor const& c :
       {floats(0, {L, M, N}, {7000, 130, 2}), floats(0, {L, M, N}, {1, 3 * N, 3}),
        floats(M * N - N, {L, M, N}, {M * N, -N, 1}), floats(L * M * N - 1, {L, M, N}, {-M * N, -N, -1})})
    EXPECT_EQ(wrong_bytes_of_gemm({2, A, B, -1, c}), 0u);
  for (Tensor const& a :
       {floats(0, {L, M, K}, {0, K, 1}), floats(0, {L, M, K}, {0, 1, M}), floats(5, {L, M, K}, {0, 0, 0}),
        floats(0, {L, M, K}, {8000, 2, 130}), floats(M * K - 1, {L, M, K}, {0, -K, -1}),
        floats(0, {L, M, K}, {4, 4, 1})})  // the last one's rows overlap
    EXPECT_EQ(wrong_bytes_of_gemm({2, a, B, -1, C}), 0u);
  for (Tensor const& b :
       {floats(0, {L, K, N}, {0, N, 1}), floats(0, {L, K, N}, {0, 1, K}), floats(5, {L, K, N}, {0, 0, 0}),
        floats(0, {L, K, N}, {8000, 130, 2}), floats(K * N - 1, {L, K, N}, {0, -N, -1})})
    EXPECT_EQ(wrong_bytes_of_gemm({2, A, b, -1, C}), 0u);
}
TEST(GpuGemm, ADeepSumOfAFewElements) {
  NEEDS_GPU();
  EXPECT_EQ(wrong_bytes_of_gemm(GemmOnDevice(GemmCase{3, 2, 1000001})), 0u);
}
TEST(GpuGemm, EightThreadsAtOnce) {
  NEEDS_GPU();
  std::atomic<std::size_t> wrong = 0, finished = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Stream const stream;
      for (int i = 0; i < 20; ++i)
        for (std::int64_t n : {100 + t, 256, 301 + i})
          wrong += wrong_bytes_of_gemm(GemmOnDevice(square(n, kTransposes[(t + i) % 4])), stream.id);
      ++finished;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(finished, 8u);
  EXPECT_EQ(wrong, 0u);
}

// ---- NaN and infinities
// How many elements of C differ from the reference, a NaN being equal to every other.
std::size_t differing(GemmOnDevice const& g, GemmOptions const& options = {}) {
  g.reset();
  g.multiply(nullptr, options);
  check(cudaDeviceSynchronize());
  std::vector<float> const got = g.elements();
  std::vector<double> const& reference = g.reference();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    wrong += std::isnan(reference[i]) ? !std::isnan(got[i]) : !(got[i] == float(reference[i]));
  return wrong;
}
TEST(GpuGemm, NanAndInfinityGoWhereTheyBelong) {
  NEEDS_GPU();
  float const nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (std::int64_t n : {1, 5, 64, 131, 300})
    for (char const* transposes : kTransposes)
      for (float value : {nan, inf, -inf})
        for (std::int64_t at : {std::int64_t(0), n / 2, n - 1})
          for (int operand : {0, 1, 2}) {  // a row of C, a column, an element; the edges' padding is no part of any
            GemmOnDevice here(square(n, transposes));
            here.set(operand, at, n - 1 - at, value);
            Workspace const workspace(here);
            EXPECT_EQ(differing(here), 0u) << n << " " << transposes << " operand " << operand << " " << value;
            EXPECT_EQ(differing(here, workspace.options), 0u)
                << n << " " << transposes << " operand " << operand << " " << value;
          }
}
TEST(GpuGemm, ARowOfNanIsExactlyARow) {
  NEEDS_GPU();
  GemmOnDevice here(square(200, "nn"));
  here.set(0, 130, 7, std::numeric_limits<float>::quiet_NaN());
  here.multiply();
  check(cudaDeviceSynchronize());
  std::vector<float> const got = here.elements();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(std::isnan(got[i]), i / 200 == 130) << i;
}
TEST(GpuGemm, ScalarsAsInBlas) {
  NEEDS_GPU();
  float const nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (std::int64_t K : {0, 1, 70})
    for (float alpha : {0.f, 1.f, -2.f, nan, inf})
      for (float beta : {0.f, 1.f, -2.f, nan, inf}) {  // beta 0: C is full of NaN
        GemmOnDevice here(GemmCase{33, 65, K, 2, "nn", alpha, beta});
        if (alpha == 0 && K) here.set(0, 0, 0, nan), here.set(1, 0, 0, nan);  // never read
        Workspace const workspace(here);
        EXPECT_EQ(differing(here), 0u) << "K " << K << ", alpha " << alpha << ", beta " << beta;
        EXPECT_EQ(differing(here, workspace.options), 0u) << "K " << K << ", alpha " << alpha << ", beta " << beta;
      }
}
TEST(GpuGemm, WhatIsNotReadMayBeNull) {
  NEEDS_GPU();
  GemmOnDevice const here(GemmCase{33, 65, 70, 1, "nn", 0, 3});
  auto const null = [](Tensor t) { return t.data = nullptr, t; };
  gemm(null(here.A()), null(here.B()), here.C(), {.alpha = 0, .beta = 3});
  check(cudaDeviceSynchronize());
  EXPECT_EQ(here.wrong_bytes(), 0u);
}

// ---- the same bits
TEST(GpuGemm, TheSameBitsOnEveryRunAndStream) {
  NEEDS_GPU();
  GemmOnDevice const busy_with(square(1500, "nt"), normal);
  Stream const busy[3], stream;
  for (std::int64_t n : {100, 513, 1000, 2048})
    for (char const* transposes : kTransposes) {
      GemmOnDevice const here(square(n, transposes), normal);
      Workspace const workspace(here);
      for (GemmOptions const& options : {GemmOptions{}, workspace.options}) {
        std::vector<char> const first = bytes_of_gemm(here, options);
        for (int i = 0; i < 5; ++i) {
          for (Stream const& other : busy) busy_with.multiply(other.id);  // they race for C, which nobody looks at
          EXPECT_EQ(bytes_of_gemm(here, options, stream.id), first) << n << " " << transposes;
        }
      }
    }
  check(cudaDeviceSynchronize());
}
// alpha and beta are no powers of two: a kernel that rounded them in another order would show.
void expect_same_bits_alone(GemmOnDevice const& here, bool packed) {
  std::int64_t const L = here.C().extent[0];
  Workspace const workspace(packed ? here.workspace_bytes() : 0);
  here.multiply(nullptr, workspace.options);
  check(cudaDeviceSynchronize());
  std::vector<float> const together = here.elements();
  here.reset();
  for (std::int64_t l = 0; l < L; ++l) {
    Tensor const A = here.A().slice(0, l, 1), B = here.B().slice(0, l, 1), C = here.C().slice(0, l, 1);
    Workspace const alone(packed ? gemm_workspace(A, B, C, here.epilogue()) : 0);
    gemm(A, B, C, here.epilogue(), nullptr, alone.options);
    check(cudaDeviceSynchronize());
  }
  EXPECT_TRUE(here.elements() == together) << (packed ? "packed" : "");
}
void expect_same_bits_alone(GemmCase const& c, bool packed, DType type = f32) {
  SCOPED_TRACE(c.name());
  expect_same_bits_alone(GemmOnDevice(c, normal, type), packed);
}
TEST(GpuGemm, TheSameBitsAtEveryBatchIndexAndCount) {
  NEEDS_GPU();
  for (bool packed : {false, true}) {
    for (char const* transposes : kTransposes) {
      for (std::int64_t n : {20, 100, 256, 1000})
        expect_same_bits_alone({n, n, n + 4, 6, transposes, 1.3f, -.7f}, packed);
      // A K that is split; a few vectors; whole matrices of a block, odd ones and squares of 4 x 4.
      expect_same_bits_alone({512, 512, 520, 24, transposes, 1.3f, -.7f}, packed);
      expect_same_bits_alone({70, 900, 1000, 20, transposes, 1.3f, -.7f}, packed);
      expect_same_bits_alone({3, 701, 1030, 5, transposes, 1.3f, -.7f}, packed);
      for (std::int64_t k : {12, 60})  // sgemm_outer computes the batch
        expect_same_bits_alone({300, 300, k, 40, transposes, 1.3f, -.7f}, packed);
      expect_same_bits_alone({1000, 1, 512, 5, transposes, 1.3f, -.7f}, packed);
      expect_same_bits_alone({9, 7, 100, 800, transposes, 1.3f, -.7f, 0, 0, 0, 0, 0, 0, false, false, 0}, packed);
      expect_same_bits_alone({20, 20, 12, 900, transposes, 1.3f, -.7f, 0, 0, 0, 0, 0, 0, false, false, 0}, packed);
    }
    expect_same_bits_alone({252, 252, 256, 64, "nt", 1.3f, -.7f}, packed);  // a matrix alone is split differently
    // More than 256 slices, in 272 tiles.
    expect_same_bits_alone({70, 65, 16600, 68, packed ? "tn" : "nt", 1.3f, -.7f}, packed);
    for (DType type : {bf16, f16})
      for (char const* transposes : kTransposes)
        for (auto const& [m, n, k, L] : {std::array<std::int64_t, 4>{304, 200, 264, 40},
                                         {8, 8, 64, 60},
                                         {1000, 1000, 136, 3},
                                         {72, 136, 8200, 5},  // K is split
                                         {296, 208, 104, 4}}) {
          GemmCase c{m, n, k, L, transposes, 1.3f, -.7f};
          c.gap_batch = 8;
          expect_same_bits_alone(c, packed, type);
        }
  }
}

// Overlapping windows of 2.4 MB, one element apart, are 157 MB once they are packed: the batch runs in chunks.
TEST(GpuGemm, TheSameBitsInChunks) {
  NEEDS_GPU();
  std::int64_t const L = 1200, M = 64, N = 8, K = 1024;
  Tensor const A = tensor((void*)nullptr, bf16, {L, M, K}, {1, K, 1}),
               B = tensor((void*)nullptr, bf16, {L, K, N}, {0, N, 1}), C = tensor((void*)nullptr, f32, {L, M, N});
  GemmOnDevice const exact(2, A, B, 0, C);
  inlay::Plan const planned = plan(exact.A(), exact.B(), exact.C(), exact.epilogue());
  EXPECT_NE(planned.why().find("chunks, one after the other"), std::string::npos) << planned.why();
  EXPECT_EQ(wrong_bytes_of_gemm(exact), 0u);
  expect_same_bits_alone(GemmOnDevice(1.3f, A, B, 0, C, normal), true);
}

// ---- batch modes: scores of attention, from (batch, sequence, heads, depth) to (batch, heads, sequence, sequence)
void expect_scores(std::int64_t batch, std::int64_t heads, std::int64_t sequence, std::int64_t depth) {
  SCOPED_TRACE(std::to_string(heads) + " heads of depth " + std::to_string(depth));
  std::int64_t const size = batch * sequence * heads * depth, scores = batch * heads * sequence * sequence;
  auto const zeros = [](std::int64_t n) { return std::vector<float>(std::size_t(n), 0.f); };
  std::vector<float> queries = zeros(size), keys = zeros(size), expected = zeros(scores);
  for (std::int64_t i = 0; i < size; ++i)
    queries[std::size_t(i)] = float(i * 7 % 13 - 6), keys[std::size_t(i)] = float(i * 5 % 11 - 5);
  auto const at = [&](std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t k) {
    return std::size_t(((b * sequence + s) * heads + h) * depth + k);
  };
  for (std::int64_t i = 0; i < scores; ++i) {
    std::int64_t const n = i % sequence, m = i / sequence % sequence, h = i / sequence / sequence % heads,
                       b = i / sequence / sequence / heads;
    for (std::int64_t k = 0; k < depth; ++k) expected[std::size_t(i)] += queries[at(b, h, m, k)] * keys[at(b, h, n, k)];
  }
  auto const bytes = [](std::vector<float> const& v) {
    auto const* const begin = reinterpret_cast<char const*>(v.data());
    return std::vector<char>(begin, begin + v.size() * 4);
  };
  DeviceBuffer const Q = device_buffer(bytes(queries)), K = device_buffer(bytes(keys)),
                     S = device_buffer(std::vector<char>(expected.size() * 4, char(0xff)));
  auto const by_heads = [&](DeviceBuffer const& buffer) {
    return tensor(reinterpret_cast<float*>(buffer.get()), {batch, sequence, heads, depth}).transposed(1, 2);
  };
  Tensor const q = by_heads(Q), k = by_heads(K).transposed(2, 3),
               s = tensor(reinterpret_cast<float*>(S.get()), {batch, heads, sequence, sequence});
  auto const expect = [&](char const* how) {
    check(cudaDeviceSynchronize());
    std::vector<float> found(expected.size());
    check(cudaMemcpy(found.data(), S.get(), found.size() * 4, cudaMemcpyDeviceToHost));
    check(cudaMemset(S.get(), 0xff, found.size() * 4));
    EXPECT_EQ(found, expected) << how;
  };
  gemm(q, k, s);
  expect("without a workspace");
  Workspace const workspace(gemm_workspace(q, k, s));
  gemm(q, k, s, {}, nullptr, workspace.options);
  expect("with a workspace");
  inlay::Plan const planned = plan(q, k, s);
  Workspace const of_plan(planned.workspace_bytes());
  planned.run(Q.get(), K.get(), S.get(), nullptr, of_plan.options.workspace, planned.workspace_bytes());
  expect("planned");
  EXPECT_NE(planned.why().find("batch modes that do not merge to one"), std::string::npos);
}
TEST(GpuGemm, TwoBatchModes) {
  NEEDS_GPU();
  expect_scores(3, 5, 37, 33);  // matrices begin at different addresses modulo 16 bytes
  expect_scores(3, 8, 64, 64);
  expect_scores(9, 4, 130, 32);
  expect_scores(2, 3, 40, 300);  // K is split
}

// ---- epilogues: alpha A B of whole numbers is exact, so that only the activation rounds, and D's type
// shape: that of C; extents of 1 and missing ones are repeated. Empty: D itself.
void expect_epilogue(GemmCase c, DType type, DType type_of_D, std::vector<std::int64_t> const& shape, std::int64_t gap,
                     Activation activation) {
  c.alpha = .0625f, c.beta = .5f;
  SCOPED_TRACE(c.name() + " " + c.transposes + " " + name_of(type) + " to " + name_of(type_of_D) + ", " +
               name_of(activation) + ", C of rank " + std::to_string(shape.size()) + ", gap " + std::to_string(gap));
  GemmOnDevice const here(c, integers, type, type_of_D);
  std::int64_t const rank = std::int64_t(shape.size()), cols = rank ? shape.back() + gap : 1;
  std::int64_t elements = cols;
  for (std::int64_t k = 0; k + 1 < rank; ++k) elements *= shape[std::size_t(k)];
  std::size_t const bytes = std::size_t(bytes_of(type_of_D));
  std::vector<char> content(std::size_t(elements) * bytes);
  for (std::int64_t i = 0; i < elements; ++i)
    write_number(&content[std::size_t(i) * bytes], type_of_D, integers(std::uint64_t(i), 7));
  DeviceBuffer const there = device_buffer(content);
  ConstTensor C;
  C.data = there.get(), C.dtype = type_of_D, C.rank = int(rank);
  for (std::int64_t k = rank, stride = 1; k-- > 0; stride *= k == rank - 1 ? cols : shape[std::size_t(k)])
    C.extent[k] = shape[std::size_t(k)], C.stride[k] = stride;
  Epilogue epilogue = here.epilogue();
  epilogue.activation = activation;
  auto const in_C = [&](std::int64_t l, std::int64_t m, std::int64_t n) {
    std::int64_t const index[] = {l, m, n};
    std::int64_t at = 0;
    for (std::int64_t k = 0; k < rank; ++k)
      if (C.extent[k] > 1) at += index[k + 3 - rank] * C.stride[k];
    return double(read_number(&content[std::size_t(at) * bytes], type_of_D));
  };
  GemmOptions options;
  if (rank) options.C = C;
  Workspace const workspace(gemm_workspace(here.A(), here.B(), here.C(), epilogue, options));
  double const unit = type_of_D == bf16 ? 0x1p-8 : type_of_D == f16 ? 0x1p-11 : 0x1p-23;
  for (bool with : {false, true}) {
    if (with)
      options.workspace = workspace.options.workspace, options.workspace_bytes = workspace.options.workspace_bytes;
    here.reset();
    std::vector<float> const old = here.elements();
    gemm(here.A(), here.B(), here.C(), epilogue, nullptr, options);
    check(cudaDeviceSynchronize());
    std::vector<float> const got = here.elements();
    std::vector<double> const& sums = here.reference();  // alpha A B + beta D
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::int64_t const n = std::int64_t(i) % c.N, m = std::int64_t(i) / c.N % c.M, l = std::int64_t(i) / c.N / c.M;
      double const x = rank ? sums[i] - .5 * double(old[i]) + .5 * in_C(l, m, n) : sums[i],
                   want = activated(activation, x);
      double const tolerance =
          activation <= Activation::relu && type_of_D == f32 ? 0 : unit * std::abs(want) + 2e-6 * std::abs(x);
      wrong += !(std::abs(double(got[i]) - want) <= tolerance);
    }
    EXPECT_EQ(wrong, 0u) << (with ? "with" : "without") << " a workspace";
  }
  if (rank == 0) return;
  inlay::Plan const planned = plan(here.A(), here.B(), here.C(), epilogue, {.C = C});
  Workspace const of_plan(planned.workspace_bytes());
  std::vector<char> const by_call = here.bytes();
  here.reset();
  planned.run(here.A().data, here.B().data, here.C().data, nullptr, of_plan.options.workspace,
              planned.workspace_bytes(), C.data);
  check(cudaDeviceSynchronize());
  EXPECT_EQ(here.bytes(), by_call) << "planned";
}
TEST(GpuGemm, Epilogues) {
  NEEDS_GPU();
  for (auto const& [type, type_of_D] : kTypePairs)
    for (Activation activation :
         {Activation::none, Activation::relu, Activation::gelu_tanh, Activation::gelu_erf, Activation::silu})
      for (GemmCase const& c : {GemmCase{70, 90, 33, 1, "nt"}, GemmCase{264, 520, 136, 1, "nn"},
                                GemmCase{259, 333, 100, 1, "tn", 1, 0, 1, 2, 3}, GemmCase{72, 136, 4104, 1, "nt"},
                                GemmCase{40, 64, 0, 1}}) {
        expect_epilogue(c, type, type_of_D, {}, 0, activation);
        expect_epilogue(c, type, type_of_D, {c.N}, 0, activation);
        expect_epilogue(c, type, type_of_D, {c.M, 1}, 0, activation);
        expect_epilogue(c, type, type_of_D, {1}, 0, activation);
        expect_epilogue(c, type, type_of_D, {c.M, c.N}, 3, activation);
      }
}
TEST(GpuGemm, EpiloguesOfBatches) {
  NEEDS_GPU();
  for (auto const& [type, type_of_D] : kTypePairs)
    for (GemmCase const& c :
         {GemmCase{70, 90, 33, 5, "nt"}, GemmCase{136, 264, 72, 4, "tt"}, GemmCase{20, 20, 12, 900, "nn"}}) {
      expect_epilogue(c, type, type_of_D, {}, 0, Activation::silu);
      expect_epilogue(c, type, type_of_D, {c.N}, 0, Activation::gelu_erf);
      expect_epilogue(c, type, type_of_D, {c.L, c.M, 1}, 0, Activation::none);
      expect_epilogue(c, type, type_of_D, {c.L, 1, c.N}, 1, Activation::relu);
      expect_epilogue(c, type, type_of_D, {c.L, c.M, c.N}, 0, Activation::none);
    }
}

// ---- rounding
TEST(GpuGemm, ErrorGrowsNoFasterThanTheRootOfK) {
  NEEDS_GPU();
  struct Kind {
    char const* name;
    Data data;
  };
  for (Kind const kind : {Kind{"normal", normal}, Kind{"uniform", uniform}, Kind{"wide range", wide_range}})
    for (std::int64_t K : {64, 1000, 4096})
      for (char const* transposes : kTransposes)
        for (Compute compute : {Compute::fp32, Compute::fp32_blocked}) {
          GemmOnDevice const here(GemmCase{500, 300, K, 1, transposes}, kind.data);
          Workspace const workspace(here, compute);
          for (GemmOptions options : {GemmOptions{}, workspace.options}) {
            options.compute = compute;
            here.reset();
            here.multiply(nullptr, options);
            check(cudaDeviceSynchronize());
            double const error = here.error().relative;
            EXPECT_TRUE(error <= std::sqrt(double(K)) * 0x1p-24)
                << error << " for " << kind.name << ", K " << K << ", " << transposes;
          }
        }
}
TEST(GpuGemm, RoundsAsItsChainsMay) {
  NEEDS_GPU();
  for (std::int64_t K : {300, 2048, 16384})
    for (char const* transposes : kTransposes)
      for (Compute compute : {Compute::fp32, Compute::fp32_blocked}) {
        GemmOnDevice const here(GemmCase{200, 300, K, 1, transposes, 1.3f, -.7f}, significands);
        Workspace const workspace(here, compute);
        for (GemmOptions options : {GemmOptions{}, workspace.options}) {
          options.compute = compute;
          here.reset();
          here.multiply(nullptr, options);
          check(cudaDeviceSynchronize());
          EXPECT_LE(here.error().absolute, error_bound({K, longest_accumulation(compute), 1.3f, -.7f}, 200 * 300))
              << "K " << K << ", " << transposes;
        }
      }
}

// Why the ladder of slices empties the accumulator: with all of K in one, what tensor cores truncate exceeds what fp32
// rounds.
TEST(GpuGemm, OneAccumulatorOfTensorCoresDrifts) {
  NEEDS_GPU();
  GemmOnDevice const here(GemmCase{96, 80, 16384, 1, "nt"}, significands);
  for (auto const& entry : gemm_kernels()) {
    if (entry.info().ladder != model::Ladder::sgemm_tc) continue;
    SCOPED_TRACE(entry.info().name);
    if (entry.info().rejects(here.problem(), current_device())) GTEST_SKIP() << "no wgmma here";
    here.reset();
    entry.kernel->run(here.problem(), current_device(), nullptr, nullptr);
    check(cudaDeviceSynchronize());
    double const bound = error_bound({16384, 0}, 96 * 80);
    EXPECT_EQ(here.error().absolute > 4 * bound, entry.info().truncates) << here.error().absolute << ", " << bound;
  }
}

// ---- more elements than 31 bits count
TEST(GpuGemmLarge, AnOuterProduct) {
  NEEDS_GPU_MEMORY(10e9);
  std::int64_t const M = 46352, N = 46360;
  auto const small = [](std::int64_t i) { return float(i % 1009 - 500); };
  std::vector<float> a(static_cast<std::size_t>(M)), b(static_cast<std::size_t>(N)), slab(std::size_t(1024 * N));
  for (std::int64_t i = 0; i < M; ++i) a[std::size_t(i)] = small(i);
  for (std::int64_t i = 0; i < N; ++i) b[std::size_t(i)] = small(i + 7);
  DeviceBuffer const A = device_buffer(a.size() * 4), B = device_buffer(b.size() * 4),
                     C = device_buffer(std::size_t(M * N) * 4);
  check(cudaMemcpy(A.get(), a.data(), a.size() * 4, cudaMemcpyHostToDevice));
  check(cudaMemcpy(B.get(), b.data(), b.size() * 4, cudaMemcpyHostToDevice));
  gemm(matrix(A.get(), f32, M, 1), matrix(B.get(), f32, 1, N), matrix(C.get(), f32, M, N));
  std::atomic<std::int64_t> wrong = 0;
  for (std::int64_t first = 0; first < M; first += 1024) {
    std::int64_t const rows = std::min<std::int64_t>(1024, M - first);
    check(cudaMemcpy(slab.data(), C.get() + first * N * 4, std::size_t(rows * N) * 4, cudaMemcpyDeviceToHost));
    in_parallel(rows, [&](std::int64_t i, std::int64_t last) {
      std::int64_t bad = 0;
      for (; i < last; ++i)
        for (std::int64_t n = 0; n < N; ++n)
          bad += !(slab[std::size_t(i * N + n)] == a[std::size_t(first + i)] * b[std::size_t(n)]);
      wrong += bad;
    });
  }
  EXPECT_EQ(wrong, 0);
}
// A K that one launch does not sum: numbers of a block that repeats, whose sum is known.
TEST(GpuGemmLarge, LongSums) {
  NEEDS_GPU_MEMORY(30e9);
  std::int64_t const most = (std::int64_t(1) << 32) + 8, block = std::int64_t(1) << 24;
  DeviceBuffer const data = device_buffer(std::size_t(most) * 4), result = device_buffer(64);
  for (DType type : {f32, bf16}) {
    std::size_t const size = std::size_t(bytes_of(type));
    std::vector<char> numbers(std::size_t(block) * size);
    std::vector<double> until(std::size_t(block) + 1);  // sums of the squares before each
    for (std::int64_t i = 0; i < block; ++i) {
      char* const at = numbers.data() + std::size_t(i) * size;
      write_number(at, type, uniform(std::uint64_t(i), 1));
      double const x = read_number(at, type);
      until[std::size_t(i) + 1] = until[std::size_t(i)] + x * x;
    }
    for (std::int64_t i = 0; i < most; i += block)
      check(cudaMemcpy(data.get() + std::size_t(i) * size, numbers.data(),
                       std::size_t(std::min(block, most - i)) * size, cudaMemcpyHostToDevice));
    for (std::int64_t K : {(std::int64_t(1) << 30) + 7, (std::int64_t(1) << 31) + 5, most}) {
      Tensor const A = matrix(data.get(), type, 1, K), B = matrix(data.get(), type, K, 1),
                   D = matrix(result.get(), type, 1, 1);
      Workspace const workspace(gemm_workspace(A, B, D));
      gemm(A, B, D, {}, nullptr, workspace.options);
      char bits[4];
      check(cudaMemcpy(bits, result.get(), 4, cudaMemcpyDeviceToHost));
      double const exact = double(K / block) * until.back() + until[std::size_t(K % block)];
      EXPECT_LE(std::abs(read_number(bits, type) - exact), exact * (type == f32 ? 0x1p-18 : 0x1p-8)) << K;
    }
  }
}
// Two rows, 2^31 elements and more apart.
TEST(GpuGemmLarge, StridesBeyond31Bits) {
  NEEDS_GPU_MEMORY(30e9);
  std::int64_t const pitch = (std::int64_t(1) << 31) + 8;
  float const a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  auto const buffer = [pitch](float const* rows) {
    DeviceBuffer p = device_buffer(std::size_t(pitch + 2) * 4);
    for (int i = 0; i < 2; ++i) check(cudaMemcpy(p.get() + i * pitch * 4, rows + 2 * i, 8, cudaMemcpyHostToDevice));
    return p;
  };
  DeviceBuffer const A = buffer(a), B = buffer(b), C = buffer(a);
  auto const view_of = [pitch](DeviceBuffer const& p, bool transposed) {
    Tensor const t = matrix(p.get(), f32, 2, 2, pitch);
    return transposed ? t.transposed() : t;
  };
  for (char const* transposes : kTransposes) {
    bool const ta = transposes[0] == 't', tb = transposes[1] == 't';
    gemm(view_of(A, ta), view_of(B, tb), view_of(C, false));
    for (int m = 0; m < 2; ++m) {
      float got[2];
      check(cudaMemcpy(got, C.get() + m * pitch * 4, sizeof got, cudaMemcpyDeviceToHost));
      for (int n = 0; n < 2; ++n) {
        float sum = 0;
        for (int k = 0; k < 2; ++k) sum += a[ta ? 2 * k + m : 2 * m + k] * b[tb ? 2 * n + k : 2 * k + n];
        EXPECT_EQ(got[n], sum) << transposes;
      }
    }
  }
}

// ---- bad input
// What a call of f is refused with; empty: it is not.
template <class F>
std::string said_by(F const& f) {
  try {
    f();
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
std::string refusal(Tensor const& A, Tensor const& B, Tensor const& C, GemmOptions const& options) {
  return said_by([&] { gemm(A, B, C, {}, nullptr, options); });
}
// gemm(), and a plan for it, say the same of what both are given.
std::string refusal(Tensor const& A, Tensor const& B, Tensor const& C) {
  std::string const said = refusal(A, B, C, {});
  EXPECT_EQ(said_by([&] { inlay::plan(A, B, C); }), said);
  return said;
}
Tensor at(std::uint64_t address, std::int64_t rows, std::int64_t cols) {
  return matrix(reinterpret_cast<void*>(address), f32, rows, cols);
}
// Told before the device is asked: no GPU is needed.
TEST(GemmRefusals, NeedNoDevice) {
  Tensor const A = at(1 << 20, 8, 8), B = at(1 << 24, 8, 8), C = at(1 << 28, 8, 8);
  EXPECT_EQ(refusal(A, at(1 << 24, 9, 8), C),
            "A of shape (8,8) and B of shape (9,8) do not match: K is 8 in A and 9 in B");
  EXPECT_EQ(refusal(A, B, A), "D of shape (8,8) overlaps A of shape (8,8) in memory");
  auto const workspace = [](std::uint64_t address, std::size_t bytes) {
    return GemmOptions{.workspace = reinterpret_cast<void*>(address), .workspace_bytes = bytes};
  };
  EXPECT_EQ(refusal(A, B, C, workspace(0, 1000)), "the workspace of 1000 bytes is a null pointer");
  EXPECT_EQ(refusal(A, B, C, workspace((1 << 26) + 128, 1000)),
            "the workspace begins 128 bytes past a multiple of 256");
  EXPECT_EQ(refusal(A, B, C, workspace(1 << 28, 256)),
            "the workspace of 256 bytes overlaps D of shape (8,8) in memory");
  EXPECT_EQ(refusal(A, B, C, workspace((1 << 20) - 256, 257)),
            "the workspace of 257 bytes overlaps A of shape (8,8) in memory");
  EXPECT_EQ(refusal(A, B, C, workspace(1 << 24, 256)),
            "the workspace of 256 bytes overlaps B of shape (8,8) in memory");
  EXPECT_EQ(refusal(A, B, C, workspace(1 << 26, ~std::size_t(0))),
            "the workspace of 18446744073709551615 bytes leaves the address space");
}
// Host memory is taken where the device can access it; else each operand's refusal says why.
TEST(GpuGemm, HostMemoryIsTakenWhereTheDeviceCanAccessIt) {
  NEEDS_GPU();
  std::vector<float> host(16, 1);
  DeviceBuffer const device = device_buffer(3 * 64);
  check(cudaMemset(device.get(), 0, 3 * 64));
  auto const on_device = [&](int i) { return matrix(device.get() + 64 * i, f32, 4, 4); };
  Tensor const on_host = matrix(host.data(), 4, 4);
  bool const takes = current_device().pageable_access;
  auto const multiplied = [&](Tensor const& A, Tensor const& B, Tensor const& C) {
    return said_by([&] { gemm(A, B, C); });
  };
  auto const said = [&](char const* role) {
    return takes ? std::string()
                 : std::string("the ") + role +
                       " pointer is host memory that CUDA does not know, and device 0 cannot access pageable memory";
  };
  EXPECT_EQ(multiplied(on_host, on_device(1), on_device(2)), said("A"));
  EXPECT_EQ(multiplied(on_device(0), on_host, on_device(2)), said("B"));
  EXPECT_EQ(multiplied(on_device(0), on_device(1), on_host), said("D"));
  check(cudaDeviceSynchronize());
  if (takes) {
    EXPECT_EQ(host, std::vector<float>(16, 0));
  }
}
// A plan of several kernels whose workspace is memory of the graph that they are captured into.
TEST(GpuGemm, AWorkspaceOfAGraphIsTaken) {
  NEEDS_GPU();
  GemmOnDevice const here(GemmCase{64, 64, 20000});
  std::size_t const bytes = here.workspace_bytes();
  ASSERT_GT(bytes, 0u);
  Stream const stream;
  void* workspace = nullptr;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream.id, cudaStreamCaptureModeGlobal));
  check(cudaMallocAsync(&workspace, bytes, stream.id));
  here.multiply(stream.id, {.workspace = workspace, .workspace_bytes = bytes});
  check(cudaFreeAsync(workspace, stream.id));
  check(cudaStreamEndCapture(stream.id, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphLaunch(executable, stream.id));
  check(cudaStreamSynchronize(stream.id));
  EXPECT_EQ(here.wrong_bytes(), 0u);
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
}
// A workspace of fewer bytes than the fastest plan needs has a plan of its own, of which no byte lies beyond the
// workspace.
TEST(GpuGemm, AWorkspaceIsUsedAsFarAsItGoes) {
  NEEDS_GPU();
  int asked = 0;
  for (char const* transposes : kTransposes)
    for (GemmCase const& c : {square(1001, transposes), GemmCase{64, 64, 1 << 16, 1, transposes, 2, -1}}) {
      GemmOnDevice const here(c);
      std::size_t const wanted = here.workspace_bytes();
      asked += wanted > 0;
      for (std::size_t bytes : {wanted, wanted - wanted / 100, wanted / 2, wanted / 9, std::size_t(256)}) {
        SCOPED_TRACE(c.name() + ", " + std::to_string(bytes) + " bytes of " + std::to_string(wanted));
        Workspace const workspace(bytes);  // has guard bands
        here.reset();
        here.multiply(nullptr, workspace.options);
        check(cudaDeviceSynchronize());
        EXPECT_EQ(here.wrong_bytes(), 0u);
        inlay::Plan const plan =
            inlay::plan(here.A(), here.B(), here.C(), here.epilogue(), {}, {.most_workspace_bytes = bytes});
        EXPECT_LE(plan.workspace_bytes(), bytes);
      }
    }
  EXPECT_GT(asked, 0) << "no plan wants a workspace";
}
TEST(GpuGemm, AWorkspaceGrowsWithItsCalls) {
  NEEDS_GPU();
  Stream const stream;
  inlay::Workspace workspace(stream.id);
  EXPECT_EQ(workspace.data(), nullptr);
  for (GemmCase const& c :
       {GemmCase{64, 64, 1 << 14}, GemmCase{64, 64, 1 << 16}, square(1001, "nn"), GemmCase{8, 8, 8}}) {
    GemmOnDevice const here(c);
    gemm(here.A(), here.B(), here.C(), workspace, here.epilogue());
    EXPECT_GE(workspace.bytes(), here.workspace_bytes());
    check(cudaStreamSynchronize(stream.id));
    EXPECT_EQ(here.wrong_bytes(), 0u) << c.name();
  }
  std::size_t const bytes = workspace.bytes();
  inlay::Workspace moved = std::move(workspace);
  EXPECT_EQ(moved.bytes(), bytes);
  EXPECT_EQ(workspace.bytes(), 0u);
  GemmOnDevice const here(GemmCase{64, 64, 1 << 16});
  try {
    gemm(here.A(), here.B(), here.C(), moved, here.epilogue(), {.workspace = moved.data(), .workspace_bytes = bytes});
    ADD_FAILURE() << "two workspaces";
  } catch (Error const& e) {
    EXPECT_EQ(e.what(), std::string("the options name a workspace beside the one that the call has"));
  }
  cudaGraph_t graph;
  check(cudaStreamBeginCapture(stream.id, cudaStreamCaptureModeGlobal));
  try {
    workspace.reserve(1);  // whose stream is the same
    ADD_FAILURE() << "grew while captured";
  } catch (Error const& e) {
    EXPECT_EQ(
        e.what(),
        std::string(
            "the workspace has 0 bytes and cannot grow to 1 while its stream is captured: reserve() them before"));
    EXPECT_EQ(e.code(), ErrorCode::workspace);
  }
  EXPECT_NO_THROW(moved.reserve(bytes));
  check(cudaStreamEndCapture(stream.id, &graph));
  check(cudaGraphDestroy(graph));
}
TEST(GpuGemm, AWorkspaceGrowsToItsLimit) {
  NEEDS_GPU();
  Stream const stream;
  GemmOnDevice const here(GemmCase{64, 64, 1 << 16});
  std::size_t const wanted = here.workspace_bytes();
  ASSERT_GT(wanted, 512u);
  for (std::size_t most : {std::size_t(0), std::size_t(512), wanted - 1, wanted}) {
    inlay::Workspace workspace(stream.id, most);
    here.reset();
    gemm(here.A(), here.B(), here.C(), workspace, here.epilogue());
    EXPECT_LE(workspace.bytes(), most);
    check(cudaStreamSynchronize(stream.id));
    EXPECT_EQ(here.wrong_bytes(), 0u) << most;
    EXPECT_THROW(workspace.reserve(most + 1), Error);
  }
}

// ---- plans that are kept
TEST(GpuGemmPlan, MultipliesAsGemmDoes) {
  NEEDS_GPU();
  std::vector<GemmCase> cases = gemm_corpus();
  for (char const* transposes : kTransposes)  // packed operands, cut tiles, parts
    for (GemmCase const& c : {GemmCase{1001, 1003, 999, 1, transposes, 2, -1}, GemmCase{2048, 2048, 512, 1, transposes},
                              GemmCase{64, 64, 1 << 16, 1, transposes, 2, -1}, GemmCase{100, 60, 9000, 3, transposes}})
      cases.push_back(c);
  for (GemmCase const& c : cases)
    for (bool with_workspace : {false, true})
      for (Compute compute : {Compute::fp32, Compute::fp32_blocked}) {
        SCOPED_TRACE(c.name() + (with_workspace ? ", with a workspace" : ""));
        GemmOnDevice const made_with(c, normal), other(c, normal);
        inlay::Plan const plan =
            inlay::plan(made_with.A(), made_with.B(), made_with.C(), made_with.epilogue(), {.compute = compute},
                        {.most_workspace_bytes = with_workspace ? SIZE_MAX : 0});
        EXPECT_EQ(plan.workspace_bytes(), with_workspace ? made_with.workspace_bytes(compute) : 0u);
        Workspace workspace(with_workspace ? std::max<std::size_t>(plan.workspace_bytes(), 256) : 0, compute);
        workspace.options.compute = compute;
        other.multiply(nullptr, workspace.options);
        check(cudaDeviceSynchronize());
        std::vector<char> const wanted = other.bytes();
        for (GemmOnDevice const* here : {&other, &made_with}) {
          here->reset();
          plan.run(here->A().data, here->B().data, here->C().data, nullptr, workspace.options.workspace,
                   workspace.options.workspace_bytes);
          check(cudaDeviceSynchronize());
          EXPECT_TRUE(here->bytes() == wanted);
        }
      }
}
// A C by columns is computed as its transpose: the caller's operands stay the caller's.
TEST(GpuGemmPlan, OperandsAreThoseOfTheCall) {
  NEEDS_GPU();
  GemmCase const c{37, 41, 29, 1, "nn", 2, -1, 0, 0, 0, 0, 0, 0, false, true};
  GemmOnDevice const made_with(c), other(c, [](std::uint64_t i, std::uint64_t seed) { return integers(i, seed + 7); });
  inlay::Plan const plan = inlay::plan(made_with.A(), made_with.B(), made_with.C(), made_with.epilogue());
  Workspace const workspace(plan.workspace_bytes());
  plan.run(other.A().data, other.B().data, other.C().data, nullptr, workspace.options.workspace,
           workspace.options.workspace_bytes);
  check(cudaDeviceSynchronize());
  EXPECT_EQ(other.wrong_bytes(), 0u);
}
TEST(GpuGemmPlan, TunedChoicesAreTaken) {
  NEEDS_GPU();
  GemmOnDevice const here(GemmCase{300, 200, 4000});
  auto const text = [&] { return inlay::plan(here.A(), here.B(), here.C(), here.epilogue()).why(); };
  Workspace const workspace(here);
  GemmOptions const options = workspace.options;
  inlay::plan(here.A(), here.B(), here.C(), here.epilogue(), options, {Choose::measured});
  EXPECT_NE(text().find("tuned: it took"), std::string::npos) << text();
  GemmOnDevice const other(GemmCase{300, 200, 4000});
  other.multiply(nullptr, options);
  check(cudaDeviceSynchronize());
  EXPECT_EQ(other.wrong_bytes(), 0u);
  forget_tuning();
  EXPECT_EQ(text().find("tuned: it took"), std::string::npos);
}
TEST(GpuGemmPlan, RefusesWhatItWasNotMadeFor) {
  NEEDS_GPU();
  GemmOnDevice const here(GemmCase{64, 64, 1 << 16});
  inlay::Plan const plan = inlay::plan(here.A(), here.B(), here.C());
  std::size_t const bytes = plan.workspace_bytes();
  ASSERT_GT(bytes, 0u);
  DeviceBuffer const workspace = device_buffer(bytes + 256);
  char *const A = static_cast<char*>(here.A().data), *const B = static_cast<char*>(here.B().data),
              *const C = static_cast<char*>(here.C().data);
  auto const said = [&](void const* a, void const* b, void* d, void* w) {
    return said_by([&] { plan.run(a, b, d, nullptr, w, bytes); });
  };
  EXPECT_EQ(said(A, B, C, workspace.get()), "");
  EXPECT_EQ(said(A + 16, B, C, workspace.get()), "");  // by a plan of its own: it agrees modulo 16, not 32
  EXPECT_EQ(said(A, B + 12, C, workspace.get()), "B begins 12 bytes past a multiple of 16, that of the plan 0");
  EXPECT_EQ(said(A, B, C + 8, workspace.get()), "D begins 8 bytes past a multiple of 16, that of the plan 0");
  EXPECT_EQ(said(nullptr, B, C, workspace.get()), "A is a null pointer, but has elements");
  EXPECT_EQ(said(A, nullptr, C, workspace.get()), "B is a null pointer, but has elements");
  EXPECT_EQ(said(A, B, nullptr, workspace.get()), "D is a null pointer, but has elements");
  EXPECT_EQ(said(A, B, A, workspace.get()), "D of shape (64,64) overlaps A of shape (64,65536) in memory");
  EXPECT_EQ(said(A, B, B + 1024, workspace.get()), "D of shape (64,64) overlaps B of shape (65536,64) in memory");
  std::string const of = "the workspace of " + std::to_string(bytes) + " bytes ";
  EXPECT_EQ(said(A, B, C, nullptr), of + "is a null pointer");
  EXPECT_EQ(said(A, B, C, workspace.get() + 128), "the workspace begins 128 bytes past a multiple of 256");
  EXPECT_EQ(said(A, B, C, C - GemmOnDevice::kGuard), of + "overlaps D of shape (64,64) in memory");
  EXPECT_EQ(said_by([&] { plan.run(A, B, C, nullptr, workspace.get(), bytes - 1); }),
            "the workspace has " + std::to_string(bytes - 1) + " bytes, the plan needs " + std::to_string(bytes));
  EXPECT_EQ(said_by([&] { plan.run(A, B, C); }), "the workspace has 0 bytes, the plan needs " + std::to_string(bytes));
  EXPECT_EQ(said_by([&] { plan.run(static_cast<void*>(C), A); }), "this plan is for a GEMM: it runs with A, B and D");
  check(cudaDeviceSynchronize());
}
TEST(GpuGemmPlan, WhatIsNotReadMayBeNull) {
  NEEDS_GPU();
  GemmOnDevice const here(GemmCase{33, 65, 70, 1, "nn", 0, 3});
  inlay::plan(here.A(), here.B(), here.C(), here.epilogue()).run(nullptr, nullptr, here.C().data, nullptr, nullptr);
  check(cudaDeviceSynchronize());
  EXPECT_EQ(here.wrong_bytes(), 0u);
}
TEST(GpuGemmPlan, RunsInManyThreads) {
  NEEDS_GPU();
  GemmCase const c{301, 203, 99, 2, "nt", 2, -1};
  std::vector<std::unique_ptr<GemmOnDevice>> all;
  for (int t = 0; t < 8; ++t) all.push_back(std::make_unique<GemmOnDevice>(c));
  inlay::Plan const plan = inlay::plan(all[0]->A(), all[0]->B(), all[0]->C(), all[0]->epilogue());
  std::vector<std::thread> threads;
  for (auto const& here : all)
    threads.emplace_back([&plan, &here] {
      Stream const stream;
      Workspace const workspace(plan.workspace_bytes());
      for (int i = 0; i < 10; ++i) {
        here->reset();
        plan.run(here->A().data, here->B().data, here->C().data, stream.id, workspace.options.workspace,
                 workspace.options.workspace_bytes);
        check(cudaStreamSynchronize(stream.id));
      }
    });
  for (auto& t : threads) t.join();
  for (auto const& here : all) EXPECT_EQ(here->wrong_bytes(), 0u);
}

TEST(GpuGemm, ExplainsItself) {
  NEEDS_GPU();
  GemmOnDevice const here(GemmCase{30, 50, 40});
  std::string const why = inlay::plan(here.A(), here.B(), here.C()).why();
  EXPECT_EQ(why.find("gemm of M 30 x N 50 x K 40, nn"), 0u) << why;
  std::string const transposed = inlay::plan(here.B().transposed(), here.A().transposed(), here.C().transposed()).why();
  EXPECT_EQ(
      transposed.find("D is column-major: what follows is its transpose, for which A and B change places\ngemm of M "
                      "30 x N 50 x K 40, nn"),
      0u)
      << transposed;
}
// Neither memory nor, as tests/test_gpu_first_call.cpp shows, a synchronisation. A first round loads the kernels.
TEST(GpuGemm, AllocatesNoDeviceMemory) {
  NEEDS_GPU();
  std::vector<std::unique_ptr<GemmOnDevice>> all;
  std::vector<Workspace> workspaces;
  for (std::int64_t n : {64, 301, 1024})
    for (char const* transposes : kTransposes) {
      all.push_back(std::make_unique<GemmOnDevice>(square(n, transposes)));
      workspaces.emplace_back(*all.back());
    }
  std::size_t free[2], total;
  for (std::size_t& now : free) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i]->multiply(), all[i]->multiply(nullptr, workspaces[i].options);
    check(cudaDeviceSynchronize());
    check(cudaMemGetInfo(&now, &total));
  }
  EXPECT_EQ(free[0], free[1]);
}

}  // namespace
}  // namespace inlay::test
