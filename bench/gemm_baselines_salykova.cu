// The checkout's src/ and common/ are on the include path. Its own host function launches on the default stream and
// chooses between the two kernels by size; here each is a row.
#include <climits>
#include <kernels/128x128x8.cuh>
#include <kernels/128x256x8.cuh>

#include "gemm_baselines.h"

namespace inlay::baselines {
namespace {

template <class Kernel>
lab::GemmCandidate candidate(char const* name, Kernel kernel, int tile_m, int tile_n, lab::GemmCase const& c) {
  return {{name, [=](lab::GemmCall const& call, cudaStream_t stream) {
             if (c.transposes() != "nn" || c.batch > 1) throw lab::Rejection("takes one matrix at nn");
             auto const packed = [](lab::Stored const& x) { return x.pitch == x.cols; };
             if (!packed(c.a()) || !packed(c.b()) || !packed(c.d())) throw lab::Rejection("takes packed rows");
             for (lab::Stored const& x : {c.a(), c.b(), c.d()})
               if (x.elements() > INT_MAX)
                 throw lab::Rejection(std::to_string(x.elements()) + " elements are more than its 31 bits");
             int const M = int(c.M), N = int(c.N), K = int(c.K);
             dim3 const grid(unsigned((N + tile_n - 1) / tile_n), unsigned((M + tile_m - 1) / tile_m));
             kernel<<<grid, 256, 0, stream>>>(M, N, K, call.alpha, static_cast<float*>(const_cast<void*>(call.a)), K,
                                              static_cast<float*>(const_cast<void*>(call.b)), N, call.beta,
                                              static_cast<float*>(call.d), N);
             detail::check(cudaGetLastError());
           }}};
}

}  // namespace

std::vector<lab::GemmCandidate> salykova(lab::GemmCase const& c) {
  return {candidate("salykova_128x128x8", sgemm_128x128x8, 128, 128, c),
          candidate("salykova_128x256x8", sgemm_128x256x8, 128, 256, c)};
}

}  // namespace inlay::baselines
