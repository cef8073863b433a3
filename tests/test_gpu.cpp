// The corpus on the device: guard bands around and inside the buffers, poisoned output, everything compared bitwise.
#include <atomic>
#include <cstring>
#include <deque>
#include <numeric>
#include <thread>

#include <inlay/c.h>
#include <inlay/model/device.h>
#include <inlay/registry/registry.h>
#include <inlay/tuning.h>
#include "gpu.h"

namespace inlay::test {
namespace {
using namespace registry;

class GpuKernels : public testing::TestWithParam<int> {};

TEST_P(GpuKernels, MovesTheCorpus) {
  NEEDS_GPU();
  auto const& entry = copy_kernels()[std::size_t(GetParam())];
  for (int e : kElementSizes)
    for (Case const& c : corpus()) {
      SCOPED_TRACE(std::to_string(e) + " bytes, " + c.name());
      OnDevice const here(c, is_transpose(entry.info()), e);
      Copy const copy = here.copy();
      bool const rejected = bool(entry.info().rejects(copy, current_device()));
      EXPECT_EQ(rejected, bool(entry.info().rejects(copy, Device{})));  // the H200 of the CPU's tests
      if (rejected) continue;
      entry.kernel->run(copy, current_device(), nullptr, nullptr);
      check(cudaDeviceSynchronize());
      EXPECT_EQ(here.wrong_bytes(), 0u);
      // What a plan keeps of it, at other addresses.
      OnDevice const there(c, is_transpose(entry.info()), e);
      auto const made = entry.kernel->make(copy, current_device(), false);
      if (copy.elements()) made->run(model::base_addresses_of(there.copy()), nullptr);
      check(cudaDeviceSynchronize());
      if (copy.elements()) EXPECT_EQ(there.wrong_bytes(), 0u) << "made for other addresses";
    }
}
INSTANTIATE_TEST_SUITE_P(Ladder, GpuKernels, testing::Range(0, int(copy_kernels().size())), [](auto const& info) {
  return std::string(copy_kernels()[std::size_t(info.param)].info().name);
});

std::size_t wrong_bytes_of_transpose(Case const& c, int e, cudaStream_t stream = nullptr) {
  OnDevice const here(c, true, e);
  transpose(here.dst(), here.src(), stream);
  check(cudaStreamSynchronize(stream));
  return here.wrong_bytes();
}
TEST(Gpu, TransposeMovesTheCorpus) {
  NEEDS_GPU();
  for (int e : kElementSizes)
    for (Case const& c : corpus()) EXPECT_EQ(wrong_bytes_of_transpose(c, e), 0u) << e << " bytes, " << c.name();
}
// Every pair of residues of pitch and base modulo 16 bytes, on both sides: the output's pair is the input's under a map
// that is one to one for any number of residues.
TEST(Gpu, TransposeTakesAnyPitchAndBase) {
  NEEDS_GPU();
  for (int e : kElementSizes)
    for (int residues = 16 / e, a = 0; a < residues; ++a)
      for (int b = 0; b < residues; ++b) {
        Case const c{150, 170, 1, a, (a + b) % residues, b, (a + 2 * b) % residues};
        EXPECT_EQ(wrong_bytes_of_transpose(c, e), 0u) << e << " bytes, " << c.name();
      }
}
TEST(Gpu, EightThreadsAtOnce) {
  NEEDS_GPU();
  std::atomic<std::size_t> wrong = 0, finished = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Stream const stream;
      for (int i = 0; i < 20; ++i)
        for (Case const& c :
             {Case{128 + 16 * t, 256}, Case{201 + t, 303 - i}, Case{1000 + t, 3}, packed(4, 4, 100 + t)})
          wrong += wrong_bytes_of_transpose(c, kElementSizes[(t + i) % 5], stream.id);
      ++finished;
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(finished, 8u);
  EXPECT_EQ(wrong, 0u);
}

// ---- more elements than 32 bits count, and extremes. An element's content is a function of its index, so that neither
// side is ever on the host as a whole.
template <class T>
T content(std::uint64_t index) {
  std::uint64_t const x = (index + 1) * 0x9E3779B97F4A7C15u;
  if constexpr (sizeof(T) == 16)
    return T(x) << 64 | index;
  else
    return T(x >> (64 - 8 * sizeof(T)));
}
constexpr std::size_t kGuard = OnDevice::kGuard;
constexpr std::int64_t kSlab = 64 << 20;  // elements that are on the host at a time

// Transposes L matrices M x N that lie in one piece; how many elements, or bytes of the guards, are wrong.
template <class T>
std::int64_t wrong_of_large(std::int64_t M, std::int64_t N, std::int64_t L = 1) {
  std::int64_t const elements = M * N * L;
  std::size_t const bytes = std::size_t(elements) * sizeof(T) + 2 * kGuard;
  DeviceBuffer const in = device_buffer(bytes), out = device_buffer(bytes);
  check(cudaMemset(out.get(), 0xA5, bytes));
  std::vector<T> slab(std::size_t(std::min(kSlab, elements)));
  for (std::int64_t first = 0; first < elements; first += kSlab) {
    std::int64_t const n = std::min(kSlab, elements - first);
    in_parallel(n, [&](std::int64_t i, std::int64_t last) {
      for (; i < last; ++i) slab[std::size_t(i)] = content<T>(std::uint64_t(first + i));
    });
    check(cudaMemcpy(in.get() + kGuard + std::size_t(first) * sizeof(T), slab.data(), std::size_t(n) * sizeof(T),
                     cudaMemcpyHostToDevice));
  }
  transpose(view(out.get() + kGuard, sizeof(T), {L, N, M}, {M * N, M, 1}),
            view(in.get() + kGuard, sizeof(T), {L, M, N}, {M * N, N, 1}));
  std::atomic<std::int64_t> wrong = 0;
  for (std::int64_t first = 0; first < elements; first += kSlab) {
    std::int64_t const n = std::min(kSlab, elements - first);
    check(cudaMemcpy(slab.data(), out.get() + kGuard + std::size_t(first) * sizeof(T), std::size_t(n) * sizeof(T),
                     cudaMemcpyDeviceToHost));
    in_parallel(n, [&](std::int64_t i, std::int64_t last) {
      std::int64_t const l = (first + i) / (M * N), rest = (first + i) % (M * N);
      std::int64_t row = l * N + rest / M, m = rest % M, bad = 0;  // rows of all the outputs
      for (; i < last; ++row, m = 0)
        for (std::int64_t const matrix = row / N * M * N, column = row % N; m < M && i < last; ++i, ++m)
          bad += slab[std::size_t(i)] != content<T>(std::uint64_t(matrix + m * N + column));
      wrong += bad;
    });
  }
  for (char const* guard : {out.get(), out.get() + bytes - kGuard}) {
    std::vector<unsigned char> got(kGuard);
    check(cudaMemcpy(got.data(), guard, kGuard, cudaMemcpyDeviceToHost));
    for (unsigned char b : got) wrong += b != 0xA5;
  }
  return wrong;
}

TEST(GpuLarge, MoreThan31BitsOfElements) {
  NEEDS_GPU_MEMORY(20e9);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(32768, 65552), 0);
  EXPECT_EQ(wrong_of_large<std::uint16_t>(46351, 46349), 0);
  EXPECT_EQ(wrong_of_large<std::uint32_t>(46352, 46352), 0);
}
TEST(GpuLarge, MoreThan32BitsOfElements) {
  NEEDS_GPU_MEMORY(10e9);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(65537, 65543), 0);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(65536, 65552), 0);
}
TEST(GpuLarge, RowsAndColumns) {
  NEEDS_GPU_MEMORY(10e9);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(1, 100000000), 0);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(100000000, 1), 0);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(1, (std::int64_t(1) << 32) + 5), 0);
  EXPECT_EQ(wrong_of_large<unsigned __int128>(10000003, 1), 0);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(100000000, 3), 0);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(3, 100000000), 0);
}
TEST(GpuLarge, AMillionSmallMatrices) {
  NEEDS_GPU_MEMORY(1e9);
  EXPECT_EQ(wrong_of_large<std::uint32_t>(4, 4, 1000000), 0);
  EXPECT_EQ(wrong_of_large<std::uint8_t>(7, 5, 1000000), 0);
}

std::string refusal(Tensor const& dst, ConstTensor const& src) {
  try {
    transpose(dst, src);
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
// Host memory is taken where the device can access it: what CUDA does not know, and what it has pinned.
TEST(Gpu, HostMemoryIsTakenWhereTheDeviceCanAccessIt) {
  NEEDS_GPU();
  std::vector<float> host(16), back(16);
  for (int i = 0; i < 16; ++i) host[std::size_t(i)] = float(i);
  DeviceBuffer const device = device_buffer(64);
  Tensor const dst = matrix(reinterpret_cast<float*>(device.get()), 4, 4);
  auto const transposes = [&] {
    check(cudaMemcpy(back.data(), device.get(), 64, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < 16; ++i)
      if (back[i] != float(i % 4 * 4 + i / 4)) return false;
    return true;
  };
  std::string const said = refusal(dst, matrix(host.data(), 4, 4));
  if (current_device().pageable_access)
    EXPECT_TRUE(said.empty() && transposes()) << said;
  else
    EXPECT_EQ(said,
              "the source pointer is host memory that CUDA does not know, and device 0 cannot access pageable memory");
  void* pinned = nullptr;
  check(cudaMallocHost(&pinned, 64));
  std::memcpy(pinned, host.data(), 64);
  check(cudaMemset(device.get(), 0, 64));
  EXPECT_EQ(refusal(dst, matrix(pinned, f32, 4, 4)), "");
  EXPECT_TRUE(transposes());
  check(cudaFreeHost(pinned));
}
// Another GPU's memory is taken once the current device may access it.
TEST(Gpu, MemoryOfAnotherGpuIsTakenWhereTheDeviceCanAccessIt) {
  int devices = 0, can = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) GTEST_SKIP() << "fewer than two GPUs";
  check(cudaDeviceCanAccessPeer(&can, 0, 1));
  check(cudaSetDevice(1));
  void* other = nullptr;
  check(cudaMalloc(&other, 64));
  std::vector<float> host(16), back(16);
  for (int i = 0; i < 16; ++i) host[std::size_t(i)] = float(i);
  check(cudaMemcpy(other, host.data(), 64, cudaMemcpyHostToDevice));
  check(cudaSetDevice(0));
  DeviceBuffer const device = device_buffer(64);
  Tensor const dst = matrix(reinterpret_cast<float*>(device.get()), 4, 4);
  std::string const refused = std::string("the source pointer belongs to device 1, which device 0 can") +
                              (can ? " access only after cudaDeviceEnablePeerAccess" : "not access");
  EXPECT_EQ(refusal(dst, matrix(other, f32, 4, 4)), refused);
  if (can) {
    check(cudaDeviceEnablePeerAccess(1, 0));
    EXPECT_EQ(refusal(dst, matrix(other, f32, 4, 4)), "");
    EXPECT_EQ(refusal(matrix(other, f32, 4, 4), dst), "");
    check(cudaMemcpy(back.data(), other, 64, cudaMemcpyDeviceToHost));
    EXPECT_EQ(back, host);  // there and back
    check(cudaDeviceDisablePeerAccess(1));
  }
  check(cudaFree(other));
}
// What cudaMallocAsync gives while a stream is captured is the graph's: CUDA knows no such pointer yet.
TEST(Gpu, MemoryOfAGraphIsTaken) {
  NEEDS_GPU();
  OnDevice const here({300, 500}, true, 4);
  std::size_t const bytes = 300 * 500 * 4;
  Plan const plan = inlay::plan(here.dst(), here.src().transposed());
  Stream const stream;
  for (bool planned : {false, true}) {
    check(cudaMemset(here.dst().data, 0, bytes));
    void* between = nullptr;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check(cudaStreamBeginCapture(stream.id, cudaStreamCaptureModeGlobal));
    check(cudaMallocAsync(&between, bytes, stream.id));
    check(cudaMemcpyAsync(between, here.src().data, bytes, cudaMemcpyDeviceToDevice, stream.id));
    if (planned)
      plan.run(here.dst().data, between, stream.id);
    else
      transpose(here.dst(), tensor(static_cast<void const*>(between), b32, {1, 300, 500}), stream.id);
    check(cudaFreeAsync(between, stream.id));
    check(cudaStreamEndCapture(stream.id, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    check(cudaGraphLaunch(executable, stream.id));
    check(cudaStreamSynchronize(stream.id));
    EXPECT_EQ(here.wrong_bytes(), 0u);
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
  }
}
TEST(Gpu, AStreamOfAnotherDeviceIsRefused) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) GTEST_SKIP() << "fewer than two GPUs";
  OnDevice const here({300, 500}, true, 4);
  check(cudaSetDevice(1));
  auto stream = std::make_unique<Stream>();
  check(cudaSetDevice(0));
  std::string said;
  try {
    transpose(here.dst(), here.src(), stream->id);
  } catch (Error const& e) {
    said = e.what();
  }
  EXPECT_EQ(said, "the stream belongs to device 1, the current device is 0");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  for (cudaStream_t null : {cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread}) {
    transpose(here.dst(), here.src(), null);
    check(cudaStreamSynchronize(null));
    EXPECT_EQ(here.wrong_bytes(), 0u);
  }
}
// The C interface, with tensors of DLPack.
DLTensor in_c(ConstTensor const& t) {
  return {const_cast<void*>(t.data),
          {kDLCUDA, 0},
          t.rank,
          {kDLUInt, std::uint8_t(8 * bytes_of(t.dtype)), 1},
          const_cast<std::int64_t*>(t.extent),
          const_cast<std::int64_t*>(t.stride),
          0};
}
// Lists of one layout and of several, with pairs beyond what one launch holds, and elements of every size.
TEST(Gpu, ListsOfCopies) {
  NEEDS_GPU();
  for (int e : kElementSizes)
    for (bool transposes : {false, true}) {
      SCOPED_TRACE(std::to_string(e) + " bytes" + (transposes ? ", transposes" : ""));
      std::deque<OnDevice> all;
      for (int i = 0; i < 12; ++i) all.emplace_back(Case{300 + i % 3, 500}, transposes, e);
      for (int i = 0; i < 12; ++i) all.emplace_back(Case{64, 96, 2}, transposes, e);
      std::vector<Tensor> dst;
      std::vector<ConstTensor> src;
      for (OnDevice const& one : all) {
        dst.push_back(one.dst());
        src.push_back(transposes ? one.src().transposed() : one.src());
      }
      copy(dst, src);
      check(cudaDeviceSynchronize());
      for (OnDevice const& one : all) EXPECT_EQ(one.wrong_bytes(), 0u);
    }
}
TEST(Gpu, LongListsOfCopies) {
  NEEDS_GPU();
  constexpr std::int64_t kPairs = 4000, kRows = 9, kCols = 7;  // three launches
  std::vector<int> from(kPairs * kRows * kCols), expected(from.size()), got(from.size());
  std::iota(from.begin(), from.end(), 1);
  DeviceBuffer const in = device_buffer(from.size() * 4), out = device_buffer(from.size() * 4);
  check(cudaMemcpy(in.get(), from.data(), from.size() * 4, cudaMemcpyHostToDevice));
  check(cudaMemset(out.get(), 0xA5, from.size() * 4));
  std::vector<Tensor> dst;
  std::vector<ConstTensor> src;
  std::vector<DLTensor> to, of;
  for (std::int64_t i = 0; i < kPairs; ++i) {
    std::int64_t const j = kPairs - 1 - i;  // pairs in another order
    dst.push_back(matrix(out.get() + i * kRows * kCols * 4, b32, kCols, kRows));
    src.push_back(matrix(in.get() + j * kRows * kCols * 4, b32, kRows, kCols).transposed());
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t c = 0; c < kCols; ++c)
        expected[std::size_t((i * kCols + c) * kRows + r)] = from[std::size_t((j * kRows + r) * kCols + c)];
  }
  auto const result = [&] {
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(got.data(), out.get(), got.size() * 4, cudaMemcpyDeviceToHost));
    check(cudaMemset(out.get(), 0xA5, from.size() * 4));
    return got == expected;
  };
  copy(dst, src);
  EXPECT_TRUE(result());
  for (std::int64_t i = 0; i < kPairs; ++i)
    to.push_back(in_c(dst[std::size_t(i)])), of.push_back(in_c(src[std::size_t(i)]));
  std::vector<DLTensor const*> to_list, of_list;
  for (std::size_t i = 0; i < to.size(); ++i) to_list.push_back(&to[i]), of_list.push_back(&of[i]);
  EXPECT_EQ(inlay_copy_list(to_list.data(), of_list.data(), to.size(), nullptr), INLAY_OK) << inlay_last_error();
  EXPECT_TRUE(result());
  EXPECT_EQ(inlay_copy_list(nullptr, of_list.data(), 1, nullptr), INLAY_INVALID_ARGUMENT);
  EXPECT_STREQ(inlay_last_error(), "dst is a null pointer");
}
TEST(GpuC, Copies) {
  NEEDS_GPU();
  for (int e : kElementSizes) {
    OnDevice const here({300, 500}, true, e), there({300, 500}, true, e);
    Tensor const dst = here.dst();
    ConstTensor const src = here.src(), transposed = src.transposed();
    DLTensor const to = in_c(dst), from = in_c(src), seen = in_c(transposed);
    EXPECT_EQ(inlay_transpose(&to, &from, nullptr), INLAY_OK) << inlay_last_error();
    check(cudaDeviceSynchronize());
    EXPECT_EQ(here.wrong_bytes(), 0u);
    inlay_plan* plan = nullptr;
    ASSERT_EQ(inlay_plan_copy(&to, &seen, &plan), INLAY_OK) << inlay_last_error();
    EXPECT_EQ(inlay_plan_run_copy(plan, there.dst().data, there.src().data, nullptr), INLAY_OK) << inlay_last_error();
    check(cudaDeviceSynchronize());
    EXPECT_EQ(there.wrong_bytes(), 0u);
    char text[64];
    std::size_t needed = 0;
    EXPECT_EQ(inlay_plan_why(plan, text, sizeof text, &needed), INLAY_OK);
    EXPECT_EQ(std::strlen(text), 63u);
    EXPECT_GT(needed, 64u);
    inlay_plan_destroy(plan);
  }
}
TEST(GpuC, Multiplies) {
  NEEDS_GPU();
  constexpr std::int64_t n = 64;
  std::vector<float> const ones(n * n, 1.f);
  void* allocated = nullptr;
  check(cudaMalloc(&allocated, 3 * n * n * sizeof(float)));
  auto* const memory = static_cast<float*>(allocated);
  for (int k = 0; k < 3; ++k)
    check(cudaMemcpy(memory + k * n * n, ones.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  std::int64_t shape[2] = {n, n};
  auto const square = [&](int k) {
    return DLTensor{memory + k * n * n, {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, nullptr, 0};
  };
  DLTensor const A = square(0), B = square(1), D = square(2);
  inlay_gemm_options options = INLAY_GEMM_OPTIONS;
  options.alpha = 2, options.beta = 3;
  EXPECT_EQ(inlay_gemm(&A, &B, &D, &options, nullptr), INLAY_OK) << inlay_last_error();
  std::vector<float> result(n * n);
  check(cudaMemcpy(result.data(), memory + 2 * n * n, n * n * sizeof(float), cudaMemcpyDeviceToHost));
  EXPECT_EQ(result, std::vector<float>(n * n, 2.f * n + 3));
  DLTensor broken = A;
  broken.dtype.bits = 64;
  EXPECT_EQ(inlay_gemm(&broken, &broken, &broken, nullptr, nullptr), INLAY_INVALID_ARGUMENT);
  EXPECT_STREQ(inlay_last_error(), "A has elements of type f64; gemm takes f32, bf16 and f16");
  check(cudaFree(memory));
}
// An error of CUDA's is told by the exception, and not once more to the next who asks for the last one.
TEST(Gpu, AnErrorIsToldOnce) {
  NEEDS_GPU();
  try {
    device_buffer(std::size_t(1) << 60);
    FAIL() << "2^60 bytes of device memory";
  } catch (Error const& e) {
    EXPECT_EQ(e.code(), ErrorCode::cuda);
    EXPECT_EQ(e.cuda_status(), cudaErrorMemoryAllocation);
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}
// Views that are flipped have the modes of others and begin elsewhere: each has a plan of its own.
TEST(Gpu, FlippedViewsDoNotShareAPlan) {
  NEEDS_GPU();
  constexpr std::int64_t n = 999;
  void* memory = nullptr;
  check(cudaMalloc(&memory, 2 * n * sizeof(float)));
  std::vector<float> numbers(n), result(n);
  std::iota(numbers.begin(), numbers.end(), 1.f);
  auto* const src = static_cast<float*>(memory);
  float* const dst = src + n;
  check(cudaMemcpy(src, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  for (int order = 0; order < 8; ++order) {
    bool const flip_dst = order % 2, flip_src = order / 2 % 2;
    copy(tensor(flip_dst ? dst + n - 1 : dst, {n}, {flip_dst ? -1 : 1}),
         tensor(static_cast<float const*>(flip_src ? src + n - 1 : src), {n}, {flip_src ? -1 : 1}));
    check(cudaMemcpy(result.data(), dst, n * sizeof(float), cudaMemcpyDeviceToHost));
    std::vector<float> wanted = numbers;
    if (flip_dst != flip_src) std::reverse(wanted.begin(), wanted.end());
    EXPECT_EQ(result, wanted) << flip_dst << flip_src;
    check(cudaMemset(dst, 255, n * sizeof(float)));
  }
  check(cudaFree(memory));
}
// ---- plans that are kept
TEST(GpuPlan, MovesAsTransposeDoes) {
  NEEDS_GPU();
  for (int e : kElementSizes)
    for (Case const& c : corpus()) {
      OnDevice const made_with(c, true, e), other(c, true, e);
      Plan const plan = inlay::plan(made_with.dst(), made_with.src().transposed());
      EXPECT_EQ(plan.workspace_bytes(), 0u);
      for (OnDevice const* here :
           {&other, &made_with}) {  // other places first: nothing has run where the plan was made
        plan.run(here->dst().data, here->src().data);
        check(cudaDeviceSynchronize());
        EXPECT_EQ(here->wrong_bytes(), 0u) << e << " bytes, " << c.name();
      }
    }
}
TEST(GpuPlan, CopiesOutliveTheOriginalAndRunInManyThreads) {
  NEEDS_GPU();
  Case const c{203, 148, 3, 1, 2, 3, 5};
  std::vector<std::unique_ptr<OnDevice>> all;
  for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<OnDevice>(c, true, 4));
  auto original = std::make_unique<Plan>(inlay::plan(all[0]->dst(), all[0]->src().transposed()));
  Plan const plan = *original;
  original.reset();
  std::vector<std::thread> threads;
  for (auto const& here : all)
    threads.emplace_back([&plan, &here] {
      Stream const stream;
      for (int i = 0; i < 20; ++i) plan.run(here->dst().data, here->src().data, stream.id);
      check(cudaStreamSynchronize(stream.id));
    });
  for (auto& t : threads) t.join();
  for (auto const& here : all) EXPECT_EQ(here->wrong_bytes(), 0u);
}
TEST(GpuPlan, MovesViewsThatGoBackwards) {
  NEEDS_GPU();
  std::vector<char> bytes(64 * 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = char(i * 37);
  DeviceBuffer const in = device_buffer(bytes), out = device_buffer(bytes.size()), unused = device_buffer(bytes.size());
  Tensor const dst = view(unused.get() + 63 * 4, 4, {64}, {-1}), src = view(in.get(), 4, {64}, {1});
  inlay::plan(dst, src).run(out.get() + 63 * 4, in.get());
  std::vector<char> got(bytes.size());
  check(cudaMemcpy(got.data(), out.get(), got.size(), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(std::memcmp(&got[std::size_t(4 * i)], &bytes[std::size_t(4 * (63 - i))], 4), 0);
}
// What a call of f is refused with; empty: it is not.
template <class F>
std::string said_by(F const& f) {
  try {
    f();
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
// What was measured is remembered, written, forgotten and read; calls take it meanwhile and copy the same bytes.
TEST(GpuPlan, TunedChoicesAreKept) {
  NEEDS_GPU();
  OnDevice const here({300, 500, 3}, true, 4);
  auto const text = [&] { return inlay::plan(here.dst(), here.src().transposed()).why(); };
  std::string const path = testing::TempDir() + "inlay_tuning_gpu.jsonl", tuned = "tuned: it took";
  EXPECT_EQ(text().find(tuned), std::string::npos);
  std::string const measured = inlay::plan(here.dst(), here.src().transposed(), {Choose::measured}).why();
  EXPECT_NE(measured.find("measured"), std::string::npos) << measured;
  EXPECT_NE(text().find(tuned), std::string::npos) << text();
  check(cudaMemset(here.dst().data, 0, 4));
  transpose(here.dst(), here.src());
  check(cudaDeviceSynchronize());
  EXPECT_EQ(here.wrong_bytes(), 0u);
  save_tuning(path);
  forget_tuning();
  EXPECT_EQ(text().find(tuned), std::string::npos);
  std::size_t loaded = 0;
  EXPECT_EQ(inlay_load_tuning(path.c_str(), &loaded), INLAY_OK) << inlay_last_error();
  EXPECT_EQ(loaded, 1u);
  EXPECT_NE(text().find(tuned), std::string::npos);
  forget_tuning();
  EXPECT_EQ(inlay_load_tuning("/no/such/file", nullptr), INLAY_INVALID_ARGUMENT);
}
// Addresses that agree with the plan's modulo 16 bytes, but not modulo the 32 of a sector.
TEST(GpuPlan, RunsAtOtherHalvesOfASector) {
  NEEDS_GPU();
  constexpr std::int64_t kRows = 300, kCols = 500;
  std::vector<int> from(kRows * kCols), got(from.size()), expected(from.size());
  std::iota(from.begin(), from.end(), 1);
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < kCols; ++c) expected[std::size_t(c * kRows + r)] = from[std::size_t(r * kCols + c)];
  std::size_t const bytes = from.size() * 4;
  DeviceBuffer const in = device_buffer(bytes + 64), out = device_buffer(bytes + 64);
  Plan const plan = inlay::plan(matrix(out.get(), b32, kCols, kRows), matrix(in.get(), b32, kRows, kCols).transposed());
  for (int to : {0, 16, 32})
    for (int of : {0, 16, 48}) {
      check(cudaMemcpy(in.get() + of, from.data(), bytes, cudaMemcpyHostToDevice));
      check(cudaMemset(out.get(), 0xA5, bytes + 64));
      plan.run(out.get() + to, in.get() + of);
      check(cudaDeviceSynchronize());
      check(cudaMemcpy(got.data(), out.get() + to, bytes, cudaMemcpyDeviceToHost));
      EXPECT_EQ(got, expected) << to << " " << of;
    }
}
TEST(GpuPlan, RefusesWhatItWasNotMadeFor) {
  NEEDS_GPU();
  DeviceBuffer const in = device_buffer(8192), out = device_buffer(8192);
  Plan const plan = inlay::plan(view(out.get() + 4, 4, {8, 8}, {8, 1}), view(in.get(), 4, {8, 8}, {8, 1}));
  EXPECT_EQ(said_by([&] { plan.run(out.get() + 4, in.get()); }), "");
  EXPECT_EQ(said_by([&] { plan.run(out.get() + 1028, in.get() + 1024); }), "");
  EXPECT_EQ(said_by([&] { plan.run(out.get() + 20, in.get()); }),
            "");  // a plan of its own: it agrees modulo 16, not 32
  EXPECT_EQ(said_by([&] { plan.run(out.get() + 8, in.get()); }),
            "the destination begins 8 bytes past a multiple of 16, that of the plan 4");
  EXPECT_EQ(said_by([&] { plan.run(out.get() + 4, in.get() + 12); }),
            "the source begins 12 bytes past a multiple of 16, that of the plan 0");
  EXPECT_EQ(said_by([&] { plan.run(out.get() + 4, nullptr); }), "the source is a null pointer, but has elements");
  EXPECT_EQ(said_by([&] { plan.run(in.get() + 36, in.get()); }),
            "the source and the destination of shape (8,8) overlap in memory");
  EXPECT_EQ(said_by([&] { plan.run(in.get(), in.get(), out.get()); }),
            "this plan is for a copy: it runs with a destination and a source");
  alignas(32) static float host[64];
  EXPECT_EQ(
      said_by([&] { plan.run(out.get() + 4, host); }),
      current_device().pageable_access
          ? ""
          : "the source pointer is host memory that CUDA does not know, and device 0 cannot access pageable memory");
  check(cudaDeviceSynchronize());
}
TEST(GpuPlan, OfNothingRunsAnywhere) {
  NEEDS_GPU();
  Plan const plan = inlay::plan(view(nullptr, 4, {0, 8}, {8, 1}), view(nullptr, 4, {0, 8}, {8, 1}));
  EXPECT_EQ(said_by([&] { plan.run(static_cast<void*>(nullptr), nullptr); }), "");
}
TEST(GpuPlan, SaysWhy) {
  NEEDS_GPU();
  OnDevice const here({4095, 4097}, true, 4);
  std::string const why = inlay::plan(here.dst(), here.src().transposed()).why();
  EXPECT_EQ(why.find("copy of 16777215 elements of 4 bytes, a transpose, on " + current_device().name + "\n"), 0u)
      << why;
  EXPECT_NE(why.find("chosen: "), std::string::npos) << why;
}
// Neither memory nor, as tests/test_gpu_first_call.cpp shows, a synchronisation. A first round loads the kernels.
TEST(Gpu, TransposeAllocatesNoDeviceMemory) {
  NEEDS_GPU();
  std::vector<std::unique_ptr<OnDevice>> all;
  for (int e : kElementSizes)
    for (Case const& c : {Case{256, 272}, Case{150, 171, 1, 1, 1, 1, 1}, Case{600, 5}, Case{5, 600}, packed(3, 5, 70)})
      all.push_back(std::make_unique<OnDevice>(c, true, e));
  std::size_t free[2], total;
  for (std::size_t& now : free) {
    for (auto const& one : all) transpose(one->dst(), one->src());
    check(cudaDeviceSynchronize());
    check(cudaMemGetInfo(&now, &total));
  }
  EXPECT_EQ(free[0], free[1]);
}

}  // namespace
}  // namespace inlay::test
