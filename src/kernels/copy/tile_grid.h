// The grid of a tile kernel for copies: the parameters of a batch of matrices, and the tile of a block.
#pragma once
#include <inlay/kernels/copy/tile_order.h>

namespace inlay::kernels {

// The type of an element in registers: T, or Vector16 for elements of 16 bytes.
template <class T>
using Carrier = std::conditional_t<sizeof(T) == 16, Vector16, T>;

// The type of one store: 4 bytes, or one element if it is wider. It holds PerWord elements.
template <class T>
using Word = std::conditional_t<sizeof(T) < 4, uint32_t, Carrier<T>>;
template <class T>
inline constexpr int PerWord = sizeof(Word<T>) / sizeof(T);

// Blocks per SM for kernels with register tiles (64 KB for elements of 1 byte, 32 KB for 2, 16 KB for 4, 8 KB for 8 and
// more). The best are 32 to 64 KB of loads in flight; 128 KB for 1 byte, because smaller tiles would have shorter rows.
template <class T>
inline constexpr int BlocksInFlight = sizeof(T) <= 2   ? 2
                                      : sizeof(T) == 4 ? 3
                                                       : 4;

constexpr int log2_of(int x) { return x <= 1 ? 0 : 1 + log2_of(x / 2); }

enum class Writes { copy, transpose };

// in (M,N,L):(ld_in,1,batch_in). out in the input's coordinates: (ld_out,1,batch_out) or, transposed,
// (1,ld_out,batch_out). The block index runs fastest along the mode that is contiguous in `out`, so that consecutive
// blocks write consecutive memory.
template <class T, class Tile, Writes writes>
struct TileGrid {
  T const* in;
  T* out;
  int64_t M, N, ld_in, ld_out, batch_in, batch_out;
  int tiles_m, tiles_n, batch;
  TileOrder order;

  static constexpr int BLK_M = size<0>(Tile{}), BLK_N = size<1>(Tile{});
  static constexpr bool transposes = writes == Writes::transpose;

  static std::optional<Matrices> const& matrices(Copy const& copy) {
    return transposes ? copy.as_transpose() : copy.as_copy();
  }
  static TileGrid make(Matrices const& x) {
    return make(x, ceil_div(x.M, int64_t(BLK_M)), ceil_div(x.N, int64_t(BLK_N)));
  }
  static TileGrid make(Matrices const& x, int64_t tiles_m, int64_t tiles_n) {
    TileOrder const order{int(transposes ? tiles_m : tiles_n), int(transposes ? tiles_n : tiles_m)};
    return {static_cast<T const*>(x.in),
            static_cast<T*>(x.out),
            x.M,
            x.N,
            x.ld_in,
            x.ld_out,
            x.batch_in,
            x.batch_out,
            int(tiles_m),
            int(tiles_n),
            int(x.L),
            order};
  }
  int64_t blocks() const { return int64_t(tiles_m) * tiles_n * batch; }
  void relocate(auto const& at) { in = at(in), out = at(out); }

  // The tile of one block: the addresses of its first element, and how many rows and columns lie inside the matrix.
  struct Here {
    T const* in;
    T* out;
    int64_t m, n;  // coordinates of the first element
    int l;
    int rows, cols;
    CUTE_HOST_DEVICE bool full() const { return rows == BLK_M && cols == BLK_N; }
  };
  CUTE_HOST_DEVICE Here tile(uint32_t block) const {
    auto const [fast, slow, l] = order.coord(block);
    return transposes ? at(fast, slow, l) : at(slow, fast, l);
  }
  CUTE_HOST_DEVICE Here at(int tile_m, int tile_n, int l) const {
    int64_t const m = int64_t(tile_m) * BLK_M, n = int64_t(tile_n) * BLK_N;
    return {in + (l * batch_in + m * ld_in + n),
            out + (l * batch_out + (transposes ? n * ld_out + m : m * ld_out + n)),
            m,
            n,
            l,
            int(M - m < BLK_M ? M - m : BLK_M),
            int(N - n < BLK_N ? N - n : BLK_N)};
  }
  // The index of a block that makes the same accesses as the block of this tile.
  int64_t block_of(int64_t tile_m, int64_t tile_n, int64_t l) const {
    return transposes ? order.block_of(tile_m, tile_n, l) : order.block_of(tile_n, tile_m, l);
  }
  CUTE_HOST_DEVICE auto out_stride() const {
    if constexpr (transposes)
      return make_stride(_1{}, ld_out);
    else
      return make_stride(ld_out, _1{});
  }

  static Reason rejects(Copy const& copy) {
    auto const& x = matrices(copy);
    if (!x) return rejects_shape();
    return rejects_blocks(ceil_div(x->M, int64_t(BLK_M)), ceil_div(x->N, int64_t(BLK_N)), x->L);
  }
  static Reason rejects_shape() {
    return {transposes ? "the copy is no batch of transposes between row-major matrices"
                       : "the copy is no batch of row-major matrix copies"};
  }
  static Reason rejects_blocks(int64_t m, int64_t n, int64_t l) {
    return too_many("{} x {} tiles in {} matrices are more blocks than a grid holds", __int128(m) * n, l, {m, n, l});
  }
};

// Why an operand of a vector kernel is rejected: its base and its strides must be multiples of 16 bytes.
inline Reason rejects_unaligned(char const* base_sentence, char const* stride_sentence, void const* base, int64_t ld,
                                int64_t batch_stride, int elem_bytes) {
  if (auto const a = reinterpret_cast<uintptr_t>(base) % 16) return {base_sentence, {int64_t(a)}};
  for (int64_t s : {ld * elem_bytes, batch_stride * elem_bytes})
    if (s % 16) return {stride_sentence, {s}};
  return {};
}
inline Reason rejects_unaligned_input(Matrices const& x, int elem_bytes) {
  if (x.N * elem_bytes % 16) return {"rows of {} bytes are no whole number of 16-byte vectors", {x.N * elem_bytes}};
  return rejects_unaligned("the source begins {} bytes past a multiple of 16",
                           "the source has a stride of {} bytes, no multiple of 16", x.in, x.M > 1 ? x.ld_in : 0,
                           x.L > 1 ? x.batch_in : 0, elem_bytes);
}
inline Reason rejects_unaligned_output(Matrices const& x, int64_t rows, int elem_bytes) {
  return rejects_unaligned("the destination begins {} bytes past a multiple of 16",
                           "the destination has a stride of {} bytes, no multiple of 16", x.out,
                           rows > 1 ? x.ld_out : 0, x.L > 1 ? x.batch_out : 0, elem_bytes);
}

}  // namespace inlay::kernels
