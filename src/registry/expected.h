// What a problem lets a replayed kernel touch, and what must be there afterwards.
#pragma once
#include <inlay/planner/kernel_info.h>
#include <inlay/replay/recorder.h>

#include <vector>

namespace inlay::registry {
using namespace problem;
using replay::Recorder;

// The copy about to be replayed: source elements may be read, each destination element must be written exactly once.
// conclude() reports elements left unwritten, and elements that differ from the source.
class ExpectedCopy {
 public:
  ExpectedCopy(Copy const& copy, Recorder& recorder);
  // What lies between the source's elements may be read too.
  void allow_gaps() const;
  void conclude() const;

 private:
  Copy const& copy_;
  Recorder& recorder_;
};

// The GEMM about to be replayed: A and B may be read if K > 0, C if beta != 0 and only before it is written; each
// of its elements must be written exactly once, over all kernels of the kernel. The workspace is nobody's yet.
// conclude() reports elements left unwritten. Where all operands are whole numbers it reports elements that differ from
// alpha A B + beta C, summed in double; else the operands are significands, and it reports an error beyond error_bound().
class ExpectedGemm {
 public:
  ExpectedGemm(Gemm const& gemm, Recorder& recorder, std::int64_t accumulation_length);
  void conclude() const;

 private:
  std::size_t bytes() const;  // of an element
  float number(char const* seen) const;

  Gemm const& gemm_;
  Recorder& recorder_;
  std::int64_t accumulation_length_;  // of the kernel: 0 for all of K
  std::vector<float> old_;            // C before the replay, [l][m][n]
};

inline ExpectedCopy expected(Copy const& copy, Recorder& recorder, std::int64_t = 0) { return {copy, recorder}; }
inline ExpectedGemm expected(Gemm const& gemm, Recorder& recorder, std::int64_t accumulation_length = 0) {
  return {gemm, recorder, accumulation_length};
}

}  // namespace inlay::registry
