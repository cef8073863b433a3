// Brings operands to the warps that multiply: TMA fills a ring of stages. Helper warps transpose an operand that is
// contiguous along k from a raw buffer. Stages hold A as (BLK_K,BLK_M) and B as (BLK_K,BLK_N), row-major.
#pragma once
#include <inlay/block/quad_ops.h>
#include <inlay/kernels/common/gemm_grid.h>

namespace inlay::kernels {

struct SideSentences {
  char const *not_k, *not_outer, *base, *stride;
};
inline constexpr SideSentences kSideA = {
    "A is not contiguous in k: its stride is {}", "A is not contiguous in m: its stride is {}",
    "A begins {} bytes past a multiple of 16", "A has a stride of {} bytes, no positive multiple of 16 below 2^40"};
inline constexpr SideSentences kSideB = {
    "B is not contiguous in k: its stride is {}", "B is not contiguous in n: its stride is {}",
    "B begins {} bytes past a multiple of 16", "B has a stride of {} bytes, no positive multiple of 16 below 2^40"};

// One operand, (extent,K,L), in stages of (BLK,BLK_K). If it is contiguous along its extent, TMA writes the stage
// directly. transposed: it is contiguous along k, TMA writes the raw buffer, and helper warps write the stage.
template <int BLK, int BLK_K, bool transposed>
struct StageSide {
  static constexpr bool transposes = transposed;
  static constexpr int LD = BLK + (transposed ? 4 : 0);     // padding: no bank conflicts in stores
  static constexpr int raw = transposed ? BLK * BLK_K : 0;  // floats of the raw buffer
  static constexpr int bytes = BLK * BLK_K * 4;             // of a box
  static constexpr unsigned rows = BLK;
  static_assert(!transposed || BLK_K == 32, "rows of the raw buffer are 128 bytes");

  // The TMA tensor of the operand. matrices: batch size of the GEMM.
  static TmaTensor tensor(Operand const& o, int64_t matrices) {
    // TMA checks strides of extents of 1 too, so those get a valid one. An operand shared by the batch is one matrix.
    int64_t const all = o.batch_stride ? matrices : 1, batch = all > 1 ? o.batch_stride * 4 : 16;
    if (transposed)
      return {o.base, 4, {o.cols, o.rows, all}, {o.rows > 1 ? o.row_stride * 4 : 16, batch}, {BLK_K, BLK, 1}, true};
    return {o.base, 4, {o.rows, o.cols, all}, {o.cols > 1 ? o.col_stride * 4 : 16, batch}, {BLK, BLK_K, 1}};
  }
  static Reason rejects(SideSentences const& say, Operand const& o, int64_t matrices) {
    if (transposed && o.cols > 1 && o.col_stride != 1) return {say.not_k, {o.col_stride}};
    if (!transposed && o.rows > 1 && o.row_stride != 1) return {say.not_outer, {o.row_stride}};
    if (o.misalignment_bytes()) return {say.base, {o.misalignment_bytes()}};
    int64_t const row = transposed ? (o.rows > 1 ? o.row_stride : 4) : (o.cols > 1 ? o.col_stride : 4),
                  matrix = matrices > 1 && o.batch_stride ? o.batch_stride : 4;
    for (int64_t s : {row, matrix})
      if (s % 4 || s <= 0 || s >> 38) return {say.stride, {s * 4}};
    for (int64_t e : {o.rows, o.cols})
      if (e > INT32_MAX) return {"TMA coordinates have 31 bits, an extent of {} does not fit", {e}};
    return too_many("TMA coordinates have 31 bits, {} matrices do not fit", 1, matrices, {matrices, 0, 0});
  }
};

// Why kernels with these two stage layouts cannot run a GEMM.
template <class SideA, class SideB>
Reason rejects_stages(Gemm const& g, Device const& device) {
  if (Reason r = rejects_type<float>(g)) return r;
  if (device.compute_capability != 90)
    return {"made for the registers and the TMA of compute capability 9.0, not {}.{}",
            {device.compute_capability / 10, device.compute_capability % 10}};
  if (g.K() == 0) return {"K is 0: there is nothing to multiply"};
  if (Reason r = SideA::rejects(kSideA, g.A, g.L())) return r;
  return SideB::rejects(kSideB, g.B, g.L());
}

// Registers per thread in a block of 128 helper threads and 256 multiplying threads, which together fill the register
// file. Helpers that transpose need more.
template <bool transposes>
struct Registers {
  static constexpr int helper = transposes ? 56 : 24, multiplier = transposes ? 224 : 240;
};

// The barriers of the ring of stages, and the position of a thread in it.
template <class Block, int STAGES>
struct BarriersOfRing {
  using Mbarrier = typename Block::Mbarrier;
  Mbarrier *full, *empty;          // (PIPE) the stage has landed; the stage has been read
  Mbarrier &raw_full, &raw_empty;  // the same for the raw buffer
  int stage = 0, phase = 0, raw_phase = 0, last = -1;

  CUTE_DEVICE BarriersOfRing(uint64_t* full, uint64_t* empty, uint64_t& raw_full, uint64_t& raw_empty)
      : full(reinterpret_cast<Mbarrier*>(full)),
        empty(reinterpret_cast<Mbarrier*>(empty)),
        raw_full(reinterpret_cast<Mbarrier&>(raw_full)),
        raw_empty(reinterpret_cast<Mbarrier&>(raw_empty)) {}
  CUTE_DEVICE void init(int transposers, int multiplying_warps) {
    CUTE_UNROLL
    for (int s = 0; s < STAGES; ++s) full[s].init(1 + transposers), empty[s].init(multiplying_warps);
    if (transposers) raw_full.init(1), raw_empty.init(transposers);
  }
  CUTE_DEVICE void wait_full() { full[stage].wait(phase); }
  CUTE_DEVICE void wait_empty() { empty[stage].wait(phase ^ 1); }
  CUTE_DEVICE void advance() {
    raw_phase ^= 1;
    if (++stage == STAGES) stage = 0, phase ^= 1;
  }
  // Releases the stage before the current one, by one lane of each multiplying warp. The loads from that stage have
  // completed, because their values have been multiplied; the last loads from the current stage may still be in flight.
  CUTE_DEVICE void release_previous(Block block, int lane) {
    block.syncwarp();
    if (last >= 0 && lane == 0) empty[last].arrive();
    last = stage;
    advance();
  }
};

// One thread issues the TMA loads of a stage. m, n, k: first element of the tile; la, lb: matrices of A and of B.
template <class SideA, class SideB, class Block, class Smem, class Ring>
CUTE_DEVICE void fill_stage(Block block, Smem& smem, Ring& ring, CUtensorMap const& mapA, CUtensorMap const& mapB,
                            int m, int n, int la, int lb, int k) {
  if constexpr (SideA::transposes || SideB::transposes) {
    ring.raw_empty.wait(ring.raw_phase ^ 1);
    ring.raw_full.arrive_and_expect_tx((SideA::transposes ? SideA::bytes : 0) + (SideB::transposes ? SideB::bytes : 0));
    if constexpr (SideA::transposes) block.tma_load(mapA, ring.raw_full, smem.raw, k, m, la);
    if constexpr (SideB::transposes) block.tma_load(mapB, ring.raw_full, smem.raw + SideA::raw, k, n, lb);
  }
  ring.wait_empty();
  auto& full = ring.full[ring.stage];
  full.arrive_and_expect_tx((SideA::transposes ? 0 : SideA::bytes) + (SideB::transposes ? 0 : SideB::bytes));
  if constexpr (!SideA::transposes) block.tma_load(mapA, full, smem.A[ring.stage], m, k, la);
  if constexpr (!SideB::transposes) block.tma_load(mapB, full, smem.B[ring.stage], n, k, lb);
  ring.advance();
}

// Transposes the raw buffer of one operand into a stage, 4 x 4 elements per thread, with 16-byte loads and stores. A
// warp covers 16 rows of 32 indices k. Eight lanes store two k of four groups of rows without bank conflicts; their
// loads conflict two-way.
template <class Side, int TRANSPOSERS, class Block>
CUTE_DEVICE void transpose_side(float const* raw, float* to, unsigned t) {
  static_assert(TRANSPOSERS % 32 == 0);
  Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
  unsigned const chunk = t % 2 + t / 8 % 4 * 2, row = t / 32 * 16 + t / 2 % 4 * 4;
  Quad const* from = reinterpret_cast<Quad const*>(raw) + row * 8;
  to += chunk * 4 * Side::LD + row;
  CUTE_NO_UNROLL
  for (unsigned r0 = row; r0 < Side::rows; r0 += TRANSPOSERS / 2) {
    Quad in[4];
    CUTE_UNROLL
    for (unsigned r = 0; r < 4; ++r)
      copy_one(atom, true, make_smem_ptr(from + r * 8 + (chunk ^ (row + r) % 8)), &in[r]);
    CUTE_UNROLL
    for (int e = 0; e < 4; ++e) {
      Quad const out = {in[0].x[e], in[1].x[e], in[2].x[e], in[3].x[e]};
      copy_one(atom, true, &out, make_smem_ptr(reinterpret_cast<Quad*>(to + e * Side::LD)));
    }
    from += TRANSPOSERS / 2 * 8, to += TRANSPOSERS / 2;
  }
}

// TRANSPOSERS threads transpose the raw buffer into a stage; t is the index of the thread among them.
template <class SideA, class SideB, int TRANSPOSERS, class Block, class Smem, class Ring>
CUTE_DEVICE void transpose_stage(Block, Smem& smem, Ring& ring, int t) {
  ring.raw_full.wait(ring.raw_phase);
  ring.wait_empty();
  if constexpr (SideA::transposes) transpose_side<SideA, TRANSPOSERS, Block>(smem.raw, smem.A[ring.stage], unsigned(t));
  if constexpr (SideB::transposes)
    transpose_side<SideB, TRANSPOSERS, Block>(smem.raw + SideA::raw, smem.B[ring.stage], unsigned(t));
  ring.raw_empty.arrive(), ring.full[ring.stage].arrive();  // each thread arrives for its own stores
  ring.advance();
}

}  // namespace inlay::kernels
