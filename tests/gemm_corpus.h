// The GEMMs that every kernel of Gemm meets: on the CPU by replay, on the GPU for real. One list for both.
#pragma once
#include <inlay/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include <inlay/problem/gemm.h>
#include "long_tests.h"

namespace inlay::test {
using namespace problem;

// A batch of L GEMMs. Letters are those of row-major operands A and B: n as written, t stored transposed. Gaps are
// extra elements of a row's pitch, bases are in elements from a 16-byte boundary.
struct GemmCase {
  std::int64_t M, N, K, L = 1;
  char const* transposes = "nn";
  float alpha = 1, beta = 0;
  std::int64_t gap_a = 0, gap_b = 0, gap_c = 0, base_a = 0, base_b = 0, base_c = 0;
  bool one_b = false;      // the batch shares it
  bool columns_c = false;  // C stored transposed
  std::int64_t gap_batch = 4;

  std::string name() const {
    auto s = [](std::int64_t n) { return std::to_string(n); };
    return s(M) + "x" + s(N) + "x" + s(K) + "x" + s(L) + " " + transposes + " alpha " + std::to_string(alpha) +
           " beta " + std::to_string(beta) + " gaps " + s(gap_a) + "," + s(gap_b) + "," + s(gap_c) + " bases " +
           s(base_a) + "," + s(base_b) + "," + s(base_c) + (one_b ? ", one B" : "") +
           (columns_c ? ", C by columns" : "");
  }
};

// Empty and single; primes; one below and above the tiles' edges, with long sides one at a time; then pitches, bases,
// batches, scales.
inline std::vector<GemmCase> gemm_corpus() {
  return {
      {0, 0, 0},
      {0, 7, 5},
      {7, 0, 5},
      {7, 5, 0},
      {33, 35, 0, 1, "nn", 1, 2},
      {1, 1, 1},
      {1, 1, 67, 1, "tt"},
      {1, 70, 33},
      {70, 1, 33, 1, "tn"},
      {2, 3, 1, 1, "nt", 2, -1},
      {17, 19, 23, 1, "nn"},
      {17, 19, 23, 1, "nt"},
      {17, 19, 23, 1, "tn"},
      {17, 19, 23, 1, "tt"},
      {32, 32, 32},
      {31, 33, 9},
      {33, 31, 7, 1, "nt"},
      {63, 65, 16, 1, "tn"},
      {65, 63, 15, 1, "tt"},
      {64, 64, 17, 1, "nt"},
      {127, 33, 31, 1, "nt"},
      {129, 31, 33},
      {128, 128, 8, 1, "tn"},
      {31, 257, 17, 1, "nt"},
      {257, 31, 32, 1, "tn"},
      {33, 255, 16},
      {129, 257, 33, 1, "nn"},  // several of the largest tiles, K beyond one stage of each
      // whole vectors in every layout, deep enough to go round a ring of stages
      {128, 256, 32, 1, "tn"},
      {64, 64, 160, 1, "nn", 1, 1},
      {64, 64, 160, 1, "nt", 1, 1},
      {64, 61, 36, 1, "tt", 2, -1},
      {64, 64, 160, 1, "tn", 2, -1},
      {64, 64, 160, 1, "tt"},
      {8, 12, 1028, 1, "tn"},
      {5, 7, 1023},
      // pitches and bases: vectors that stay, and that do not
      {48, 80, 24, 1, "nn", 1, 0, 4, 8, 4},
      {48, 80, 24, 1, "tt", 1, 0, 4, 8, 4, 4, 8, 4},
      {60, 68, 36, 1, "nn", 1, 0, 0, 0, 0, 1, 2, 3},
      {33, 35, 19, 1, "tn", 1, 0, 1, 2, 3, 3, 1, 2},
      {33, 35, 19, 1, "nt", -1, 3, 2, 1, 5, 1, 3, 1},
      // A by vectors, B by elements: tiles that are not transposed, D by vectors; the second case splits K in a cluster
      {72, 64, 40, 1, "nn", 1.5f, .5f, 0, 1},
      {72, 64, 600, 1, "nn", 1.5f, .5f, 0, 1},
      // vectors of eight elements along K
      {64, 64, 64, 1, "nt"},
      {9, 17, 200, 1, "nt"},
      {130, 71, 72, 1, "nt", 2, -1},
      {128, 136, 64, 2, "nt", 1, 1, 8, 16, 3, 8, 0, 1, false, false, 8},
      {129, 130, 8, 3, "nt", 1, 0, 0, 0, 0, 0, 0, 0, true, false, 8},
      // batches
      {19, 21, 23, 3, "nn"},
      {32, 48, 16, 4, "tn", 1, 1, 4, 0, 4},
      {33, 31, 20, 3, "tt", 2, -1, 1, 0, 1, 0, 0, 0, true},
      // batches without gaps: several matrices a block, odd ones too, and whole vectors of all operands
      {5, 7, 9, 111, "nt", 2, -1, 0, 0, 0, 1, 2, 3, false, false, 0},
      {3, 3, 50, 60, "tn", 1, 0, 0, 0, 0, 3, 1, 2, false, false, 0},
      {17, 13, 19, 20, "nn", 1, 1, 0, 0, 0, 0, 0, 1, true, false, 0},
      {23, 31, 29, 5, "tt", 1, 0, 0, 0, 0, 2, 3, 0, false, false, 0},
      {4, 4, 4, 300, "tn", 1, 0, 0, 0, 0, 0, 0, 0, false, false, 0},
      {8, 8, 8, 77, "nn", 1, 1, 0, 0, 0, 0, 0, 0, false, false, 0},
      {16, 12, 20, 30, "nt", 2, -1, 0, 0, 0, 0, 0, 0, true, false, 0},
      {20, 20, 12, 12, "nn", 1, 0, 0, 0, 0, 0, 0, 0, false, false, 0},  // A ends within a line of 128 bytes
      {52, 52, 52, 2, "nt", 1, 0, 0, 0, 0, 0, 0, 0, false, false, 0},
      {32, 36, 40, 5, "tt", 1, 0, 0, 0, 0, 0, 0, 0, false, false, 0},
      {33, 65, 70, 2, "nn", 1, 0, 0, 0, 0, 1, 1, 1, false, false, 0},
      // 1 to 8 vectors: rows and columns of the large operand, whole vectors and not
      {60, 1, 68, 1, "nn", 2, -1},
      {1, 71, 60, 1, "nn", 1, 1},
      {1, 31, 57, 2, "nt", 1, 0, 0, 0, 0, 1, 2, 3},
      {43, 2, 37, 2, "tn", 2, -1, 3, 1, 2, 1, 1, 1},
      {8, 36, 40, 1, "nt", 1, 1},
      {7, 36, 44, 1, "nn", 1, 0, 0, 0, 0, 0, 0, 0, false, true},
      // a K below 64, four tiles of 128 x 128
      {131, 133, 61, 1, "tn", -1, 1, 0, 0, 1},
      // scales: nothing is read of C, or nothing of A and B
      {45, 50, 33, 1, "nn", 2, -1},
      {45, 50, 33, 1, "nt", 0, 2},
      {45, 50, 33, 1, "nn", 0, 0},
      // C by columns
      {37, 41, 29, 1, "nn", 1, 0, 0, 0, 0, 0, 0, 0, false, true},
      {36, 44, 28, 2, "tn", 2, -1, 0, 0, 4, 0, 0, 0, false, true},
  };
}

// A case as a short test runs it with this kernel: at most 5 matrices, unless a block computes several; for steps of
// the tutorial a K up to 263, with the same remainder modulo 8.
inline GemmCase shortened(GemmCase c, std::string_view kernel) {
  if (runs_long_tests()) return c;
  if (kernel != "sgemm_packed") c.L = std::min<std::int64_t>(c.L, 5);
  if (is_step(kernel) && c.K > 263) c.K = 256 + c.K % 8;
  return c;
}
// A short test runs one of this many cases with the kernel.
inline int share_of_cases(std::string_view kernel) {
  int const of_quick = runs_quick_tests() ? 6 : 1;
  return runs_long_tests() ? 1 : of_quick * (is_step(kernel) ? 3 : kernel.starts_with("sgemm_split_") ? 2 : 1);
}
// The corpus of kernel `number` of the registry. A short test runs a share of it with each step of the tutorial and
// each kernel of slices, another share with the next.
inline std::vector<GemmCase> gemm_corpus_of(std::string_view kernel, int number) {
  std::vector<GemmCase> cases;
  int const share = share_of_cases(kernel);
  int index = 0;
  for (GemmCase const& c : gemm_corpus())
    if (index++ % share == number % share) cases.push_back(shortened(c, kernel));
  return cases;
}

// 1 to 8 vectors with more rows and a longer K than the tiles and stages of sgemm_thin: too much for a replay of
// kernels with large tiles.
inline std::vector<GemmCase> thin_corpus() {
  return {
      {300, 1, 260, 1, "nn", 2, -1},
      {303, 1, 2061, 1, "nt"},
      {1, 260, 300, 1, "nn", 1, 1},
      {1, 131, 517, 2, "nt", 1, 0, 0, 0, 0, 1, 2, 3},
      {140, 3, 100, 1, "tn"},
      {143, 2, 97, 2, "tn", 2, -1, 3, 1, 2, 1, 1, 1},
      {5, 136, 4100, 1, "tt", 1, 0, 0, 4, 4},
      {8, 72, 2100, 1, "nt", 1, 1},
      {7, 72, 4360, 1, "nn", 1, 0, 0, 0, 0, 0, 0, 0, false, true},
      {40, 4, 8200, 1, "tt", 1, 0, 0, 0, 0, 0, 0, 1},
  };
}

// A matrix of a case as it is stored: rows x cols, row-major.
struct Stored {
  std::int64_t rows, cols, pitch, base, batch;  // in elements
  bool transposed;                              // against the operand
  std::int64_t elements(std::int64_t L) const { return base + (L - 1) * batch + rows * pitch; }

  // The operand; `data` is the aligned start of the buffer.
  Tensor view(void* data, std::int64_t L, DType type = f32) const {
    Tensor t;
    t.data = static_cast<char*>(data) + base * bytes_of(type), t.dtype = type;
    t.rank = L > 1 ? 3 : 2;
    std::int64_t const extent[] = {L, rows, cols}, stride[] = {batch, pitch, 1};
    for (int k = 0; k < t.rank; ++k) t.extent[k] = extent[k + 3 - t.rank], t.stride[k] = stride[k + 3 - t.rank];
    return transposed ? t.transposed() : t;
  }
};
inline Stored stored(GemmCase const& c, std::int64_t rows, std::int64_t cols, bool transposed, std::int64_t gap,
                     std::int64_t base, bool one = false) {
  if (transposed) std::swap(rows, cols);
  std::int64_t const pitch = cols + gap;
  return {rows, cols, pitch, base, c.L > 1 && !one ? rows * pitch + c.gap_batch : 0, transposed};
}
inline Stored stored_a(GemmCase const& c) { return stored(c, c.M, c.K, c.transposes[0] == 't', c.gap_a, c.base_a); }
inline Stored stored_b(GemmCase const& c) {
  return stored(c, c.K, c.N, c.transposes[1] == 't', c.gap_b, c.base_b, c.one_b);
}
inline Stored stored_c(GemmCase const& c) { return stored(c, c.M, c.N, c.columns_c, c.gap_c, c.base_c); }

// The problem of a case; A, B, C are the aligned starts of buffers of elements() elements.
inline Gemm gemm_of(GemmCase const& c, void* A, void* B, void* C, Compute compute, DType type, DType type_of_C) {
  return make_gemm(stored_a(c).view(A, c.L, type), stored_b(c).view(B, c.L, type), stored_c(c).view(C, c.L, type_of_C),
                   {.alpha = c.alpha, .beta = c.beta}, compute);
}
inline Gemm gemm_of(GemmCase const& c, void* A, void* B, void* C, Compute compute = Compute::fp32, DType type = f32) {
  return gemm_of(c, A, B, C, compute, type, type);
}

}  // namespace inlay::test
