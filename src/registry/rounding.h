// How far a GEMM in fp32 may be from its sums in fp64, told from how it adds; and the data to see it on. Whole numbers are
// exact in TF32 and bf16 too: only full significands tell fp32 from them.
#pragma once
#include <inlay/planner/kernel_info.h>
#include <inlay/replay/recorder.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace inlay::registry {

// A number of either sign, 1/2 to 1, with all 24 bits in use: depends on the index and the seed alone.
float significand(std::uint64_t index, unsigned seed);

// What operands hold before a replay: whole numbers from -3 to 3, whose sums are exact in any order and in TF32 too, or
// significands, rounded to the type, whose sums are rounded.
enum class Numbers { whole, significands };
// A buffer of f32, bf16 or f16.
void* allocate_numbers(replay::Recorder& recorder, std::string name, std::size_t count, DType type, unsigned seed,
                       Numbers numbers = Numbers::whole);

// A sum over K of products of significands.
struct RoundedSum {
  std::int64_t K;
  std::int64_t accumulation_length;  // in one register, in FMAs, then added to another sum; 0: K
  float alpha = 1, beta = 0;
  DType type = f32;  // of the operands and the result; bf16 and f16 are multiplied by tensor cores, with sums in fp32
};

// The root of the mean square by which the elements of alpha A B + beta C may be off. A bound for random signs, where a
// sum of j products is as large as the root of j of them: each step rounds it by up to 2^-24 of its size. It grows with
// the root of K times that of the accumulation length. Operands rounded to TF32 exceed it at K = 16384, by calculation 30
// times over. With bf16 and f16 the rounding of the result to its type is most of the bound.
double error_bound(RoundedSum const& sum, std::int64_t elements);

// The accumulation length that a public function promises: types.h.
std::int64_t longest_accumulation(Compute compute);

}  // namespace inlay::registry
