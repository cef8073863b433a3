// Batches of small matrices, contiguous on both sides, whose rows and columns are whole 16-byte vectors. A block
// processes as many matrices as fit; a thread transposes squares of 16 x 16 bytes in registers.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/block/register_ops.h>
#include <inlay/kernels/copy/tile_grid.h>
#include <inlay/kernels/copy/transpose_batched_samples.h>
#include <inlay/model/copy_time.h>

namespace inlay::kernels::transpose_batched {

// Why the batch is not contiguous on both sides.
inline Reason rejects_gaps(Matrices const& x) {
  if ((x.M > 1 && x.ld_in != x.N) || (x.N > 1 && x.ld_out != x.M))
    return {"rows lie {} elements apart in the input and {} in the output: a matrix is not one piece",
            {x.ld_in, x.ld_out}};
  if (x.L > 1 && (x.batch_in != x.M * x.N || x.batch_out != x.M * x.N))
    return {"matrices of {} elements lie {} apart in the input and {} in the output: the batch is not one piece",
            {x.M * x.N, x.batch_in, x.batch_out}};
  return too_many("{} matrices are more than a block counts", 1, x.L, {x.L, 0, 0});
}

template <class T>
struct Kernel {
  static constexpr int E = sizeof(T), V = 16 / E, threads = 256;
  static constexpr LaunchInfo launch_info{.threads = threads, .blocks_per_sm = BlocksInFlight<T>, .follows = true};
  static constexpr int VECTORS = 1024 * (E < 4 ? 4 / E : 1),
                       SQUARES = VECTORS / V / threads;  // of a block; of a thread
  static constexpr bool transposes = true;
  Vector16 const* in;
  Vector16* out;
  int group, batch;                   // matrices of a block; of the batch
  int size, chunks;                   // vectors of a matrix; of a column
  cutlass::FastDivmod squares, wide;  // squares of a matrix; vectors of a row
  struct Smem {
    alignas(128) Vector16 A[VECTORS];
    static void members(auto name) { name("A", &Smem::A); }
  };
  // Swizzle against bank conflicts of the stores; how many conflicts remain depends on M and N.
  using Place = Swizzle<3, 0, 3>;

  static std::optional<Matrices> const& matrices(Copy const& copy) { return copy.as_transpose(); }
  static Kernel make(Copy const& copy, auto const&) {
    Matrices const& x = *matrices(copy);
    int const size = int(x.M * x.N / V);
    return {static_cast<Vector16 const*>(x.in),
            static_cast<Vector16*>(x.out),
            VECTORS / size,
            int(x.L),
            size,
            int(x.M / V),
            size / V,
            int(x.N / V)};
  }
  int64_t blocks() const { return (int64_t(batch) + group - 1) / group; }
  void relocate(auto const& at) { in = at(in), out = at(out); }
  int64_t group_bytes() const { return int64_t(group) * size * 16; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_launch_dependents();
    Copy_Atom<On<Block, LoadEvictLast<Vector16>>, Vector16> load;
    Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> atom;
    int64_t const l = int64_t(block.block_index()) * group;
    int const n = int(batch - l < group ? batch - l : group) * size, tid = block.thread_rank();  // vectors
    Vector16 const* const from = in + l * size;
    Vector16* const to = out + l * size;

    block.griddep_wait();
    Vector16 rows[SQUARES][V];
    CUTE_UNROLL
    for (int q = 0; q < SQUARES; ++q) {
      int g, rest, a, b;  // matrix; its square; the square's vector along a row, along a column
      squares(g, rest, tid + q * threads);
      wide(b, a, rest);
      CUTE_UNROLL
      for (int i = 0; i < V; ++i)
        copy_one(load, (g + 1) * size <= n, block.gmem(from + (g * size + (V * b + i) * wide.divisor + a)),
                 &rows[q][i]);
    }
    CUTE_UNROLL
    for (int q = 0; q < SQUARES; ++q) {
      int g, rest, a, b;
      squares(g, rest, tid + q * threads);
      wide(b, a, rest);
      Vector16 columns[V];
      transpose_square<E>(rows[q], columns);
      CUTE_UNROLL
      for (int j = 0; j < V; ++j) {
        int const v = g * size + (V * a + j) * chunks + b;
        copy_one(atom, (g + 1) * size <= n, &columns[j], make_smem_ptr(smem.A + Place::apply(v)));
      }
    }
    block.sync();
    CUTE_UNROLL
    for (int i = 0; i < VECTORS / threads; ++i) {
      int const v = tid + i * threads;
      copy_one(atom, v < n, make_smem_ptr(smem.A + Place::apply(v)), &rows[i / V][i % V]);
    }
    CUTE_UNROLL
    for (int i = 0; i < VECTORS / threads; ++i) {
      int const v = tid + i * threads;
      copy_one(atom, v < n, &rows[i / V][i % V], block.gmem(to + v));
    }
  }

  static Reason rejects(Copy const& copy, Device const&) {
    auto const& x = matrices(copy);
    if (!x) return {"the copy is no batch of transposes between row-major matrices"};
    for (int64_t extent : {x->M, x->N})
      if (extent % V) return {"an extent of {} elements is no whole number of 16-byte vectors", {extent}};
    if (x->M * x->N > VECTORS * V) return {"a matrix of {} elements is more than {}", {x->M * x->N, VECTORS * V}};
    for (void const* p : {x->in, static_cast<void const*>(x->out)})
      if (auto const a = reinterpret_cast<uintptr_t>(p) % 16)
        return {"an operand begins {} bytes past a multiple of 16", {int64_t(a)}};
    return rejects_gaps(*x);
  }

  static double seconds(Copy const& copy, Device const& device) {
    Kernel const kernel = make(copy, 0);
    double const bytes = double(copy.elements()) * sizeof(T), vectors = bytes / 16 / 32;
    return seconds_of({.bytes = 2 * bytes,
                       .sectors = bytes / 16,
                       .instructions = double(kernel.blocks()) * threads / 32 * 100 + vectors * (60 + 60. / sizeof(T)),
                       .wavefronts = vectors * 20,
                       .blocks = double(kernel.blocks()),
                       .resident_blocks = 4,
                       .correction = sizeof(T) == 1   ? 1.12
                                     : sizeof(T) == 2 ? 1
                                                      : .97},
                      device);
  }
};
using Dispatch = ByElement<Kernel>;

inline constexpr Info<Copy> info = {
    .name = "transpose_batched",
    .idea = "Many small matrices a block: 16-byte accesses, squares transposed in registers, output in one piece.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .rejects = rejects<Kernel>,
    .seconds = seconds<Kernel>,
};

}  // namespace inlay::kernels::transpose_batched
