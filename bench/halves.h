// Device memory with bf16 numbers, for the programs that time GEMMs of them.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/error.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace inlay::bench {

struct Free {
  void operator()(void* p) const { cudaFree(p); }
};
using Buffer = std::unique_ptr<void, Free>;
inline Buffer buffer(std::size_t bytes) {
  void* p;
  detail::check(cudaMalloc(&p, bytes));
  return Buffer(p);
}
inline Buffer uploaded(void const* from, std::size_t bytes) {
  Buffer p = buffer(bytes);
  detail::check(cudaMemcpy(p.get(), from, bytes, cudaMemcpyHostToDevice));
  return p;
}

// bf16 numbers between 1/256 and 2, of either sign: full significands, which the power of the tensor cores depends on.
inline std::vector<std::uint16_t> random_halves(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& v : values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    v = std::uint16_t((seed >> 63 << 15) | (119 + (seed >> 40) % 9) << 7 | (seed >> 33 & 127));
  }
  return values;
}
inline Buffer random_halves_on_device(std::size_t count, std::uint64_t seed = 1) {
  return uploaded(random_halves(count, seed).data(), 2 * count);
}

}  // namespace inlay::bench
