// grouped_gemm() on the device: small integers compared bit for bit between guard bands, other groups in a replayed
// graph, and the same bits whatever the other groups are.
#include <inlay/gemm.h>
#include <inlay/planner/candidate.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gemm_gpu.h"
#include "groups_corpus.h"

namespace inlay::test {
namespace {

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
  explicit OnDevice(GroupsCase const& c, Data data = integers) : c_(c) {
    host_a_ = numbers(std::size_t(c.base + c.M * c.K), c.type, 1, data);
    host_b_ = numbers(std::size_t(c.groups() * c.K * c.N), c.type, 2, data);
    before_ = std::vector<char>(kGuard, char(0xA5));
    std::vector<char> const old = numbers(std::size_t(c.elements_of_D()), c.type_of_D, 3, data);
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
    grouped_gemm(c_.A(a_.get()), c_.B(b_.get()), c_.D(d_.get() + kGuard), ends(), c_.epilogue, stream);
  }
  // The canonical problem.
  Gemm problem() const {
    return make_grouped_gemm(c_.A(a_.get()), c_.B(b_.get()), c_.D(d_.get() + kGuard), ends(), c_.epilogue);
  }
  std::vector<char> bytes() const {
    check(cudaDeviceSynchronize());
    std::vector<char> got(before_.size());
    check(cudaMemcpy(got.data(), d_.get(), got.size(), cudaMemcpyDeviceToHost));
    return got;
  }
  // The first byte of element (m,n) in the buffer of D.
  std::size_t at(std::int64_t m, std::int64_t n) const { return kGuard + byte_of(c_.D(nullptr), m, n); }
  std::size_t wrong_bytes() const {
    std::vector<char> expected = before_;
    Tensor const A = c_.A(nullptr), B = c_.B(nullptr);
    std::int64_t const of_group = c_.N * c_.K * bytes_of(c_.type);
    std::int64_t m = 0;
    for (std::int64_t g = 0; g < c_.groups(); ++g)
      for (std::int64_t const end = std::clamp<std::int64_t>(c_.ends[std::size_t(g)], m, c_.M); m < end; ++m)
        for (std::int64_t n = 0; n < c_.N; ++n) {
          double sum = 0;
          for (std::int64_t k = 0; k < c_.K; ++k)
            sum += double(read_number(&host_a_[byte_of(A, m, k)], c_.type)) *
                   double(read_number(&host_b_[std::size_t(g * of_group) + byte_of(B, k, n)], c_.type));
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
  std::span<std::int32_t const> ends() const {
    return {reinterpret_cast<std::int32_t const*>(ends_.get()), c_.ends.size()};
  }
  // The offset of element (i,j) of the last two modes of a view of a buffer at 0.
  static std::size_t byte_of(Tensor const& t, std::int64_t i, std::int64_t j) {
    return reinterpret_cast<std::size_t>(t.data) +
           std::size_t((i * t.stride[t.rank - 2] + j * t.stride[t.rank - 1]) * bytes_of(t.dtype));
  }

  GroupsCase c_;
  std::vector<char> host_a_, host_b_, before_;
  DeviceBuffer a_, b_, d_, ends_;
};

TEST(GpuGroups, Corpus) {
  NEEDS_GPU();
  for (GroupsCase c : groups_corpus())
    for (int way = 0; way < 4; ++way) {  // both majors of A; whole vectors, and none
      c.a_along_m = way % 2 == 1, c.base = way / 2;
      SCOPED_TRACE(c.name());
      OnDevice const here(c);
      here.multiply();
      EXPECT_EQ(here.wrong_bytes(), 0u);
    }
}
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
              GroupsCase const c{720,
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
// Which tile is chosen depends on all groups.
TEST(GpuGroups, EveryTileAddsInTheSameOrder) {
  NEEDS_GPU();
  OnDevice here({700, 520, 1032, {100, 250, 420, 640}}, normal);
  std::vector<char> expected;
  for (planner::Candidate<Gemm> const& row : planner::candidates<Gemm>()) {
    if (!row.for_groups) continue;
    here.reset();
    Gemm const g = here.problem();
    planner::Plan const plan = planner::make_plan(g, model::current_device(), true, std::span(&row, 1));
    if (plan.candidate != 0) continue;  // no wgmma
    planner::run(plan, model::current_device(),
                 {{g.A.base, g.B.base, g.D.base, nullptr, nullptr, const_cast<std::int32_t*>(g.group_ends)}, nullptr},
                 nullptr);
    if (expected.empty()) expected = here.bytes();
    EXPECT_TRUE(here.bytes() == expected) << row.label;
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
