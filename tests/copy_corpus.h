// Copies between layouts: hard ones by name, and random ones by a seed. One list for the replay and for the GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "fuzz/drawn_copy.h"

namespace inlay::test {

using Numbers = std::vector<std::int64_t>;

using Copied = lab::DrawnCopy;

inline Numbers packed(Numbers const& extents) {
  Numbers strides;
  std::int64_t n = 1;
  for (std::int64_t e : extents) strides.push_back(n), n *= e;
  return strides;
}

// The permutation suites' words: mode i of the destination is mode perm[i] of the source, the fastest first.
inline Copied permuted(std::string name, int elem, Numbers const& sizes, Numbers const& perm, std::int64_t base_src = 0,
                       std::int64_t base_dst = 0) {
  Numbers const from = packed(sizes);
  Copied c{std::move(name), elem, {}, {}, {}, base_src, base_dst};
  for (std::int64_t k : perm) c.extents.push_back(sizes[std::size_t(k)]), c.src.push_back(from[std::size_t(k)]);
  c.dst = packed(c.extents);
  return c;
}

// What breaks permutations, and has broken those of others.
inline std::vector<Copied> hard_cases() {
  std::vector<Copied> all{
      permuted("one element", 3, {1}, {0}),
      permuted("nothing", 4, {0, 5}, {1, 0}),
      permuted("a row", 1, {1, 777}, {1, 0}),
      permuted("a column", 2, {777, 1}, {1, 0}),
      permuted("identity", 6, {7, 11, 5}, {0, 1, 2}),
      permuted("RGB to planes", 1, {3, 1999}, {1, 0}),
      permuted("planes to RGB", 1, {1999, 3}, {1, 0}),
      permuted("RGB images", 1, {3, 61, 5}, {1, 0, 2}),
      permuted("RGB images of whole vectors", 1, {3, 1024, 5}, {1, 0, 2}),
      permuted("RGB images of 2 bytes, from planes", 2, {1024, 3, 5}, {1, 0, 2}),
      permuted("pairs of 2 bytes", 2, {2, 1003}, {1, 0}, 2, 4),
      permuted("four planes to pixels, all misaligned", 1, {1111, 4, 3}, {1, 0, 2}, 5, 9),
      permuted("five columns", 1, {5, 1009}, {1, 0}),
      permuted("six planes to rows", 1, {1024, 6}, {1, 0}),
      permuted("eight columns, misaligned", 1, {8, 777, 2}, {1, 0, 2}, 3, 0),
      permuted("seven planes, misaligned", 1, {7, 1003}, {1, 0}, 0, 3),
      permuted("squares of whole vectors, 4 bytes", 4, {16, 16, 37}, {1, 0, 2}),
      permuted("squares of whole vectors, 2 bytes", 2, {32, 16, 19}, {1, 0, 2}),
      permuted("squares of whole vectors, 1 byte", 1, {32, 32, 21}, {1, 0, 2}),
      permuted("squares of whole vectors, 8 bytes", 8, {8, 10, 33}, {1, 0, 2}),
      permuted("whole vectors both ways, 1 byte", 1, {144, 272}, {1, 0}),
      permuted("whole vectors both ways, 2 bytes", 2, {136, 72}, {1, 0}),
      permuted("whole vectors both ways, 4 bytes", 4, {132, 68, 2}, {1, 0, 2}),
      permuted("whole vectors both ways, 8 bytes", 8, {66, 130}, {1, 0}),
      permuted("one run of whole vectors", 16, {1031}, {0}),
      permuted("one run of bytes", 1, {4096}, {0}),
      permuted("batches of 3 x 3", 4, {3, 3, 301}, {1, 0, 2}),
      permuted("batches of 17 x 17", 1, {17, 17, 71}, {1, 0, 2}),
      permuted("batches of 16 x 17", 1, {17, 16, 65}, {1, 0, 2}),
      permuted("batches of 8 x 8", 1, {8, 8, 257}, {1, 0, 2}),
      permuted("vit", 2, {64, 197, 3}, {1, 0, 2}),
      permuted("vit back", 2, {197, 64, 3}, {1, 0, 2}),
      permuted("three bytes, lines that begin anywhere", 3, {131, 1031}, {1, 0}, 5, 7),
      permuted("twelve bytes, lines that begin anywhere", 12, {67, 1009}, {1, 0}, 4, 12),
      permuted("rows of 7, lines that begin anywhere", 2, {7, 61, 499}, {0, 2, 1}, 0, 6),
      permuted("tile minus one", 4, {127, 63}, {1, 0}),
      permuted("tile plus one", 4, {129, 65}, {1, 0}),
      permuted("primes of one byte", 1, {211, 199}, {1, 0}, 1, 5),
      permuted("a base that is odd", 2, {128, 130}, {1, 0}, 2, 6),
      permuted("heads", 2, {64, 7, 33, 2}, {0, 2, 1, 3}),
      permuted("heads of 80", 2, {80, 5, 13}, {0, 2, 1}),
      permuted("windows", 2, {12, 7, 3, 7, 2}, {0, 1, 3, 2, 4}),
      permuted("patches", 1, {16, 3, 16, 2, 3}, {0, 2, 4, 1, 3}),
      permuted("both fast modes small", 1, {7, 199, 7}, {2, 1, 0}),
      permuted("both fast modes small, all reversed", 8, {5, 3, 2, 4, 7, 6}, {5, 4, 3, 2, 1, 0}),
      permuted("cubes of 13 and 55", 1, {13, 11, 9, 5}, {2, 3, 0, 1}),
      permuted("101", 1, {23, 19, 17, 5}, {2, 0, 3, 1}),
      permuted("channels kept", 1, {3, 101, 103}, {0, 2, 1}),
      permuted("nested threes", 1, {3, 3, 3, 31, 29}, {1, 0, 2, 4, 3}),
      permuted("twos reversed", 4, Numbers(12, 2), {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}),
      permuted("twos reversed, of a byte", 1, Numbers(13, 2), {12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}),
      permuted("twos by pairs", 2, Numbers(10, 2), {1, 0, 3, 2, 5, 4, 7, 6, 9, 8}),
      permuted("unit extents between", 4, {1, 33, 1, 17, 1, 5}, {4, 3, 1, 0, 5, 2}),
      permuted("24-bit pixels", 3, {45, 61}, {1, 0}, 1, 2),
      permuted("6 bytes", 6, {45, 61}, {1, 0}, 2, 4),
      permuted("12 bytes", 12, {45, 61}, {1, 0}, 4, 8),
      permuted("16 bytes", 16, {45, 61}, {1, 0}),
      permuted("5 bytes", 5, {31, 37}, {1, 0}, 3, 1),
      {"a pitch on one side", 4, {37, 41}, {53, 1}, {1, 37}},
      {"pitches on both", 1, {37, 41}, {53, 1}, {1, 40}, 7, 9},
      {"a padded copy", 2, {33, 17, 3}, {1, 40, 800}, {1, 33, 561}},
      {"backwards", 4, {40, 30}, {-30, 1}, {1, 40}},
      {"backwards both ways", 1, {40, 30}, {-1, -40}, {1, 40}},
      {"backwards in the destination", 2, {40, 30}, {1, 40}, {30, -1}},
      {"repeated rows", 4, {40, 30}, {1, 0}, {1, 40}},
      {"repeated elements", 2, {40, 30}, {0, 1}, {1, 40}},
      {"repeated along an odd number of lines", 2, {103, 39}, {0, 1}, {1, 104}},
      {"one element everywhere", 4, {40, 30}, {0, 0}, {1, 40}},
      {"every fifth", 4, {777}, {5}, {1}},
      {"to every third", 2, {777}, {1}, {3}},
      {"from every seventh to every second", 1, {311, 5}, {7, 2177}, {2, 650}},
      {"short runs with gaps on both sides", 3, {8, 5, 7, 9, 4}, {140, 10080, 20, 1120, 1}, {1, 24, 120, 840, 7560}},
      {"an inner stride of 3", 1, {4, 101, 8}, {3, 11, 1111}, {8, 32, 1}},
      {"overlapping reads", 4, {16, 50}, {1, 1}, {1, 16}},
      {"an interleaved batch", 4, {8, 9, 5}, {5, 40, 1}, {1, 8, 72}},
      {"misaligned rows of 16 bytes", 1, {16, 100}, {1, 17}, {1, 16}, 1, 3},
      {"shifted", 1, {5000}, {1}, {1}, 3, 8},
  };
  return all;
}

// A drawn copy of up to `most` elements: ranks 1 to 6, all sizes of elements, gaps, bases, modes backwards and
// repeated.
inline Copied random_copy(std::mt19937& rng, std::int64_t most) {
  auto const upto = [&](std::int64_t n) { return std::int64_t(rng() % std::uint64_t(n)); };
  Copied c{"random", 1 + int(upto(16)), {}, {}, {}, 0, 0};
  if (upto(2)) c.elem = 1 << upto(5);
  int const rank = 1 + int(upto(6));
  for (int k = 0; k < rank; ++k) {
    std::int64_t const left = most / c.elements();
    std::int64_t e = 1 + upto(std::min<std::int64_t>(std::max<std::int64_t>(left, 1), upto(3) ? 40 : most));
    if (upto(4) == 0) e = std::min(left, std::int64_t(1) << upto(8));
    c.extents.push_back(std::max<std::int64_t>(e, 1));
  }
  auto const layout = [&](bool reads) {
    std::vector<int> order(c.extents.size());
    std::iota(order.begin(), order.end(), 0);
    if (upto(4)) std::shuffle(order.begin(), order.end(), rng);
    Numbers strides(c.extents.size());
    std::int64_t n = upto(8) ? 1 : 1 + upto(4);
    for (int k : order) {
      strides[std::size_t(k)] = n;
      n *= c.extents[std::size_t(k)];
      if (upto(4) == 0) n += 1 + upto(5);
    }
    for (std::int64_t& s : strides) {
      if (upto(8) == 0) s = -s;
      if (reads && upto(12) == 0) s = 0;
    }
    return strides;
  };
  c.src = layout(true), c.dst = layout(false);
  int const unit = c.elem & -c.elem;
  if (upto(2)) c.base_src = unit * upto(40);
  if (upto(2)) c.base_dst = unit * upto(40);
  return c;
}

}  // namespace inlay::test
