// A batch of GEMMs with row-major operands, and the Gemm that the planner takes.
#pragma once
#include "problems/case.h"

namespace inlay::lab {

// The layout of a batch of row-major matrices in memory.
struct Stored {
  std::int64_t rows, cols, batch;
  std::int64_t pitch;         // elements from one row to the next
  std::int64_t inc;           // elements from one element of a row to the next
  std::int64_t batch_stride;  // elements from one matrix to the next; 0: all use the same matrix
  bool packed() const { return inc == 1 && pitch == cols && (batch == 1 || batch_stride == rows * cols); }
  std::int64_t elements() const;  // of the buffer, with its gaps
  struct At {
    std::int64_t row, col;
  };
  At at(std::int64_t i) const {  // of element i of the buffer; in a gap the column is out of range
    std::int64_t const past_matrix = batch_stride ? i % batch_stride : i,
                       past_row = batch_stride && batch_stride < pitch ? i % pitch % batch_stride : i % pitch;
    return {(batch_stride < pitch ? i : past_matrix) / pitch, past_row % inc ? cols : past_row / inc};
  }
  friend bool operator==(Stored const&, Stored const&) = default;
};

// The operands of one launch.
struct GemmCall {
  float alpha, beta;
  void const *a, *b;
  void* d;
};
// The words of Compute on the command line and in files, in the order of the enumeration.
inline constexpr char const* kComputeWords[] = {"fp32", "fp32_blocked", "split_safe", "split_fast"};

struct GemmCase {
  std::int64_t M = 4096, N = 4096, K = 4096, batch = 1;
  std::string type = "f32";                // of the elements of A, B and D
  std::string transa = "n", transb = "n";  // n: stored as (M,K) and (K,N); t: stored transposed
  float alpha = 1, beta = 0;
  std::int64_t lda = 0, ldb = 0, ldd = 0;        // elements from row to row as stored; 0: the columns
  std::int64_t inc_a = 1, inc_b = 1, inc_d = 1;  // between elements of a row
  std::int64_t batch_stride_a = -1, batch_stride_b = -1,
               batch_stride_d = -1;  // from matrix to matrix; -1: packed, 0: all use the same matrix
  Compute compute = Compute::fp32;
  std::string group = "";  // class of the case in a suite

  static constexpr char const* kind = "GEMM";
  Notation const& notation() const;

  std::string transposes() const { return transa + transb; }  // "nn"
  DType dtype() const { return type == "bf16" ? bf16 : type == "f16" ? f16 : f32; }
  bool a_transposed() const { return transa == "t"; }
  bool b_transposed() const { return transb == "t"; }
  Stored a() const {
    return a_transposed() ? stored(K, M, lda, inc_a, batch_stride_a) : stored(M, K, lda, inc_a, batch_stride_a);
  }
  Stored b() const {
    return b_transposed() ? stored(N, K, ldb, inc_b, batch_stride_b) : stored(K, N, ldb, inc_b, batch_stride_b);
  }
  Stored d() const { return stored(M, N, ldd, inc_d, batch_stride_d); }
  std::string sentence() const;  // "4096 x 4096 x 4096, nn, alpha 2, pitches 4100, 4096 and 4096"
  std::string name() const { return std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K); }
  std::string short_name() const { return "  " + transposes() + (type == "f32" ? "" : " " + type); }
  std::vector<Field> fields();
  void take_item(std::smatch const& match);
  // Rejects types other than f32, bf16 and f16, extents below 1, transposes other than n and t, pitches below the row,
  // matrices that overlap, more than 2^62 bytes.
  void validate() const;
  // Omits fields that have the values of a plain GEMM.
  void write(std::string const& kernel, Json& json) const;
  static bool wrote(Json const& row);
  static GemmCase read(Json const& row);

  double bytes() const;
  double flops() const { return 2. * double(M) * double(N) * double(K) * double(batch); }
  double replayed_fma() const;
  std::vector<OperandBuffer> operands() const;
  using Call = GemmCall;
  GemmCall call(std::span<void* const> at) const;
  // Rounds alpha and beta to whole numbers from -3 to 3; only 0 becomes 0.
  static GemmCall exact(GemmCall call);

  using Canonical = Gemm;
  static std::span<Entry<Gemm> const> kernels() { return gemm_kernels(); }
  Gemm canonical(GemmCall const& call, Info<Gemm> const*) const;

  // Given pitches equal those that follow from the extents.
  friend bool operator==(GemmCase const& x, GemmCase const& y);

 private:
  Stored stored(std::int64_t rows, std::int64_t cols, std::int64_t pitch, std::int64_t inc,
                std::int64_t batch_stride) const {
    pitch = pitch ? pitch : cols * inc;
    return {rows, cols, batch, pitch, inc, batch == 1 ? 0 : batch_stride < 0 ? rows * pitch : batch_stride};
  }
};

// transposes: "nn", "nt", "tn" or "tt".
GemmCase gemm_case(std::int64_t M, std::int64_t N, std::int64_t K, std::string const& transposes);

// (M,K), (K,N) and (M,N); of rank 3 for a batch.
struct GemmViews {
  Tensor a, b, d;
};
GemmViews views(GemmCase const& c, GemmCall const& call);

}  // namespace inlay::lab
