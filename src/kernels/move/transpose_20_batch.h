// Batches of small matrices of any size that lie one behind the other on both sides: a block takes as many as fit, reads
// them as one piece and writes them as one, element by element in between.
#pragma once
#include <inlay/kernels/move/flat_tile.h>
#include <inlay/kernels/move/flat_tile_samples.h>

namespace inlay::kernels::transpose_20_batch {

template <class T>
struct Batch {
  using W = Word<T>;
  using Piece = FlatPiece<T>;
  using Smem = typename Piece::Smem;
  static constexpr int E = sizeof(T), k = PerWord<T>, threads = Piece::threads;
  static constexpr LaunchFacts launch_facts{.threads = threads, .blocks_per_sm = 8};
  static constexpr bool transposes = true;
  T const* in;
  T* out;
  int N, group, batch;          // columns of a matrix; matrices of a block; all of them
  cutlass::FastDivmod size, M;  // elements of a matrix; its rows

  static std::optional<Matrices> const& matrices(Move const& move) { return move.as_transpose(); }
  // As many matrices as make whole sectors, where so many fit: then all blocks begin alike.
  static int group_of(Matrices const& x) {
    int64_t const most = (Piece::ELEMS - k) / (x.M * x.N);
    int64_t whole = 1;
    while (x.M * x.N * E * whole % 32) whole *= 2;
    return int(most >= whole ? most / whole * whole : most);
  }
  static Batch make(Move const& move, auto const&) {
    Matrices const& x = *matrices(move);
    return {
        static_cast<T const*>(x.in), static_cast<T*>(x.out), int(x.N), group_of(x), int(x.L), int(x.M * x.N), int(x.M)};
  }
  int64_t blocks() const { return (int64_t(batch) + group - 1) / group; }
  int64_t group_bytes() const { return int64_t(group) * size.divisor * E; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int64_t const l = int64_t(block.group_index()) * group;
    int const n = int(batch - l < group ? batch - l : group) * size.divisor;
    Piece const from(in + l * size.divisor, unsigned(n)), to(out + l * size.divisor, unsigned(n));
    load_flat(block, from, smem.A);
    block.sync();

    Copy_Atom<On<Block, UniversalCopy<W>>, W> word;
    Copy_Atom<On<Block, LoadShared<T>>, T> load;
    Copy_Atom<On<Block, UniversalCopy<T>>, T> one;
    CUTE_NO_UNROLL
    for (unsigned w0 = 0; w0 < to.words(); w0 += threads) {
      unsigned const w = w0 + block.thread_rank();
      int const first = int(w * k) - int(to.shift / E);
      bool const whole = to.whole(w);
      W packed{};
      CUTE_UNROLL
      for (int x = 0; x < k; ++x) {
        T e{};
        bool const on = first + x >= 0 && first + x < n;
        copy_one(load, on, shared_at<T>(smem.A, on ? Piece::place(from.at(source(first + x))) : 0), &e);
        packed |= W(e) << x * 8 * E % (8 * sizeof(W));
      }
      copy_one(word, whole, &packed, make_gmem_ptr(to.global(w)));
    }
    if constexpr (k > 1) {
      T e{};
      int const i = to.end_element(block.thread_rank());
      copy_one(load, i >= 0, shared_at<T>(smem.A, i >= 0 ? Piece::place(from.at(source(i))) : 0), &e);
      copy_one(one, i >= 0, &e, make_gmem_ptr(to.base + i));
    }
  }
  // Which element of the input's piece is element i of the output's: (l,n,m) there, (l,m,n) here.
  CUTE_HOST_DEVICE unsigned source(int i) const {
    int l, rest, n, m;
    size(l, rest, i);
    M(n, m, rest);
    return unsigned(i - rest + m * N + n);
  }

  static Reason rejects(Move const& move, Device const&) {
    auto const& x = matrices(move);
    if (!x) return {"the move is no batch of transposes between row-major matrices"};
    if (x->M * x->N > Piece::ELEMS / 2)
      return {"a matrix of {} elements is more than {}", {x->M * x->N, Piece::ELEMS / 2}};
    return rejects_gaps(*x);
  }

  static Counts counts(Move const& move) {
    Batch const kernel = make(move, 0);
    Counts sum;
    Kinds<Batch>::each(
        kernel, [&](Batch const&, int64_t block, int64_t times) { add(sum, kernel.block_counts(block), times); });
    return sum;
  }
  Counts block_counts(int64_t block) const {
    using banks::Access;
    int64_t const l = block * group;
    int const n = int(std::min<int64_t>(batch - l, group)) * size.divisor;
    Piece const from(in + l * size.divisor, unsigned(n)), to(out + l * size.divisor, unsigned(n));
    FlatTraffic const load = flat_traffic(from, Access::store), store = flat_traffic(to, Access::load);
    Counts c;
    c.global_load = load.global, c.shared_store = load.shared, c.global_store = store.global;
    auto const element = [&](int i) {
      return i >= 0 && i < n ? LaneAddress(Piece::place(from.at(source(i)))) : std::nullopt;
    };
    for (unsigned w0 = 0; w0 < to.words(); w0 += 32)
      for (int x = 0; x < k; ++x) {
        int const first = int(w0 * k) + x - int(to.shift / E);  // lane 0's
        c.shared_load += wavefronts(E, Access::load, [&](unsigned t) { return element(first + int(t) * k); });
      }
    c.shared_load += wavefronts(E, Access::load, [&](unsigned t) { return element(to.end_element(t)); });
    return c;
  }
};
template <class T>
using Kernel = Batch<Carrier<T>>;

inline constexpr Info<Move> info = {
    .name = "transpose_20_batch",
    .idea = "Many small matrices a block, of any size: memory in one piece, single elements only inside shared memory.",
    .source = "inlay",
    .ladder = Ladder::transpose,
    .origin = Origin::ours,
    .family = "flat_tile",
    .rejects = rejects<Kernel>,
    .counts = counts<Kernel>,
};

}  // namespace inlay::kernels::transpose_20_batch
