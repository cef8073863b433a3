// mma, ldmatrix and stmatrix: what they give, how they are counted, and what is said of their misuse.
#include <cstdint>

#include "small_kernels.h"

namespace inlay::replay {
namespace {

struct Matrices {  // four matrices of 8 x 8 elements, row by row
  alignas(128) std::uint16_t element[4][8][8];
  static void members(auto name) { name("element", &Matrices::element); }
};
class ReplayMatrix : public SmallKernels {
 protected:
  float* words = recorder.allocate_integers("words", 32 * 4, 4);

  std::uint16_t half_of_word(int lane, int i, int half) const {
    std::uint16_t x[2];
    std::memcpy(x, recorder.real(words + 4 * lane + i), sizeof x);
    return x[half];
  }
};

// Each lane fills one row of the matrices: element (i, row, column) is 64 i + 8 row + column.
template <class Block>
void fill_rows(Block block, Matrices& smem) {
  unsigned const lane = block.thread_rank();
  Vector16 row = 0;
  for (unsigned c = 0; c < 8; ++c) row |= Vector16(8 * lane + c) << 16 * c;
  store_shared(block, reinterpret_cast<Vector16*>(&smem.element[lane / 8][lane % 8]), row);
}
template <class Op, class Block>
void load_matrices(Block block, float* words, std::uint16_t const* row) {
  constexpr int n = matrix_copy<Op>.matrices;
  unsigned const lane = block.thread_rank();
  Tensor registers = make_tensor<std::uint16_t>(Int<2 * n>{});
  copy(Copy_Atom<On<Block, Op>, std::uint16_t>{}, make_tensor(make_smem_ptr(row), Int<8>{}), registers);
  for (int i = 0; i < n; ++i) store(block, words + 4 * lane + i, recast<float>(registers)(i));
}

TEST_F(ReplayMatrix, LdmatrixGivesEachLaneTwoElementsOfARow) {
  auto const all = [this]<class Op>(Op, bool transposes) {
    recorder.expect_samples();
    replay<kWarp, Matrices>([this](auto block, auto& smem) {
      fill_rows(block, smem);
      block.syncwarp();
      unsigned const lane = block.thread_rank();
      load_matrices<Op>(block, words, smem.element[lane / 8][lane % 8]);
    });
    expect_nothing();
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < matrix_copy<Op>.matrices; ++i)
        for (int half = 0; half < 2; ++half) {
          int const major = lane / 4, minor = lane % 4 * 2 + half;
          EXPECT_EQ(half_of_word(lane, i, half), 64 * i + (transposes ? 8 * minor + major : 8 * major + minor));
        }
  };
  all(SM75_U32x1_LDSM_N{}, false);
  all(SM75_U32x2_LDSM_N{}, false);
  all(SM75_U32x4_LDSM_N{}, false);
  all(SM75_U16x2_LDSM_T{}, true);
  all(SM75_U16x4_LDSM_T{}, true);
  all(SM75_U16x8_LDSM_T{}, true);
}
TEST_F(ReplayMatrix, StmatrixIsTheInverse) {
  auto const all = [this]<class Load, class Store>(Load, Store) {
    recorder.expect_samples();
    replay<kWarp, Matrices>([this](auto block, auto& smem) {
      unsigned const lane = block.thread_rank();
      std::uint16_t* const row = smem.element[lane / 8][lane % 8];
      fill_rows(block, smem);
      block.syncwarp();
      Tensor registers = make_tensor<std::uint16_t>(_8{});
      Tensor sRow = make_tensor(make_smem_ptr(row), _8{});
      copy(Copy_Atom<On<decltype(block), Load>, std::uint16_t>{}, sRow, registers);
      for (int i = 0; i < 8; ++i) registers(i) = std::uint16_t(registers(i) + 1000);
      copy(Copy_Atom<On<decltype(block), Store>, std::uint16_t>{}, registers, sRow);
      block.syncwarp();
      Vector16 const stored = load_shared(block, reinterpret_cast<Vector16 const*>(row));
      for (int i = 0; i < 4; ++i)
        store(block, words + 4 * lane + i, std::bit_cast<float>(std::uint32_t(stored >> 32 * i)));
    });
    expect_nothing();
    for (int lane = 0; lane < 32; ++lane)
      for (int c = 0; c < 8; ++c) EXPECT_EQ(half_of_word(lane, c / 2, c % 2), 1000 + 8 * lane + c);
  };
  all(SM75_U32x4_LDSM_N{}, SM90_U32x4_STSM_N{});
  all(SM75_U16x8_LDSM_T{}, SM90_U16x8_STSM_T{});
}
// Eight rows of 16 bytes are one wavefront, unless they share banks.
TEST_F(ReplayMatrix, LdmatrixIsCountedByItsRows) {
  auto const wavefronts = [this](unsigned pitch) {
    recorder.sites.clear();
    recorder.expect_samples();
    replay<kWarp, Matrices>([this, pitch](auto block, auto& smem) {
      unsigned const lane = block.thread_rank();
      fill_rows(block, smem);
      block.syncwarp();
      load_matrices<SM75_U32x1_LDSM_N>(block, words, &smem.element[0][0][0] + lane % 8 * pitch);
    });
    expect_nothing();
    for (Site const& s : recorder.sites)
      if (s.space == Space::shared && !s.store) return s.traffic.transactions;
    return std::int64_t(0);
  };
  EXPECT_EQ(wavefronts(8), 1);   // 16 bytes: all banks once
  EXPECT_EQ(wavefronts(16), 2);  // 32 bytes: each bank twice
  EXPECT_EQ(wavefronts(32), 4);  // 64 bytes
}
TEST_F(ReplayMatrix, RowsAreCheckedLikeOtherAccesses) {
  recorder.expect_samples();
  replay<kWarp, Matrices>([this](auto block, auto& smem) {
    fill_rows(block, smem);  // and no barrier
    load_matrices<SM75_U32x4_LDSM_N>(block, words, smem.element[block.thread_rank() % 4][block.thread_rank() / 4]);
  });
  expect(Check::race, "reads shared element");
  replay<kWarp, Matrices>([this](auto block, auto& smem) {
    fill_rows(block, smem);
    block.syncwarp();
    load_matrices<SM75_U32x4_LDSM_N>(block, words, &smem.element[0][0][2]);
  });
  expect(Check::alignment, "reads 16 bytes at shared element[2]");
}
TEST_F(ReplayMatrix, AllLanesMeet) {
  recorder.expect_samples();
  auto const load_one = [this](auto block, auto& smem) {
    load_matrices<SM75_U32x1_LDSM_N>(block, words, smem.element[0][block.thread_rank() % 8]);
  };
  replay<kWarp, Matrices>([&](auto block, auto& smem) {
    fill_rows(block, smem);
    block.syncwarp();
    if (block.thread_rank() != 9) load_one(block, smem);
  });
  expect(Check::deadlock, "threads 0-8,10-31 wait for ldmatrix (31 of 32 lanes there)");
  replay<kWarp, Matrices>([&](auto block, auto& smem) {
    fill_rows(block, smem);
    block.syncwarp();
    if (block.thread_rank() != 9)
      load_one(block, smem);
    else
      block.any(true);
  });
  expect(Check::divergence, "thread 9: is at any of line ");
  replay<kWarp, Matrices>([&](auto block, auto& smem) {
    fill_rows(block, smem);
    block.syncwarp();
    Tensor registers = make_tensor<std::uint16_t>(_2{});
    copy(Copy_Atom<On<decltype(block), SM75_U32x1_LDSM_N>, std::uint16_t>{}.with(block.thread_rank() != 3),
         make_tensor(make_smem_ptr(smem.element[0][block.thread_rank() % 8]), _8{}), registers);
  });
  expect(Check::misuse, "thread 3: calls ldmatrix with a predicate that is false");
}

// D = A B + C of one instruction, with fragments that CuTe partitions.
TEST_F(ReplayMatrix, MmaMultiplies) {
  auto const all = [this]<class Op, class Element>(Op, Element) {
    float* const sums = recorder.allocate_integers("sums", 16 * 8, 7);
    recorder.expect_samples();
    auto const a = [](int m, int k) { return m - 2 * k + (m * k) % 5; };
    auto const b = [](int n, int k) { return n + k - (n * k) % 7; };
    auto const c = [](int m, int n) { return 100 * m + n; };
    replay<kWarp>([&](auto block, auto&) {
      auto mma = make_tiled_mma(MMA_Atom<On<decltype(block), Op>>{});
      auto thr = mma.get_slice(int(block.thread_rank()));
      Tensor tCcA = thr.partition_A(make_identity_tensor(Shape<_16, _16>{}));
      Tensor tCcB = thr.partition_B(make_identity_tensor(Shape<_8, _16>{}));
      Tensor tCcC = thr.partition_C(make_identity_tensor(Shape<_16, _8>{}));
      Tensor tCrA = make_tensor<Element>(shape(tCcA));
      Tensor tCrB = make_tensor<Element>(shape(tCcB));
      Tensor tCrC = make_tensor<float>(shape(tCcC));
      for (int i = 0; i < size(tCrA); ++i) tCrA(i) = Element(float(a(get<0>(tCcA(i)), get<1>(tCcA(i)))));
      for (int i = 0; i < size(tCrB); ++i) tCrB(i) = Element(float(b(get<0>(tCcB(i)), get<1>(tCcB(i)))));
      for (int i = 0; i < size(tCrC); ++i) tCrC(i) = float(c(get<0>(tCcC(i)), get<1>(tCcC(i))));
      gemm(mma, tCrA, tCrB, tCrC);
      for (int i = 0; i < size(tCrC); ++i) store(block, sums + 8 * get<0>(tCcC(i)) + get<1>(tCcC(i)), tCrC(i));
    });
    expect_nothing();
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 8; ++n) {
        float sum = float(c(m, n));
        for (int k = 0; k < 16; ++k) sum += float(a(m, k) * b(n, k));
        EXPECT_EQ(recorder.number(sums + 8 * m + n), sum) << m << ", " << n;
      }
  };
  all(SM80_16x8x16_F32BF16BF16F32_TN{}, bfloat16_t{});
  all(SM80_16x8x16_F32F16F16F32_TN{}, half_t{});
  EXPECT_EQ(recorder.mma_fma, 2 * 16 * 8 * 16);
}

}  // namespace
}  // namespace inlay::replay
