// Times every tile of hgemm_10_narrow_tiles in several numbers of slices of K, also computing the transpose of D, for the constants of
// src/planner/wgmma_times.h.
//
// usage: wgmma_tiles < GEMMS > TIMES
// A line of GEMMS is M N K TRANSPOSES, as "4096 4096 4096 nt"; extents are multiples of 8. A line of TIMES adds the tile's width
// and cluster, 1 for the transpose of D, the slices and microseconds: the median of 5 rounds over operands that exceed the L2.
#include <inlay/error.h>
#include <inlay/gemm.h>
#include <inlay/planner/candidate.h>
#include <inlay/planner/kernel_list.h>
#include <inlay/planner/wgmma_times.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {
using namespace inlay;
using namespace inlay::planner;
using detail::check;

constexpr std::size_t kPool = std::size_t(1) << 30;  // bytes of operands; several times the L2

// bf16 numbers of either sign between 1/256 and 2: data with full significands, which the power of the tensor cores depends on.
__global__ void fill(std::uint16_t* data, std::size_t count) {
  for (std::size_t i = blockIdx.x * 256ul + threadIdx.x; i < count; i += gridDim.x * 256ul) {
    std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 32) * 0xBF58476D1CE4E5B9u;
    data[i] = std::uint16_t((x >> 63 << 15) | (119 + (x >> 50) % 9) << 7 | (x >> 40 & 127));
  }
}

struct Timer {
  cudaEvent_t begin, end;
  Timer() { check(cudaEventCreate(&begin)), check(cudaEventCreate(&end)); }
  template <class F>
  double us(int times, F const& f) {
    check(cudaEventRecord(begin));
    for (int i = 0; i < times; ++i) f(i);
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms;
    check(cudaEventElapsedTime(&ms, begin, end));
    return 1e3 * ms / times;
  }
};

// The plan of a kernel with a number of slices; without launches if it rejects the GEMM. g may be the transpose of the problem.
planner::Plan sliced(LinkedKernel<Gemm> const& kernel, Gemm g, int slices, Device const& device) {
  static LinkedKernel<Reduction> const sum = kernels::sum_slices::kernel();
  planner::Plan plan;
  bool const transposes = g.D.col_stride != 1;
  OperandSlot const a{OperandSlot::In::operand, transposes, 0}, b{OperandSlot::In::operand, !transposes, 0},
      d{OperandSlot::In::operand, 2, 0}, own{OperandSlot::In::workspace, 0, 0};
  if (kernel.info->rejects(g, device)) return plan;
  if (slices == 1) {
    plan.add(LaunchOf<Gemm>{&kernel, g, {a, b, d}});
  } else {
    Gemm c = g;
    c.slice_K = (g.K() / slices + 63) / 64 * 64, c.slices = int((g.K() + c.slice_K - 1) / c.slice_K);
    if (c.slices != slices) return plan;
    c.D.base = symbolic(kWorkspaceRegion, nullptr), c.D.type = problem::f32;
    c.D.row_stride = transposes ? 1 : g.N(), c.D.col_stride = transposes ? g.M() : 1;
    plan.workspace_bytes = std::size_t(slices * g.elements()) * 4;
    plan.add(LaunchOf<Gemm>{&kernel, c, {a, b, own}});
    plan.add(LaunchOf<Reduction>{
        &sum,
        {transposes ? problem::transposed(g.D) : g.D, g.epilogue, static_cast<float const*>(c.D.base), slices},
        {own, d}});
  }
  make_launches(plan, device);
  return plan;
}

}  // namespace

int main() {
  alarm(580);
  Device const& device = current_device();
  char *pool, *workspace;
  check(cudaMalloc(&pool, kPool)), check(cudaMalloc(&workspace, kPool));
  fill<<<1024, 256>>>(reinterpret_cast<std::uint16_t*>(pool), kPool / 2);
  Timer timer;
  LinkedKernel<Gemm> const kernel = kernels::hgemm_10_narrow_tiles::kernel();
  long M, N, K;
  char transposes[4];
  while (std::scanf("%ld %ld %ld %3s", &M, &N, &K, transposes) == 4) {
    auto const bytes = [](long rows, long cols) { return std::size_t(rows * cols * 2 + 255) / 256 * 256; };
    std::size_t const each = bytes(M, K) + bytes(K, N) + bytes(M, N);
    int const sets = int(std::min<std::size_t>(64, kPool / each));
    auto const stored = [&](char* at, long rows, long cols, bool transposed) {
      Tensor const t = transposed ? matrix(at, problem::bf16, cols, rows) : matrix(at, problem::bf16, rows, cols);
      return transposed ? t.transposed() : t;
    };
    auto const pointers = [&](int set) {
      char* const at = pool + std::size_t(set % sets) * each;
      return Operands{{at, at + bytes(M, K), at + bytes(M, K) + bytes(K, N)}, workspace};
    };
    Operands const first = pointers(0);
    auto* const at = reinterpret_cast<char* const*>(first.operand);
    Gemm const g =
        problem::make_gemm(stored(at[0], M, K, transposes[0] == 't'), stored(at[1], K, N, transposes[1] == 't'),
                           stored(at[2], M, N, false), {}, Compute::fp32);
    struct Timed {
      int tile, transposes, slices;
      planner::Plan plan;
      std::vector<double> us;
    };
    std::vector<Timed> all;
    int const most_slices = int(std::min(32l, K / 256));
    for (int transposes : {0, 1})
      for (int tile = 0; tile < int(std::size(kWgmmaTiles)); ++tile) {
        Gemm h = transposes ? g.transposed() : g;
        h.tile = tile + 1;
        WgmmaTile const& t = kWgmmaTiles[tile];
        long const tiles =
            long(ceil_div(h.M(), 128 * t.cluster.m) * ceil_div(h.N(), t.width * t.cluster.n)) * t.cluster.blocks();
        for (int slices : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
          if (slices > 1 && (slices > most_slices || tiles * slices > 3 * device.sm_count)) continue;
          if (planner::Plan const plan = sliced(kernel, h, slices, device); plan.num_launches)
            all.push_back({tile, transposes, slices, plan, {}});
        }
      }
    for (int round = 0; round < 6; ++round)
      for (Timed& t : all) {
        double const us = timer.us(20, [&](int i) { run(t.plan, device, pointers(i + round * 20), nullptr); });
        if (round) t.us.push_back(us);
      }
    for (Timed& t : all) {
      std::sort(t.us.begin(), t.us.end());
      WgmmaTile const& tile = kWgmmaTiles[t.tile];
      std::printf("%ld %ld %ld %s %d %d %d %d %d %.3f\n", M, N, K, transposes, tile.width, tile.cluster.m,
                  tile.cluster.n, t.transposes, t.slices, t.us[t.us.size() / 2]);
    }
    std::fflush(stdout);
  }
}
