// Groups of rows that every kernel that takes them meets: on the CPU by replay, on the GPU for real. One list for both.
#pragma once
#include <inlay/problem/gemm.h>
#include <inlay/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace inlay::test {
using namespace problem;

struct GroupsCase {
  std::int64_t M, N, K;
  std::vector<std::int32_t> ends;
  bool b_along_n = false, d_along_m = false;
  DType type = bf16, type_of_D = bf16;
  Epilogue epilogue = {};
  std::int64_t gap = 0, base = 0;  // elements: of D's pitch; of A and D from a multiple of 16 bytes
  bool a_along_m = false;

  std::int64_t groups() const { return std::int64_t(ends.size()); }
  std::int64_t pitch() const { return (d_along_m ? M : N) + gap; }  // of D
  std::int64_t elements_of_D() const { return base + pitch() * (d_along_m ? N : M); }

  // Views of buffers that begin at a multiple of 16 bytes.
  Tensor A(void* buffer) const {
    void* const at = static_cast<char*>(buffer) + base * bytes_of(type);
    return a_along_m ? tensor(at, type, {K, M}).transposed() : tensor(at, type, {M, K});
  }
  Tensor B(void* buffer) const {
    return b_along_n ? tensor(buffer, type, {groups(), K, N}) : tensor(buffer, type, {groups(), N, K}).transposed();
  }
  Tensor D(void* buffer) const {
    void* const at = static_cast<char*>(buffer) + base * bytes_of(type_of_D);
    return d_along_m ? tensor(at, type_of_D, {N, M}, {pitch(), 1}).transposed()
                     : tensor(at, type_of_D, {M, N}, {pitch(), 1});
  }

  std::string name() const {
    std::string s = std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K) + ", groups end at";
    for (auto const end : ends) s += " " + std::to_string(end);
    return s + (a_along_m ? ", A along m" : "") + (b_along_n ? ", B along n" : "") + (d_along_m ? ", D along m" : "") +
           ", beta " + std::to_string(epilogue.beta) + ", gap " + std::to_string(gap) + ", base " +
           std::to_string(base) + ", " + name_of(type) + " to " + name_of(type_of_D);
  }
};

// For TMA but where a base is odd. Groups of no row, of one, of parts of a tile, of whole tiles and more; behind one
// another whole and partial tiles change, which are stored in different ways. Ends that descend or lie behind the last
// row are clamped. Whole tiles along m that begin within 16 bytes, which TMA does not store.
inline std::vector<GroupsCase> groups_corpus() {
  return {
      {300, 64, 64, {0, 1, 130, 258, 258, 299}},
      {512, 256, 128, {128, 256, 300, 428, 512}},
      {512, 256, 128, {100, 228, 356, 484}, true},
      {130, 136, 72, {130}},
      {40, 264, 200, {1, 2, 3, 20, 20, 39}, true, false, f16, f16, {2, -1}},
      {260, 72, 64, {90, 80, 1000, 12}, false, false, bf16, f32},
      {384, 128, 64, {128, 192, 320, 384}, false, true},
      {384, 128, 64, {54, 182, 192, 320}, false, true},
      {384, 72, 64, {130, 260}, true, true, bf16, bf16, {1, 1, Activation::relu}, 3},
      {256, 67, 64, {70, 200}, false, false, bf16, bf16, {1, 1}, 2},
      {64, 64, 8, {0, 0, 0}},
  };
}

}  // namespace inlay::test
