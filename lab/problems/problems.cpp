#include "problems/problems.h"

namespace inlay::lab {

std::string sentence(Problem const& problem) {
  return std::visit([](auto const& c) { return c.sentence(); }, problem);
}

Units const& units(Problem const& problem) {
  static Units const of_moves{"GB/s", "gbps", "of copy", "of_copy", "the faster of cudaMemcpyAsync and copy_03_vector",
                              1};
  static Units const of_products{
      "TFLOP/s", "tflops", "of cuBLAS", "of_cublas", "cuBLAS in fp32, without TF32, at the same letters", 2};
  return std::holds_alternative<Case>(problem) ? of_moves : of_products;
}

}  // namespace inlay::lab
