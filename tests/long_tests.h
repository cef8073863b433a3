// Which of the cases a test goes through: all of them where `scripts/test all` asks for long tests, else lists that
// each test shortens, most of all for the steps of the tutorial, so that `make test` takes minutes.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace inlay::test {

inline bool runs_long_tests() { return std::getenv("INLAY_LONG_TESTS") != nullptr; }
// Whether test_gemm_kernels runs a sixth of its cases on whole numbers alone, for `scripts/test quick`.
inline bool runs_quick_tests() { return std::getenv("INLAY_QUICK_TESTS") != nullptr; }

// Whether the kernel is a step of the tutorial, whose cases a short test thins.
inline bool is_step(std::string_view kernel) {
  static constexpr std::string_view steps[] = {
#define INLAY_UNIT(NAME, PTXAS, ARCH)
#define INLAY_KERNEL(NAME) #NAME,
#include <inlay/tutorial/copy/steps.def>
#include <inlay/tutorial/hgemm/steps.def>
#include <inlay/tutorial/sgemm/steps.def>
#include <inlay/tutorial/sgemm_tc/steps.def>
#include <inlay/tutorial/transpose/steps.def>
#undef INLAY_UNIT
#undef INLAY_KERNEL
  };
  return std::find(std::begin(steps), std::end(steps), kernel) != std::end(steps);
}
// Steps of the tutorial copy elements of 4 bytes, apart from two that copy vectors of any.
inline bool takes_elements_of(std::string_view kernel, int bytes) {
  return bytes == 4 || !is_step(kernel) || kernel.starts_with("copy_03");
}
inline bool is_thinned(std::string_view kernel) { return is_step(kernel) && !runs_long_tests(); }

}  // namespace inlay::test
