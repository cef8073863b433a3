// A bound on the rounding error of a GEMM in fp32, from the order in which it adds, and the test data for it. Small
// whole numbers are exact in TF32 and bf16 too; only full significands distinguish fp32 from them.
#pragma once
#include <inlay/planner/kernel_info.h>
#include <inlay/replay/recorder.h>

#include <cstddef>
#include <cstdint>

namespace inlay::registry {

// A random number of either sign with a magnitude from 1/2 to 1 and the lowest bit of its significand set. Depends on
// the index and the seed only.
float significand(std::uint64_t index, unsigned seed);
// Fills a buffer that the recorder has allocated with significands.
void put_significands(replay::Recorder& recorder, float* seen, std::size_t count, unsigned seed);

// A sum over K of products of significands.
struct RoundedSum {
  std::int64_t K;
  std::int64_t accumulation_length;  // in one register, in FMAs, then added to another sum; 0: K
  float alpha = 1, beta = 0;
};

// Bound on the root mean square error of the elements of alpha A B + beta C. It assumes random signs, with which a sum
// of j terms grows like the square root of j, and each addition rounds it by up to 2^-24 of its size. The bound grows
// like the square root of K times the square root of the accumulation length. By calculation, operands rounded to TF32
// give 30 times the bound at K = 16384.
double error_bound(RoundedSum const& sum, std::int64_t elements);

// The longest accumulation that inlay/types.h documents for `compute`, in FMAs; 0: all of K.
std::int64_t longest_accumulation(Compute compute);

}  // namespace inlay::registry
