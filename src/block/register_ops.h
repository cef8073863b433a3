// Byte permutes and funnel shifts of a thread's registers, with equivalents for the host, and operations composed of
// them.
#pragma once
#include <cstdint>
#include <cute/config.hpp>

#include <inlay/block/block.h>

namespace inlay::block {

// PTX prmt: byte i of the result is byte (selector >> 4 * i) & 7 of the eight bytes hi:lo; byte 0 is the lowest of lo.
CUTE_HOST_DEVICE constexpr std::uint32_t byte_permute(std::uint32_t lo, std::uint32_t hi, std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(lo, hi, selector);
#else
  std::uint64_t const bytes = std::uint64_t(hi) << 32 | lo;
  std::uint32_t r = 0;
  for (int i = 0; i < 4; ++i) r |= std::uint32_t(bytes >> 8 * (selector >> 4 * i & 7) & 0xFF) << 8 * i;
  return r;
#endif
}

// PTX shf.r.wrap: the low 32 bits of hi:lo shifted right by `bits` modulo 32.
CUTE_HOST_DEVICE constexpr std::uint32_t funnel_shift_right(std::uint32_t lo, std::uint32_t hi, unsigned bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(lo, hi, bits);
#else
  return std::uint32_t((std::uint64_t(hi) << 32 | lo) >> bits % 32);
#endif
}

// Divides numbers from 0 to 2^31 - 1 by a divisor of at least 1 that the host knows: one multiplication and one shift.
struct Divisor {
  std::uint32_t by = 1, multiplier = 0xFFFFFFFF, shift = 0;

  Divisor() = default;
  Divisor(int divisor) : by(std::uint32_t(divisor)) {  // multiplier: 2^(32 + shift) / by, rounded down, in 32 bits
    while ((std::uint64_t(2) << shift) <= by) ++shift;
    if (std::uint64_t const m = (std::uint64_t(1) << (32 + shift)) / by; m >> 32 == 0) multiplier = std::uint32_t(m);
  }
  CUTE_HOST_DEVICE int over(int n) const {
    return int(std::uint32_t((std::uint64_t(std::uint32_t(n)) * multiplier + multiplier) >> 32) >> shift);
  }
  CUTE_HOST_DEVICE void operator()(int& quotient, int& remainder, int n) const {
    int const q = over(n);
    remainder = n - q * int(by);
    quotient = q;
  }
};

// Extracts the 16 bytes of hi:lo that start at byte `first` modulo 16, as four words: two rounds of selects, by 8 and
// by 4 bytes, then one funnel shift per word. All array indices are constants, so the words stay in registers.
CUTE_HOST_DEVICE constexpr void realign(Vector16 lo, Vector16 hi, unsigned first, std::uint32_t (&out)[4]) {
  std::uint32_t x[8]{}, by8[6]{}, by4[5]{};
  CUTE_UNROLL
  for (int i = 0; i < 4; ++i) x[i] = std::uint32_t(lo >> 32 * i), x[i + 4] = std::uint32_t(hi >> 32 * i);
  CUTE_UNROLL
  for (int i = 0; i < 6; ++i) by8[i] = first & 8 ? x[i + 2] : x[i];
  CUTE_UNROLL
  for (int i = 0; i < 5; ++i) by4[i] = first & 4 ? by8[i + 1] : by8[i];
  CUTE_UNROLL
  for (int i = 0; i < 4; ++i) out[i] = funnel_shift_right(by4[i], by4[i + 1], first * 8);
}

// Joins four words to 16 bytes, the first in the lowest bytes. split() is the inverse.
CUTE_HOST_DEVICE constexpr Vector16 join(std::uint32_t const (&word)[4]) {
  return Vector16(word[3]) << 96 | Vector16(word[2]) << 64 | Vector16(word[1]) << 32 | word[0];
}

// Packs elements into a 4-byte word, the first in the lowest bytes, unused bytes 0. An element of 4 bytes or more is a
// word.
template <class T, int n>
CUTE_HOST_DEVICE constexpr auto word_of(T const (&e)[n]) {
  if constexpr (n == 4)
    return byte_permute(byte_permute(e[0], e[1], 0x40), byte_permute(e[2], e[3], 0x40), 0x5410);
  else if constexpr (n == 2)
    return byte_permute(e[0], e[1], 0x5410);
  else
    return e[0];
}

// Packs elements into 16 bytes, the first in the lowest bytes.
template <class T>
CUTE_HOST_DEVICE constexpr Vector16 joined(T const (&e)[16 / sizeof(T)]) {
  constexpr int E = sizeof(T);
  if constexpr (E == 16) {
    return e[0];
  } else if constexpr (E == 8) {
    return Vector16(e[1]) << 64 | e[0];
  } else {
    std::uint32_t word[4]{};
    CUTE_UNROLL
    for (int w = 0; w < 4; ++w)
      if constexpr (E == 4)
        word[w] = e[w];
      else if constexpr (E == 2)
        word[w] = word_of<T, 2>({e[2 * w], e[2 * w + 1]});
      else
        word[w] = word_of<T, 4>({e[4 * w], e[4 * w + 1], e[4 * w + 2], e[4 * w + 3]});
    return join(word);
  }
}

CUTE_HOST_DEVICE constexpr void split(Vector16 v, std::uint32_t* word) {
  CUTE_UNROLL
  for (int i = 0; i < 4; ++i) word[i] = std::uint32_t(v >> 32 * i);
}

// Gathers the four bytes place[0..3] of an array of words into one word. `place` is known at compile time. It takes one
// permute per word that the bytes come from, except the first word, and one if only the first word is permuted.
template <int n>
CUTE_HOST_DEVICE constexpr std::uint32_t bytes_at(std::uint32_t const (&word)[n], int const (&place)[4]) {
  int const a = place[0] / 4;
  int b = a;
  CUTE_UNROLL
  for (int i = 3; i > 0; --i) b = place[i] / 4 != a ? place[i] / 4 : b;  // the first word that differs from a
  std::uint32_t selector = 0;
  CUTE_UNROLL
  for (int i = 0; i < 4; ++i) selector |= std::uint32_t(place[i] / 4 == a ? place[i] % 4 : 4 + place[i] % 4) << 4 * i;
  std::uint32_t r = selector == 0x3210 ? word[a] : byte_permute(word[a], word[b], selector);
  CUTE_UNROLL
  for (int i = 2; i < 4; ++i) {  // bytes of neither a nor b: one permute adds all bytes of word c
    int const c = place[i] / 4;
    if (c == a || c == b || (i == 3 && c == place[2] / 4)) continue;
    std::uint32_t const here = std::uint32_t(4 + place[i] % 4) << 4 * i;
    std::uint32_t const next = i == 2 && place[3] / 4 == c ? std::uint32_t(4 + place[3] % 4) << 12 : 0x3000;
    r = byte_permute(r, word[c], i == 2 ? 0x0010 | here | next : 0x0210 | here);
  }
  return r;
}

// Transposes a k x k block of elements in place: rows[i] holds the k elements of row i, afterwards column i. A Word is
// 4 bytes, or one element if elements are larger (k = 1). It takes one permute per word at k = 2, two at k = 4.
template <int k, class Word>
CUTE_HOST_DEVICE constexpr void transpose_words(Word (&rows)[k]) {
  static_assert(k == 1 || k == 2 || k == 4);
  if constexpr (k == 2) {
    Word const r0 = rows[0], r1 = rows[1];
    rows[0] = byte_permute(r0, r1, 0x5410);
    rows[1] = byte_permute(r0, r1, 0x7632);
  } else if constexpr (k == 4) {
    Word const lo0 = byte_permute(rows[0], rows[1], 0x5140), hi0 = byte_permute(rows[0], rows[1], 0x7362);
    Word const lo1 = byte_permute(rows[2], rows[3], 0x5140), hi1 = byte_permute(rows[2], rows[3], 0x7362);
    rows[0] = byte_permute(lo0, lo1, 0x5410);
    rows[1] = byte_permute(lo0, lo1, 0x7632);
    rows[2] = byte_permute(hi0, hi1, 0x5410);
    rows[3] = byte_permute(hi0, hi1, 0x7632);
  }
}

// Transposes V x V elements of E bytes, V * E = 16: rows[r] holds the elements of row r, columns[c] receives column c.
template <int E, int V = 16 / E>
CUTE_HOST_DEVICE constexpr void transpose_square(Vector16 const (&rows)[V], Vector16 (&columns)[V]) {
  using Word = std::conditional_t<E <= 4, std::uint32_t, std::conditional_t<E == 8, std::uint64_t, Vector16>>;
  constexpr int bits = 8 * sizeof(Word), k = E < 4 ? 4 / E : 1, words = 16 / sizeof(Word);
  CUTE_UNROLL
  for (int c = 0; c < V; ++c) columns[c] = 0;
  CUTE_UNROLL
  for (int w = 0; w < words; ++w) CUTE_UNROLL
  for (int g = 0; g < words; ++g) {
    Word block[k]{};
    CUTE_UNROLL
    for (int i = 0; i < k; ++i) block[i] = Word(rows[g * k + i] >> (w * bits % 128));
    transpose_words(block);
    CUTE_UNROLL
    for (int i = 0; i < k; ++i) columns[w * k + i] |= Vector16(block[i]) << (g * bits % 128);
  }
}

}  // namespace inlay::block
