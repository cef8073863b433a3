// Which tile? Kernels of copy_03, transpose_06 and transpose_09 with other tiles, and what the unpredicated path is worth.
// usage: tiles [ROWS COLS [SAMPLES]]  (4-byte elements; prints Markdown tables)
#include <cstdio>
#include <cstdlib>

#include "block/launch.h"
#include "contenders.h"
#include "gpu.h"
#include "kernels/direct_tile.h"
#include "kernels/smem_tile.h"
#include "measure.h"

namespace inlay::kernels {
namespace {
using T = std::uint32_t;

// copy_03: threads of a block and vectors of a thread.
template <int kThreads, int kVectors>
struct CopyStep {
  static constexpr Writes writes = Writes::copy;
  using Tile    = Shape<_1, Int<kVectors * kThreads * 4>>;                               // (BLK_M,BLK_N)
  using Threads = Layout<Shape<_1, Int<kThreads>>, Stride<Int<kThreads>, _1>>;           // (THR_M,THR_N)
  using Access  = uint128_t;
};
// transpose_06 and transpose_09.
template <int M, int N, int kThreads, int kVector, bool kInterior = true>
struct TransposeStep : SmemStep<T> {
  static constexpr int threads = kThreads, vector = kVector;
  static constexpr bool interior_path = kInterior;
  using Tile       = Shape<Int<M>, Int<N>>;                                              // (BLK_M,BLK_N)
  using Swz        = typename ConflictFree<N, sizeof(T), kVector * sizeof(T)>::type;
  using SmemLayout = SwizzledRows<Tile, Swz>;                                            // (BLK_M,BLK_N)
  using Load       = std::conditional_t<kVector == 1, UniversalCopy<T>, UniversalCopy<uint128_t>>;
};

template <class Kernel>
lab::Contender contender(std::string name, lab::Case const& c) {
  lab::Contender x = Kernel::transposes ? lab::table_rows(c, true, {"transpose_06_smem_swizzled"}).back()
                                        : lab::copy_limit(c).back();
  for (lab::Contender const& row : lab::table_rows(c, true, {"transpose_06_smem_swizzled"}))
    if (Kernel::transposes && row.name == "transpose_06_smem_swizzled") x = row;
  x.name = std::move(name);
  x.launch = [c](void* dst, void const* src, cudaStream_t stream) {
    Move const move = Kernel::transposes ? lab::transpose_move(c, dst, src) : lab::copy_move(c, dst, src);
    launch(Kernel::make(move, DriverEncoder{}), current_device(), stream);
  };
  return x;
}
template <int kThreads, int kVectors>
lab::Contender copy(lab::Case const& c) {
  return contender<DirectTile<T, CopyStep<kThreads, kVectors>>>(
      "copy_03, " + std::to_string(kThreads) + " threads x " + std::to_string(kVectors) + " vectors", c);
}
template <int M, int N, int kThreads, int kVector, bool kInterior = true>
lab::Contender transpose(lab::Case const& c) {
  return contender<SmemTile<T, TransposeStep<M, N, kThreads, kVector, kInterior>>>(
      std::string(kVector == 1 ? "transpose_06, " : "transpose_09, ") + std::to_string(M) + " x " + std::to_string(N) +
          ", " + std::to_string(kThreads) + " threads" + (kInterior ? "" : ", always predicated"),
      c);
}

void print(lab::Case const& c, std::vector<lab::Contender> const& rows, int samples) {
  std::vector<lab::Contender> all = lab::copy_limit(c);
  all.insert(all.end(), rows.begin(), rows.end());
  lab::Progress progress;
  std::printf("\n| %s, 4 bytes | ms | IQR | of copy | verdict |\n|---|---|---|---|---|\n", c.name().c_str());
  for (lab::Row const& row : lab::measure(c, all, samples, nullptr, progress))
    std::printf("| %s | %.4f | %.4f | %.3f | %s |\n", row.variant.c_str(), row.ms_median, row.ms_iqr, row.of_copy, row.verdict.c_str());
}

}  // namespace
}  // namespace inlay::kernels

int main(int argc, char** argv) try {
  using namespace inlay::kernels;
  inlay::lab::Case c;
  if (argc > 2) c.rows = std::atoll(argv[1]), c.cols = std::atoll(argv[2]);
  int const samples = argc > 3 ? std::atoi(argv[3]) : 15;
  print(c, {copy<128, 1>(c), copy<256, 1>(c), copy<512, 1>(c), copy<1024, 1>(c), copy<256, 2>(c), copy<256, 4>(c), copy<256, 8>(c)}, samples);
  print(c, {transpose<32, 32, 256, 1>(c), transpose<32, 64, 256, 1>(c), transpose<64, 32, 256, 1>(c), transpose<64, 64, 256, 1>(c),
            transpose<64, 64, 512, 1>(c), transpose<128, 32, 256, 1>(c), transpose<64, 64, 1024, 1>(c), transpose<128, 64, 512, 1>(c),
            transpose<64, 64, 256, 1, false>(c)}, samples);
  print(c, {transpose<32, 32, 256, 4>(c), transpose<32, 128, 256, 4>(c), transpose<64, 32, 256, 4>(c), transpose<64, 64, 256, 4>(c),
            transpose<64, 64, 512, 4>(c), transpose<128, 32, 256, 4>(c), transpose<128, 64, 512, 4>(c), transpose<128, 64, 1024, 4>(c),
            transpose<64, 64, 256, 4, false>(c)}, samples);
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
