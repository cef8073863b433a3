// grouped_gemm() on the device: small integers compared bit for bit between guard bands, other groups in a replayed
// graph, and the same bits whatever the other groups are.
#include <inlay/gemm.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gemm_gpu.h"

namespace inlay::test {
namespace {

struct Groups {
  std::int64_t M, N, K;
  std::vector<std::int32_t> ends;
  bool b_along_n = false, d_along_m = false;
  DType type = bf16, type_of_D = bf16;
  Epilogue epilogue = {};
  std::int64_t gap = 0, base = 0;  // elements: of D's pitch; of A and D from a multiple of 16 bytes
};

constexpr std::size_t kGuard = 1024;

std::vector<char> numbers(std::size_t count, DType type, unsigned seed, Data data) {
  std::vector<char> bytes(count * std::size_t(bytes_of(type)));
  for (std::size_t i = 0; i < count; ++i) write_number(&bytes[i * std::size_t(bytes_of(type))], type, data(i, seed));
  return bytes;
}
std::vector<char> bytes_of_ends(std::vector<std::int32_t> const& ends) {
  std::vector<char> bytes(ends.size() * sizeof ends[0]);
  if (!ends.empty()) std::memcpy(bytes.data(), ends.data(), bytes.size());
  return bytes;
}

class OnDevice {
 public:
  explicit OnDevice(Groups const& c, Data data = integers)
      : c_(c), G_(std::int64_t(c.ends.size())), pitch_((c.d_along_m ? c.M : c.N) + c.gap) {
    host_a_ = numbers(std::size_t(c.M * c.K + c.base), c.type, 1, data);
    host_b_ = numbers(std::size_t(G_ * c.K * c.N), c.type, 2, data);
    auto const elements = std::size_t(pitch_ * (c.d_along_m ? c.N : c.M) + c.base);
    before_ = std::vector<char>(kGuard, char(0xA5));
    std::vector<char> const old = numbers(elements, c.type_of_D, 3, data);
    before_.insert(before_.end(), old.begin(), old.end());
    before_.insert(before_.end(), kGuard, char(0xA5));
    a_ = device_buffer(host_a_), b_ = device_buffer(host_b_), d_ = device_buffer(before_);
    ends_ = device_buffer(bytes_of_ends(c.ends));
  }
  void set_ends(std::vector<std::int32_t> const& ends) {
    c_.ends = ends;
    check(cudaMemcpy(ends_.get(), ends.data(), ends.size() * 4, cudaMemcpyHostToDevice));
  }
  void set_A(std::vector<char> const& bytes) {
    host_a_ = bytes;
    check(cudaMemcpy(a_.get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  }
  std::vector<char> const& A() const { return host_a_; }
  void reset() { check(cudaMemcpy(d_.get(), before_.data(), before_.size(), cudaMemcpyHostToDevice)); }
  void multiply(cudaStream_t stream = nullptr) const {
    auto const K = c_.K, N = c_.N, M = c_.M;
    int const size = bytes_of(c_.type);
    void* const of_B = b_.get();
    void* const of_A = a_.get() + c_.base * size;
    Tensor const b = c_.b_along_n ? tensor(of_B, c_.type, {G_, K, N}) : tensor(of_B, c_.type, {G_, N, K}).transposed();
    void* const d = d_.get() + kGuard + c_.base * bytes_of(c_.type_of_D);
    Tensor const out = c_.d_along_m ? tensor(d, c_.type_of_D, {N, M}, {pitch_, 1}).transposed()
                                    : tensor(d, c_.type_of_D, {M, N}, {pitch_, 1});
    grouped_gemm(tensor(of_A, c_.type, {M, K}), b, out,
                 {reinterpret_cast<std::int32_t const*>(ends_.get()), c_.ends.size()}, c_.epilogue, stream);
  }
  std::vector<char> bytes() const {
    check(cudaDeviceSynchronize());
    std::vector<char> got(before_.size());
    check(cudaMemcpy(got.data(), d_.get(), got.size(), cudaMemcpyDeviceToHost));
    return got;
  }
  // The first byte of element (m,n) in the buffer.
  std::size_t at(std::int64_t m, std::int64_t n) const {
    std::int64_t const i = c_.base + (c_.d_along_m ? n * pitch_ + m : m * pitch_ + n);
    return kGuard + std::size_t(i * bytes_of(c_.type_of_D));
  }
  std::size_t wrong_bytes() const {
    std::vector<char> expected = before_;
    auto const size = std::size_t(bytes_of(c_.type));
    auto const a = [&](std::int64_t m, std::int64_t k) {
      return read_number(&host_a_[std::size_t(c_.base + m * c_.K + k) * size], c_.type);
    };
    auto const b = [&](std::int64_t g, std::int64_t k, std::int64_t n) {
      std::int64_t const i = c_.b_along_n ? k * c_.N + n : n * c_.K + k;
      return read_number(&host_b_[std::size_t(g * c_.N * c_.K + i) * size], c_.type);
    };
    std::int64_t m = 0;
    for (std::int64_t g = 0; g < G_; ++g)
      for (std::int64_t const end = std::clamp<std::int64_t>(c_.ends[std::size_t(g)], m, c_.M); m < end; ++m)
        for (std::int64_t n = 0; n < c_.N; ++n) {
          double sum = 0;
          for (std::int64_t k = 0; k < c_.K; ++k) sum += double(a(m, k)) * double(b(g, k, n));
          double const old = c_.epilogue.beta != 0 ? read_number(&before_[at(m, n)], c_.type_of_D) : 0,
                       x = c_.epilogue.alpha * sum + c_.epilogue.beta * old;
          write_number(&expected[at(m, n)], c_.type_of_D,
                       float(c_.epilogue.activation == Activation::relu ? std::max(x, 0.) : x));
        }
    std::vector<char> const got = bytes();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected[i];
    return wrong;
  }

 private:
  Groups c_;
  std::int64_t G_, pitch_;
  std::vector<char> host_a_, host_b_, before_;
  DeviceBuffer a_, b_, d_, ends_;
};

TEST(GpuGroups, AreRight) {
  NEEDS_GPU();
  std::vector<std::int32_t> const many = {0, 1, 130, 258, 258, 299, 427, 555, 556, 700};
  for (DType type : {bf16, f16})
    for (DType type_of_D : {type, f32})
      for (bool b_along_n : {false, true})
        for (bool d_along_m : {false, true})
          for (auto const& [N, K, base] :
               {std::tuple{64, 64, 0}, {264, 200, 0}, {520, 72, 1}, {131, 67, 0}, {40, 0, 0}})
            for (float beta : {0.f, 1.f}) {
              Activation const activation = beta != 0 ? Activation::relu : Activation::none;
              Groups const c{720,
                             N,
                             K,
                             many,
                             b_along_n,
                             d_along_m,
                             type,
                             type_of_D,
                             {2, beta, activation},
                             d_along_m && N == 131 ? 3 : 0,
                             base};
              SCOPED_TRACE(std::to_string(N) + "x" + std::to_string(K) + " base " + std::to_string(base) + " " +
                           name_of(type) + " to " + name_of(type_of_D) + (b_along_n ? ", B along n" : "") +
                           (d_along_m ? ", D along m" : ""));
              OnDevice const here(c);
              here.multiply();
              EXPECT_EQ(here.wrong_bytes(), 0u);
            }
}
// More tiles than multiprocessors, whole and partial ones behind one another; D along n by TMA.
TEST(GpuGroups, ManyTilesABlock) {
  NEEDS_GPU();
  std::vector<std::int32_t> ends;
  for (int i = 0, end = 0; i < 40; ++i) ends.push_back(end += i % 3 == 0 ? 128 : i % 3 == 1 ? 1 + 5 * i : 0);
  for (std::int64_t N : {128, 1024, 4096}) {
    OnDevice const here({ends.back() + 5, N, 128, ends});
    for (int i = 0; i < 3; ++i) here.multiply();
    EXPECT_EQ(here.wrong_bytes(), 0u) << N;
  }
}
TEST(GpuGroups, OtherGroupsInAReplayedGraph) {
  NEEDS_GPU();
  for (std::int64_t K : {128, 131}) {
    OnDevice here({600, 256, K, {100, 300, 420}});
    Stream const stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    check(cudaStreamBeginCapture(stream.id, cudaStreamCaptureModeThreadLocal));
    here.multiply(stream.id);
    check(cudaStreamEndCapture(stream.id, &graph));
    check(cudaGraphInstantiate(&exec, graph, 0));
    for (std::vector<std::int32_t> const& ends :
         {std::vector{100, 300, 420}, {0, 0, 600}, {599, 599, 600}, {-7, 1 << 30, 5}, {50, 40, 70}, {0, 0, 0}}) {
      here.set_ends(ends);
      here.reset();
      check(cudaGraphLaunch(exec, stream.id));
      check(cudaStreamSynchronize(stream.id));
      EXPECT_EQ(here.wrong_bytes(), 0u) << ends[0] << " " << ends[1] << " " << ends[2];
    }
    check(cudaGraphExecDestroy(exec));
    check(cudaGraphDestroy(graph));
  }
}
// The rows of group 1, moved, between other groups.
TEST(GpuGroups, BitsDependOnTheGroupAlone) {
  NEEDS_GPU();
  for (std::int64_t K : {520, 523}) {
    std::int64_t const rows = 150, N = 192, M = 900;
    OnDevice here({M, N, K, {100, 100 + 150, 420, 800}}, normal);
    here.multiply();
    std::vector<char> const first = here.bytes();
    std::vector<char> const A = here.A();
    for (std::int32_t begin : {0, 1, 37, 128, 500}) {
      std::vector<char> moved = A;
      std::reverse(moved.begin(), moved.end());
      std::copy_n(A.begin() + 100 * K * 2, rows * K * 2, moved.begin() + begin * K * 2);
      here.set_A(moved);
      here.set_ends({begin, begin + 150, begin + 150, 890});
      here.reset();
      here.multiply();
      std::vector<char> const got = here.bytes();
      EXPECT_TRUE(std::equal(got.begin() + std::ptrdiff_t(here.at(begin, 0)),
                             got.begin() + std::ptrdiff_t(here.at(begin + rows, 0)),
                             first.begin() + std::ptrdiff_t(here.at(100, 0))))
          << begin;
    }
  }
}
TEST(GpuGroups, RefusesWhatItCannotRead) {
  NEEDS_GPU();
  DeviceBuffer const memory[] = {device_buffer(8192), device_buffer(8192), device_buffer(8192)};
  std::int32_t on_host[1] = {64};
  auto const operand = [&](int i) { return static_cast<void*>(memory[i].get()); };
  try {
    grouped_gemm(tensor(operand(0), bf16, {64, 64}), tensor(operand(1), bf16, {1, 64, 64}),
                 tensor(operand(2), bf16, {64, 64}), on_host);
    FAIL() << "nothing was refused";
  } catch (Error const& e) {
    EXPECT_NE(std::string(e.what()).find("the ends of the groups"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace inlay::test
