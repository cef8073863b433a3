// Family: one or both sides of the transpose lie in one piece. Matrices of a few columns or rows, and batches of small
// ones: a block takes a piece of contiguous memory as it is, and the turn is a matter of indices into shared memory.
#pragma once
#include <inlay/block/load_ops.h>
#include <inlay/kernels/parts/tile_grid.h>

namespace inlay::kernels {

// A contiguous piece of global memory, `count` elements from `base` on, and its image in shared memory: words of 4 bytes,
// or elements where those are wider, that lie as they do in global memory. The first and the last word may be partly
// somebody else's. Swizzled, word w of the image is at w xor (w / a row of the banks): strides of a power of two do not
// meet one bank. Odd strides do not anyway: then words may as well be vectors.
template <class T, class Word_ = Word<T>, bool kSwizzled = true>
struct FlatPiece {
  using W = Word_;
  static constexpr int E = sizeof(T), k = sizeof(W) / E, threads = 256, BYTES = 16384, ELEMS = BYTES / E;
  static constexpr int GROUP = sizeof(W) == 16 ? 1 : 4;  // words in flight for each thread
  struct Smem {
    alignas(128) W A[BYTES / sizeof(W)];
    static void members(auto name) { name("A", &Smem::A); }
  };

  T* base;
  unsigned count, shift;  // shift: bytes of the first word that are not in the piece

  CUTE_HOST_DEVICE FlatPiece(T const* base, unsigned count)
      : base(const_cast<T*>(base)), count(count), shift(unsigned(reinterpret_cast<uintptr_t>(base) % sizeof(W))) {}
  CUTE_HOST_DEVICE bool whole(unsigned w) const {
    return w >= unsigned(shift > 0) && w < (shift + count * E) / sizeof(W);
  }
  CUTE_HOST_DEVICE unsigned words() const { return (shift + count * E + sizeof(W) - 1) / sizeof(W); }
  CUTE_HOST_DEVICE W* global(unsigned w) const {
    return reinterpret_cast<W*>(reinterpret_cast<char*>(base) - shift) + w;
  }
  // Where a byte of the image is; `at(i)`: the byte of element i.
  CUTE_HOST_DEVICE static constexpr unsigned place(unsigned byte) {
    if constexpr (!kSwizzled) return byte;
    return byte ^ (byte >> (7 - log2_of(sizeof(W))) & (128 - sizeof(W)));
  }
  CUTE_HOST_DEVICE unsigned at(unsigned i) const { return i * E + shift; }

  // Elements of words that are partly somebody else's: number t of at most 2 (k - 1), or -1.
  CUTE_HOST_DEVICE int end_element(unsigned t) const {
    int const head = shift ? int((sizeof(W) - shift) / E) : 0, tail = int((shift + count * E) % sizeof(W) / E);
    if (words() == 1) return t < count && !whole(0) ? int(t) : -1;
    if (int(t) < head) return int(t);
    return int(t) < head + tail ? int(count) - tail + int(t) - head : -1;
  }
};

template <class W>
CUTE_HOST_DEVICE auto shared_at(void* image, unsigned byte) {
  return make_smem_ptr(reinterpret_cast<W*>(static_cast<char*>(image) + byte));
}

template <class T, class W, bool kSwizzled, class Block>
CUTE_DEVICE void load_flat(Block block, FlatPiece<T, W, kSwizzled> const& piece, void* image) {
  using P = FlatPiece<T, W, kSwizzled>;
  Copy_Atom<On<Block, LoadEvictLast<W>>, W> load;
  Copy_Atom<On<Block, UniversalCopy<W>>, W> word;
  Copy_Atom<On<Block, UniversalCopy<T>>, T> one;
  unsigned const tid = block.thread_rank();
  CUTE_NO_UNROLL
  for (unsigned first = 0; first < piece.words(); first += P::GROUP * P::threads) {
    W r[P::GROUP];
    CUTE_UNROLL
    for (int i = 0; i < P::GROUP; ++i) {
      unsigned const w = first + tid + i * P::threads;
      copy_one(load, piece.whole(w), make_gmem_ptr(static_cast<W const*>(piece.global(w))), &r[i]);
    }
    CUTE_UNROLL
    for (int i = 0; i < P::GROUP; ++i) {
      unsigned const w = first + tid + i * P::threads;
      copy_one(word, piece.whole(w), &r[i], shared_at<W>(image, P::place(w * sizeof(W))));
    }
  }
  if constexpr (P::k > 1) {
    T e{};
    int const i = piece.end_element(tid);
    copy_one(one, i >= 0, make_gmem_ptr(static_cast<T const*>(piece.base + i)), &e);
    copy_one(one, i >= 0, &e, shared_at<T>(image, P::place(piece.at(unsigned(i)))));
  }
}

template <class T, class W, bool kSwizzled, class Block>
CUTE_DEVICE void store_flat(Block block, FlatPiece<T, W, kSwizzled> const& piece, void* image) {
  using P = FlatPiece<T, W, kSwizzled>;
  Copy_Atom<On<Block, LoadShared<W>>, W> load;
  Copy_Atom<On<Block, UniversalCopy<W>>, W> word;
  Copy_Atom<On<Block, UniversalCopy<T>>, T> one;
  unsigned const tid = block.thread_rank();
  CUTE_NO_UNROLL
  for (unsigned first = 0; first < piece.words(); first += P::GROUP * P::threads) {
    W r[P::GROUP];
    CUTE_UNROLL
    for (int i = 0; i < P::GROUP; ++i) {
      unsigned const w = first + tid + i * P::threads;
      copy_one(load, piece.whole(w), shared_at<W>(image, P::place(w * sizeof(W))), &r[i]);
    }
    CUTE_UNROLL
    for (int i = 0; i < P::GROUP; ++i) {
      unsigned const w = first + tid + i * P::threads;
      copy_one(word, piece.whole(w), &r[i], make_gmem_ptr(piece.global(w)));
    }
  }
  if constexpr (P::k > 1) {
    T e{};
    int const i = piece.end_element(tid);
    copy_one(one, i >= 0, shared_at<T>(image, P::place(piece.at(unsigned(i)))), &e);
    copy_one(one, i >= 0, &e, make_gmem_ptr(piece.base + i));
  }
}

// ---- counts in closed form

// A piece on its way between global memory and its image in shared memory: words, and
// the elements at its ends. Both sides are asked in the same order.
struct FlatTraffic {
  Traffic global, shared;
};
template <class Piece>
FlatTraffic flat_traffic(Piece const& piece, banks::Access shared) {
  constexpr unsigned W = sizeof(typename Piece::W);
  FlatTraffic t;
  for (unsigned w0 = 0; w0 < piece.words(); w0 += 32) {
    auto const on = [&](unsigned lane, std::uint64_t address) {
      return piece.whole(w0 + lane) ? LaneAddress(address) : std::nullopt;
    };
    auto const global = reinterpret_cast<std::uint64_t>(piece.global(w0));
    t.global += sectors(W, [&](unsigned lane) { return on(lane, global + lane * W); });
    t.shared += wavefronts(W, shared, [&](unsigned lane) { return on(lane, Piece::place((w0 + lane) * W)); });
  }
  auto const end = [&](unsigned lane, auto address) {
    int const i = piece.end_element(lane);
    return i >= 0 ? LaneAddress(address(unsigned(i))) : std::nullopt;
  };
  auto const base = reinterpret_cast<std::uint64_t>(piece.base);
  t.global +=
      sectors(Piece::E, [&](unsigned lane) { return end(lane, [&](unsigned i) { return base + i * Piece::E; }); });
  t.shared += wavefronts(Piece::E, shared, [&](unsigned lane) {
    return end(lane, [&](unsigned i) { return Piece::place(piece.at(i)); });
  });
  return t;
}

// Why the two sides of a batch are not one piece each.
inline Reason rejects_gaps(Matrices const& x) {
  if ((x.M > 1 && x.ld_in != x.N) || (x.N > 1 && x.ld_out != x.M))
    return {"rows lie {} elements apart in the input and {} in the output: a matrix is not one piece",
            {x.ld_in, x.ld_out}};
  if (x.L > 1 && (x.batch_in != x.M * x.N || x.batch_out != x.M * x.N))
    return {"matrices of {} elements lie {} apart in the input and {} in the output: the batch is not one piece",
            {x.M * x.N, x.batch_in, x.batch_out}};
  return too_many("{} matrices are more than a block counts", 1, x.L, {x.L, 0, 0});
}

}  // namespace inlay::kernels
