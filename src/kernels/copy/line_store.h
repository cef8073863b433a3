// Stores of destination runs that begin at any byte. Each lane of a warp holds 16 consecutive bytes of a run,
// neighbouring lanes neighbouring bytes; the functions store aligned vectors, and the ends of a run in smaller
// accesses.
#pragma once
#include <inlay/block/register_ops.h>

namespace inlay::kernels {
using namespace cute;
using namespace block;

// Stores bytes [from, end) of a vector of elements of E bytes, in the largest aligned accesses.
template <int E, class Block>
CUTE_DEVICE void store_piece(Block block, bool on, char* to, int from, int end, Vector16 r) {
  if constexpr (E < 16) {
    uint32_t word[4];
    realign(r, r, unsigned(from), word);
    Vector16 rest = join(word);
    auto const aligned = [&](auto piece, bool now) {
      using P = decltype(piece);
      if constexpr (sizeof(P) >= E) {
        Copy_Atom<On<Block, UniversalCopy<P>>, P> atom;
        now = now && on && from + int(sizeof(P)) <= end;
        piece = P(rest);
        copy_one(atom, now, &piece, block.gmem(reinterpret_cast<P*>(to + from)));
        if (now) rest >>= 8 * sizeof(P), from += int(sizeof(P));
      }
    };
    aligned(uint8_t{}, from & 1);
    aligned(uint16_t{}, from & 2);
    aligned(uint32_t{}, from & 4);
    aligned(uint64_t{}, true);
    aligned(uint32_t{}, true);
    aligned(uint16_t{}, true);
    aligned(uint8_t{}, true);
  }
}

// Stores the first `left` bytes of a vector, at most 16, at an aligned address. All lanes call it.
template <int E, class Block>
CUTE_DEVICE void store_vector(Block block, char* to, int left, Vector16 r) {
  Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> atom;
  copy_one(atom, left >= 16, &r, block.gmem(reinterpret_cast<Vector16*>(to)));
  bool const part = left > 0 && left < 16;
  if (E < 16 && block.any(part)) store_piece<E>(block, part, to, 0, left, r);
}

// r is vector x of a run at `out`, `before` the vector before it. Stores the aligned vector in which the last bytes of
// `before` and the first bytes of r lie, restricted to bytes [begin, end) of the run. Called by all lanes of the warp.
template <int E, class Block>
CUTE_DEVICE void store_aligned(Block block, bool on, char* out, int x, int begin, int end, Vector16 before,
                               Vector16 r) {
  Copy_Atom<On<Block, UniversalCopy<Vector16>>, Vector16> atom;
  int const past = int(reinterpret_cast<uintptr_t>(out) & 15), at = x * 16 - past;
  uint32_t word[4];
  realign(past ? before : r, r, unsigned(-past), word);
  r = join(word);
  bool const some = on && at + 16 > begin && at < end, whole = some && at >= begin && at + 16 <= end;
  copy_one(atom, whole, &r, block.gmem(reinterpret_cast<Vector16*>(out + at)));
  bool const part = some && !whole;
  if (block.any(part))
    store_piece<E>(block, part, out + at, at < begin ? begin - at : 0, at + 16 < end ? 16 : end - at, r);
}

// Returns r of the previous lane; lane 0 gets its own.
template <class Block>
CUTE_DEVICE Vector16 of_lane_before(Block block, Vector16 r) {
  uint64_t const lo = block.shfl_up(uint64_t(r), 1), hi = block.shfl_up(uint64_t(r >> 64), 1);
  return Vector16(hi) << 64 | lo;
}

}  // namespace inlay::kernels
