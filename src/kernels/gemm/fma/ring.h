// Family of the fastest GEMMs for large matrices: a helper warpgroup fills a ring of stages by TMA,
// eight warps multiply. The grid has at most one block per SM; a block computes several tiles of D.
#pragma once
#include <inlay/kernels/common/epilogue.h>
#include <inlay/kernels/gemm/fma/clear_flags.h>
#include <inlay/kernels/gemm/fma/pipeline.h>
#include <inlay/kernels/gemm/fma/warp.h>
#include <inlay/model/fma_times.h>

namespace inlay::kernels {

// The operand that is contiguous in k: helper warps transpose it, in 4 x 4 blocks.
enum class Transposed { none, A, B };

// Defaults of an instance.
struct RingStep {
  static constexpr int WARPS_M = 2, WARPS_N = 4;  // of 64 x 64; eight warps
  static constexpr int LOOP_SLICES = 2;           // of k in the body of the main loop
  static constexpr int BLK_K = 32, STAGES = 4;
  static constexpr int ACCUMULATION_LENGTH = 256;  // FMAs in one register, with blocked summation
  static constexpr bool stream_k = true, blocked_sums = false;
  static constexpr Transposed transposed = Transposed::none;
};

template <class Step>
struct SgemmRing {
  static constexpr int BLK_M = Step::WARPS_M * 64, BLK_N = Step::WARPS_N * 64, BLK_K = Step::BLK_K,
                       STAGES = Step::STAGES;
  static constexpr int K_TILES_PER_SUM = Step::ACCUMULATION_LENGTH / BLK_K;  // with blocked summation
  static_assert(Step::WARPS_M * Step::WARPS_N == 8);
  static constexpr int CONSUMERS = 256, threads = CONSUMERS + 128, TRANSPOSERS = 96;
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = 1, .follows = true};
  static constexpr int BAND = 8;  // tiles of a band along n: they share rows of A in the L2
  static constexpr bool transposes = Step::transposed != Transposed::none;
  using SideA = StageSide<BLK_M, BLK_K, Step::transposed == Transposed::A>;
  using SideB = StageSide<BLK_N, BLK_K, Step::transposed == Transposed::B>;

  Gemm g;
  CUtensorMap mapA, mapB;
  float* slots;     // (grid) partial sums of blocks that begin inside a tile
  unsigned* flags;  // (grid) 1: the slot is written
  int tiles_m, tiles_n, k_tiles, grid;
  int whole;         // tiles that one block computes alone; the remaining tiles are split along k
  int share, extra;  // k tiles of the remaining tiles per block; the first `extra` blocks have one more

  struct Smem {
    alignas(
        1024) float raw[transposes ? SideA::raw + SideB::raw : 1];  // (BLK_M,BLK_K), (BLK_N,BLK_K) of those transposed
    alignas(128) float A[STAGES][BLK_K * SideA::LD];                // (BLK_M,BLK_K,PIPE)
    alignas(128) float B[STAGES][BLK_K * SideB::LD];                // (BLK_N,BLK_K,PIPE)
    alignas(16) float C[CONSUMERS / 32]
                       [Step::blocked_sums ? BlockSums::smem_floats : WarpScalars::smem_floats];  // a warp's
    uint64_t full[STAGES], empty[STAGES], raw_full, raw_empty;
    static void members(auto name) {
      name("raw", &Smem::raw), name("A", &Smem::A), name("B", &Smem::B), name("C", &Smem::C);
      name("full", &Smem::full), name("empty", &Smem::empty);
    }
  };

  // ---- host
  static int64_t tiles(Gemm const& g) { return ceil_div(g.M(), int64_t(BLK_M)) * ceil_div(g.N(), int64_t(BLK_N)); }
  // Tiles of one matrix that are split along k: the last wave and the one before it, if K is more than 256 and the
  // split saves a block three k tiles. The choice depends on one matrix alone, so that every matrix of a batch has the
  // same bits.
  static int64_t cut_tiles(Gemm const& g, int grid) {
    int64_t const t = tiles(g), rest = t % grid, k_tiles = ceil_div(g.K(), int64_t(BLK_K));
    if (!Step::stream_k || rest == 0 || g.K() <= 256 || (grid - rest) * k_tiles < 3 * grid) return 0;
    return t < grid ? t : rest + grid;
  }
  static std::size_t workspace(Gemm const& g, Device const& device) {
    if (cut_tiles(g, device.sm_count) == 0) return 0;
    return flag_bytes(device) + std::size_t(device.sm_count) * BLK_M * BLK_N * 4;
  }
  // Predicted seconds of the kernel with the workspace that it wants.
  static double seconds(Gemm const& g, Device const& device) {
    // Microseconds on an H200: the start; 32 indices of K; to add the sums of a part of a tile.
    constexpr double start = 1.8, step = 4.8, add = 2.13;
    double const end = 4 + EndTimes{10.4, 24.5}.of(g);  // microseconds of the end of a tile
    int const sms = device.sm_count;
    int64_t const cut = cut_tiles(g, sms), whole = tiles(g) - cut;
    double const steps = double(ceil_div(g.K(), int64_t(32))), memory = microseconds_of_memory(g, device);
    auto const clocks = [&](double us) { return us * 1.98 / device.clock_ghz * 128 / device.fma_lanes; };
    if (cut == 0) {
      double const waves = double(ceil_div(whole * g.L(), int64_t(sms)));
      return 1e-6 * (kLaunchMicroseconds + std::max(memory, clocks(start + waves * (steps * step + end))));
    }
    double const grid = std::min(double(whole) + double(cut) * steps * 32 / (4 * BLK_K), double(sms)),
                 share = std::ceil(double(cut) * steps / grid), parts = std::ceil(steps / share),
                 waves = double(whole) / sms;
    double const each = clocks(start + waves * (steps * step + end) + share * step + end + add * parts);
    return 1e-6 * std::max(memory, double(g.L()) * (2 * kLaunchMicroseconds + each));
  }
  static std::size_t flag_bytes(Device const& device) { return (std::size_t(device.sm_count) * 4 + 255) / 256 * 256; }

  template <class S, class F>
  static void launches(Gemm const& g, S const& setting, F const& launch) {
    int const sms = setting.device.sm_count;
    SgemmRing kernel{};
    kernel.g = g;
    kernel.tiles_m = int(ceil_div(g.M(), int64_t(BLK_M))), kernel.tiles_n = int(ceil_div(g.N(), int64_t(BLK_N)));
    kernel.k_tiles = int(ceil_div(g.K(), int64_t(BLK_K)));
    int64_t const cut = setting.workspace ? cut_tiles(g, sms) : 0;  // without a workspace no tile is split
    int64_t const matrices = cut ? 1 : g.L();  // split tiles share the workspace: one launch for each matrix
    kernel.whole = int((tiles(g) - cut) * matrices);
    // A block gets at least four k tiles of the split tiles.
    kernel.grid = int(std::min<int64_t>(kernel.whole + cut * kernel.k_tiles / 4, sms));
    kernel.share = int(cut * kernel.k_tiles / kernel.grid), kernel.extra = int(cut * kernel.k_tiles % kernel.grid);
    kernel.flags = static_cast<unsigned*>(setting.workspace);
    kernel.slots =
        cut ? reinterpret_cast<float*>(static_cast<char*>(setting.workspace) + flag_bytes(setting.device)) : nullptr;
    kernel.g.D.matrices = matrices;
    for (int64_t l = 0; l < g.L(); l += matrices) {
      if (cut) launch(ClearFlags{kernel.flags, kernel.grid});
      kernel.g.A.base = g.A.as<float>() + l * g.A.batch_stride;
      kernel.g.B.base = g.B.as<float>() + l * g.B.batch_stride;
      kernel.g.D.base = g.D.as<float>() + l * g.D.batch_stride;
      kernel.mapA = setting.encode(SideA::tensor(kernel.g.A, matrices));
      kernel.mapB = setting.encode(SideB::tensor(kernel.g.B, matrices));
      launch(kernel);
    }
  }
  int64_t blocks() const { return grid; }
  void relocate(auto const& at) {
    relocate_operands(g, at), flags = at(flags), slots = at(slots);
    at.map(mapA, g.A.base), at.map(mapB, g.B.base);
  }

  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_stages<SideA, SideB>(g, device)) return r;
    if (g.K() > INT32_MAX / 32)
      return {"K = {} is more than a block counts", {g.K()}};  // k tiles of two waves: 31 bits
    // A block counts one stride of the grid past the last tile.
    return too_many("{} tiles in {} matrices are more than 31 bits count", tiles(g), g.L(), {tiles(g), g.L(), 0},
                    kMostBlocks - device.sm_count);
  }

  // ---- device: the tiles, and k ranges of tiles, of a block
  struct Piece {
    int m, n, l;   // the tile's first element
    int tile = 0;  // among the split tiles
    int k0, k1;    // k tiles
  };
  struct Cursor {
    int tile;     // the next whole tile
    int at, end;  // k tiles of the split tiles that remain for the block
  };
  CUTE_HOST_DEVICE int begin(int rank) const { return share * rank + (rank < extra ? rank : extra); }
  // Blocks wait only for blocks of lower index, and the block with the first k range of a tile
  // waits for those with later ranges: so the k ranges are assigned in reverse order.
  CUTE_HOST_DEVICE int rank_of(unsigned block) const { return grid - 1 - int(block); }
  CUTE_HOST_DEVICE Cursor cursor(unsigned block) const {
    return {int(block), begin(rank_of(block)), begin(rank_of(block) + 1)};
  }
  CUTE_HOST_DEVICE bool next(Cursor& w, Piece& p) const {
    int tile = w.tile;
    if (tile < whole) {
      p.k0 = 0, p.k1 = k_tiles, w.tile += grid;
    } else {
      if (w.at == w.end) return false;
      p.tile = w.at / k_tiles, p.k0 = w.at - p.tile * k_tiles;
      p.k1 = w.end - w.at < k_tiles - p.k0 ? p.k0 + w.end - w.at : k_tiles;
      w.at += p.k1 - p.k0;
      tile = whole + p.tile;
    }
    p.l = tile / (tiles_m * tiles_n);
    int const t = tile % (tiles_m * tiles_n), band = t / (BAND * tiles_m), first = band * BAND;
    int const width = tiles_n - first < BAND ? tiles_n - first : BAND, r = t - first * tiles_m;
    p.m = r / width * BLK_M, p.n = (first + r % width) * BLK_N;
    return true;
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int const tid = block.thread_rank();
    BarriersOfRing<Block, STAGES> ring(smem.full, smem.empty, smem.raw_full, smem.raw_empty);
    if (tid == 0) ring.init(transposes ? TRANSPOSERS : 0, CONSUMERS / 32), block.fence_barrier_init();
    block.griddep_wait();
    block.sync();
    if (tid < CONSUMERS) {
      block.setmaxnreg_inc(Int<Registers<transposes>::multiplier>{});
      multiply(block, smem, ring, tid);
      return;
    }
    block.setmaxnreg_dec(Int<Registers<transposes>::helper>{});
    bool const fills = tid == CONSUMERS, transposing = transposes && tid >= CONSUMERS + 32;
    if (fills || transposing) help(block, smem, ring, tid, fills);
  }

  // Fills the block's stages in order: one thread issues the TMA loads, three warps may transpose.
  template <class Block, class Ring>
  CUTE_DEVICE void help(Block block, Smem& smem, Ring& ring, int tid, bool fills) const {
    Cursor w = cursor(block.block_index());
    for (Piece p; next(w, p);) {
      CUTE_NO_UNROLL
      for (int k = p.k0; k < p.k1; ++k)
        if (fills)
          fill_stage<SideA, SideB>(block, smem, ring, mapA, mapB, p.m, p.n, g.A.batch_stride ? p.l : 0,
                                   g.B.batch_stride ? p.l : 0, k * BLK_K);
        else if constexpr (transposes)
          transpose_stage<SideA, SideB, TRANSPOSERS>(block, smem, ring, tid - CONSUMERS - 32);
    }
  }

  template <class Block, class Ring>
  CUTE_DEVICE void multiply(Block block, Smem& smem, Ring& ring, int tid) const {
    int const warp = tid / 32, lane = tid % 32, wm = warp / Step::WARPS_N * 64, wn = warp % Step::WARPS_N * 64;
    bool const vectors = takes_vectors(g.D);
    int const skew =
        warp / 4 * (K_TILES_PER_SUM / 2);  // while one half of the warps adds its block sums, the other multiplies
    SgemmWarp<Block> sums;
    Cursor w = cursor(block.block_index());
    for (Piece p; next(w, p);) {
      sums.clear();
      bool ended = false;  // smem.C holds a block sum
      CUTE_NO_UNROLL
      for (int k = p.k0; k < p.k1; ++k) {
        ring.wait_full();
        sums.template multiply<BLK_K, Step::LOOP_SLICES, SideA::LD, SideB::LD>(smem.A[ring.stage] + wm + lane / 4 * 4,
                                                                               smem.B[ring.stage] + wn + lane % 4 * 4);
        ring.release_previous(block, lane);
        if constexpr (Step::blocked_sums)
          if ((k - p.k0 + skew) % K_TILES_PER_SUM == K_TILES_PER_SUM - 1 && k + 1 < p.k1) {
            sums.finish();
            BlockSums::add<Block>(sums.acc, smem.C[warp], lane, ended);
            BlockSums::put<Block>(sums.acc, smem.C[warp], lane);
            sums.clear();
            ended = true;
          }
      }
      sums.finish();
      if constexpr (Step::blocked_sums) {
        BlockSums::add<Block>(sums.acc, smem.C[warp], lane, ended);
        block.syncwarp();  // the epilogue reuses smem.C
      }
      if constexpr (Step::stream_k) {
        if (p.k0 > 0) {
          put(block, sums.acc, tid);
          continue;
        }
        if (p.k1 < k_tiles) add(block, sums.acc, tid, p);
      }
      if (vectors)
        WarpVectors::store(block, g, sums.acc, p.m + wm, p.n + wn, p.l, lane);
      else
        WarpScalars::store(block, g, sums.acc, smem.C[warp], p.m + wm, p.n + wn, p.l, lane);
    }
  }

  // Stores the sums of a later k range to the block's slot: 32 vectors of each of 256 threads.
  template <class Block>
  CUTE_DEVICE void put(Block block, float const (&acc)[8][16], int tid) const {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
    int const rank = rank_of(block.block_index());
    Quad* const slot = reinterpret_cast<Quad*>(slots) + int64_t(rank) * (BLK_M * BLK_N / 4) + tid;
    CUTE_UNROLL
    for (int i = 0; i < 8; ++i) CUTE_UNROLL
    for (int q = 0; q < 4; ++q)
      copy_one(atom, true, reinterpret_cast<Quad const*>(&acc[i][4 * q]),
               make_gmem_ptr(slot + (i * 4 + q) * CONSUMERS));
    block.sync(Int<1>{}, Int<CONSUMERS>{});
    if (tid == 0) block.release(flags + rank, 1);
  }
  // The block with a tile's first k range adds the sums of the later ranges, in the order of k.
  template <class Block>
  CUTE_DEVICE void add(Block block, float (&acc)[8][16], int tid, Piece const& p) const {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
    int const end = (p.tile + 1) * k_tiles;
    CUTE_NO_UNROLL
    for (int rank = rank_of(block.block_index()) + 1; begin(rank) < end; ++rank) {
      if (tid == 0) block.acquire(flags + rank, 1);
      block.sync(Int<1>{}, Int<CONSUMERS>{});
      Quad const* const slot = reinterpret_cast<Quad const*>(slots) + int64_t(rank) * (BLK_M * BLK_N / 4) + tid;
      CUTE_UNROLL
      for (int i = 0; i < 8; ++i) CUTE_UNROLL
      for (int q = 0; q < 4; ++q) {
        Quad x;
        copy_one(atom, true, make_gmem_ptr(slot + (i * 4 + q) * CONSUMERS), &x);
        CUTE_UNROLL
        for (int e = 0; e < 4; ++e) acc[i][4 * q + e] += x.x[e];
      }
    }
  }
};

// ---- the instances of kernels.def

struct WholeTiles : RingStep {
  static constexpr bool stream_k = false;
  static constexpr char const* idea =
      "The main loop is two slices, 272 instructions: accumulators stay in their registers, and FFMAs find two of "
      "three "
      "operands reused or in different banks; the last wave of tiles leaves multiprocessors idle.";
};
struct StreamK : RingStep {
  static constexpr char const* idea =
      "The last one to two waves are cut evenly along k (stream-K); partial tiles are added in the order of k through "
      "a "
      "workspace: the FMA units limit, and what the shared-memory loads take of their issue slots.";
};
struct BlockedSums : RingStep {
  static constexpr int BLK_K = 16;  // smaller stages, because smem.C takes 128 KB
  static constexpr bool blocked_sums = true;
  static constexpr char const* idea =
      "As sgemm_tma_stream_k with blocked summation: 256 FMAs at a time are added to a sum in shared memory, so "
      "the "
      "error grows with the root of K / 256; stages of half the depth cost twice the barriers.";
};

namespace ring {
template <class Instance>
using Dispatch = SgemmRing<Instance>;
template <class Instance>
constexpr Info<Gemm> info(char const* name) {
  return {.name = name,
          .idea = Instance::idea,
          .source = "inlay",
          .ladder = Ladder::sgemm,
          .origin = Origin::ours,
          .rejects = SgemmRing<Instance>::rejects,
          .seconds = SgemmRing<Instance>::seconds,
          .workspace = SgemmRing<Instance>::workspace,
          .accumulation_length = Instance::blocked_sums ? Instance::ACCUMULATION_LENGTH : 0};
}
}  // namespace ring

}  // namespace inlay::kernels
