// fp32 GEMMs by slices with a B that was packed once, beside the same GEMMs that pack it each time, one whose f16
// slices are refused, and cuBLAS in fp32.
//
// usage: packed_b > ROWS. A line is a JSON object. B is stored transposed. Each is launched back to back for half a
// second, of which the later half is timed: interleaved, tensor cores would heat the chip and cuBLAS would pay. Short
// calls are timed in CUDA graphs, because the host takes as long to launch them.
#include <cublas_v2.h>
#include <inlay/error.h>
#include <inlay/gemm.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/cuda_handles.h"
#include "measure/timing.h"

namespace {
using namespace inlay;
using detail::check;

void check_cublas(cublasStatus_t s) {
  if (s != CUBLAS_STATUS_SUCCESS) throw Error(cublasGetStatusString(s));
}
struct Free {
  void operator()(float* p) const { cudaFree(p); }
};
using Buffer = std::unique_ptr<float, Free>;
Buffer buffer(std::size_t bytes) {
  void* p;
  check(cudaMalloc(&p, std::max<std::size_t>(bytes, 256)));
  return Buffer(static_cast<float*>(p));
}
// Numbers of either sign whose significands have 24 bits.
Buffer random_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (float& v : values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    v = float(std::int32_t(seed >> 32)) * 0x1p-31f;
  }
  Buffer p = buffer(4 * count);
  check(cudaMemcpy(p.get(), values.data(), 4 * count, cudaMemcpyHostToDevice));
  return p;
}

// Microseconds of a call f(stream), timed alone.
double sustained(std::function<void(cudaStream_t)> const& f, cudaStream_t stream) {
  lab::Progress progress;
  std::vector<lab::Timed> const timed = {{"packed_b", [&](int, cudaStream_t s) { f(s); }, [](lab::AllSets const&) {}}};
  return 1e3 * lab::time_sustained(timed, 1, 15, stream, progress)[0].ms.median;
}

// "chosen: " and the name of the kernel that a plan chose.
std::string kernel_of(Plan const& plan) {
  std::string const why = plan.why();
  std::size_t const at = why.find("chosen: ");
  return why.substr(at, why.find(". ", at) - at);
}

// D: (n,n), as bytes that can be compared.
std::vector<float> contents(Buffer const& D, std::int64_t n) {
  std::vector<float> d(std::size_t(n * n));
  check(cudaMemcpy(d.data(), D.get(), 4 * d.size(), cudaMemcpyDeviceToHost));
  return d;
}

void measure(cublasHandle_t handle, cudaStream_t stream, std::int64_t n) {
  auto const elements = std::size_t(n * n);
  Buffer const A = random_floats(elements, 1), B = random_floats(elements, 2), D = buffer(4 * elements);
  ConstTensor const a = matrix(A.get(), DType::f32, n, n), b = matrix(B.get(), DType::f32, n, n).transposed();
  Tensor const d = matrix(D.get(), DType::f32, n, n);
  float const one = 1, zero = 0;
  int const size = int(n);
  double const cublas = sustained(
      [&](cudaStream_t s) {
        check_cublas(cublasSetStream(handle, s));
        check_cublas(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, size, size, size, &one, B.get(), size, A.get(), size,
                                 &zero, D.get(), size));
      },
      stream);
  auto const row = [&](char const* name, double us) {
    std::printf("{\"case\":\"%dx%dx%d:nt\",\"kernel\":\"%s\",\"us\":%.2f,\"tflops\":%.1f,\"of_cublas\":%.3f}\n", size,
                size, size, name, us, 2e-6 * double(n) * double(n) * double(n) / us, cublas / us);
    std::fflush(stdout);
  };
  row("cublas", cublas);
  for (auto const& [name, with_packed, compute] :
       {std::tuple{"split_fast", "split_fast, packed B", Compute::split_fast},
        {"split_safe", "split_safe, packed B", Compute::split_safe}}) {
    std::size_t const bytes = packed_b_bytes(b, compute);
    Buffer const storage = buffer(bytes);
    PackedB const packed = pack_b(b, compute, storage.get(), bytes, stream);
    std::string kernel;  // without a packed B; another one, which does not pack, has other bits
    std::vector<float> expected;
    for (bool keeps : {false, true}) {
      GemmOptions options{.compute = compute, .packed_B = keeps ? &packed : nullptr};
      options.workspace_bytes = gemm_workspace(a, b, d, {}, options);
      Buffer const workspace = buffer(options.workspace_bytes);
      options.workspace = workspace.get();
      check(cudaMemsetAsync(D.get(), 0xFF, 4 * elements, stream));
      double const us = sustained([&](cudaStream_t s) { gemm(a, b, d, {}, s, options); }, stream);
      std::string const chosen = kernel_of(plan(a, b, d, {}, options));
      if (!keeps) kernel = chosen, expected = contents(D, n);
      if (keeps && chosen == kernel && contents(D, n) != expected) throw Error("a packed B gives other bits");
      row(keeps ? with_packed : name, us);
    }
  }
  float const large = 0x1p40f;  // of an element of A, whose row refuses f16 slices
  check(cudaMemcpy(A.get() + 5, &large, sizeof large, cudaMemcpyHostToDevice));
  GemmOptions options{.compute = Compute::split_fast};
  options.workspace_bytes = gemm_workspace(a, b, d, {}, options);
  Buffer const workspace = buffer(options.workspace_bytes);
  options.workspace = workspace.get();
  double const us = sustained([&](cudaStream_t s) { gemm(a, b, d, {}, s, options); }, stream);
  if (plan(a, b, d, {}, options).took_f16_slices(workspace.get(), 0, stream))
    throw Error("f16 slices were not refused");
  row("split_fast, refused", us);
}

}  // namespace

int main() {
  alarm(250);
  try {
    cublasHandle_t handle;
    check_cublas(cublasCreate(&handle));
    check_cublas(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    lab::Stream const stream = lab::make_stream();
    for (std::int64_t n : {1024, 2048, 4096, 8192}) measure(handle, stream.get(), n);
  } catch (Error const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
