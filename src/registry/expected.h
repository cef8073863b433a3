// Checks of a replayed kernel that depend on its problem: which memory it may access, and the results.
#pragma once
#include <inlay/model/kernel_info.h>
#include <inlay/problem/reduction.h>
#include <inlay/replay/recorder.h>

#include <vector>

namespace inlay::registry {
using namespace problem;
using replay::Recorder;

// The expectations of a copy. Source elements may be read; each destination element must be written exactly once. After
// the replay, conclude() reports elements that were not written and elements that differ from the source.
class ExpectedCopy {
 public:
  ExpectedCopy(Copy const& copy, Recorder& recorder);
  // Lets the kernel also read the gaps between source elements.
  void allow_gaps() const;
  void conclude() const;

 private:
  Copy const& copy_;
  Recorder& recorder_;
};

// The expectations of a GEMM, or of the partial sums of a split one. A and B may be read if K > 0; C, or D if it is
// that, may be read if beta != 0, D only before it is written; each element of D must be written exactly once by all
// launches together. The workspace has no expectations. After the replay, conclude() reports elements that were not
// written. If all operands are whole numbers, it reports elements that differ from activation(alpha A B + beta C),
// computed in double; otherwise it reports an error beyond error_bound(). Of groups of rows, D has the rows up to the
// last end.
class ExpectedGemm {
 public:
  ExpectedGemm(Gemm const& gemm, Recorder& recorder, std::int64_t accumulation_length);
  void conclude() const;

 private:
  // The matrix of B that row m of matrix l is multiplied by.
  std::int64_t matrix_of_B(std::int64_t m, std::int64_t l) const;
  std::int64_t matrices_of_B() const { return gemm_.groups ? gemm_.groups : gemm_.L(); }
  Operand with_rows(Operand o) const;  // D or what is added to it, without the rows of no group
  std::size_t bytes_of_D() const;      // of an element
  float number(char const* seen, DType type) const;

  Gemm const& gemm_;
  Recorder& recorder_;
  std::int64_t accumulation_length_;  // of the kernel, in FMAs; 0: all of K
  std::vector<std::int64_t> ends_;    // of the groups
  std::vector<float> addend_;         // what beta scales, before the replay, [l][m][n]
};

// The expectations of a reduction. Partial sums may be read, each of them, C, or D if it is that, before it is written;
// each element of D must be written exactly once. After the replay, conclude() reports elements that were not written.
// Sums are not compared.
class ExpectedReduction {
 public:
  ExpectedReduction(Reduction const& reduction, Recorder& recorder);
  void conclude() const;

 private:
  Reduction const& reduction_;
  Recorder& recorder_;
};

inline ExpectedCopy expected(Copy const& copy, Recorder& recorder, std::int64_t = 0) { return {copy, recorder}; }
inline ExpectedGemm expected(Gemm const& gemm, Recorder& recorder, std::int64_t accumulation_length = 0) {
  return {gemm, recorder, accumulation_length};
}
inline ExpectedReduction expected(Reduction const& reduction, Recorder& recorder, std::int64_t = 0) {
  return {reduction, recorder};
}

}  // namespace inlay::registry
