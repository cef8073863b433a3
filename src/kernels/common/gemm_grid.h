// What GEMM kernels have in common: their element type, and which tile of D and slice of K a block computes.
#pragma once
#include <inlay/kernels/common/dispatch.h>

namespace inlay::kernels {

// Copies 16 bytes as a float4, so that the compiler keeps each float in a register of its own.
using Float4 = UniversalCopy<float4>;

// The DType of elements that a kernel loads as T.
template <class T>
inline constexpr DType type_of = dtype_of<T>();
template <>
inline constexpr DType type_of<bfloat16_t> = bf16;
template <>
inline constexpr DType type_of<half_t> = f16;

// Whether fp32 GEMMs by slices treat an operand as contiguous along K: also if it is contiguous along neither mode.
inline bool is_along_K(Operand const& o) { return o.row_stride != 1 || o.col_stride == 1; }

// What a kernel makes of the sums. plain: alpha A B + beta D, of the type of A and B. full: any epilogue, and an f32 D
// too.
enum class Epilogues { plain, full };

// Why the kernel, which multiplies elements of type T, cannot compute g.
template <class T, Epilogues epilogues = Epilogues::plain>
Reason rejects_type(Gemm const& g) {
  static constexpr char const* sentence = type_of<T> == f32
                                              ? "the operands are of 16 bits, and the kernel multiplies f32"
                                              : "the operands are f32, and the kernel multiplies bf16 and f16";
  if (g.elements() == 0) return {};
  if (g.A.type != type_of<T>) return {sentence};
  if (g.groups) return {"the kernel takes no groups of rows"};
  if (epilogues == Epilogues::full) return {};
  if (g.D.type != type_of<T>) return {"D is f32, and the kernel writes the type of A and B"};
  if (g.has_further_epilogue()) return {"the kernel writes alpha A B + beta D, with no other C and no activation"};
  return {};
}

void relocate_operands(Gemm& g, auto const& at) {
  g.A.base = at(g.A.base), g.B.base = at(g.B.base), g.D.base = at(g.D.base), g.C.base = at(g.C.base);
  g.A.packed = at(g.A.packed), g.B.packed = at(g.B.packed);
  g.group_ends = at(g.group_ends);
}

// D (M,N,L) in tiles of (BLK_M,BLK_N); the block index runs fastest along n, then along m, the batch and the slices of
// K. If K is split, each block computes a partial sum, and g.D holds the partial sums: all matrices of slice 0, then
// those of slice 1.
//
// T: the type of the elements of A and B in memory, and of D unless that is f32.
template <int BLK_M, int BLK_N, class T = float, Epilogues epilogues = Epilogues::plain>
struct GemmGrid {
  Gemm g;
  int tiles_m, tiles_n;
  int64_t slice_k;  // extent of each slice of K; the last one may be shorter

  static GemmGrid make(Gemm const& g) {
    return {g, int(ceil_div(g.M(), BLK_M)), int(ceil_div(g.N(), BLK_N)), g.slices > 1 ? g.slice_K : g.K()};
  }
  int64_t blocks() const { return int64_t(tiles_m) * tiles_n * g.L() * g.slices; }
  void relocate(auto const& at) { relocate_operands(g, at); }

  struct At {
    int64_t m, n, l;  // the tile's first element
    int rows, cols;   // of the tile that lie inside D
    int64_t k, K;     // the first index along k and the number of indices
    T const *A, *B;   // address of (m,k) and of (n,k)
    T* D;             // address of (m,n), if D has the type of A and B
    int64_t matrix;   // of D: all of slice 0, then those of slice 1
  };
  CUTE_HOST_DEVICE At at(unsigned block) const {
    unsigned const n = block % tiles_n, m = block / tiles_n % tiles_m, matrix = block / tiles_n / tiles_m;
    unsigned const slice = matrix / unsigned(g.L());
    At t{};
    t.m = int64_t(m) * BLK_M, t.n = int64_t(n) * BLK_N, t.l = matrix % unsigned(g.L()), t.k = slice * slice_k;
    t.rows = g.M() - t.m < BLK_M ? int(g.M() - t.m) : BLK_M;
    t.cols = g.N() - t.n < BLK_N ? int(g.N() - t.n) : BLK_N;
    t.K = g.K() - t.k < slice_k ? g.K() - t.k : slice_k;
    t.A = element<T const>(g.A, t.m, t.k, t.l);
    t.B = element<T const>(g.B, t.n, t.k, t.l);
    t.matrix = int64_t(matrix);
    t.D = element<T>(g.D, t.m, t.n, t.matrix);
    return t;
  }
  template <class X>
  CUTE_HOST_DEVICE static X* element(Operand const& o, int64_t i, int64_t j, int64_t l) {
    return o.as<X>() + (l * o.batch_stride + i * o.row_stride + j * o.col_stride);
  }

  static Reason rejects(Gemm const& g, Device const&) {
    if (Reason r = rejects_type<T, epilogues>(g)) return r;
    int64_t const m = ceil_div(g.M(), int64_t(BLK_M)), n = ceil_div(g.N(), int64_t(BLK_N));
    return too_many("{} x {} tiles in {} matrices are more blocks than a grid holds", __int128(m) * n, g.L(),
                    {m, n, g.L()});
  }
};

}  // namespace inlay::kernels
