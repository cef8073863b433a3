// The corpus on the device: guard bands around and inside the buffers, poisoned output, everything compared bitwise.
#include <gtest/gtest.h>
#include <inlay/copy.h>

#include <cstring>
#include <functional>
#include <memory>

#include "corpus.h"
#include "plan/device.h"
#include "replay/registry.h"

namespace inlay::test {
namespace {

bool gpu_present() {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
}
#define NEEDS_GPU() \
  if (!gpu_present()) GTEST_SKIP() << "no GPU"

struct DeviceFree {
  void operator()(char* p) const { cudaFree(p); }
};
using DeviceBuffer = std::unique_ptr<char, DeviceFree>;
DeviceBuffer device_buffer(std::vector<char> const& content) {
  void* p = nullptr;
  check(cudaMalloc(&p, content.size()));
  check(cudaMemcpy(p, content.data(), content.size(), cudaMemcpyHostToDevice));
  return DeviceBuffer(static_cast<char*>(p));
}

constexpr std::size_t kGuard = 512;

// Runs `launch(src view, dst view, move)` on one case; returns the number of wrong bytes, guards included.
std::size_t wrong_bytes(Case const& c, Views const& v, int e,
                        std::function<void(Tensor const&, Tensor const&, Move const&)> const& launch) {
  std::vector<char> in(std::size_t(v.in_elements * e) + 2 * kGuard),
      expected(std::size_t(v.out_elements * e) + 2 * kGuard, char(0xA5));
  std::uint64_t x = 88172645463325252u;
  for (char& b : in) x ^= x << 13, x ^= x >> 7, x ^= x << 17, b = char(x >> 32);
  DeviceBuffer const d_in = device_buffer(in), d_out = device_buffer(expected);
  for (std::int64_t l = 0; l < c.L; ++l)
    for (std::int64_t m = 0; m < c.M; ++m)
      for (std::int64_t n = 0; n < c.N; ++n)
        std::memcpy(&expected[kGuard + std::size_t(out_offset(c, v, l, m, n) * e)],
                    &in[kGuard + std::size_t(in_offset(c, v, l, m, n) * e)], std::size_t(e));
  launch(in_view(c, v, d_in.get() + kGuard, e), out_view(c, v, d_out.get() + kGuard, e),
         move_of(c, v, d_in.get() + kGuard, d_out.get() + kGuard, e));
  check(cudaDeviceSynchronize());
  std::vector<char> got(expected.size());
  check(cudaMemcpy(got.data(), d_out.get(), got.size(), cudaMemcpyDeviceToHost));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected[i];
  return wrong;
}

class GpuVariants : public testing::TestWithParam<int> {};

TEST_P(GpuVariants, MovesTheCorpus) {
  NEEDS_GPU();
  auto const& entry = move_variants()[std::size_t(GetParam())];
  for (int e : kElementSizes)
    for (Case const& c : corpus()) {
      SCOPED_TRACE(std::to_string(e) + " bytes, " + c.name());
      Views const v = views_of(c, is_transpose(entry.info().name));
      bool rejected = false;
      std::size_t const wrong = wrong_bytes(c, v, e, [&](Tensor const&, Tensor const&, Move const& move) {
        rejected = bool(entry.info().rejects(move, current_device()));
        EXPECT_EQ(rejected, bool(entry.info().rejects(move, Device{})));  // the H200 of the CPU's tests
        if (!rejected) entry.variant.run(move, current_device(), nullptr, nullptr);
      });
      EXPECT_TRUE(rejected || wrong == 0) << wrong << " bytes are wrong";
    }
}
INSTANTIATE_TEST_SUITE_P(Ladder, GpuVariants, testing::Range(0, int(move_variants().size())), [](auto const& info) {
  return std::string(move_variants()[std::size_t(info.param)].info().name);
});

TEST(Gpu, TransposeMovesTheCorpus) {
  NEEDS_GPU();
  for (int e : kElementSizes)
    for (Case const& c : corpus()) {
      SCOPED_TRACE(std::to_string(e) + " bytes, " + c.name());
      Views const v = views_of(c, true);
      EXPECT_EQ(wrong_bytes(c, v, e, [](Tensor const& src, Tensor const& dst, Move const&) { transpose(dst, src); }),
                0u);
    }
}

std::string refusal(Tensor const& dst, Tensor const& src) {
  try {
    transpose(dst, src);
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
TEST(Gpu, PointersThatTheDeviceDoesNotOwnAreRefused) {
  NEEDS_GPU();
  std::vector<float> host(16);
  DeviceBuffer const device = device_buffer(std::vector<char>(64));
  EXPECT_EQ(refusal(matrix(reinterpret_cast<float*>(device.get()), 4, 4), matrix(host.data(), 4, 4)),
            "the source pointer is host memory that CUDA does not know");
}
TEST(Gpu, AStrideThatNobodyHandlesIsRefused) {
  NEEDS_GPU();
  DeviceBuffer const in = device_buffer(std::vector<char>(4096)), out = device_buffer(std::vector<char>(4096));
  Tensor const src = view(in.get(), 4, {2, 8, 8}, {500, 32, 2}), dst = view(out.get(), 4, {2, 8, 8}, {64, 8, 1});
  std::string const why = refusal(dst, src);
  EXPECT_NE(why.find("no variant can run this transpose"), std::string::npos) << why;
}
TEST(Gpu, TransposeIsCapturedIntoAGraphOnItsFirstCall) {
  NEEDS_GPU();
  std::vector<char> content(1 << 16);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = char(i * 7 + i / 256);
  DeviceBuffer const in = device_buffer(content), out = device_buffer(std::vector<char>(content.size()));
  Tensor const src = matrix(reinterpret_cast<std::uint8_t*>(in.get()), 256, 256);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  transpose(matrix(reinterpret_cast<std::uint8_t*>(out.get()), 256, 256), src, stream);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
  std::vector<char> got(content.size());
  check(cudaMemcpy(got.data(), out.get(), got.size(), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < 256; ++i)
    for (std::size_t j = 0; j < 256; ++j) ASSERT_EQ(got[j * 256 + i], content[i * 256 + j]);
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
}

}  // namespace
}  // namespace inlay::test
