// Family for few tiles: a cluster shares a tile of D. A block has a range of k, a group of its
// warps a share of every stage. Sums are added in a fixed order through distributed shared memory.
#pragma once
#include <inlay/kernels/common/epilogue.h>
#include <inlay/kernels/gemm/fma/pipeline.h>
#include <inlay/kernels/gemm/fma/warp.h>
#include <inlay/model/fma_times.h>

namespace inlay::kernels {

// Step: WARPS_M x WARPS_N warps are a group; transposes_a, _b: helper warps transpose A, B.
template <class Step>
struct SgemmCluster {
  static constexpr int WARPS_M = Step::WARPS_M, WARPS_N = Step::WARPS_N, GROUPS = 8 / (WARPS_M * WARPS_N);
  static constexpr int BLK_M = WARPS_M * 64, BLK_N = WARPS_N * 64, BLK_K = 32;
  static constexpr int STAGES = GROUPS == 2 ? 4 : GROUPS == 4 ? 6 : 8;
  static constexpr int CONSUMERS = 256, threads = CONSUMERS + 128, TRANSPOSERS = 96;
  static constexpr LaunchInfo launch_info{.threads = threads, .min_blocks = 1, .clusters = true, .follows = true};
  static constexpr bool transposes = Step::transposes_a || Step::transposes_b;
  using SideA = StageSide<BLK_M, BLK_K, Step::transposes_a>;
  using SideB = StageSide<BLK_N, BLK_K, Step::transposes_b>;

  static constexpr int VECTORS = BLK_M * BLK_N / 4;  // of a tile

  Gemm g;
  CUtensorMap mapA, mapB;
  int tiles_m, tiles_n, k_tiles, slices;

  struct Smem {
    alignas(
        1024) float raw[transposes ? SideA::raw + SideB::raw : 1];  // (BLK_M,BLK_K), (BLK_N,BLK_K) of those transposed
    alignas(128) float A[STAGES][BLK_K * SideA::LD];                // (BLK_M,BLK_K,PIPE); in the end, sums
    alignas(128) float B[STAGES][BLK_K * SideB::LD];                // (BLK_N,BLK_K,PIPE)
    uint64_t full[STAGES], empty[STAGES], raw_full, raw_empty;
    static void members(auto name) {
      name("raw", &Smem::raw), name("A", &Smem::A), name("B", &Smem::B);
      name("full", &Smem::full), name("empty", &Smem::empty);
    }
  };
  // After the main loop, the sums of groups below IN_A lie in A, the rest in B, as at() says.
  static constexpr int IN_A = cute::min(GROUPS, int(sizeof(Smem::A)) / (VECTORS * 16));
  static_assert(sizeof(Smem::B) >= std::size_t(GROUPS - IN_A) * VECTORS * 16);
  CUTE_HOST_DEVICE static Quad* sums_of(Smem& smem, int group) {
    return reinterpret_cast<Quad*>(group < IN_A ? &smem.A[0][0] : &smem.B[0][0]) +
           (group < IN_A ? group : group - IN_A) * VECTORS;
  }

  // ---- host
  static int64_t tiles(Gemm const& g) { return ceil_div(g.M(), int64_t(BLK_M)) * ceil_div(g.N(), int64_t(BLK_N)); }
  // The blocks of a cluster run on one GPC: clusters of four cannot occupy every SM.
  static bool fits(int64_t tiles, int slices, Device const& device) {
    return tiles * slices <= (slices == 4 ? device.sm_count * 5 / 6 : device.sm_count);
  }
  // As many as one wave holds for one matrix, whatever the batch size; each has at least 128 k.
  static int slices_of(Gemm const& g, Device const& device) {
    int slices = 1;
    while (slices < 4 && fits(tiles(g), slices * 2, device) && g.K() >= 256 * slices) slices *= 2;
    return slices;
  }
  // FMAs of the busiest SM, for one matrix.
  static int64_t work(Gemm const& g, Device const& device) {
    int const slices = slices_of(g, device);
    return ceil_div(tiles(g) * slices, int64_t(device.sm_count)) * ceil_div(g.K(), int64_t(slices)) * BLK_M * BLK_N;
  }
  // Predicted seconds. Microseconds on an H200: 32 indices of K of a tile of 128 x 128, and the least for smaller
  // tiles; the exchange of sums in a cluster; by how much a transposed operand adds.
  static double seconds(Gemm const& g, Device const& device) {
    constexpr double step = 2.55, least_step = .7, exchange = 1.7, transposed = .05;
    double const end = EndTimes{4.7, 8.9}.of(g) * (BLK_M * BLK_N) / (128 * 128), start = 3.75 + end;
    int const slices = slices_of(g, device);
    double const waves = double(ceil_div(tiles(g) * slices * g.L(), int64_t(device.sm_count))),
                 steps = double(ceil_div(ceil_div(g.K(), int64_t(BLK_K)), int64_t(slices))),
                 each = std::max(least_step, step * (BLK_M * BLK_N) / (128 * 128)) *
                        (1 + transposed * (Step::transposes_a + Step::transposes_b));
    double const work = waves * (start + steps * each) + (slices > 1 ? exchange : 0);
    return 1e-6 * (kLaunchMicroseconds + std::max(microseconds_of_memory(g, device),
                                                  work * 1.98 / device.clock_ghz * 128 / device.fma_lanes));
  }
  template <class S>
  static SgemmCluster make(Gemm const& g, S const& setting) {
    SgemmCluster kernel{};
    kernel.g = g;
    kernel.tiles_m = int(ceil_div(g.M(), int64_t(BLK_M))), kernel.tiles_n = int(ceil_div(g.N(), int64_t(BLK_N)));
    kernel.k_tiles = int(ceil_div(g.K(), int64_t(BLK_K)));
    kernel.slices = slices_of(g, setting.device);
    kernel.mapA = setting.encode(SideA::tensor(g.A, g.L()));
    kernel.mapB = setting.encode(SideB::tensor(g.B, g.L()));
    return kernel;
  }
  int64_t blocks() const { return int64_t(tiles_m) * tiles_n * g.L() * slices; }
  int cluster() const { return slices; }
  void relocate(auto const& at) {
    relocate_operands(g, at);
    at.map(mapA, g.A.base), at.map(mapB, g.B.base);
  }

  static Reason rejects(Gemm const& g, Device const& device) {
    if (Reason r = rejects_stages<SideA, SideB>(g, device)) return r;
    return too_many("{} tiles in {} matrices are more blocks than a grid holds", __int128(tiles(g)) * 4, g.L(),
                    {tiles(g), g.L(), 0});
  }

  // ---- device
  struct Piece {
    int m, n, l;  // the tile's first element
    int k0, k1;   // k tiles
  };
  CUTE_HOST_DEVICE Piece piece(unsigned block) const {
    int const rank = block % slices, tile = block / slices, t = tile % (tiles_m * tiles_n);
    int const share = k_tiles / slices, extra = k_tiles % slices, k0 = share * rank + (rank < extra ? rank : extra);
    return {t / tiles_n * BLK_M, t % tiles_n * BLK_N, tile / (tiles_m * tiles_n), k0, k0 + share + (rank < extra)};
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int const tid = block.thread_rank();
    BarriersOfRing<Block, STAGES> ring(smem.full, smem.empty, smem.raw_full, smem.raw_empty);
    if (tid == 0) ring.init(transposes ? TRANSPOSERS : 0, CONSUMERS / 32), block.fence_barrier_init();
    block.griddep_wait();
    block.sync();
    Piece const p = piece(block.block_index());
    if (tid >= CONSUMERS) {
      block.setmaxnreg_dec(Int<Registers<transposes>::helper>{});
      for (int k = p.k0; k < p.k1; ++k) {
        if (tid == CONSUMERS)
          fill_stage<SideA, SideB>(block, smem, ring, mapA, mapB, p.m, p.n, g.A.batch_stride ? p.l : 0,
                                   g.B.batch_stride ? p.l : 0, k * BLK_K);
        else if (transposes && tid >= CONSUMERS + 32)
          transpose_stage<SideA, SideB, TRANSPOSERS>(block, smem, ring, tid - CONSUMERS - 32);
      }
    } else {
      block.setmaxnreg_inc(Int<Registers<transposes>::multiplier>{});
      multiply(block, smem, ring, tid, p);
    }
  }

  template <class Block, class Ring>
  CUTE_DEVICE void multiply(Block block, Smem& smem, Ring& ring, int tid, Piece const& p) const {
    constexpr int SHARE = BLK_K / GROUPS;  // of a stage's k
    int const lane = tid % 32, warp = tid / 32 % (WARPS_M * WARPS_N), group = tid / 32 / (WARPS_M * WARPS_N);
    int const wm = warp / WARPS_N * 64 + lane / 4 * 4, wn = warp % WARPS_N * 64 + lane % 4 * 4;
    SgemmWarp<Block> sums;
    sums.clear();
    CUTE_NO_UNROLL
    for (int k = p.k0; k < p.k1; ++k) {
      ring.wait_full();
      sums.template multiply<SHARE, 2, SideA::LD, SideB::LD>(smem.A[ring.stage] + group * SHARE * SideA::LD + wm,
                                                             smem.B[ring.stage] + group * SHARE * SideB::LD + wn);
      ring.release_previous(block, lane);
    }
    sums.finish();

    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
    Quad* const mine = sums_of(smem, group);
    auto const consumers = [&] { block.sync(Int<1>{}, Int<CONSUMERS>{}); };
    consumers();  // all stages are read
    CUTE_UNROLL
    for (int v = 0; v < 32; ++v) {
      int const i = v / 4, q = v % 4;
      copy_one(atom, true, reinterpret_cast<Quad const*>(&sums.acc[i][4 * q]),
               make_smem_ptr(mine + at(wm + i % 4 + i / 4 * 32, (wn + q * 16) / 4)));
    }
    if (slices > 1)
      block.sync_cluster(Int<CONSUMERS>{});
    else
      consumers();
    with_slices([&](auto slices) {
      if (takes_vectors(g.D))
        store<Quad, slices>(block, smem, tid, p);
      else
        store<float, slices>(block, smem, tid, p);
    });
    if (slices > 1) block.sync_cluster(Int<CONSUMERS>{});  // no block exits while others read its sums
  }

  // Offset of columns [4 c, 4 c + 4) of row m, in 16-byte vectors. Every other group of four rows
  // swaps 64-byte halves, so that the two rows that a quarter-warp stores to share no bank.
  CUTE_HOST_DEVICE static int at(int m, int c) { return m * (BLK_N / 4) + (c ^ m / 4 % 2 * 4); }

  template <class F>
  CUTE_HOST_DEVICE void with_slices(F const& f) const {
    switch (slices) {
      case 1:
        return f(Int<1>{});
      case 2:
        return f(Int<2>{});
      case 4:
        return f(Int<4>{});
    }
  }

  // Each block adds the sums of all groups of the cluster for its share of the tile's rows, and
  // stores them to D. X: Quad, or float if D allows no vectors.
  template <class X, int PARTS, class Block>
  CUTE_DEVICE void store(Block block, Smem& smem, int tid, Piece const& p) const {
    constexpr int V = sizeof(X) / 4, ACROSS = BLK_N / V, EACH = BLK_M / PARTS * ACROSS / CONSUMERS,
                  SUMS = PARTS * GROUPS;
    constexpr int AHEAD =
        cute::min(EACH, cute::max(1, 16 / SUMS));  // elements whose sums are loaded before the first is needed
    Copy_Atom<On<Block, LoadCluster<X>>, X> peer;
    int const first = block.block_index() % PARTS * (BLK_M / PARTS);
    CUTE_NO_UNROLL
    for (int e0 = 0; e0 < EACH; e0 += AHEAD) {
      X x[AHEAD][SUMS];
      CUTE_UNROLL
      for (int e = 0; e < AHEAD; ++e) {
        int const number = (e0 + e) * CONSUMERS + tid, col = number % ACROSS * V;
        int const quad = at(first + number / ACROSS, col / 4);
        CUTE_UNROLL
        for (int s = 0; s < SUMS; ++s) {
          auto const* const from =
              reinterpret_cast<X const*>(sums_of(smem, s % GROUPS) + quad) + (V == 1 ? col % 4 : 0);
          copy_one(peer, true, make_smem_ptr(block.peer(from, s / GROUPS)), &x[e][s]);
        }
      }
      CUTE_UNROLL
      for (int e = 0; e < AHEAD; ++e) {
        int const number = (e0 + e) * CONSUMERS + tid;
        int64_t const m = p.m + first + number / ACROSS, n = p.n + number % ACROSS * V;
        X sum{};
        CUTE_UNROLL
        for (int v = 0; v < V; ++v) {
          float& total = reinterpret_cast<float*>(&sum)[v];
          CUTE_UNROLL
          for (int s = 0; s < SUMS; ++s) total += reinterpret_cast<float const*>(&x[e][s])[v];
        }
        float* const c = g.D.as<float>() + (p.l * g.D.batch_stride + m * g.D.row_stride + n * g.D.col_stride);
        store_scaled(block, g.epilogue, m < g.M() && n < g.N(), sum, reinterpret_cast<X*>(c));
      }
    }
  }
};

}  // namespace inlay::kernels
