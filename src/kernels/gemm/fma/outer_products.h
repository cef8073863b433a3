// Family: a short K, with which D takes most of the time. All of K lies in shared memory; a warp computes whole pieces
// of 512 bytes of rows of D, and writes them from its registers.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/common/epilogue.h>

namespace inlay::kernels {

// Step gives the kernel's symbol its name. V: D is written by 16 bytes (4) or by elements (1). MOST_K: the longest K.
template <class Step, int V, int MOST_K>
struct OuterProducts : GemmGrid<128, 128> {
  using Grid = GemmGrid<128, 128>;
  static constexpr int threads = 256, BLK_M = 128, BLK_N = 128;
  static constexpr int ROWS = 8, of_warp = BLK_M * 32 / threads;  // rows that a warp computes at a time, and in all
  // Floats from one k to the next in shared memory. Where lanes store 16 indices k of two rows, two of them share a
  // bank.
  static constexpr int pitch = BLK_M + 4;
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = MOST_K <= 32 ? 3 : 2};
  static_assert(V == 1 || V == 4);
  static_assert(BLK_M == BLK_N);
  struct Smem {
    alignas(16) float A[MOST_K * pitch];  // (m,k)
    alignas(16) float B[MOST_K * pitch];  // (n,k)
    static void members(auto name) { name("A", &Smem::A), name("B", &Smem::B); }
  };
  static OuterProducts make(Gemm const& g) { return {Grid::make(g)}; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    auto const here = this->at(block.block_index());
    stage(block, g.A, here.A, here.rows, int(here.K), smem.A);
    stage(block, g.B, here.B, here.cols, int(here.K), smem.B);
    block.cp_async_fence();
    block.cp_async_wait(Int<0>{});
    block.sync();
    int const warp = int(block.thread_rank()) / 32, lane = int(block.thread_rank()) % 32;
    CUTE_NO_UNROLL
    for (int m = warp * of_warp; m < cute::min((warp + 1) * of_warp, here.rows); m += ROWS)
      compute_rows(block, here, m, lane, smem);
  }

 private:
  // Copies the 128 rows of a tile of an operand to `to`, (128,K):(1,pitch); the last row once more for each that lies
  // outside. Threads run along the mode that is contiguous.
  template <class Block>
  CUTE_DEVICE static void stage(Block block, Operand const& o, float const* from, int rows, int K, float* to) {
    Copy_Atom<On<Block, LoadAsyncElement>, float> atom;
    int const rank = int(block.thread_rank()), lanes = o.col_stride == 1 ? 16 : 2;  // along k
    int const first_k = o.col_stride == 1 ? rank % 16 : rank / BLK_M;
    CUTE_NO_UNROLL
    for (int row = o.col_stride == 1 ? rank / 16 : rank % BLK_M; row < BLK_M; row += threads / lanes) {
      float const* next = from + (cute::min(row, rows - 1) * o.row_stride + first_k * o.col_stride);
      CUTE_NO_UNROLL
      for (int k = first_k; k - first_k < K; k += lanes, next += lanes * o.col_stride)
        copy_one(atom, k < K, make_gmem_ptr(next), make_smem_ptr(to + (k * pitch + row)));
    }
  }
  // Lane i computes the columns 4 i to 4 i + 3, or, where it writes elements, i, i + 32, i + 64 and i + 96. Rows and
  // columns outside D are computed too, and not stored.
  template <class Block>
  CUTE_DEVICE void compute_rows(Block block, typename Grid::At const& here, int m, int lane, Smem const& smem) const {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> quad;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> element;
    alignas(16) float sums[ROWS][4];
    CUTE_UNROLL
    for (int r = 0; r < ROWS; ++r) CUTE_UNROLL
    for (int j = 0; j < 4; ++j) sums[r][j] = 0;
    CUTE_NO_UNROLL
    for (int k = 0; k < int(here.K); ++k) {
      Quad a[ROWS / 4], b{};
      CUTE_UNROLL
      for (int q = 0; q < ROWS / 4; ++q)
        copy_one(quad, true, make_smem_ptr(reinterpret_cast<Quad const*>(smem.A + (k * pitch + m + 4 * q))), &a[q]);
      if constexpr (V == 4) {
        copy_one(quad, true, make_smem_ptr(reinterpret_cast<Quad const*>(smem.B + (k * pitch + 4 * lane))), &b);
      } else {
        CUTE_UNROLL
        for (int j = 0; j < 4; ++j)
          copy_one(element, true, make_smem_ptr(smem.B + (k * pitch + lane + 32 * j)), &b.x[j]);
      }
      CUTE_UNROLL
      for (int r = 0; r < ROWS; ++r) CUTE_UNROLL
      for (int j = 0; j < 4; ++j)
        On<Block, UniversalFMA<float>>::fma(sums[r][j], a[r / 4].x[r % 4], b.x[j], sums[r][j]);
    }
    CUTE_UNROLL
    for (int r = 0; r < ROWS; r += 4)
      store(block, here.D + ((m + r) * g.D.row_stride + lane * V), here.rows - m - r, here.cols, lane, &sums[r]);
  }
  // Four rows at once, whose old elements are loaded before any is written.
  template <class Block>
  CUTE_DEVICE void store(Block, float* to, int rows, int cols, int lane, float (*sums)[4]) const {
    using X = std::conditional_t<V == 4, Quad, float>;
    Copy_Atom<On<Block, UniversalCopy<X>>, X> atom;
    Epilogue const e = g.epilogue;
    alignas(16) float old[4][4] = {};
    auto const each = [&](auto const& f) {
      CUTE_UNROLL
      for (int r = 0; r < 4; ++r) CUTE_UNROLL
      for (int j = 0; j < 4; j += V)
        f(r < rows && lane * V + j / V * 32 < cols, reinterpret_cast<X*>(to + (r * g.D.row_stride + j / V * 32)), r, j);
    };
    if (e.beta != 0)
      each([&](bool on, X* at, int r, int j) {
        copy_one(atom, on, make_gmem_ptr(at), reinterpret_cast<X*>(&old[r][j]));
      });
    CUTE_UNROLL
    for (int r = 0; r < 4; ++r) CUTE_UNROLL
    for (int j = 0; j < 4; ++j) sums[r][j] = scaled(e, sums[r][j], old[r][j]);
    each([&](bool on, X* at, int r, int j) {
      copy_one(atom, on, reinterpret_cast<X*>(&sums[r][j]), make_gmem_ptr(at));
    });
  }
};

}  // namespace inlay::kernels
