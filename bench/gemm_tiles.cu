// Times every tile of a GEMM kernel in several numbers of slices of K, for the constants of its predicted time: of
// hgemm_10_narrow_tiles (src/model/wgmma_times.h) and hgemm_cluster (cluster_times.h), also computing the transpose of
// D, of sgemm_split_unpacked, or, in one slice, of hgemm_small (small_times.h) and hgemm_mma (mma_times.h).
//
// usage: gemm_tiles KERNEL < GEMMS > TIMES A line of GEMMS is M N K TRANSPOSES MATRICES, as "4096 4096 4096 nt 1"; on
// wgmma, extents are multiples of 8. A line of TIMES adds the tile's number, 1 for the transpose of D,
// the slices, the columns of the tile (0: its own) and microseconds: the median of 5 rounds over operands that exceed
// the L2.
#include <inlay/error.h>
#include <inlay/gemm.h>
#include <inlay/kernels/kernel_list.h>
#include <inlay/model/cluster_times.h>
#include <inlay/model/mma_times.h>
#include <inlay/model/small_times.h>
#include <inlay/planner/candidate.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "measure/sample.h"

namespace {
using namespace inlay;
using namespace inlay::planner;
using detail::check;

constexpr std::size_t kPool = std::size_t(1) << 30;  // bytes of operands; several times the L2

// Numbers of either sign between 1/256 and 2, bf16 or the f32 of which that is the upper half: data with full
// significands, which the power of the tensor cores depends on.
template <class T>
__global__ void fill(T* data, std::size_t count) {
  for (std::size_t i = blockIdx.x * 256ul + threadIdx.x; i < count; i += gridDim.x * 256ul) {
    std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 32) * 0xBF58476D1CE4E5B9u;
    std::uint32_t const upper = std::uint32_t((x >> 63 << 15) | (119 + (x >> 50) % 9) << 7 | (x >> 40 & 127));
    data[i] = sizeof(T) == 2 ? T(upper) : T(upper << 16 | (x & 0xffff));
  }
}

// A graph of what `launch` launches: launched one by one, each kernel would take the host 4 us.
lab::GraphExec captured(cudaStream_t stream, auto const& launch) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  launch();
  cudaGraph_t graph;
  check(cudaStreamEndCapture(stream, &graph));
  lab::Graph const owner(graph);
  cudaGraphExec_t exec;
  check(cudaGraphInstantiate(&exec, graph, 0));
  return lab::GraphExec(exec);
}

// The plan of a kernel with a number of slices; without launches if it rejects the GEMM. g may be the transpose of the
// problem.
planner::Plan sliced(Info<Gemm> const& kernel, Gemm const& g, Config const& config, int slices, Device const& device) {
  planner::Plan plan;
  bool const transposes = g.D.col_stride != 1;
  OperandSlot const a{OperandSlot::In::operand, transposes, 0}, b{OperandSlot::In::operand, !transposes, 0},
      d{OperandSlot::In::operand, 2, 0}, own{OperandSlot::In::workspace, 0, 0};
  Gemm c = g;
  c.slice_K = slices == 1 ? 0 : (g.K() / slices + 63) / 64 * 64;
  if (slices > 1 && (g.K() + c.slice_K - 1) / c.slice_K != slices) return plan;
  if (kernel.rejects(kernel.adds_slices ? c : g, device, config)) return plan;
  if (slices == 1 || kernel.adds_slices) {
    plan.add(LaunchOf<Gemm>{&kernel, c, {a, b, d}, {}, config});
  } else {
    c.slices = slices;
    c.D.base = symbolic(kWorkspaceRegion, nullptr), c.D.type = problem::f32;
    c.D.row_stride = transposes ? 1 : g.N(), c.D.col_stride = transposes ? g.M() : 1;
    plan.workspace_bytes = std::size_t(slices * g.elements()) * 4;
    plan.add(LaunchOf<Gemm>{&kernel, c, {a, b, own}, {}, config});
    plan.add(LaunchOf<Reduction>{&kernels::sum_slices::kernel, problem::add_slices(g, c), {own, d}});
  }
  make_launches(plan, device);
  return plan;
}

// Columns of a kernel's tile: each number of tiles along N with the fewest that give it. 0: the tile's own.
std::vector<int> columns_of(Info<Gemm> const& kernel, int tile, long N) {
  int const width = kernel.width ? kernel.width(tile) : 0;
  if (!width) return {0};
  std::vector<int> all{width};
  for (int columns = width - kColumnStep; columns >= width - kFewerColumns; columns -= kColumnStep)
    if ((N + columns - 1) / columns == (N + all.back() - 1) / all.back())
      all.back() = columns;
    else
      all.push_back(columns);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  alarm(580);
  if (argc != 2) return std::fprintf(stderr, "usage: gemm_tiles KERNEL < GEMMS > TIMES\n"), 2;
  struct Timeable {
    Info<Gemm> const* kernel;
    inlay::DType type;
    int tiles, least_k;
    bool transposes;  // the transpose of D is timed too
  };
  constexpr int kOneSlice = 1 << 30;
  Timeable const all_kernels[] = {
      {&kernels::hgemm_small::kernel, problem::bf16, int(std::size(kSmallTiles)), kOneSlice, false},
      {&kernels::hgemm_mma::kernel, problem::bf16, int(std::size(kMmaTiles)), kOneSlice, false},
      {&kernels::hgemm_10_narrow_tiles::kernel, problem::bf16, int(std::size(kWgmmaTiles)), 256, true},
      {&kernels::hgemm_cluster::kernel, problem::bf16, int(std::size(kClusterTiles)), 64, true},
      {&kernels::sgemm_split_unpacked::kernel, problem::f32, 16, 64, false}};
  auto const* const named =
      std::ranges::find_if(all_kernels, [&](Timeable const& t) { return !std::strcmp(argv[1], t.kernel->name); });
  if (named == std::end(all_kernels))
    return std::fprintf(stderr, "gemm_tiles: %s is no kernel that it times\n", argv[1]), 2;
  auto const [kernel_of, type, num_tiles, least_k, transposes_D] = *named;
  Info<Gemm> const& kernel = *kernel_of;
  bool const of_f32 = type == problem::f32;
  Device const& device = current_device();
  char *pool, *workspace;
  check(cudaMalloc(&pool, kPool)), check(cudaMalloc(&workspace, kPool));
  if (of_f32)
    fill<<<1024, 256>>>(reinterpret_cast<std::uint32_t*>(pool), kPool / 4);
  else
    fill<<<1024, 256>>>(reinterpret_cast<std::uint16_t*>(pool), kPool / 2);
  constexpr int kLaunches = 20;  // of a graph
  lab::Stream const owner = lab::make_stream();
  cudaStream_t const stream = owner.get();
  lab::Interval interval;
  check(cudaDeviceSynchronize());  // `fill` ran on another stream
  long M, N, K, L;
  char transposes[4];
  while (std::scanf("%ld %ld %ld %3s %ld", &M, &N, &K, transposes, &L) == 5) {
    auto const bytes = [&](long rows, long cols) {
      return std::size_t(L * rows * cols * inlay::bytes_of(type) + 255) / 256 * 256;
    };
    std::size_t const each = bytes(M, K) + bytes(K, N) + bytes(M, N);
    int const sets = int(std::min<std::size_t>(64, kPool / each));
    auto const stored = [&](char* at, long rows, long cols, bool transposed) {
      Tensor const t = transposed ? matrix(at, type, cols, rows) : matrix(at, type, rows, cols);
      return transposed ? t.transposed() : t;
    };
    auto const pointers = [&](int set) {
      char* const at = pool + std::size_t(set % sets) * each;
      return Operands{{at, at + bytes(M, K), at + bytes(M, K) + bytes(K, N)}, workspace};
    };
    Operands const first = pointers(0);
    auto* const at = reinterpret_cast<char* const*>(first.operand);
    Gemm g = problem::make_gemm(stored(at[0], M, K, transposes[0] == 't'), stored(at[1], K, N, transposes[1] == 't'),
                                stored(at[2], M, N, false), {}, Compute::fp32);
    if (L > 1)
      for (Operand* o : {&g.A, &g.B, &g.D}) o->matrices = L, o->batch_stride = o->rows * o->cols;
    struct Timed {
      int tile, transposes, slices, columns;
      lab::GraphExec graph;
      std::vector<double> us;
    };
    std::vector<Timed> all;
    int const most_slices = int(std::min(64l, K / least_k));
    for (int transposed = 0; transposed <= int(transposes_D); ++transposed)
      for (int tile = 1; tile <= num_tiles; ++tile) {
        Gemm const h = transposed ? g.transposed() : g;
        for (int columns : columns_of(kernel, tile, h.N()))
          for (int slices : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
            if (slices > most_slices && slices > 1) continue;
            if (planner::Plan const plan = sliced(kernel, h, {.tile = tile, .columns = columns}, slices, device);
                plan.num_launches && plan.workspace_bytes <= kPool)
              all.push_back({tile,
                             transposed,
                             slices,
                             columns,
                             captured(stream,
                                      [&] {
                                        for (int i = 0; i < kLaunches; ++i) run(plan, device, pointers(i), stream);
                                      }),
                             {}});
          }
      }
    for (int round = 0; round < 6; ++round)
      for (Timed& t : all) {
        interval.around(stream, [&] { check(cudaGraphLaunch(t.graph.get(), stream)); });
        double const us = 1e3 * interval.ms() / kLaunches;
        if (round) t.us.push_back(us);
      }
    for (Timed& t : all) {
      std::sort(t.us.begin(), t.us.end());
      std::printf("%ld %ld %ld %s %ld %d %d %d %d %.3f\n", M, N, K, transposes, L, t.tile, t.transposes, t.slices,
                  t.columns, t.us[t.us.size() / 2]);
    }
    std::fflush(stdout);
  }
}
