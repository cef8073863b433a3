// GEMMs over any number of batch modes.
#pragma once
#include <inlay/problem/gemm.h>

#include <array>
#include <vector>

namespace inlay::problem {

// Kernels know one batch mode. Modes that do not merge with it are outer modes: the GEMM is solved for each of their
// indices.
struct BatchedGemm {
  using Bytes = std::array<std::int64_t, 4>;  // of A, B, D and C of the call
  struct Mode {
    std::int64_t extent;
    Bytes stride;  // operands that are not read have 0
  };
  Gemm gemm;                // of the outer indices 0
  std::vector<Mode> outer;  // outermost first

  // Calls f(offset) for each outer index: the bytes from the bases of the operands to those of its matrices.
  template <class F>
  void for_each(F const& f) const {
    Bytes at{};
    for_each_from(0, at, f);
  }
  // The GEMM at these offsets.
  Gemm at(Bytes const& offset) const {
    Gemm g = gemm;
    auto const move = [](Operand& o, std::int64_t bytes) {
      if (o.base) o.base = static_cast<char*>(o.base) + bytes;
    };
    move(g.exchanged ? g.B : g.A, offset[0]), move(g.exchanged ? g.A : g.B, offset[1]), move(g.D, offset[2]),
        move(g.C, offset[3]);
    return g;
  }
  std::int64_t outer_indices() const {
    std::int64_t n = 1;
    for (Mode const& mode : outer) n *= mode.extent;
    return n;
  }

 private:
  template <class F>
  void for_each_from(std::size_t mode, Bytes at, F const& f) const {
    if (mode == outer.size()) return f(at);
    for (std::int64_t i = 0; i < outer[mode].extent; ++i) {
      for_each_from(mode + 1, at, f);
      for (std::size_t k = 0; k < at.size(); ++k) at[k] += outer[mode].stride[k];
    }
  }
};

// D = epilogue(A B) for views of one rank, of 2 or more: the batch modes, the same in all three, then (M,K), (K,N) and
// (M,N). C: as broadcast_to() takes it; null: D. Throws Error like make_gemm().
BatchedGemm make_batched_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue,
                              Compute compute, ConstTensor const* C = nullptr);

}  // namespace inlay::problem
