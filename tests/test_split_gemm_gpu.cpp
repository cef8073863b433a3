// fp32 GEMMs by 16-bit slices on the device: errors, which slices are refused, and a B that is packed once.
#include <algorithm>
#include <cmath>
#include <span>

#include <inlay/planner/candidate.h>
#include <inlay/registry/registry.h>
#include "gemm_gpu.h"

namespace inlay::test {
namespace {
using namespace registry;

std::string const kSafe = "sgemm_split_safe", kFast = "sgemm_split_fast", kUnpacked = "sgemm_split_unpacked";
Info<Gemm> const& kernel_named(std::string const& name) {
  return *std::find_if(gemm_kernels().begin(), gemm_kernels().end(), [&](auto const& entry) {
            return entry.info().name == name;
          })->kernel;
}
#define NEEDS_WGMMA()                                                                              \
  NEEDS_GPU();                                                                                     \
  if (kernel_named(kFast).rejects(GemmOnDevice(GemmCase{64, 64, 64}).problem(), current_device())) \
  GTEST_SKIP() << "no wgmma here"

// ---- data of operands whose rows lie one after the other along K

std::int64_t row_length = 1;  // K

float outliers(std::uint64_t i, std::uint64_t seed) {  // one of 2^30 a row
  auto const row = std::int64_t(i) / row_length, k = std::int64_t(i) % row_length;
  return normal(i, seed) * (k == (row * 37 + std::int64_t(seed) * 11) % row_length ? 0x1p30f : 1);
}
float scaled_rows(std::uint64_t i, std::uint64_t seed) {
  return std::ldexp(normal(i, seed), int(41 * chance(i / std::uint64_t(row_length), seed + 50)) - 20);
}
float sparse(std::uint64_t i, std::uint64_t seed) { return chance(i, seed + 60) < .125 ? normal(i, seed) : 0; }
float hilbert(std::uint64_t i, std::uint64_t) {
  return 1.f / float(std::int64_t(i) / row_length + std::int64_t(i) % row_length + 1);
}
// Those that nothing was set by.
float orthogonal(std::uint64_t i, std::uint64_t seed) {  // rows of a cosine transform, with signs
  auto const row = std::int64_t(i) / row_length, k = std::int64_t(i) % row_length;
  return float((chance(std::uint64_t(row), seed + 70) < .5 ? -1 : 1) *
               std::cos(M_PI * double((2 * k + 1) * row % (4 * row_length)) / double(2 * row_length)));
}
float decaying(std::uint64_t i, std::uint64_t seed) {
  return normal(i, seed) * float(std::exp2(-20. * double(std::int64_t(i) % row_length) / double(row_length)));
}
float spikes(std::uint64_t i, std::uint64_t seed) { return integers(i, seed) * (i % 97 == 0 ? 0x1p18f : 1); }
float huge_column(std::uint64_t i, std::uint64_t seed) {
  return normal(i, seed) * (std::int64_t(i) % row_length == row_length / 3 ? 0x1p24f : 1);
}
float lognormal(std::uint64_t i, std::uint64_t seed) { return normal(i, seed) * std::exp(4 * normal(i, seed + 80)); }

Data absolute_of = nullptr;
float absolute(std::uint64_t i, std::uint64_t seed) { return std::fabs(absolute_of(i, seed)); }

struct Errors {
  double largest;   // |e| / (|A| |B|)
  double relative;  // Frobenius norm
  bool is_fast;     // f16 slices were multiplied
};
Errors errors_of(std::string const& name, GemmOnDevice const& here, std::vector<double> const& sizes) {
  Info<Gemm> const& kernel = kernel_named(name);
  here.reset();
  Gemm const problem = here.problem();
  Workspace const workspace(kernel.workspace(problem, current_device()));
  kernel.run(problem, current_device(), workspace.options.workspace, nullptr);
  check(cudaDeviceSynchronize());
  unsigned refused = 1;  // the kernel's workspace begins with the answer
  if (name == kFast) check(cudaMemcpy(&refused, workspace.options.workspace, sizeof refused, cudaMemcpyDeviceToHost));
  std::vector<float> const got = here.elements();
  std::vector<double> const& sums = here.reference();
  Errors e{0, here.error().relative, refused == 0};
  for (std::size_t i = 0; i < got.size(); ++i) {
    double const off = std::fabs(got[i] - sums[i]);
    if (!(off <= 0)) e.largest = std::isnan(off) ? INFINITY : std::max(e.largest, off / sizes[i]);
  }
  return e;
}

// The largest error follows from the model: slices hold 22 bits at least, the guard allows each operand 2^-24 of its
// sum of |x|, tensor cores truncate the sum of 32 indices to 2^-23 twice, and each addition of such a sum rounds to
// 2^-24. The error of the whole is at most fp32's, which one chain of FMAs makes here, with a margin for sums of few
// rows.
TEST(GpuSplitGemm, AreAsAccurateAsFp32) {
  NEEDS_WGMMA();
  enum class Fast { yes, no, either };  // from K = 64 on
  struct Set {
    char const* name;
    Data data;
    Fast fast;
    double over_fp32 = 1;  // measured: docs/05_results.md
  };
  Set const sets[] = {{"normal", normal, Fast::yes},
                      {"uniform", uniform, Fast::yes},
                      {"outliers", outliers, Fast::no, 1.3},
                      {"orthogonal", orthogonal, Fast::either, 1.5},
                      {"wide", wide_range, Fast::either},
                      {"scaled rows", scaled_rows, Fast::yes},
                      {"sparse", sparse, Fast::no, 1.05},
                      {"Hilbert", hilbert, Fast::yes},
                      {"decaying", decaying, Fast::either},
                      {"spikes", spikes, Fast::either, 1.05},
                      {"huge column", huge_column, Fast::either, 1.3},
                      {"lognormal", lognormal, Fast::either}};
  for (std::int64_t K : {1, 2, 17, 64, 100, 512, 4096, 131072})
    for (Set const& set : std::span(sets).first(K > 4096 ? 4 : std::size(sets))) {
      SCOPED_TRACE(set.name + (" " + std::to_string(K)));
      row_length = K, absolute_of = set.data;
      GemmCase const c{140, 70, K, 1, "nt"};
      GemmOnDevice const here(c, set.data), sizes(c, absolute);
      double const fp32 = errors_of("sgemm_simple", here, sizes.reference()).relative;
      for (std::string const& name : {kSafe, kFast, kUnpacked}) {
        Errors const e = errors_of(name, here, sizes.reference());
        EXPECT_LE(e.largest, 0x1p-24 * (14 + double(K) / 32)) << name;
        double const most = K < 64 ? INFINITY : std::max(1.05 * set.over_fp32 * fp32, 1.5 * 0x1p-23);
        EXPECT_LE(e.relative, most) << name << (e.is_fast ? " fast" : "");
        if (name != kFast || K < 64 || set.fast == Fast::no) {
          EXPECT_FALSE(e.is_fast);
        } else if (set.fast == Fast::yes) {
          EXPECT_TRUE(e.is_fast);
        }
      }
    }
}
// Numbers near the least normal one lose low bits (inlay/types.h), and are not taken for zeros.
TEST(GpuSplitGemm, RefusesDenormals) {
  NEEDS_WGMMA();
  GemmCase const c{140, 70, 512, 1, "nt"};
  GemmOnDevice const here(
      c, [](std::uint64_t i, std::uint64_t seed) { return normal(i, seed) * (seed ? 0x1p60f : 0x1p-124f); });
  for (std::string const& name : {kSafe, kFast, kUnpacked}) {
    Errors const e = errors_of(name, here, std::vector<double>(140 * 70, 1));
    EXPECT_FALSE(e.is_fast);
    EXPECT_LE(e.relative, 0x1p-10) << name;
  }
}
TEST(GpuSplitGemm, TakesARowOfZeros) {
  NEEDS_WGMMA();
  GemmCase const c{140, 70, 512, 1, "nt"};
  GemmOnDevice here(c, normal);
  for (std::int64_t k = 0; k < c.K; ++k) here.set(0, 5, k, 0);
  Errors const e = errors_of(kFast, here, std::vector<double>(140 * 70, 1));
  EXPECT_TRUE(e.is_fast);
  EXPECT_LE(e.relative, 1e-6);
}
TEST(GpuSplitGemm, WholeNumbersAreExact) {
  NEEDS_WGMMA();
  GemmCase const c{140, 70, 300, 1, "nt"};
  GemmOnDevice const here(c, [](std::uint64_t i, std::uint64_t seed) {
    return seed ? integers(i, seed) : float(int(4097 * chance(i, seed)) - 2048);
  });
  for (std::string const& name : {kSafe, kFast, kUnpacked}) {
    EXPECT_EQ(errors_of(name, here, std::vector<double>(140 * 70, 1)).is_fast, name == kFast);
    EXPECT_EQ(here.wrong_bytes(), 0u) << name;
  }
}

// f16 slices of a matrix of a batch are refused where they lose more than fp32 does, whatever the other matrices hold.
TEST(GpuSplitGemm, SlicesAreRefusedWhereTheyLose) {
  NEEDS_WGMMA();
  Info<Gemm> const& kernel = kernel_named(kFast);
  GemmCase const c{130, 70, 300, 3, "nt", 1, 0, 0, 0, 0, 0, 0, 0, false, false, 0};
  for (auto const& [value, at, refused] : {std::tuple{1.f, 5, 0u},
                                           {0x1p30f, 5, 1u},
                                           {0x1p-80f, 5, 0u},
                                           {NAN, 5, 1u},
                                           {INFINITY, 5, 1u},
                                           {0x1p120f, 299, 1u}}) {
    GemmOnDevice const here(c, normal);
    Gemm const problem = here.problem();
    // One element of rows 7 to 70 of the second matrix of A. A power of two is a slice itself, so 2^30 gets
    // significands.
    for (int row = 7; row < 71; ++row) {
      float const x = value == 0x1p30f ? value * (1 + .0137f * float(row)) : value;
      std::int64_t const element = problem.A.batch_stride + row * problem.A.row_stride + at;
      check(cudaMemcpy(static_cast<float*>(problem.A.base) + element, &x, 4, cudaMemcpyHostToDevice));
    }
    Workspace const workspace(kernel.workspace(problem, current_device()));
    kernel.run(problem, current_device(), workspace.options.workspace, nullptr);
    unsigned words[3];
    check(cudaMemcpy(words, workspace.options.workspace, sizeof words, cudaMemcpyDeviceToHost));
    EXPECT_EQ(words[0], 0u) << value;
    EXPECT_EQ(words[1], refused) << value;
    EXPECT_EQ(words[2], 0u) << value;
    std::vector<float> D(std::size_t(3 * 130 * 70));
    check(cudaMemcpy(D.data(), problem.D.base, D.size() * 4, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < D.size(); ++i)
      if (!std::isfinite(value) && i / 70 >= 130 + 7 && i / 70 < 130 + 71)
        EXPECT_TRUE(std::isnan(D[i])) << value << " at " << i;
      else
        ASSERT_TRUE(std::isfinite(D[i])) << value << " at " << i;
  }
}

std::vector<float> elements_by(std::string const& name, GemmOnDevice const& here) {
  Info<Gemm> const& kernel = kernel_named(name);
  here.reset();
  Workspace const workspace(kernel.workspace(here.problem(), current_device()));
  kernel.run(here.problem(), current_device(), workspace.options.workspace, nullptr);
  check(cudaDeviceSynchronize());
  return here.elements();
}
// A refused matrix has the bits of bf16 slices, with old elements of D and whatever the tiles of its f16 slices are;
// others of its batch keep theirs.
TEST(GpuSplitGemm, ARefusedMatrixHasTheBitsOfBf16Slices) {
  NEEDS_WGMMA();
  for (auto const& [m, n, k, L] : {std::array<std::int64_t, 4>{797, 491, 5779, 1},  // blocks of a cluster split K
                                   {1000, 1000, 520, 1},                            // tiles of 64 columns
                                   {1101, 1703, 264, 1},                            // of 128 columns
                                   {4100, 3100, 131, 1},                            // in clusters of two blocks
                                   {300, 333, 200, 3}})
    for (char const* transposes : {"nt", "tn"}) {
      GemmOnDevice const here(GemmCase{m, n, k, L, transposes, 1.3f, -.7f}, normal);
      std::vector<float> expected = elements_by(kFast, here);
      Operand const A = here.problem().A;
      std::int64_t const refused = L / 2, element = refused * A.batch_stride + 5 * A.row_stride + 7 * A.col_stride;
      float const x = 0x1.77p40f;
      check(cudaMemcpy(static_cast<float*>(A.base) + element, &x, sizeof x, cudaMemcpyHostToDevice));
      std::vector<float> const safe = elements_by(kSafe, here);
      std::ranges::copy(std::span(safe).subspan(std::size_t(refused * m * n), std::size_t(m * n)),
                        expected.begin() + refused * m * n);
      EXPECT_EQ(elements_by(kFast, here), expected) << here.problem().M() << " " << transposes;
    }
}

// Every tile of sgemm_split_unpacked, and every cluster that shares a tile: whole numbers are exact, infinities become
// NaN, and the largest numbers stay finite.
TEST(GpuSplitGemm, EveryUnpackedTile) {
  NEEDS_WGMMA();
  Info<Gemm> const& kernel = kernel_named(kUnpacked);
  for (int tile = 1; tile <= 16; ++tile)
    for (GemmCase const& c : {GemmCase{140, 70, 300, 1, "nt"}, GemmCase{131, 261, 77, 2, "tn", 1.5f, -1},
                              GemmCase{64, 1000, 1000, 1, "nn"}, GemmCase{260, 36, 40, 1, "tt"}}) {
      SCOPED_TRACE(c.name() + " tile " + std::to_string(tile));
      GemmOnDevice here(c, integers);
      here.reset();
      kernel.run(here.problem(), current_device(), nullptr, nullptr, {.tile = tile});
      check(cudaDeviceSynchronize());
      EXPECT_EQ(here.wrong_bytes(), 0u);
    }
  GemmCase const c{140, 70, 300, 1, "nt"};
  for (auto const& [value, finite] : {std::pair{3.4e38f, true}, {INFINITY, false}, {NAN, false}}) {
    GemmOnDevice here(c, [](std::uint64_t, std::uint64_t) { return 0x1p-10f; });
    here.set(0, 7, 9, value);
    Gemm const problem = here.problem();
    Workspace const workspace(kernel.workspace(problem, current_device()));
    kernel.run(problem, current_device(), workspace.options.workspace, nullptr);
    check(cudaDeviceSynchronize());
    std::vector<float> const got = here.elements();
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(std::isfinite(got[i]), finite || i / 70 != 7) << i;
  }
}

// ---- through gemm(), at sizes for which slices pay

GemmCase large(char const* transposes = "nt", std::int64_t L = 1, bool one_b = false, bool columns = false) {
  return {2060, 2052, 1056, L, transposes, 1, 0, 0, 0, 0, 0, 0, 0, one_b, columns};
}
// Expects that slices are multiplied.
std::vector<char> bytes_of(GemmOnDevice const& here, GemmOptions const& options) {
  inlay::Plan const p = plan(here.A(), here.B(), here.C(), here.epilogue(), options);
  EXPECT_NE(p.why().find(options.compute == Compute::split_fast ? "chosen: " + kFast : "chosen: " + kSafe),
            std::string::npos)
      << p.why();
  here.reset();
  here.multiply(nullptr, options);
  check(cudaDeviceSynchronize());
  return here.bytes();
}

// More tiles than multiprocessors, clusters, and edges.
TEST(GpuSplitGemm, LargerShapes) {
  NEEDS_WGMMA();
  for (Compute compute : {Compute::split_safe, Compute::split_fast})
    for (GemmCase const& c :
         {GemmCase{2050, 2052, 600, 1, "nt"}, GemmCase{2050, 2052, 601, 1, "nt"}, GemmCase{2051, 2050, 603, 2, "nt"},
          GemmCase{3100, 3104, 600, 1, "nt"}, GemmCase{3001, 3003, 600, 1, "tn", 1.5f, -1},
          GemmCase{2100, 2052, 600, 3, "nn", 1.5f, -1}}) {
      SCOPED_TRACE(c.name());
      GemmOnDevice const here(c, integers);
      Workspace const workspace(here, compute);
      bytes_of(here, workspace.options);
      EXPECT_EQ(here.wrong_bytes(), 0u);
    }
}
TEST(GpuSplitGemm, TheSameBitsOnEveryRun) {
  NEEDS_WGMMA();
  for (Compute compute : {Compute::split_safe, Compute::split_fast}) {
    GemmOnDevice const here(large(), normal);
    Workspace const workspace(here, compute);
    ASSERT_GT(workspace.options.workspace_bytes, 0u);
    std::vector<char> const first = bytes_of(here, workspace.options);
    for (int run = 0; run < 3; ++run) EXPECT_EQ(bytes_of(here, workspace.options), first);
    EXPECT_LE(here.error().relative, 1e-6);
  }
}
// One matrix alone: blocks of a cluster compute its split-K slices. Four: a block computes one after the other.
TEST(GpuSplitGemm, TheSameBitsInABatch) {
  NEEDS_WGMMA();
  for (Compute compute : {Compute::split_safe, Compute::split_fast}) {
    GemmOnDevice const here(GemmCase{797, 491, 5779, 4, "nt", 1.3f, -.7f}, normal);
    Workspace const workspace(here, compute);
    std::string const why = plan(here.A(), here.B(), here.C(), here.epilogue(), workspace.options).why();
    EXPECT_NE(why.find("chosen: " + (compute == Compute::split_safe ? kSafe : kFast)), std::string::npos) << why;
    here.multiply(nullptr, workspace.options);
    check(cudaDeviceSynchronize());
    std::vector<float> const together = here.elements();
    here.reset();
    for (std::int64_t l = 0; l < 4; ++l)
      gemm(here.A().slice(0, l, 1), here.B().slice(0, l, 1), here.C().slice(0, l, 1), here.epilogue(), nullptr,
           workspace.options);
    check(cudaDeviceSynchronize());
    EXPECT_EQ(here.elements(), together);
  }
}

std::string refusal(auto const& f) {
  try {
    f();
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
struct Packed {
  DeviceBuffer memory;
  PackedB b;
  Packed(ConstTensor const& B, Compute compute) {
    std::size_t const bytes = packed_b_bytes(B, compute);
    memory = device_buffer(bytes);
    b = pack_b(B, compute, memory.get(), bytes);
  }
};
ConstTensor one_matrix(Tensor const& B) {
  return B.rank == 2 ? ConstTensor(B)
                     : ConstTensor{B.data, B.dtype, 2, {B.extent[1], B.extent[2]}, {B.stride[1], B.stride[2]}};
}

TEST(GpuSplitGemm, APackedBGivesTheSameBits) {
  NEEDS_WGMMA();
  for (Compute compute : {Compute::split_safe, Compute::split_fast})
    for (GemmCase const& c : {large(), large("nn"), large("tn", 1, false, true), large("nt", 3, true)})
      for (bool refused : {false, true}) {
        SCOPED_TRACE(c.name() + (refused ? " refused" : ""));
        GemmOnDevice here(c, normal);
        if (refused) here.set(0, 5, 7, 0x1.77p40f);
        Workspace const workspace(here, compute);
        std::vector<char> const expected = bytes_of(here, workspace.options);
        Packed const packed(one_matrix(here.B()), compute);
        GemmOptions options = workspace.options;
        options.packed_B = &packed.b;
        std::size_t const bytes = gemm_workspace(here.A(), here.B(), here.C(), here.epilogue(), options);
        EXPECT_LE(bytes, options.workspace_bytes);
        EXPECT_EQ(bytes_of(here, options), expected);
        inlay::Plan const p = plan(here.A(), here.B(), here.C(), here.epilogue(), options);
        EXPECT_EQ(p.took_f16_slices(options.workspace), compute == Compute::split_fast && !refused);
        here.reset();
        p.run(here.A().data, here.B().data, here.C().data, nullptr, options.workspace, options.workspace_bytes);
        check(cudaDeviceSynchronize());
        EXPECT_EQ(here.bytes(), expected) << "by a plan";
        EXPECT_EQ(refusal([&] {
                    p.run(here.A().data, static_cast<char*>(here.B().data) + 32, here.C().data, nullptr,
                          options.workspace, options.workspace_bytes);
                  }),
                  "the plan has a packed B, and the run is for a B at another address than the one that was packed");
      }
}

TEST(GpuSplitGemm, APackedBOfAnotherKindIsRefused) {
  NEEDS_WGMMA();
  GemmOnDevice const here(large(), normal), other(GemmCase{64, 64, 1056, 1, "nt"}), batch(large("nt", 2), normal);
  Packed const safe(here.B(), Compute::split_safe), narrow(other.B(), Compute::split_fast),
      fast(here.B(), Compute::split_fast);
  Workspace const workspace(here, Compute::split_fast);
  auto const with = [&](GemmOnDevice const& g, PackedB const& packed, Compute compute = Compute::split_fast) {
    GemmOptions options = workspace.options;
    options.packed_B = &packed, options.compute = compute;
    return refusal([&] { g.multiply(nullptr, options); });
  };
  EXPECT_EQ(with(here, safe.b), "B was packed for split_safe, and the GEMM computes by split_fast");
  EXPECT_EQ(with(here, fast.b, Compute::fp32), "a packed B is for split_safe or split_fast, not for fp32");
  EXPECT_EQ(with(here, narrow.b), "B of 1056 x 64 was packed, and the GEMM's has 1056 x 2052");
  EXPECT_EQ(with(batch, fast.b),
            "B of shape (2,1056,2052) is a batch; a packed B is one matrix, which a batch may share");
  EXPECT_EQ(with(here, {nullptr, Compute::split_fast, 1056, 2052}), "the packed B is a null pointer");
  EXPECT_EQ(with(here, {static_cast<char*>(here.C().data), Compute::split_fast, 1056, 2052}).substr(0, 10),
            "D of shape");

  GemmOptions kept = workspace.options;
  kept.packed_B = &fast.b;
  inlay::Plan const p = plan(here.A(), here.B(), here.C(), here.epilogue(), kept);
  EXPECT_EQ(refusal([&] {
              p.run(here.A().data, here.B().data, fast.memory.get(), nullptr, kept.workspace, kept.workspace_bytes);
            }).substr(0, 10),
            "D of shape");
  ConstTensor const no_rows = matrix(static_cast<void const*>(here.A().data), DType::f32, 0, 1056);
  gemm(no_rows, here.B(), matrix(here.C().data, DType::f32, 0, 2052), {}, nullptr, kept);  // launches nothing

  std::size_t const bytes = packed_b_bytes(here.B(), Compute::split_fast);
  auto const pack = [&](ConstTensor const& B, Compute compute, char* to, std::size_t size) {
    return refusal([&] { pack_b(B, compute, to, size); });
  };
  EXPECT_EQ(pack(here.B(), Compute::split_fast, fast.memory.get(), 256),
            "the packed B has 256 bytes and needs " + std::to_string(bytes));
  EXPECT_EQ(pack(here.B(), Compute::split_fast, fast.memory.get() + 16, bytes),
            "the packed B begins 16 bytes past a multiple of 256");
  EXPECT_EQ(pack(here.B(), Compute::fp32, fast.memory.get(), bytes),
            "a packed B is for split_safe or split_fast, not for fp32");
  EXPECT_EQ(pack(batch.B(), Compute::split_fast, fast.memory.get(), bytes),
            "B has rank 3; what is packed is one matrix, of rank 2");
  ConstTensor halves = here.B();
  halves.dtype = DType::bf16;
  EXPECT_EQ(pack(halves, Compute::split_fast, fast.memory.get(), bytes),
            "B has elements of type bf16; slices are made of f32");
}

}  // namespace
}  // namespace inlay::test
