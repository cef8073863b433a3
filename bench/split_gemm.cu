// Error and sustained speed of fp32 GEMMs by slices (Compute::split_safe, split_fast), beside cuBLAS in fp32 on the same data.
//
// usage: split_gemm errors|speed > ROWS
// A row is a JSON object. errors: M = N = 1024, B stored transposed; relative Frobenius error, and the largest |e| / (|A| |B|), against
// fp64; `fast` says whether f16 slices were taken. speed: each GEMM alone, launched back to back for half a second, the later half
// timed; interleaved, tensor cores would heat the chip and cuBLAS would pay.
#include <cublas_v2.h>
#include <inlay/error.h>
#include <inlay/gemm.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace {
using namespace inlay;
using detail::check;

void check_cublas(cublasStatus_t s) {
  if (s != CUBLAS_STATUS_SUCCESS) throw Error(cublasGetStatusString(s));
}

enum class Data { normal, uniform, wide, scaled_rows, outliers, sparse, hilbert };
constexpr char const* kNames[] = {"normal",       "uniform", "exponents -10..10", "rows 2^+-20", "one of 2^30 a row",
                                  "1 of 8 not 0", "Hilbert"};

__device__ float uniform(std::uint64_t x) {  // (0,1)
  x = (x + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 31) * 0x94D049BB133111EBu;
  x ^= x >> 29, x *= 0xBF58476D1CE4E5B9u;
  return (float(x >> 41) + .5f) * 0x1p-23f;
}
__device__ float normal(std::uint64_t i) { return sqrtf(-2 * logf(uniform(2 * i))) * cospif(2 * uniform(2 * i + 1)); }
// X: (rows,K)
__global__ void fill(float* X, long rows, long K, Data data, std::uint64_t seed) {
  for (long i = blockIdx.x * 256l + threadIdx.x; i < rows * K; i += gridDim.x * 256l) {
    long const row = i / K, k = i % K;
    std::uint64_t const at = seed * 0x100000001ull * 977 + std::uint64_t(i);
    float x = normal(at);
    if (data == Data::uniform) x = uniform(at);
    if (data == Data::wide) x = ldexpf(copysignf(1 + uniform(at + 7), x), int(floorf(uniform(at) * 21)) - 10);
    if (data == Data::scaled_rows) x = ldexpf(x, int(floorf(uniform(seed * 7919 + std::uint64_t(row)) * 41)) - 20);
    if (data == Data::outliers && k == (row * 37 + long(seed) * 11) % K) x = ldexpf(x, 30);
    if (data == Data::sparse && uniform(at + 13) > .125f) x = 0;
    if (data == Data::hilbert) x = 1.f / float(row + k + 1);
    X[i] = x;
  }
}
// Sums over D of e^2 and d^2, and the largest |e| / (|A| |B|), for A: (M,K), B: (N,K), D and E: (M,N). A block for 16 x 16 elements.
__global__ void compare(float const* A, float const* B, float const* D, float const* E, long M, long N, long K,
                        double* sums) {
  __shared__ float a[16][65], b[16][65];
  long const m = blockIdx.y * 16l + threadIdx.y, n = blockIdx.x * 16l + threadIdx.x;
  double exact = 0, size = 0;
  for (long k = 0; k < K; k += 64) {
    for (int i = threadIdx.x; i < 64; i += 16) {
      a[threadIdx.y][i] = k + i < K ? A[m * K + k + i] : 0;
      b[threadIdx.y][i] = k + i < K ? B[(blockIdx.x * 16l + threadIdx.y) * K + k + i] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 64; ++i) {
      double const p = double(a[threadIdx.y][i]) * b[threadIdx.x][i];
      exact += p, size += fabs(p);
    }
    __syncthreads();
  }
  auto const add = [&](double const e, int at) {
    atomicAdd(sums + at, e * e);
    double const part = size > 0 ? fabs(e) / size : e != 0 ? INFINITY : 0;
    atomicMax(reinterpret_cast<unsigned long long*>(sums + at + 1), (unsigned long long)__double_as_longlong(part));
  };
  atomicAdd(sums, exact * exact);
  add(double(D[m * N + n]) - exact, 1);
  add(double(E[m * N + n]) - exact, 3);
}

struct Buffer {
  float* p = nullptr;
  explicit Buffer(std::size_t bytes) { check(cudaMalloc(&p, bytes)); }
  ~Buffer() { cudaFree(p); }
  Buffer(Buffer const&) = delete;
};

// D by this library and E by cuBLAS, both A B^T.
struct Operands {
  cublasHandle_t handle;
  long M, N, K;
  Buffer A{std::size_t(M * K) * 4}, B{std::size_t(N * K) * 4}, D{std::size_t(M * N) * 4}, E{std::size_t(M * N) * 4};
  std::unique_ptr<Buffer> workspace = nullptr;

  void cublas() {
    float const one = 1, zero = 0;
    check_cublas(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, int(N), int(M), int(K), &one, B.p, int(K), A.p, int(K),
                             &zero, E.p, int(N)));
  }
  std::size_t prepare(Compute compute) {
    std::size_t const bytes = gemm_workspace(a(), b(), d(), {}, {.compute = compute});
    workspace = bytes ? std::make_unique<Buffer>(bytes) : nullptr;
    return bytes;
  }
  void ours(Compute compute, std::size_t bytes) {
    GemmOptions options;
    options.compute = compute, options.workspace = workspace ? workspace->p : nullptr, options.workspace_bytes = bytes;
    gemm(a(), b(), d(), {}, nullptr, options);
  }
  ConstTensor a() const { return matrix(A.p, DType::f32, M, K); }
  ConstTensor b() const { return matrix(B.p, DType::f32, N, K).transposed(); }
  Tensor d() const { return matrix(D.p, DType::f32, M, N); }
};

void errors(cublasHandle_t handle) {
  Buffer sums(5 * sizeof(double));
  for (long K : {16l, 64l, 128l, 512l, 4096l, 16384l})
    for (int data = 0; data < int(std::size(kNames)); ++data) {
      Operands p{handle, 1024, 1024, K};
      fill<<<512, 256>>>(p.A.p, p.M, K, Data(data), 1), fill<<<512, 256>>>(p.B.p, p.N, K, Data(data), 2);
      p.cublas();
      for (Compute compute : {Compute::fp32, Compute::split_safe, Compute::split_fast}) {
        std::size_t const bytes = p.prepare(compute);
        check(cudaMemset(p.D.p, 0xff, std::size_t(p.M * p.N) * 4));
        p.ours(compute, bytes);
        check(cudaMemset(sums.p, 0, 5 * sizeof(double)));
        compare<<<dim3(unsigned(p.N / 16), unsigned(p.M / 16)), dim3(16, 16)>>>(p.A.p, p.B.p, p.D.p, p.E.p, p.M, p.N, K,
                                                                                reinterpret_cast<double*>(sums.p));
        double s[5];
        unsigned refused = 0;
        check(cudaMemcpy(s, sums.p, sizeof s, cudaMemcpyDeviceToHost));
        if (compute == Compute::split_fast && bytes)
          check(cudaMemcpy(&refused, p.workspace->p, 4, cudaMemcpyDeviceToHost));
        double const ours = std::sqrt(s[1] / s[0]), theirs = std::sqrt(s[3] / s[0]);
        std::printf(
            "{\"data\":\"%s\",\"K\":%ld,\"compute\":\"%s\",\"fast\":%s,\"rel_err\":%.3e,\"largest\":%.3e,\"rel_err_"
            "cublas\":%.3e,"
            "\"largest_cublas\":%.3e,\"of_cublas\":%.3f}\n",
            kNames[data], K,
            compute == Compute::fp32         ? "fp32"
            : compute == Compute::split_safe ? "split_safe"
                                             : "split_fast",
            compute == Compute::split_fast && bytes && !refused ? "true" : "false", ours, s[2], theirs, s[4],
            theirs > 0 ? ours / theirs
            : ours > 0 ? INFINITY
                       : 1.);
      }
      std::fflush(stdout);
    }
}

// Microseconds of a call: half a second of calls, the later half timed.
template <class F>
double sustained(F const& f) {
  usleep(250000);
  cudaEvent_t begin, middle, end;
  check(cudaEventCreate(&begin)), check(cudaEventCreate(&middle)), check(cudaEventCreate(&end));
  float ms = 0;
  check(cudaEventRecord(begin));
  f();
  check(cudaEventRecord(end)), check(cudaEventSynchronize(end));
  check(cudaEventElapsedTime(&ms, begin, end));
  int const calls = std::max(10, int(250 / std::max(ms, .005f)));
  for (int i = 0; i < calls; ++i) f();
  check(cudaEventRecord(middle));
  for (int i = 0; i < calls; ++i) f();
  check(cudaEventRecord(end)), check(cudaEventSynchronize(end));
  check(cudaEventElapsedTime(&ms, middle, end));
  return 1e3 * ms / calls;
}

void speed(cublasHandle_t handle) {
  for (long n : {1024l, 2048l, 4096l, 8192l, 16384l, 4095l, 4097l, 8191l}) {
    Operands p{handle, n, n, n};
    fill<<<512, 256>>>(p.A.p, n, n, Data::normal, 1), fill<<<512, 256>>>(p.B.p, n, n, Data::normal, 2);
    double const flops = 2. * double(n) * double(n) * double(n), theirs = sustained([&] { p.cublas(); });
    std::printf("{\"case\":\"%ldx%ldx%ld\",\"kernel\":\"cublas\",\"us\":%.2f,\"tflops\":%.1f}\n", n, n, n, theirs,
                1e-6 * flops / theirs);
    for (auto const& [name, compute] :
         {std::pair{"gemm", Compute::fp32}, {"split_fast", Compute::split_fast}, {"split_safe", Compute::split_safe}}) {
      std::size_t const bytes = p.prepare(compute);
      double const us = sustained([&] { p.ours(compute, bytes); });
      std::printf("{\"case\":\"%ldx%ldx%ld\",\"kernel\":\"%s\",\"us\":%.2f,\"tflops\":%.1f,\"of_cublas\":%.3f}\n", n, n,
                  n, name, us, 1e-6 * flops / us, theirs / us);
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  alarm(280);
  if (count != 2 || (std::strcmp(arguments[1], "errors") && std::strcmp(arguments[1], "speed"))) {
    std::fprintf(stderr, "usage: split_gemm errors|speed\n");
    return 2;
  }
  try {
    cublasHandle_t handle;
    check_cublas(cublasCreate(&handle));
    check_cublas(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    std::strcmp(arguments[1], "errors") ? speed(handle) : errors(handle);
    check(cudaDeviceSynchronize());
  } catch (Error const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
