#include "problem/gemm.h"

#include <string>
#include <utility>

#include "problem/footprint.h"

namespace inlay {
namespace {

// "f64": the kind and the bits.
std::string name(DType t) {
  char const* kinds[] = {"b", "i", "u", "f", "c"};
  return kinds[int(t.kind)] + std::to_string(8 * t.bytes);
}

void check_operand(Tensor const& t, char const* who) {
  if (t.rank != 2 && t.rank != 3)
    throw Error(std::string(who) + " has rank " + std::to_string(t.rank) +
                "; gemm takes matrices, of rank 2, and batches of rank 3");
  if (t.dtype != f32) throw Error(std::string(who) + " has elements of type " + name(t.dtype) + "; gemm takes f32");
  check_extents(t, who);
}

void check_shapes(Tensor const& A, Tensor const& B, Tensor const& C) {
  if (A.rank != B.rank || A.rank != C.rank)
    throw Error("A has rank " + std::to_string(A.rank) + ", B " + std::to_string(B.rank) + " and C " +
                std::to_string(C.rank) + "; gemm takes three matrices or three batches");
  int const r = A.rank;
  auto const sentence = [&] { return "A of shape " + shape(A) + " and B of shape " + shape(B); };
  if (r == 3 && A.extent[0] != B.extent[0])
    throw Error(sentence() + " are batches of " + std::to_string(A.extent[0]) + " and " + std::to_string(B.extent[0]) +
                " matrices");
  if (A.extent[r - 1] != B.extent[r - 2])
    throw Error(sentence() + " have no product: K is " + std::to_string(A.extent[r - 1]) + " in A and " +
                std::to_string(B.extent[r - 2]) + " in B");
  Tensor product = A;
  product.extent[r - 1] = B.extent[r - 1];
  for (int k = 0; k < r; ++k)
    if (C.extent[k] != product.extent[k])
      throw Error("C has shape " + shape(C) + " where " + sentence() + " give " + shape(product));
}

// The strides of one matrix, from those of the view; `row` and `col` are its extents.
void settle(std::int64_t rows, std::int64_t cols, std::int64_t& row_stride, std::int64_t& col_stride) {
  auto const pitch = [](std::int64_t extent) { return (extent + 3) / 4 * 4; };
  if (rows == 1) row_stride = cols > 1 && col_stride != 1 ? 1 : pitch(cols);
  if (cols == 1) col_stride = row_stride != 1 ? 1 : pitch(rows);
}

// C^T = B^T A^T.
void exchange(Gemm& g) {
  std::swap(g.M, g.N);
  std::swap(g.A, g.B);
  std::swap(g.a_m, g.b_n), std::swap(g.a_k, g.b_k), std::swap(g.a_l, g.b_l);
  std::swap(g.c_m, g.c_n);
}

}  // namespace

Gemm make_gemm(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C, Accuracy accuracy) {
  check_operand(A, "A");
  check_operand(B, "B");
  check_operand(C, "C");
  check_shapes(A, B, C);

  int const m = A.rank - 2, n = A.rank - 1;  // the modes of rows and columns
  Gemm g;
  g.alpha = alpha, g.beta = beta, g.accuracy = accuracy;
  g.M = C.extent[m], g.N = C.extent[n], g.L = A.rank == 3 ? C.extent[0] : 1;
  if (g.M == 0 || g.N == 0 || g.L == 0) return g.M = g.N = g.L = 0, g;  // pointers and strides do not matter
  check_memory(C, "C");
  Footprint const written(C);
  if (overlaps_itself(written)) throw Error("C of shape " + shape(C) + " has strides with which its elements overlap");
  g.C = static_cast<float*>(C.data);
  g.c_m = C.stride[m], g.c_n = C.stride[n], g.c_l = g.L > 1 ? C.stride[0] : 0;
  settle(g.M, g.N, g.c_m, g.c_n);

  g.K = alpha == 0 ? 0 : A.extent[n];
  if (g.K == 0) {
    g.alpha = 0;  // what is not there is not even NaN times nothing
  } else {
    for (auto [t, who] : {std::pair{&A, "A"}, std::pair{&B, "B"}}) {
      check_memory(*t, who);
      if (overlap(written, Footprint(*t)))
        throw Error("C of shape " + shape(C) + " overlaps " + who + " of shape " + shape(*t) + " in memory");
    }
    g.A = static_cast<float const*>(A.data), g.B = static_cast<float const*>(B.data);
    g.a_m = A.stride[m], g.a_k = A.stride[n], g.a_l = g.L > 1 ? A.stride[0] : 0;
    g.b_k = B.stride[m], g.b_n = B.stride[n], g.b_l = g.L > 1 ? B.stride[0] : 0;
    settle(g.K, g.M, g.a_k, g.a_m);
    settle(g.K, g.N, g.b_k, g.b_n);
  }
  if (g.c_n != 1 && g.c_m == 1) exchange(g);
  return g;
}

}  // namespace inlay
