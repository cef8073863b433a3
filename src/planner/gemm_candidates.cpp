#include <inlay/planner/gemm_packing.h>
#include <inlay/planner/kernel_list.h>
#include <inlay/planner/wgmma_times.h>
#include <inlay/problem/integers.h>

#include <algorithm>
#include <cmath>

namespace inlay::planner {
namespace {

using Properties = Planner<Gemm>::Properties;

// ---- Conditions of the candidates.

std::int64_t tiles(Gemm const& g, std::int64_t m, std::int64_t n) { return ceil_div(g.M(), m) * ceil_div(g.N(), n); }
bool wide(Gemm const& g) { return std::min(g.M(), g.N()) > 32; }
// Up to this K no kernel splits K, and all kernels that form a single sum return the same bits, so the choice between
// them may depend on the batch size.
bool shallow(Gemm const& g) { return g.K() <= 256; }

// At most 4.5 tiles of 32 x 32 per SM, for which latency decides.
bool few_small_tiles(Gemm const& g, Device const& device) {
  return tiles(g, 32, 32) * g.L() * 2 <= 9 * device.sm_count;
}

// Microseconds of a multiprocessor for a tile, and for each k of it. Fitted on an H200 to batches of 16 to 256 rows and
// columns (docs/log.md).
struct TileTime {
  char const* kernel;
  std::int64_t m, n;
  double tile, k;
};
constexpr TileTime kTileTimes[] = {{"sgemm_split_32x32", 32, 32, .18, .0103},
                                   {"sgemm_split_64x64", 64, 64, .86, .0183},
                                   {"sgemm_tile_128x128", 128, 128, 1.9, .0874},
                                   {"sgemm_tma", 128, 256, 3, .16}};

// Chooses the shortest predicted time among kernels that sum all of K in one register.
char const* fastest_of_batch(Gemm const& g, Device const& device) {
  static LinkedKernel<Gemm> const packed = kernels::sgemm_packed::kernel();
  char const* best = "";
  double least = 0;
  auto const consider = [&](char const* kernel, double seconds) {
    if (!*best || seconds < least) best = kernel, least = seconds;
  };
  if (Reason const r = packed.info->rejects(g, device); !r || r.chunks)
    consider("sgemm_packed", .94 * packed.info->seconds(g, device));  // where they meet, it predicts 6 % too much
  for (TileTime const& t : kTileTimes) {
    double const each = double(tiles(g, t.m, t.n)) * double(g.L()) / device.sm_count;
    consider(t.kernel, 1e-6 * (1 + std::max(each, 1.) * (t.tile + double(g.K()) * t.k)));
  }
  return best;
}

// ---- bf16 and f16

// Whether a matrix of g takes less time with mma.sync than with wgmma, to which its operands are packed. The choice
// must not depend on the batch size, because the bits of the two differ.
bool faster_simple(Gemm const& g, Device const& device) {
  static LinkedKernel<Gemm> const wgmma = kernels::hgemm_10_narrow_tiles::kernel(),
                                  simple = kernels::hgemm_simple::kernel();
  Gemm one = Planner<Gemm>::chunk(g, 1);
  double packing = 0;
  for (Operand* o : {&one.A, &one.B}) {
    // The batch stride decides whether operands are packed.
    o->batch_stride = (o == &one.A ? g.A : g.B).batch_stride;
    Packing p{misplaced(*o, Layout::aligned), *o};
    if (p) p.put(0), packing += p.seconds(device);
    *o = p.used();
  }
  return simple.info->seconds(one, device) < packing + wgmma.info->seconds(wgmma.info->split(one, device), device);
}
bool half(Properties const& f) { return is_half(f.g.A.type) && f.g.K() > 0; }
bool on_wgmma(Properties const& f) { return half(f) && !f.on_simple; }
bool on_simple(Properties const& f) { return is_half(f.g.A.type) && (f.g.K() == 0 || f.on_simple); }

// Predicted seconds of a kernel for one matrix, because the batch must not decide: the bits of the ways differ.
// Infinite if it rejects it.
double seconds_of_one(LinkedKernel<Gemm> const& kernel, Properties const& f) {
  Gemm const one = Planner<Gemm>::chunk(f.g, 1);
  return kernel.info->rejects(one, f.device) ? HUGE_VAL : kernel.info->seconds(one, f.device);
}
// Whether the kernel adds old elements of D; another C is added by a launch of its own.
bool adds_old(Gemm const& g) { return g.epilogue.beta != 0 && !g.C.base; }
// So short a K that D takes most of the time, and two tiles of 128 x 128 for each multiprocessor: where sgemm_outer was
// the fastest on an H200, of 33 GEMMs of which several have the extents of four judging GEMMs. Other kernels lose more
// where old elements of D are read.
bool outer(Gemm const& g, Device const& device, std::int64_t matrices) {
  return wide(g) && g.K() > 0 && g.K() <= (adds_old(g) ? 64 : 24) && (g.D.col_stride == 1 || g.D.row_stride == 1) &&
         tiles(g, 128, 128) * matrices >= std::int64_t(2) * device.sm_count;
}
// FMA units: 55 TFLOP/s on an H200, in tiles of 64 x 64 but for narrow matrices, 3 TB/s of D that are read and written,
// and what small GEMMs lose. Fitted to every other GEMM of suites/gemm/wild.json; the rate of D, and what is lost for K
// up to 128, to nine of them alone.
double seconds_of_fma(Gemm const& g, Device const& device) {
  if (outer(g, device, 1)) {  // fitted on an H200 to GEMMs of 16.8 to 44 million elements of D, K from 1 to 64
    double const k = double(g.K());
    return 2e-6 + 1e-12 * double(g.M()) * double(g.N()) *
                      (adds_old(g) ? std::max(2.95, 1.75 + .07 * k) : std::max(.95, .69 + .054 * k));
  }
  auto const in_tiles = [](std::int64_t extent) { return double(extent <= 32 ? extent : round_up(extent, 64)); };
  double const flops = 2 * in_tiles(g.M()) * in_tiles(g.N()) * double(g.K());
  double const bytes_of_D = (g.epilogue.beta != 0 ? 8 : 4) * double(g.M()) * double(g.N());
  return 3e-6 + flops / 55e12 + bytes_of_D / 3e12 +
         std::min((g.K() <= 128 ? 12e-6 : 26e-6) * std::sqrt(flops / 1e9), 60e-6);
}
// With a margin for both predictions. Up to K = 24 FMA units compute every GEMM: sgemm_outer is faster than slices for
// large batches, and the batch must not decide.
bool slices_pay(Properties const& f, double seconds) {
  return f.g.K() > 24 && seconds < .9 * seconds_of_fma(f.g, f.device);
}
// f16 slices of a shorter K are always refused (f16_slices.h). A B that was packed as f16 slices is for
// sgemm_split_fast alone.
bool takes_f16(Gemm const& g) { return g.compute == Compute::split_fast && (g.K() >= 64 || g.packed_operand()); }
double seconds_of_packed(Properties const& f) {
  static LinkedKernel<Gemm> const safe = kernels::sgemm_split_safe::kernel(),
                                  fast = kernels::sgemm_split_fast::kernel();
  return seconds_of_one(takes_f16(f.g) ? fast : safe, f);
}
bool split_safe(Properties const& f) {
  return is_split(f.g.compute) && !takes_f16(f.g) && slices_pay(f, seconds_of_packed(f));
}
bool split_fast(Properties const& f) { return takes_f16(f.g) && slices_pay(f, seconds_of_packed(f)); }
bool split_unpacked(Properties const& f) {
  static LinkedKernel<Gemm> const unpacked = kernels::sgemm_split_unpacked::kernel();
  if (!is_split(f.g.compute)) return false;
  double const seconds = seconds_of_one(unpacked, f);
  return slices_pay(f, seconds) && seconds < seconds_of_packed(f);
}

bool batch_takes(Properties const& f, char const* kernel) { return std::string_view(f.of_batch) == kernel; }
bool small_batch(Properties const& f) { return batch_takes(f, "sgemm_packed"); }
bool batch_of_squares(Properties const& f) { return batch_takes(f, "sgemm_tile_128x128"); }
bool blocked_sums(Properties const& f) { return f.g.compute == Compute::fp32_blocked; }
// sgemm_thin reads each element of the large operand once, in whole warps.
bool thin(Properties const& f) {
  std::int64_t const m = f.g.M(), n = f.g.N();
  if (blocked_sums(f)) return false;  // a thread of it may accumulate more than 1024 FMAs
  if (!(std::min(m, n) <= 8 && f.g.K() >= 64 && f.g.K() >= ceil_div(std::int64_t(1) << 18, std::max(m, n))))
    return false;
  static LinkedKernel<Gemm> const kernel = kernels::sgemm_thin::kernel();
  if (Reason const r = kernel.info->rejects(f.g, f.device); r && !r.chunks) return false;
  // sgemm_narrow: its launches, and bytes at the rate that it reached on an H200, in vectors and in single elements,
  // with tiles of 256 rows.
  Operand const& large = n <= m ? f.g.A : f.g.B;
  double const copy = f.device.copy_gbps * 1e9;
  double const narrow = 4.5e-6 + 4. * double(large.rows * large.cols) /
                                     (copy * (pitch(large) % 4 ? .33 : .8) * std::min(1., double(large.rows) / 256));
  return kernel.info->seconds(f.g, f.device) < 1.25 * narrow;
}
bool narrow(Properties const& f) { return !wide(f.g) && f.g.K() > 0 && !*f.of_batch; }
// At most 4.5 tiles of 32 x 32 per SM if K is shallow, else 4e7 FMAs, for which short slices of K fill the GPU.
bool small(Properties const& f) {
  if (f.g.K() == 0) return false;
  if (shallow(f.g)) return few_small_tiles(f.g, f.device) || batch_takes(f, "sgemm_split_32x32");
  return tiles(f.g, 32, 32) <= 40000 / f.g.K();
}
// The tiles of 128 x 256 of all matrices occupy at least three quarters of the SMs.
bool many_shallow(Properties const& f) {
  if (*f.of_batch) return batch_takes(f, "sgemm_tma");
  return wide(f.g) && shallow(f.g) && tiles(f.g, 128, 256) * f.g.L() * 4 >= 3 * f.device.sm_count;
}
// Between a third of a tile of 128 x 128 per SM and one.
bool few_tiles(Properties const& f) {
  std::int64_t const t = tiles(f.g, 128, 128);
  return wide(f.g) && !shallow(f.g) && t * 3 >= f.device.sm_count && t <= f.device.sm_count && f.g.K() <= 4096;
}
// At least a fifth of a tile of 128 x 256 per SM: slices of the tiles fill the GPU.
bool large(Properties const& f) {
  return std::min(f.g.M(), f.g.N()) > 64 && !shallow(f.g) && !few_tiles(f) &&
         tiles(f.g, 128, 256) * 5 >= f.device.sm_count;
}
// At least three quarters of a tile of 128 x 256 per SM: whole tiles fill the GPU.
bool whole_tiles(Properties const& f) { return large(f) && tiles(f.g, 128, 256) * 4 >= 3 * f.device.sm_count; }
bool deep(Properties const& f) {
  if (*f.of_batch) return batch_takes(f, "sgemm_split_64x64");
  return f.g.K() > 0 && !narrow(f) && !many_shallow(f) && !few_tiles(f) && !large(f);
}
bool in_blocks(Properties const& f) { return blocked_sums(f) && (large(f) || (few_tiles(f) && f.g.K() > 1024)); }
// At least two tiles of 64 x 64 per SM: a batch for which slices of K in other blocks gain nothing.
bool fills(Properties const& f) {
  return f.g.L() > 1 && f.g.K() > 256 && tiles(f.g, 64, 64) * f.g.L() >= 2 * f.device.sm_count;
}
bool fills_small(Properties const& f) { return fills(f) && small(f); }
bool fills_deep(Properties const& f) { return fills(f) && deep(f); }
bool two_sums(Properties const& f) { return blocked_sums(f) && f.g.K() > 1024; }
bool multiplies(Properties const& f) { return f.g.K() > 0; }
// Excludes shallow K, where the batch size may decide: dividing the k of a stage among warps changes the bits.
bool not_shallow(Properties const& f) { return f.g.K() > 0 && !shallow(f.g); }

// The bounds are where the measured curves cross on an H200 (docs/log.md). The time model does not cover waves of GEMM
// tiles, blocks that wait for each other, or reductions of slices.
constexpr char const* kCurves = "where the curves meet on an H200, docs/log.md";
Applicability<Gemm> const kBlockedSums{in_blocks, "blocked summation is not requested, or not worth it"};
constexpr char const* kNoSlices = "not requested, or FMA units are predicted to be faster";
Applicability<Gemm> const kSplitSafe{split_safe, kNoSlices},
    kSplitFast{split_fast, "not requested, K is below 64, or FMA units are predicted to be faster"},
    kSplitUnpacked{split_unpacked, "not requested, or FMA units or packed slices are predicted to be faster"};
Applicability<Gemm> const kSmallBatch{small_batch,
                                      "another kernel is predicted to be faster, or it is no batch with a K of at most "
                                      "256 and more than 4.5 tiles of 32 x 32 per SM"};
Applicability<Gemm> const kBatchOfSquares{batch_of_squares,
                                          "another kernel is predicted to be faster, or it is no batch with a K of at "
                                          "most 256 and more than 4.5 tiles of 32 x 32 per SM"};
Applicability<Gemm> const kThin{thin,
                                "made for 1 to 8 rows or columns, a K of at least 64 and a large operand of a "
                                "megabyte; or sgemm_narrow is predicted to be faster"};
Applicability<Gemm> const kOuter{
    [](Properties const& f) { return !is_half(f.g.A.type) && outer(f.g, f.device, f.g.L()); },
    "made for a K of at most 24, or 64 if old elements of D are added, for more than 32 rows and columns, two tiles of "
    "128 x 128 for each SM, and a D that is contiguous along one mode",
    kCurves};
Applicability<Gemm> const kSmall{small, "made for a few tiles of 32 x 32 per SM", kCurves};
Applicability<Gemm> const kNarrow{
    narrow,
    "made for at most 32 rows or columns, of batches for those that no other kernel is predicted to be faster for"};
constexpr char const* kNoFullBatch =
    "made for batches with a K of more than 256 and at least two tiles of 64 x 64 per SM";
Applicability<Gemm> const kFullSmallBatch{fills_small, kNoFullBatch, kCurves};
Applicability<Gemm> const kFullDeepBatch{fills_deep, kNoFullBatch, kCurves};
Applicability<Gemm> const kDeep{deep, "made for a K that fills the GPU if the tiles of D do not", kCurves};
Applicability<Gemm> const kTwoSums{two_sums, "blocked summation is not requested, or not worth it"};
Applicability<Gemm> const kFewTiles{few_tiles, "made for a tile of 128 x 128 for most SMs, and no more", kCurves};
Applicability<Gemm> const kManyShallow{many_shallow,
                                       "made for a K of at most 256 and tiles of 128 x 256 that fill the GPU", kCurves};
Applicability<Gemm> const kLarge{large, "made for tiles of 128 x 256 whose K slices fill the GPU", kCurves};
Applicability<Gemm> const kWholeTiles{whole_tiles, "made for whole tiles of 128 x 256 that fill the GPU", kCurves};
Applicability<Gemm> const kSlowWholeTiles{whole_tiles, "kernels that load these operands by TMA are faster"};
Applicability<Gemm> const kNotShallow{not_shallow, "excluded: the summation order would depend on the batch size"};
Applicability<Gemm> const kMultiplies{multiplies, "kernels that load these operands by TMA are faster"};
Applicability<Gemm> const kOnWgmma{
    on_wgmma, "mma.sync is predicted to be faster than packing and wgmma, or the operands are f32"};
Applicability<Gemm> const kOnSimple{on_simple, "packing and wgmma are predicted to be faster, or the operands are f32"};
Applicability<Gemm> const kAny{[](Properties const&) { return true; }};

}  // namespace

Properties::Properties(Gemm const& g, Device const& device) : g(g), device(device) {
  if (!is_half(g.A.type) && g.L() > 1 && g.K() > 0 && shallow(g) && !few_small_tiles(g, device) && g.elements())
    of_batch = fastest_of_batch(g, device);
  if (is_half(g.A.type) && g.K() > 0 && g.elements()) on_simple = faster_simple(g, device);
}

// The bits must not depend on the batch size: L may only decide between kernels that form each sum in one register, in
// the order of k. A candidate that does not apply is chosen only if no candidate that applies accepts the problem.
std::span<Candidate<Gemm> const> Planner<Gemm>::candidates() {
  using namespace kernels;
  constexpr Layout aligned = Layout::aligned, aligned_mn = Layout::aligned_mn;
  static LinkedKernel<Gemm> const transposed = sgemm_tma_transposing::kernel(), rotated = sgemm_tma::kernel(),
                                  cluster = sgemm_cluster::kernel(), split_32x32 = sgemm_split_32x32::kernel(),
                                  split_64x64 = sgemm_split_64x64::kernel(), slices = sgemm_slices_64x64::kernel();
  // The tile number `tile` of kWgmmaTiles, from 1 on.
  auto const of_tile = [](int tile, bool transposes) {
    WgmmaTile const& t = kWgmmaTiles[tile - 1];
    return Candidate<Gemm>{
        .label = transposes ? t.label_of_transpose : t.label,
        .kernel = hgemm_10_narrow_tiles::kernel(),
        .applies = kOnWgmma,
        .requirements = {
            .a = aligned, .b = aligned, .workspace_is_optional = true, .tile = tile, .transposes = transposes}};
  };
  static_assert(std::size(kWgmmaTiles) == 9);
  static Candidate<Gemm> const all[] = {
      {.kernel = sgemm_tma_blocked::kernel(),
       .applies = kBlockedSums,
       .requirements = {.a = aligned_mn, .b = aligned_mn}},
      {.kernel = sgemm_split_unpacked::kernel(), .applies = kSplitUnpacked},
      {.kernel = sgemm_split_safe::kernel(), .applies = kSplitSafe},
      {.kernel = sgemm_split_fast::kernel(), .applies = kSplitFast},
      {.kernel = sgemm_outer::kernel(), .applies = kOuter},
      {.kernel = sgemm_thin::kernel(), .applies = kThin},
      {.kernel = sgemm_packed::kernel(), .applies = kSmallBatch},
      {.label = "of a batch", .kernel = sgemm_tile_128x128::kernel(), .applies = kBatchOfSquares},
      {.label = "as sgemm_split_32x32",
       .kernel = slices,
       .applies = kFullSmallBatch,
       .requirements = {.slices_of = &split_32x32}},
      {.kernel = split_32x32, .applies = kSmall},
      {.kernel = sgemm_narrow::kernel(), .applies = kNarrow},
      {.label = "as sgemm_split_64x64",
       .kernel = slices,
       .applies = kFullDeepBatch,
       .requirements = {.slices_of = &split_64x64}},
      {.kernel = split_64x64, .applies = kDeep},
      {.kernel = sgemm_tile_blocked::kernel(), .applies = kTwoSums},
      {.kernel = cluster, .applies = kFewTiles, .requirements = {.a = aligned, .b = aligned}},
      {.label = "shallow", .kernel = transposed, .applies = kManyShallow},
      {.label = "shallow", .kernel = rotated, .applies = kManyShallow},
      {.label = "transposes one operand",
       .kernel = transposed,
       .applies = kLarge,
       .requirements = {aligned, aligned, true}},
      {.kernel = sgemm_tma_stream_k::kernel(), .applies = kLarge, .requirements = {.a = aligned_mn, .b = aligned_mn}},
      // Need no workspace: nothing is packed, no tile is split.
      {.label = "unpacked",
       .kernel = transposed,
       .applies = kWholeTiles,
       .requirements = {.workspace_is_optional = true}},
      {.label = "unpacked", .kernel = rotated, .applies = kWholeTiles},
      {.kernel = sgemm_tile_128x256::kernel(), .applies = kSlowWholeTiles},
      {.label = "unpacked", .kernel = cluster, .applies = kNotShallow},
      {.kernel = sgemm_tile_128x128::kernel(), .applies = kMultiplies},
      {.kernel = sgemm_simple::kernel(), .applies = kAny},
      of_tile(1, false),
      of_tile(1, true),
      of_tile(2, false),
      of_tile(2, true),
      of_tile(3, false),
      of_tile(3, true),
      of_tile(4, false),
      of_tile(4, true),
      of_tile(5, false),
      of_tile(5, true),
      of_tile(6, false),
      of_tile(6, true),
      of_tile(7, false),
      of_tile(7, true),
      of_tile(8, false),
      of_tile(8, true),
      of_tile(9, false),
      of_tile(9, true),
      {.kernel = hgemm_simple::kernel(), .applies = kOnSimple},
  };
  return all;
}

}  // namespace inlay::planner
