// Tensor arguments -> Gemm: what is refused, in which words, and what the canonical form is.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <inlay/problem/batched_gemm.h>

namespace inlay::problem {
namespace {

constexpr std::uint64_t kA = 1u << 20, kB = 1u << 24, kC = 1u << 28;

// A view of floats at an address; strides may be left out where it lies in one piece.
Tensor view(std::uint64_t address, std::initializer_list<std::int64_t> extents,
            std::initializer_list<std::int64_t> strides = {}) {
  Tensor t;
  t.data = reinterpret_cast<void*>(address), t.dtype = f32;
  for (std::int64_t e : extents) t.extent[t.rank++] = e;
  std::uint64_t s = 1;  // of an empty one it may wrap
  for (int k = t.rank; k-- > 0; s *= std::uint64_t(t.extent[k])) t.stride[k] = std::int64_t(s);
  int k = 0;
  for (std::int64_t stride : strides) t.stride[k++] = stride;
  return t;
}
Gemm made(Tensor const& A, Tensor const& B, Tensor const& C, float alpha = 2, float beta = 3) {
  return make_gemm(A, B, C, {.alpha = alpha, .beta = beta}, Compute::fp32);
}
std::string refusal(Tensor const& A, Tensor const& B, Tensor const& C, float alpha = 2) {
  try {
    made(A, B, C, alpha);
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
// Several at once: strides, extents.
template <class... T>
std::vector<std::int64_t> numbers(T... n) {
  return {n...};
}
float const* floats(std::uint64_t address) { return reinterpret_cast<float const*>(address); }

// ---- the canonical form
TEST(Gemm, TakesRowMajorMatricesAsTheyAre) {
  Gemm const g = make_gemm(view(kA, {3, 5}), view(kB, {5, 7}), view(kC, {3, 7}, {10, 1}), {.alpha = 2, .beta = 3},
                           Compute::fp32_blocked);
  EXPECT_EQ(numbers(g.M(), g.N(), g.K(), g.L()), numbers(3, 7, 5, 1));
  EXPECT_EQ(g.epilogue.alpha, 2);
  EXPECT_EQ(g.epilogue.beta, 3);
  EXPECT_EQ(g.compute, Compute::fp32_blocked);
  EXPECT_EQ(g.A.base, floats(kA));
  EXPECT_EQ(g.B.base, floats(kB));
  EXPECT_EQ(g.D.base, floats(kC));
  EXPECT_EQ(numbers(g.A.row_stride, g.A.col_stride, g.A.batch_stride), numbers(5, 1, 0));
  EXPECT_EQ(numbers(g.B.col_stride, g.B.row_stride, g.B.batch_stride), numbers(7, 1, 0));
  EXPECT_EQ(numbers(g.D.row_stride, g.D.col_stride, g.D.batch_stride), numbers(10, 1, 0));
  EXPECT_EQ(g.elements(), 21);
  EXPECT_EQ(numbers(g.A.rows, g.A.cols, g.A.matrices), numbers(3, 5, 1));
  EXPECT_EQ(numbers(g.B.rows, g.B.cols, g.B.matrices), numbers(7, 5, 1));  // (N,K), as in CuTe
  EXPECT_EQ(numbers(g.D.rows, g.D.cols, g.D.matrices), numbers(3, 7, 1));
  EXPECT_EQ(g.slices, 1);
  EXPECT_FALSE(g.exchanged);
}
TEST(Gemm, AnotherKChangesBothOperandsAndNothingElse) {
  Gemm const g = made(view(kA, {3, 5}), view(kB, {5, 7}), view(kC, {3, 7})), h = g.with_K(2);
  EXPECT_EQ(numbers(h.M(), h.N(), h.K(), h.A.cols, h.B.cols), numbers(3, 7, 2, 2, 2));
  EXPECT_EQ(numbers(h.A.row_stride, h.B.col_stride, h.D.row_stride), numbers(5, 7, 7));
  EXPECT_EQ(g.K(), 5);
}
TEST(Gemm, OperandsKnowHowFarTheyArePastAVector) {
  Gemm const g = made(view(kA + 4, {3, 5}), view(kB + 12, {5, 7}), view(kC + 16, {3, 7}));
  EXPECT_EQ(numbers(g.A.misalignment_bytes(), g.B.misalignment_bytes(), g.D.misalignment_bytes()), numbers(4, 12, 0));
}
TEST(Gemm, TransposedOperandsAreStrides) {
  Gemm const g = made(view(kA, {5, 3}).transposed(), view(kB, {7, 5}).transposed(), view(kC, {3, 7}));
  EXPECT_EQ(numbers(g.A.row_stride, g.A.col_stride), numbers(1, 3));
  EXPECT_EQ(numbers(g.B.col_stride, g.B.row_stride), numbers(1, 5));
}
TEST(Gemm, ABatchHasStrides) {
  Gemm const g = made(view(kA, {4, 3, 5}), view(kB, {4, 5, 7}, {0, 7, 1}), view(kC, {4, 3, 7}, {100, 8, 1}));
  EXPECT_EQ(g.L(), 4);
  EXPECT_EQ(numbers(g.A.batch_stride, g.B.batch_stride, g.D.batch_stride), numbers(15, 0, 100));
  EXPECT_EQ(numbers(g.A.matrices, g.B.matrices, g.D.matrices), numbers(4, 1, 4));  // B is shared
}
TEST(Gemm, ABatchOfOneHasNoStrides) {
  Gemm const g = made(view(kA, {1, 3, 5}), view(kB, {1, 5, 7}), view(kC, {1, 3, 7}, {0, 7, 1}));
  EXPECT_EQ(numbers(g.A.batch_stride, g.B.batch_stride, g.D.batch_stride), numbers(0, 0, 0));
}
TEST(Gemm, AColumnMajorCExchangesAAndB) {
  Gemm const g = made(view(kA, {4, 3, 5}), view(kB, {4, 7, 5}).transposed(), view(kC, {4, 7, 3}).transposed());
  EXPECT_TRUE(g.exchanged);
  EXPECT_EQ(numbers(g.M(), g.N(), g.K()), numbers(7, 3, 5));
  EXPECT_EQ(g.A.base, floats(kB));
  EXPECT_EQ(g.B.base, floats(kA));
  EXPECT_EQ(numbers(g.A.row_stride, g.A.col_stride, g.A.batch_stride), numbers(5, 1, 35));
  EXPECT_EQ(numbers(g.B.row_stride, g.B.col_stride, g.B.batch_stride), numbers(5, 1, 15));
  EXPECT_EQ(numbers(g.D.row_stride, g.D.col_stride, g.D.batch_stride), numbers(3, 1, 21));
}
TEST(Gemm, ACContiguousInNeitherModeStays) {
  Gemm const g = made(view(kA, {3, 5}), view(kB, {5, 7}), view(kC, {3, 7}, {20, 2}));
  EXPECT_EQ(numbers(g.M(), g.D.row_stride, g.D.col_stride), numbers(3, 20, 2));
  EXPECT_FALSE(g.exchanged);
}
TEST(Gemm, StridesOverExtentsOfOneAreSettled) {
  constexpr std::int64_t any = 123;
  {  // rows of one matrix: contiguous along the row, with a pitch of whole vectors
    Gemm const g = made(view(kA, {1, 5}, {any, 1}), view(kB, {5, 7}), view(kC, {1, 7}, {any, 1}));
    EXPECT_EQ(numbers(g.A.row_stride, g.A.col_stride), numbers(8, 1));
    EXPECT_EQ(numbers(g.D.row_stride, g.D.col_stride), numbers(8, 1));
  }
  {  // strided rows are columns of a pitched matrix: C's exchanges
    Gemm const g = made(view(kA, {1, 5}, {any, 6}), view(kB, {5, 7}), view(kC, {1, 7}, {any, 9}));
    EXPECT_EQ(numbers(g.M(), g.N()), numbers(7, 1));
    EXPECT_EQ(numbers(g.D.row_stride, g.D.col_stride), numbers(9, 1));
    EXPECT_EQ(numbers(g.B.row_stride, g.B.col_stride), numbers(1, 6));
  }
  {  // a contiguous column is a row of C^T
    Gemm const g = made(view(kA, {3, 5}), view(kB, {5, 1}, {1, any}), view(kC, {3, 1}, {1, any}));
    EXPECT_EQ(numbers(g.M(), g.N()), numbers(1, 3));
    EXPECT_EQ(numbers(g.D.row_stride, g.D.col_stride), numbers(4, 1));
    EXPECT_EQ(numbers(g.A.row_stride, g.A.col_stride), numbers(8, 1));
  }
  {  // an outer product
    Gemm const g = made(view(kA, {3, 1}, {1, any}), view(kB, {1, 7}, {any, 1}), view(kC, {3, 7}));
    EXPECT_EQ(numbers(g.A.row_stride, g.A.col_stride), numbers(1, 4));
    EXPECT_EQ(numbers(g.B.row_stride, g.B.col_stride), numbers(1, 8));
  }
  {  // numbers: contiguous in m and n
    Gemm const g = made(view(kA, {1, 1}, {any, any}), view(kB, {1, 1}, {any, any}), view(kC, {1, 1}, {any, any}));
    EXPECT_EQ(numbers(g.A.row_stride, g.A.col_stride), numbers(1, 4));
    EXPECT_EQ(numbers(g.B.row_stride, g.B.col_stride), numbers(1, 4));
    EXPECT_EQ(numbers(g.D.row_stride, g.D.col_stride), numbers(4, 1));
  }
}
TEST(Gemm, NothingToAddReadsNoOperand) {
  for (Gemm const& g : {made(view(0, {3, 5}), view(0, {5, 7}), view(kC, {3, 7}), 0),
                        made(view(kC, {3, 5}), view(kC + 1, {5, 7}), view(kC, {3, 7}), -0.f),
                        made(view(0, {3, 0}), view(0, {0, 7}), view(kC, {3, 7}))}) {
    EXPECT_EQ(numbers(g.M(), g.N(), g.K()), numbers(3, 7, 0));
    EXPECT_EQ(g.epilogue.alpha, 0);
    EXPECT_EQ(g.A.base, nullptr);
    EXPECT_EQ(g.B.base, nullptr);
    EXPECT_EQ(g.D.base, floats(kC));
    EXPECT_EQ(g.epilogue.beta, 3);
  }
}
TEST(Gemm, EmptyNeedsNoPointers) {
  auto const elements = [](std::int64_t L, std::int64_t M, std::int64_t N, std::int64_t K) {
    return made(view(0, {L, M, K}), view(0, {L, K, N}), view(0, {L, M, N})).elements();
  };
  std::int64_t const large = std::int64_t(1) << 62;
  EXPECT_EQ(elements(2, 0, 7, 5), 0);
  EXPECT_EQ(elements(2, 3, 0, 5), 0);
  EXPECT_EQ(elements(0, 3, 7, 5), 0);
  EXPECT_EQ(elements(0, large, large, large), 0);
  EXPECT_EQ(elements(large, large, 0, 0), 0);
}
TEST(Gemm, NanIsNoZero) {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  Gemm const g = made(view(kA, {3, 5}), view(kB, {5, 7}), view(kC, {3, 7}), nan, nan);
  EXPECT_EQ(g.K(), 5);
  EXPECT_TRUE(std::isnan(g.epilogue.alpha) && std::isnan(g.epilogue.beta));
}
TEST(Gemm, StridesMayBeNegativeAndThoseOfAAndBZero) {
  Gemm const g = made(view(kA, {3, 5}, {-5, 1}), view(kB, {5, 7}, {0, -1}), view(kC, {3, 7}, {-7, 1}));
  EXPECT_EQ(numbers(g.A.row_stride, g.B.col_stride, g.B.row_stride, g.D.row_stride), numbers(-5, 0, -1, -7));
  EXPECT_EQ(refusal(view(kA, {3, 5}, {0, 0}), view(kB, {5, 7}, {0, 0}), view(kC, {3, 7}, {-7, -1})), "");
}

// ---- batch modes
BatchedGemm batched(Tensor const& A, Tensor const& B, Tensor const& C, float alpha = 2) {
  return make_batched_gemm(A, B, C, {.alpha = alpha, .beta = 3}, Compute::fp32);
}
TEST(BatchModes, MergeWhereAllOperandsAllowIt) {
  BatchedGemm const b = batched(view(kA, {2, 6, 3, 5}), view(kB, {2, 6, 5, 7}), view(kC, {2, 6, 3, 7}));
  EXPECT_TRUE(b.outer.empty());
  EXPECT_EQ(numbers(b.gemm.L(), b.gemm.A.batch_stride, b.gemm.B.batch_stride, b.gemm.D.batch_stride),
            numbers(12, 15, 35, 21));
  // One matrix of B for all; modes of one matrix do not count, and the order of modes is that of D.
  BatchedGemm const one =
      batched(view(kA, {6, 1, 2, 3, 5}, {15, 7, 90, 5, 1}), view(kB, {6, 1, 2, 5, 7}, {0, 9, 0, 7, 1}),
              view(kC, {6, 1, 2, 3, 7}, {21, 0, 126, 7, 1}));
  EXPECT_TRUE(one.outer.empty());
  EXPECT_EQ(numbers(one.gemm.L(), one.gemm.A.batch_stride, one.gemm.B.matrices, one.gemm.D.batch_stride),
            numbers(12, 15, 1, 21));
}
// Attention: (batch, sequence, heads, depth) seen as (batch, heads, sequence, depth).
TEST(BatchModes, TheLongestIsTheKernels) {
  Tensor const Q = view(kA, {2, 6, 3, 5}, {90, 5, 30, 1}), K = view(kB, {2, 6, 5, 7}, {210, 5, 1, 30});
  BatchedGemm const b = batched(Q, K, view(kC, {2, 6, 3, 7}));
  EXPECT_EQ(numbers(b.gemm.L(), b.gemm.A.batch_stride, b.gemm.B.batch_stride, b.gemm.D.batch_stride),
            numbers(6, 5, 5, 21));
  ASSERT_EQ(b.outer.size(), 1u);
  EXPECT_EQ(b.outer[0].extent, 2);
  EXPECT_EQ(b.outer_indices(), 2);
  EXPECT_EQ(numbers(b.outer[0].stride[0], b.outer[0].stride[1], b.outer[0].stride[2]),
            numbers(90 * 4, 210 * 4, 126 * 4));
  std::vector<std::int64_t> seen;
  b.for_each([&](auto const& offset) { seen.insert(seen.end(), offset.begin(), offset.end()); });
  EXPECT_EQ(seen, numbers(0, 0, 0, 0, 360, 840, 504, 0));
  Gemm const second = b.at({360, 840, 504});
  EXPECT_EQ(second.A.base, floats(kA + 360));
  EXPECT_EQ(second.B.base, floats(kB + 840));
  EXPECT_EQ(second.D.base, floats(kC + 504));
  EXPECT_EQ(second.L(), 6);
}
TEST(BatchModes, OffsetsAreThoseOfTheCallsOperands) {
  Tensor const A = view(kA, {2, 6, 3, 5}, {90, 5, 30, 1}), B = view(kB, {2, 6, 5, 7}, {210, 5, 1, 30});
  Tensor const D = view(kC, {2, 6, 3, 7}, {126, 21, 1, 3});
  BatchedGemm const b = batched(A, B, D);
  ASSERT_TRUE(b.gemm.exchanged);
  EXPECT_EQ(b.outer[0].stride[0], 360);
  EXPECT_EQ(b.at({360, 840, 504}).B.base, floats(kA + 360));
  EXPECT_EQ(b.at({360, 840, 504}).A.base, floats(kB + 840));
}
TEST(BatchModes, OperandsThatAreNotReadHaveNoStrides) {
  Tensor const A = view(0, {2, 6, 3, 5}, {90, 5, 30, 1}), B = view(0, {2, 6, 5, 7}, {210, 5, 1, 30});
  BatchedGemm const b = batched(A, B, view(kC, {2, 6, 3, 7}), 0);
  EXPECT_TRUE(b.outer.empty());
  EXPECT_EQ(b.gemm.L(), 12);
}
TEST(BatchModes, AllOfDAndOfTheOperandsAreChecked) {
  EXPECT_NE(refusal(view(kA, {2, 6, 3, 5}), view(kB, {2, 6, 5, 7}), view(kC, {2, 6, 3, 7}, {21, 21, 7, 1}))
                .find("its elements overlap"),
            std::string::npos);
  EXPECT_NE(refusal(view(kA, {2, 6, 3, 5}), view(kB, {2, 6, 5, 7}, {1 << 22, 35, 7, 1}),
                    view(kB + (4 << 22) - 64, {2, 6, 3, 7}))
                .find("overlaps B"),
            std::string::npos);
}

// ---- refusals
TEST(GemmRefusals, Ranks) {
  EXPECT_EQ(refusal(view(kA, {15}), view(kB, {5, 7}), view(kC, {3, 7})),
            "A has rank 1; gemm takes matrices, of rank 2, and batches of a higher rank");
  EXPECT_EQ(refusal(view(kA, {3, 5}), view(kB, {2, 2, 5, 7}), view(kC, {3, 7})),
            "A has rank 2, B 4 and D 2; gemm takes three matrices or three batches");
  EXPECT_EQ(refusal(view(kA, {2, 6, 3, 5}), view(kB, {2, 4, 5, 7}), view(kC, {2, 6, 3, 7})),
            "A of shape (2,6,3,5) and B of shape (2,4,5,7) are batches of 6 and 4 matrices along mode 1");
  EXPECT_EQ(refusal(view(kA, {1, 3, 5}), view(kB, {5, 7}), view(kC, {1, 3, 7})),
            "A has rank 3, B 2 and D 3; gemm takes three matrices or three batches");
  EXPECT_EQ(refusal(view(kA, {3, 5}), view(kB, {5, 7}), view(kC, {1, 3, 7})),
            "A has rank 2, B 2 and D 3; gemm takes three matrices or three batches");
}
TEST(GemmRefusals, Types) {
  Tensor const A = view(kA, {3, 5}), B = view(kB, {5, 7}), C = view(kC, {3, 7});
  auto const as = [](Tensor t, DType type) { return t.dtype = type, t; };
  EXPECT_EQ(refusal(as(A, f64), B, C), "A has elements of type f64; gemm takes f32, bf16 and f16");
  EXPECT_EQ(refusal(A, as(B, b32), C), "B has elements of type b32; gemm takes f32, bf16 and f16");
  EXPECT_EQ(refusal(A, B, as(C, dtype_of<int>())), "D has elements of type i32; gemm takes f32, bf16 and f16");
  EXPECT_EQ(
      refusal(as(A, bf16), as(B, f16), C),
      "A has elements of type bf16, B of type f16 and D of type f32; gemm takes A and B of one type, and D of that "
      "type or f32");
  EXPECT_EQ(
      refusal(as(A, bf16), as(B, bf16), as(C, f16)),
      "A has elements of type bf16, B of type bf16 and D of type f16; gemm takes A and B of one type, and D of that "
      "type or f32");
}
Gemm with_C(Tensor const& D, ConstTensor const& C, float beta = 3) {
  BatchedGemm const batched =
      make_batched_gemm(view(kA, {3, 5}), view(kB, {5, 7}), D, {.alpha = 2, .beta = beta}, Compute::fp32, &C);
  return batched.gemm;
}
TEST(Gemm, RepeatsC) {
  std::uint64_t const at = 1u << 29;
  Tensor const D = view(kC, {3, 7});
  auto const strides = [](Gemm const& g) { return numbers(g.C.rows, g.C.cols, g.C.row_stride, g.C.col_stride); };
  EXPECT_EQ(strides(with_C(D, view(at, {7}))), numbers(3, 7, 0, 1));
  EXPECT_EQ(strides(with_C(D, view(at, {3, 1}))), numbers(3, 7, 1, 0));
  EXPECT_EQ(strides(with_C(D, view(at, {3, 1}, {9, 4}))), numbers(3, 7, 9, 0));
  EXPECT_EQ(strides(with_C(D, view(at, {}))), numbers(3, 7, 0, 0));
  EXPECT_EQ(strides(with_C(D, view(at, {3, 7}, {8, 1}))), numbers(3, 7, 8, 1));
  EXPECT_EQ(with_C(D, view(at, {7})).addend().base, floats(at));
  // D is column-major: the problem is its transpose.
  EXPECT_EQ(strides(with_C(view(kC, {3, 7}, {1, 3}), view(at, {7}))), numbers(7, 3, 1, 0));
  // D itself, or not read.
  EXPECT_EQ(with_C(D, D).C.base, nullptr);
  EXPECT_EQ(with_C(D, D).addend().base, floats(kC));
  EXPECT_EQ(with_C(D, view(at, {4}), 0).C.base, nullptr);
}
TEST(GemmRefusals, C) {
  Tensor const D = view(kC, {3, 7});
  auto const refused = [&](ConstTensor const& C) -> std::string {
    try {
      with_C(D, C);
    } catch (Error const& e) {
      return e.what();
    }
    return "";
  };
  std::uint64_t const at = 1u << 29;
  EXPECT_EQ(refused(view(at, {3})), "C of shape (3) cannot be repeated to the shape (3,7) of D");
  EXPECT_EQ(refused(view(at, {1, 3, 7})), "C of shape (1,3,7) cannot be repeated to the shape (3,7) of D");
  Tensor of_halves = view(at, {7});
  of_halves.dtype = bf16;
  EXPECT_EQ(refused(of_halves), "C has elements of type bf16 and D of type f32; gemm adds a C of D's type");
  EXPECT_EQ(refused(view(0, {7})), "C is a null pointer, but has elements");
  EXPECT_EQ(refused(view(kC + 8, {7})),
            "D of shape (3,7) overlaps C, which is repeated to that shape, in memory; C is D or lies apart");
}
TEST(GemmRefusals, Shapes) {
  EXPECT_EQ(refusal(view(kA, {3, 5}), view(kB, {4, 7}), view(kC, {3, 7})),
            "A of shape (3,5) and B of shape (4,7) do not match: K is 5 in A and 4 in B");
  EXPECT_EQ(refusal(view(kA, {3, 5}), view(kB, {5, 7}), view(kC, {3, 8})),
            "D has shape (3,8) where A of shape (3,5) and B of shape (5,7) give (3,7)");
  EXPECT_EQ(refusal(view(kA, {3, 5}), view(kB, {5, 7}), view(kC, {4, 7})),
            "D has shape (4,7) where A of shape (3,5) and B of shape (5,7) give (3,7)");
  EXPECT_EQ(refusal(view(kA, {2, 3, 5}), view(kB, {4, 5, 7}), view(kC, {2, 3, 7})),
            "A of shape (2,3,5) and B of shape (4,5,7) are batches of 2 and 4 matrices");
  EXPECT_EQ(refusal(view(kA, {2, 3, 5}), view(kB, {2, 5, 7}), view(kC, {4, 3, 7})),
            "D has shape (4,3,7) where A of shape (2,3,5) and B of shape (2,5,7) give (2,3,7)");
  EXPECT_EQ(refusal(view(kA, {3, -5}), view(kB, {-5, 7}), view(kC, {3, 7})), "A of shape (3,-5) has a negative extent");
}
TEST(GemmRefusals, ShapesOfWhatIsEmptyOrNotReadToo) {
  EXPECT_NE(refusal(view(0, {0, 5}), view(0, {4, 7}), view(0, {0, 7})), "");
  EXPECT_NE(refusal(view(0, {0, 5}), view(0, {5, 7}), view(0, {3, 7})), "");
  EXPECT_NE(refusal(view(kA, {3, 5}), view(kB, {4, 7}), view(kC, {3, 7}), 0), "");
}
TEST(GemmRefusals, Memory) {
  Tensor const A = view(kA, {3, 5}), B = view(kB, {5, 7}), C = view(kC, {3, 7});
  EXPECT_EQ(refusal(view(0, {3, 5}), B, C), "A is a null pointer, but has elements");
  EXPECT_EQ(refusal(A, view(0, {5, 7}), C), "B is a null pointer, but has elements");
  EXPECT_EQ(refusal(A, B, view(0, {3, 7})), "D is a null pointer, but has elements");
  EXPECT_EQ(refusal(A, B, view(0, {3, 7}), 0), "D is a null pointer, but has elements");
  EXPECT_EQ(refusal(view(kA + 2, {3, 5}), B, C), "A begins 2 bytes past a multiple of its element size, 4");
  EXPECT_EQ(refusal(A, view(kB + 1, {5, 7}), C), "B begins 1 bytes past a multiple of its element size, 4");
  EXPECT_EQ(refusal(A, B, view(kC + 3, {3, 7})), "D begins 3 bytes past a multiple of its element size, 4");
  std::int64_t const large = std::int64_t(1) << 61;
  EXPECT_EQ(refusal(view(kA, {3, 5}, {large, 1}), B, C), "the byte offsets of A of shape (3,5) exceed 63 bits");
  EXPECT_EQ(refusal(A, view(kB, {5, 7}, {-large, 1}), C), "the byte offsets of B of shape (5,7) exceed 63 bits");
  EXPECT_EQ(refusal(A, B, view(kC, {3, 7}, {large, 1})), "the byte offsets of D of shape (3,7) exceed 63 bits");
  EXPECT_EQ(refusal(view(kA, {1, 5}, {large, 1}), B, view(kC, {1, 7}, {large, 1})), "");  // over an extent of 1
}
TEST(GemmRefusals, ACThatOverlapsItself) {
  Tensor const A = view(kA, {2, 3, 5}), B = view(kB, {2, 5, 7});
  std::string const sentence = "D of shape (2,3,7) has strides with which its elements overlap";
  EXPECT_EQ(refusal(A, B, view(kC, {2, 3, 7}, {0, 7, 1})), sentence);
  EXPECT_EQ(refusal(A, B, view(kC, {2, 3, 7}, {21, 6, 1})), sentence);
  EXPECT_EQ(refusal(A, B, view(kC, {2, 3, 7}, {21, -6, 1})), sentence);
  EXPECT_EQ(refusal(A, B, view(kC, {2, 3, 7}, {20, 7, 1})), sentence);
  EXPECT_EQ(refusal(A, B, view(kC, {2, 3, 7}, {7, 14, 1})), "");  // the rows of two matrices in turn
}
TEST(GemmRefusals, ACThatOverlapsAOrB) {
  Tensor const A = view(kA, {8, 8}), B = view(kB, {8, 8});
  EXPECT_EQ(refusal(A, B, view(kA, {8, 8})), "D of shape (8,8) overlaps A of shape (8,8) in memory");
  EXPECT_EQ(refusal(A, B, view(kB, {8, 8})), "D of shape (8,8) overlaps B of shape (8,8) in memory");
  EXPECT_NE(refusal(A, B, view(kA + 4 * 63, {8, 8})), "");
  EXPECT_EQ(refusal(A, B, view(kA + 4 * 64, {8, 8})), "");  // the next byte
  EXPECT_NE(refusal(A, B, view(kB - 4 * 63, {8, 8})), "");
  EXPECT_EQ(refusal(A, B, view(kB - 4 * 64, {8, 8})), "");
  EXPECT_EQ(refusal(A, B, view(kA - 4 * 8, {8, 8}, {-8, 1})), "");  // rows that go backwards
  EXPECT_NE(refusal(A, B, view(kA - 4 * 7, {8, 8}, {-8, 1})), "");
}
TEST(GemmRefusals, ColumnBlocksOfOneMatrixDoNotOverlap) {
  Tensor const A = view(kA, {8, 8}, {24, 1}), B = view(kA + 4 * 8, {8, 8}, {24, 1});
  EXPECT_EQ(refusal(A, B, view(kA + 4 * 16, {8, 8}, {24, 1})), "");
  EXPECT_EQ(refusal(A, B, view(kA + 4 * 15, {8, 8}, {24, 1})), "D of shape (8,8) overlaps B of shape (8,8) in memory");
  EXPECT_EQ(refusal(A, B, view(kA + 4 * 17, {8, 8}, {24, 1})), "D of shape (8,8) overlaps A of shape (8,8) in memory");
  EXPECT_EQ(refusal(A, A, view(kA + 4 * 16, {8, 8}, {24, 1})), "");  // A and B may be the same
}
// Nor is anything computed with them: these tests are also built with arithmetic that traps.
TEST(GemmRefusals, StridesOfSingleExtentsMayBeAnything) {
  for (std::int64_t any : {std::int64_t(1) << 62, std::int64_t(-1) << 62, std::numeric_limits<std::int64_t>::min()}) {
    Gemm const row =
        made(view(kA, {1, 1, 5}, {any, any, 1}), view(kB, {1, 5, 7}, {any, 7, 1}), view(kC, {1, 1, 7}, {any, any, 1}));
    EXPECT_EQ(numbers(row.M(), row.N(), row.K(), row.A.batch_stride, row.B.batch_stride, row.D.batch_stride),
              numbers(1, 7, 5, 0, 0, 0));
    Gemm const column = made(view(kA, {3, 1}, {1, any}), view(kB, {1, 1}, {any, any}), view(kC, {3, 1}, {1, any}));
    EXPECT_EQ(column.M() * column.N() * column.K(), 3);
  }
}
TEST(GemmRefusals, Workspaces) {
  Tensor const A = view(kA, {8, 8}), B = view(kB, {8, 8}), C = view(kC, {8, 8});
  auto const said = [&](std::uint64_t address, std::size_t size, float alpha = 1) -> std::string {
    try {
      check_workspace(reinterpret_cast<void*>(address), size, made(A, B, C, alpha), A, B, C);
    } catch (Error const& e) {
      EXPECT_EQ(e.code(), ErrorCode::workspace);
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(said(kC + 256, 1 << 20), "");
  EXPECT_EQ(said(0, 0), "");
  EXPECT_EQ(said(0, 8), "the workspace of 8 bytes is a null pointer");
  EXPECT_EQ(said(kC - 256, 256), "");
  EXPECT_EQ(said(kC - 256, 257), "the workspace of 257 bytes overlaps D of shape (8,8) in memory");
  EXPECT_EQ(said(kA, 256), "the workspace of 256 bytes overlaps A of shape (8,8) in memory");
  EXPECT_EQ(said(kA, 256, 0), "");  // A is not read
  EXPECT_EQ(said(kC - 256, ~std::size_t(0) >> 1),
            "the workspace of 9223372036854775807 bytes overlaps D of shape (8,8) in memory");
  // What a signed count would take for less than nothing, or what comes round the end of the address space.
  EXPECT_EQ(said(kC - 256, std::size_t(1) << 63),
            "the workspace of 9223372036854775808 bytes leaves the address space");
  EXPECT_EQ(said(kC - 256, ~std::size_t(0)), "the workspace of 18446744073709551615 bytes leaves the address space");
  EXPECT_EQ(said(~std::uint64_t(0) - 255, 256), "the workspace of 256 bytes leaves the address space");
}
TEST(GemmRefusals, SharedMatricesOverlapLikeOthers) {
  Tensor const A = view(kA, {4, 8, 8}, {0, 8, 1}), B = view(kB, {4, 8, 8});
  EXPECT_EQ(refusal(A, B, view(kA + 4 * 64, {4, 8, 8})), "");
  EXPECT_NE(refusal(A, B, view(kA + 4 * 60, {4, 8, 8})), "");
}

}  // namespace
}  // namespace inlay::problem
