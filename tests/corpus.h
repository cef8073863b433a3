// The cases that every kernel meets: on the CPU by replay, on the GPU for real. One list for both.
#pragma once
#include <inlay/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include <inlay/problem/copy.h>

namespace inlay::test {
using namespace problem;

inline constexpr int kElementSizes[] = {1, 2, 4, 8, 16};

// A batch of L matrices M x N. Gaps are extra elements of a row's pitch, bases are in elements from an aligned address;
// gap_batch is what lies between two matrices of a batch, on both sides.
struct Case {
  std::int64_t M, N, L = 1;
  std::int64_t gap_in = 0, gap_out = 0, base_in = 0, base_out = 0;
  std::int64_t gap_batch = 16;

  std::string name() const {
    auto s = [](std::int64_t n) { return std::to_string(n); };
    return s(M) + "x" + s(N) + "x" + s(L) + " gaps " + s(gap_in) + "," + s(gap_out) + " bases " + s(base_in) + "," +
           s(base_out) + (L > 1 ? " between matrices " + s(gap_batch) : "");
  }
};
// Matrices one behind the other.
inline Case packed(std::int64_t M, std::int64_t N, std::int64_t L, std::int64_t base_in = 0,
                   std::int64_t base_out = 0) {
  return {M, N, L, 0, 0, base_in, base_out, 0};
}

// Empty, single, prime, tile minus and plus one, ragged both ways, whole vectors, pitched, misaligned, batched; then
// what each of the later kernels is for.
inline std::vector<Case> corpus() {
  return {
      {0, 0},
      {0, 7},
      {7, 0},
      {1, 1},
      {1, 2},
      {2, 1},
      {1, 128},
      {128, 1},
      {3, 5},
      {31, 33},
      {33, 31},
      {32, 32},
      {63, 65},
      {65, 63},
      {64, 64},
      {127, 129},
      {129, 16},
      {61, 149},
      {128, 128},
      {128, 256},
      {203, 148},
      {37, 48},
      {5, 160},
      {63, 144},
      {130, 272},
      {16, 2048},
      {2, 1025},
      {1, 4096},
      {1, 8208},
      {70, 128, 1, 16, 16},
      {70, 128, 1, 3, 5},
      {33, 64, 1, 0, 16},
      {64, 80, 1, 0, 0, 16, 0},
      {64, 80, 1, 0, 0, 0, 16},
      {48, 64, 1, 16, 16, 1, 0},
      {48, 64, 1, 0, 0, 0, 1},
      {41, 43, 1, 7, 2, 3, 5},
      {19, 32, 3},
      {32, 48, 5, 16, 16},
      {17, 23, 4, 1, 2, 1, 3},
      {64, 64, 2},
      // whole vectors both ways, with pitches that are, ragged at the tiles' edges
      {144, 272, 1, 16, 32},
      // odd pitches, tall and wide enough for a tile of which no side is the matrix's
      {130, 131},
      {130, 131, 1, 1, 1, 3, 5},
      {257, 545},
      // the last row's last vector is partial, in a tile whose rows are all there
      {256, 256, 1, 0, 0, 1, 0},
      {256, 131, 1, 0, 0, 3, 0},
      {260, 290, 1, 3, 1, 1, 5},
      // two and three columns and rows, of a batch too, pitched and misaligned
      {1025, 2},
      {700, 3, 1, 0, 5},
      {512, 3, 3, 0, 0, 1, 3},
      {333, 2, 4, 0, 3, 1, 0},
      {96, 3},
      {160, 2, 2, 0, 0, 0, 8},
      {2, 900, 1, 3, 0, 1, 1},
      {3, 1024, 2, 0, 0},
      {3, 601, 3, 5, 0, 2, 1},
      // few columns, few rows; pitched and misaligned where they are not in one piece
      {3000, 3},
      {517, 5},
      {517, 5, 1, 0, 3, 1, 3},
      {130, 64},
      {2050, 33},
      {3, 3000},
      {5, 517},
      {5, 517, 1, 3, 0, 3, 1},
      {64, 130},
      {33, 600, 2, 1, 0, 0, 3},
      // small matrices, one behind the other
      packed(4, 4, 300),
      packed(3, 5, 200),
      packed(3, 5, 200, 3, 1),
      packed(16, 16, 70),
      packed(31, 33, 9),
      packed(64, 64, 3),
      packed(8, 24, 50),
      packed(12, 20, 37),
      packed(16, 48, 20),
  };
}

// The buffers of a case: sizes in elements, and the views.
struct Views {
  std::int64_t in_elements, out_elements;
  std::int64_t ld_in, ld_out, batch_in, batch_out;
  bool transpose;
};
inline Views views_of(Case const& c, bool transpose) {
  Views v{};
  v.transpose = transpose;
  v.ld_in = c.N + c.gap_in;
  v.ld_out = (transpose ? c.M : c.N) + c.gap_out;
  v.batch_in = c.L > 1 ? c.M * v.ld_in + c.gap_batch : 0;
  v.batch_out = c.L > 1 ? (transpose ? c.N : c.M) * v.ld_out + c.gap_batch : 0;
  v.in_elements = c.base_in + (c.L - 1) * v.batch_in + c.M * v.ld_in;
  v.out_elements = c.base_out + (c.L - 1) * v.batch_out + (transpose ? c.N : c.M) * v.ld_out;
  return v;
}
// Offsets in elements from the start of the buffers.
inline std::int64_t in_offset(Case const& c, Views const& v, std::int64_t l, std::int64_t m, std::int64_t n) {
  return c.base_in + l * v.batch_in + m * v.ld_in + n;
}
inline std::int64_t out_offset(Case const& c, Views const& v, std::int64_t l, std::int64_t m, std::int64_t n) {
  return c.base_out + l * v.batch_out + (v.transpose ? n * v.ld_out + m : m * v.ld_out + n);
}

inline Tensor view(void* data, int elem_bytes, std::initializer_list<std::int64_t> extents,
                   std::initializer_list<std::int64_t> strides) {
  Tensor t;
  t.data = data;
  t.dtype = opaque(elem_bytes);
  t.rank = int(extents.size());
  int k = 0;
  for (auto e : extents) t.extent[k++] = e;
  k = 0;
  for (auto s : strides) t.stride[k++] = s;
  return t;
}
// `in` and `out` are the aligned starts of the buffers.
inline Tensor in_view(Case const& c, Views const& v, void* in, int e) {
  return view(static_cast<char*>(in) + c.base_in * e, e, {c.L, c.M, c.N}, {v.batch_in, v.ld_in, 1});
}
inline Tensor out_view(Case const& c, Views const& v, void* out, int e) {
  void* const p = static_cast<char*>(out) + c.base_out * e;
  if (v.transpose) return view(p, e, {c.L, c.N, c.M}, {v.batch_out, v.ld_out, 1});
  return view(p, e, {c.L, c.M, c.N}, {v.batch_out, v.ld_out, 1});
}
inline Copy copy_of(Case const& c, Views const& v, void* in, void* out, int e) {
  Tensor const src = in_view(c, v, in, e);
  return make_copy(out_view(c, v, out, e), v.transpose ? src.transposed() : src);
}

// Kernels for any layout are tried with transposes, too.
inline bool is_transpose(model::Info<Copy> const& info) { return info.ladder != model::Ladder::copy; }

}  // namespace inlay::test
