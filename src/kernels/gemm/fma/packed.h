// Family: a batch of small matrices, each operand one piece of memory. A block copies as many whole matrices as fit to
// shared memory, flat, as if they were one vector; other resident blocks hide the latency. A thread computes TM x TN
// elements of one D, each the sum over k in ascending order, and D leaves by shared memory, flat again.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/common/epilogue.h>
#include <inlay/kernels/gemm/fma/packed_samples.h>

#include <cutlass/fast_math.h>
#include <cmath>
#include <numeric>

namespace inlay::kernels {

// How a packed matrix of an operand lies: its rows run along m (A) or n (B), columns along k.
struct PackedOperand {
  bool along_k;
  int size;    // floats
  int apart;   // between matrices: 0 if the batch shares one
  int row, k;  // strides

  static bool is_along_k(Operand const& o) { return o.col_stride == 1 && (o.rows == 1 || o.row_stride == o.cols); }
  static PackedOperand of(Operand const& o) {
    bool const along_k = is_along_k(o);
    int const size = int(o.rows * o.cols);
    return {along_k, size, o.matrices > 1 ? size : 0, along_k ? int(o.cols) : 1, along_k ? 1 : int(o.rows)};
  }
  static bool is_packed(Operand const& o) {
    return (is_along_k(o) || (o.row_stride == 1 && (o.cols == 1 || o.col_stride == o.rows))) &&
           (o.matrices <= 1 || o.batch_stride == o.rows * o.cols);
  }
};

// Micro is Strided or Quads (below): which elements of D a thread computes, and where operands lie in shared memory.
// Its constants: threads, and floats of shared memory, of a block; resident: blocks per SM; unit: indices k of a step;
// clocks: issue clocks of a warp for a step; latency_us: microseconds of a step for a block that runs alone. Step gives
// the kernel's symbol its name.
template <class Step, class Micro>
struct SgemmPacked {
  static constexpr int TM = Micro::TM, TN = Micro::TN, threads = Micro::threads, floats = Micro::floats;
  static constexpr LaunchInfo launch_info{.threads = threads};
  struct Smem {
    alignas(128) float M[floats];  // A and B, later D
    static void members(auto name) { name("M", &Smem::M); }
  };
  Operand A, B, D;
  Epilogue epilogue;
  int64_t batch;
  int group;  // matrices of a block
  PackedOperand a, b;
  int begin_b;                         // in shared memory
  int M, N, K;                         // in units of Micro: elements, or quads of them
  cutlass::FastDivmod parts, along_n;  // threads of a matrix; of those along n
  int along_m;

  static int64_t group_of(Gemm const& g) {
    // 20 floats remain for misaligned operands, up to 3 before and behind each, and for whole 128-byte lines of
    // swizzled ones.
    int64_t const of_one = parts_of(g), shared = floats - 20;
    int64_t const size_a = g.M() * g.K(), size_b = g.N() * g.K(), size_d = g.M() * g.N();
    int64_t const once = (g.A.matrices > 1 ? 0 : size_a) + (g.B.matrices > 1 ? 0 : size_b);
    int64_t const each = (g.A.matrices > 1 ? size_a : 0) + (g.B.matrices > 1 ? size_b : 0);
    int64_t fit = cute::min(threads / of_one, shared / size_d);
    if (once > shared) return 0;
    if (each) fit = cute::min(fit, (shared - once) / each);
    return cute::min(fit, g.L());
  }
  static int64_t parts_of(Gemm const& g) { return ceil_div(g.M(), int64_t(TM)) * ceil_div(g.N(), int64_t(TN)); }
  static SgemmPacked make(Gemm const& g, auto const&) {
    PackedOperand const a = PackedOperand::of(g.A), b = PackedOperand::of(g.B);
    int const group = int(group_of(g)), unit = Micro::unit;
    int const GM = int(ceil_div(g.M(), TM)), GN = int(ceil_div(g.N(), TN));
    int const of_a = (a.apart ? group : 1) * a.size;
    return {g.A,
            g.B,
            g.D,
            g.epilogue,
            g.L(),
            group,
            a,
            b,
            Micro::aligned ? (of_a + 31) / 32 * 32 : (of_a + 13) / 8 * 8,
            int(g.M()) / unit,
            int(g.N()) / unit,
            int(g.K()) / unit,
            GM * GN,
            GN,
            GM};
  }
  int64_t blocks() const { return ceil_div(batch, int64_t(group)); }
  void relocate(auto const& at) { A.base = at(A.base), B.base = at(B.base), D.base = at(D.base); }
  int64_t group_bytes() const {
    int64_t const d = D.rows * D.cols;
    return int64_t(group) * 4 * std::gcd(std::gcd(int64_t(a.apart), int64_t(b.apart)), d);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int const tid = int(block.thread_rank());
    int64_t const l = int64_t(block.block_index()) * group;
    int const have = int(cute::min(int64_t(group), batch - l));
    float const* const from_a = A.as<float const>() + l * a.apart;
    float const* const from_b = B.as<float const>() + l * b.apart;
    load_flat(block, from_a, a.apart ? have * a.size : a.size, smem.M, tid);
    load_flat(block, from_b, b.apart ? have * b.size : b.size, smem.M + begin_b, tid);
    block.cp_async_fence();

    int q, part, ti, tj;  // the matrix of the block; the thread's part of it
    parts(q, part, tid);
    along_n(ti, tj, part);
    bool const on = q < have, works = tid / 32 * 32 < have * parts.divisor;  // this thread; any thread of its warp
    q = on ? q : have - 1;                                                   // so that every thread reads what is there
    Micro const micro;
    block.cp_async_wait(Int<0>{});
    block.sync();
    float acc[TM][TN];
    CUTE_UNROLL
    for (int i = 0; i < TM; ++i) CUTE_UNROLL
    for (int j = 0; j < TN; ++j) acc[i][j] = 0;
    if (works)
      micro.multiply(block, *this, smem.M + residue(from_a), smem.M + begin_b + residue(from_b), q, ti, tj, acc);
    block.sync();
    float* const to = D.as<float>() + l * (D.rows * D.cols);
    if (works) micro.put(block, *this, smem.M + residue(to), q, ti, tj, on, acc);
    block.sync();
    store_flat(block, to, have * int(D.rows * D.cols), smem.M, tid);
  }

  // Floats from a multiple of 16 bytes to p; data keep their residue in shared memory.
  CUTE_HOST_DEVICE static int residue(float const* p) { return int(reinterpret_cast<uintptr_t>(p) / 4 % 4); }

  // n floats that begin `before` floats after a multiple of 16 bytes, as aligned vectors of which the first and the
  // last may not be whole.
  struct Flat {
    int before, n;
    CUTE_HOST_DEVICE int vectors() const { return (before + n + 3) / 4; }
    CUTE_HOST_DEVICE bool whole(int v) const { return 4 * v >= before && 4 * v + 4 <= before + n; }
    // Calls vector(v, on) for vectors and, where some are not whole, element(e, on) for the floats of those, counted
    // like vectors.
    template <class Vector, class Element>
    CUTE_DEVICE void each(int tid, Vector const& vector, Element const& element) const {
      CUTE_NO_UNROLL
      for (int v = 0; v < vectors(); v += threads) vector(v + tid, v + tid < vectors() && whole(v + tid));
      if constexpr (!Micro::aligned) {
        int const v = tid < 4 ? 0 : vectors() - 1,
                  e = 4 * v + tid % 4;  // threads 0 to 3: of the first vector; 4 to 7: the last
        element(e, tid < (vectors() > 1 ? 8 : 4) && !whole(v) && e >= before && e < before + n);
      }
    }
  };
  template <class Block>
  CUTE_DEVICE static void load_flat([[maybe_unused]] Block block, float const* from, int n, float* to, int tid) {
    Copy_Atom<On<Block, LoadAsync>, Vector16> four;
    Copy_Atom<On<Block, LoadAsyncElement>, float> one;
    Flat const flat{residue(from), n};
    float const* const first = from - flat.before;
    flat.each(
        tid,
        [&](int v, bool on) {
          copy_one(four, on, make_gmem_ptr(reinterpret_cast<Vector16 const*>(first) + v),
                   make_smem_ptr(reinterpret_cast<Vector16*>(to) + Micro::place(v)));
        },
        [&](int e, bool on) { copy_one(one, on, make_gmem_ptr(first + e), make_smem_ptr(to + e)); });
  }
  // Scales n sums and writes them to D.
  template <class Block>
  CUTE_DEVICE void store_flat(Block block, float* to, int n, float const* from, int tid) const {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> four;
    Copy_Atom<On<Block, UniversalCopy<float>>, float> one;
    Flat const flat{residue(to), n};
    float* const first = to - flat.before;
    flat.each(
        tid,
        [&](int v, bool on) {
          Quad sums{};
          copy_one(four, on, make_smem_ptr(reinterpret_cast<Quad const*>(from) + Micro::place(v)), &sums);
          store_scaled(block, epilogue, on, sums, reinterpret_cast<Quad*>(first) + v);
        },
        [&](int e, bool on) {
          float sum = 0;
          copy_one(one, on, make_smem_ptr(from + e), &sum);
          store_scaled(block, epilogue, on, sum, first + e);
        });
  }

  static Reason rejects(Gemm const& g, Device const&) {
    if (Reason r = rejects_type<float>(g)) return r;
    if (!g.elements()) return {};
    if (g.K() == 0) return {"K is 0: there is nothing to load"};
    bool const large = g.M() > floats || g.N() > floats || g.K() > floats;  // what follows multiplies them
    if (large || parts_of(g) > threads || group_of(g) < 1)
      return {"matrices of {} x {} x {} are more than a block holds", {g.M(), g.N(), g.K()}};
    for (Operand const* o : {&g.A, &g.B, &g.D})
      if (!PackedOperand::is_packed(*o))
        return {"a matrix of {} x {} elements, or the batch, is not one piece", {o->rows, o->cols}};
    if (g.D.col_stride != 1) return {"D is not contiguous along n"};
    if (Reason r = Micro::rejects(g)) return r;
    return too_many("{} matrices, {} a block, are more blocks than a grid holds", 1, ceil_div(g.L(), group_of(g)),
                    {g.L(), group_of(g), 0});
  }
  static std::size_t workspace(Gemm const&, Device const&) { return 0; }

  // Predicted seconds. A block loads, multiplies and stores one after the other; resident blocks overlap until the
  // multiprocessor is busy. Fitted on an H200 to 34 batches, each with all tiles that take it: the chosen one takes 1.7
  // % longer than the best in the geometric mean (docs/log.md).
  static double seconds(Gemm const& g, Device const& device) {
    double const copy = device.copy_gbps * 1e3, clock = device.clock_ghz * 1e3;
    int64_t const group = group_of(g);
    double const blocks = double(ceil_div(g.L(), group)), operands = double((g.M() + g.N()) * g.K()),
                 of_d = double(g.elements() / g.L()),
                 vectors = double(group) * (operands + of_d) / 4 / threads;  // of a thread
    double const warps = std::ceil(double(group * parts_of(g)) / 32), steps = double(g.K()) / Micro::unit;
    double const alone = 1.84 + .056 * vectors + steps * Micro::latency_us,  // microseconds, of a block
        busy = warps * steps * Micro::clocks / clock + .0195 * threads / 32 * (1 + .117 * vectors);
    int const resident = Micro::resident;
    double const sms = device.sm_count, each = std::ceil(blocks / sms), full = std::floor(each / resident),
                 rest = each - full * resident;
    double work = full * std::max(alone, resident * busy) + (rest > 0 ? std::max(alone, rest * busy) : 0);
    if (blocks > 2 * sms * resident) work = blocks / sms * std::max(alone / resident, busy) + .5 * alone;
    double const bytes =
                     4. * (double(g.L()) * of_d * (g.epilogue.beta != 0 ? 2 : 1) +
                           double(g.A.matrices) * double(g.M() * g.K()) + double(g.B.matrices) * double(g.N() * g.K())),
                 memory = .854 * bytes / copy;
    return 1e-6 * (1 + std::max(work, memory) + .6 * std::min(work, memory));
  }
};

// Any extents: TM rows and TN columns that lie apart by the number of threads, so that odd strides do not conflict.
template <int ROWS, int COLS, int THREADS, int KB, int RESIDENT>
struct Strided {
  static constexpr int TM = ROWS, TN = COLS, threads = THREADS, floats = KB * 256, unit = 1, resident = RESIDENT;
  static constexpr bool aligned = false;
  static constexpr double clocks = .2 * TM * TN + 1.15 * (TM + TN) + 1,
                          latency_us = .04 * (1 + .04 * TM * TN);  // of one k
  CUTE_HOST_DEVICE static int place(int vector) { return vector; }

  template <class Block, class P>
  CUTE_DEVICE void multiply(Block, P const& p, float const* sa, float const* sb, int q, int ti, int tj,
                            float (&acc)[TM][TN]) const {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    float const *a[TM], *b[TN];
    CUTE_UNROLL
    for (int i = 0; i < TM; ++i) a[i] = sa + q * p.a.apart + cute::min(ti + i * p.along_m, p.M - 1) * p.a.row;
    CUTE_UNROLL
    for (int j = 0; j < TN; ++j) b[j] = sb + q * p.b.apart + cute::min(tj + j * p.along_n.divisor, p.N - 1) * p.b.row;
    auto const step = [&](int k) {
      float x[TM], y[TN];
      CUTE_UNROLL
      for (int i = 0; i < TM; ++i) copy_one(atom, true, make_smem_ptr(a[i] + k * p.a.k), &x[i]);
      CUTE_UNROLL
      for (int j = 0; j < TN; ++j) copy_one(atom, true, make_smem_ptr(b[j] + k * p.b.k), &y[j]);
      CUTE_UNROLL
      for (int i = 0; i < TM; ++i) CUTE_UNROLL
      for (int j = 0; j < TN; ++j) On<Block, UniversalFMA<float>>::fma(acc[i][j], x[i], y[j], acc[i][j]);
    };
    int k = 0;
    CUTE_NO_UNROLL
    for (; k + 2 <= p.K; k += 2) step(k), step(k + 1);
    if (k < p.K) step(k);
  }
  template <class Block, class P>
  CUTE_DEVICE void put(Block, P const& p, float* sd, int q, int ti, int tj, bool on, float const (&acc)[TM][TN]) const {
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    CUTE_UNROLL
    for (int i = 0; i < TM; ++i) CUTE_UNROLL
    for (int j = 0; j < TN; ++j) {
      int const m = ti + i * p.along_m, n = tj + j * p.along_n.divisor;
      copy_one(atom, on && m < p.M && n < p.N, &acc[i][j], make_smem_ptr(sd + (q * p.M + m) * p.N + n));
    }
  }
  static Reason rejects(Gemm const&) { return {}; }
};

// Extents that are multiples of 4: a thread has squares of 4 x 4, whose operands it reads by 16 bytes along either
// direction. A swizzle of the vectors within lines of 128 bytes keeps both free of most conflicts.
template <bool ALONG_K_A, bool ALONG_K_B, int T, int THREADS, int KB, int RESIDENT>
struct Quads {
  static constexpr int TM = T, TN = T, TG = T / 4, threads = THREADS, floats = KB * 256, unit = 4, resident = RESIDENT;
  static constexpr bool aligned = true;
  static constexpr double clocks = 1.74 * T * T + 1.86 * T, latency_us = T == 4 ? .026 : .24;  // of four k
  CUTE_HOST_DEVICE static int place(int vector) {
    int const line = vector >> 3;
    return vector ^ ((line ^ line >> 2 ^ line >> 4) & 7);
  }

  template <class Block, class P>
  CUTE_DEVICE void multiply(Block, P const& p, float const* sa, float const* sb, int q, int ti, int tj,
                            float (&acc)[T][T]) const {
    int at_a[TG], at_b[TG];  // vectors
    CUTE_UNROLL
    for (int g = 0; g < TG; ++g) {
      int const m = cute::min(ti + g * p.along_m, p.M - 1), n = cute::min(tj + g * p.along_n.divisor, p.N - 1);
      at_a[g] = q * (p.a.apart / 4) + (ALONG_K_A ? 4 * m * p.K : m);
      at_b[g] = q * (p.b.apart / 4) + (ALONG_K_B ? 4 * n * p.K : n);
    }
    CUTE_NO_UNROLL
    for (int k = 0; k < p.K; ++k) {
      Quad a[T], b[T];
      load<ALONG_K_A, Block>(sa, at_a, p.K, p.M, k, a);
      load<ALONG_K_B, Block>(sb, at_b, p.K, p.N, k, b);
      CUTE_UNROLL
      for (int kk = 0; kk < 4; ++kk) CUTE_UNROLL
      for (int i = 0; i < T; ++i) CUTE_UNROLL
      for (int j = 0; j < T; ++j)
        On<Block, UniversalFMA<float>>::fma(acc[i][j], element<ALONG_K_A>(a, i, kk), element<ALONG_K_B>(b, j, kk),
                                            acc[i][j]);
    }
  }
  // The 4 x 4 elements of each square: vectors along k, one for each row, or along the rows, one for each k.
  template <bool ALONG_K, class Block>
  CUTE_DEVICE static void load(float const* from, int const (&at)[TG], int K, int rows, int k, Quad (&x)[T]) {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
    CUTE_UNROLL
    for (int g = 0; g < TG; ++g) CUTE_UNROLL
    for (int i = 0; i < 4; ++i)
      copy_one(atom, true,
               make_smem_ptr(reinterpret_cast<Quad const*>(from) +
                             place(at[g] + (ALONG_K ? i * K + k : (4 * k + i) * rows))),
               &x[4 * g + i]);
  }
  template <bool ALONG_K>
  CUTE_HOST_DEVICE static float element(Quad const (&x)[T], int i, int k) {
    return ALONG_K ? x[i].x[k] : x[i / 4 * 4 + k].x[i % 4];
  }
  template <class Block, class P>
  CUTE_DEVICE void put(Block, P const& p, float* sd, int q, int ti, int tj, bool on, float const (&acc)[T][T]) const {
    Copy_Atom<On<Block, UniversalCopy<Quad>>, Quad> atom;
    CUTE_UNROLL
    for (int i = 0; i < T; ++i) CUTE_UNROLL
    for (int g = 0; g < TG; ++g) {
      int const m = ti + i / 4 * p.along_m, n = tj + g * p.along_n.divisor;
      copy_one(atom, on && m < p.M && n < p.N, reinterpret_cast<Quad const*>(&acc[i][4 * g]),
               make_smem_ptr(reinterpret_cast<Quad*>(sd) + place((4 * (q * p.M + m) + i % 4) * p.N + n)));
    }
  }
  static Reason rejects(Gemm const& g) {
    for (int64_t extent : {g.M(), g.N(), g.K()})
      if (extent % 4) return {"an extent of {} is no multiple of 4", {extent}};
    for (Operand const* o : {&g.A, &g.B, &g.D})
      if (o->misalignment_bytes())
        return {"an operand begins {} bytes past a multiple of 16", {o->misalignment_bytes()}};
    return {};
  }
};

}  // namespace inlay::kernels
