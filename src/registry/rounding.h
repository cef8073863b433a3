// A bound on the rounding error of a GEMM in fp32, from the order in which it adds, and the test data for it. Small
// whole numbers are exact in TF32 and bf16 too; only full significands distinguish fp32 from them.
#pragma once
#include <inlay/model/kernel_info.h>
#include <inlay/replay/recorder.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace inlay::registry {
using enum DType;

// A random number of either sign with a magnitude from 1/2 to 1 and the lowest bit of its significand set. Depends on
// the index and the seed only.
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
  bool truncates = false;  // f32 operands whose slices tensor cores multiply, with all of K in one accumulator
};

// Bound on the root mean square error of the elements of alpha A B + beta C. It assumes random signs, with which a sum
// of j terms grows like the square root of j, and each addition rounds it by up to 2^-24 of its size. The bound grows
// like the square root of K times the square root of the accumulation length. By calculation, operands rounded to TF32
// give 30 times the bound at K = 16384.
// Where tensor cores add all of K, what they truncate is most of the bound: at K = 16384, 50 times the bound of fp32.
// With bf16 and f16 the rounding of the result is most of the bound.
double error_bound(RoundedSum const& sum, std::int64_t elements);

// The activation in fp64.
double activated(Activation activation, double x);
// Whether `got` is activation(x), rounded to the type. GELU and SiLU may be off by 1e-6 of |x|, as inlay/types.h says,
// and by an ulp. NaN is NaN, and the sign of a zero is free.
bool is_activated(float got, Activation activation, double x, DType type);

// The longest accumulation that inlay/types.h documents for `compute`, in FMAs; 0: all of K.
std::int64_t longest_accumulation(Compute compute);

}  // namespace inlay::registry
