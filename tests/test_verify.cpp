// What `inlay verify` finds on the CPU beyond a replay on whole numbers; what of memory a copy is measured by.
#include <gtest/gtest.h>

#include <set>

#include "mutants.h"
#include "problems/copy_case.h"
#include "problems/gemm_case.h"
#include "problems/kernels.h"
#include "verify/replay_check.h"

namespace inlay::lab {
namespace {

template <int Bits>
Replayed verified(GemmCase const& c) {
  Entry<Gemm> entry = kernel_named<GemmCase>("sgemm_01_naive");
  entry.replay = [](Gemm const& gemm, Device const& device, Recorder& recorder) {
    test::replay_rounded(kernel_named<GemmCase>("sgemm_01_naive"), gemm, device, recorder, Bits);
  };
  EXPECT_EQ(replay_on_cpu(entry, c).check_result, "ok");  // whole numbers do not see it
  return verify_on_cpu(entry, c);
}

TEST(Verify, TellsFp32FromTf32AndBf16) {
  GemmCase plain = gemm_case(37, 41, 19, "nt"), scaled = gemm_case(16, 33, 300, "tn");
  scaled.alpha = -2.5f, scaled.beta = 1.5f, scaled.batch = 2;
  for (GemmCase const& c : {plain, scaled}) {
    SCOPED_TRACE(c.sentence());
    EXPECT_EQ(verified<24>(c).check_result, "ok");
    for (Replayed const& wrong : {verified<11>(c), verified<8>(c)}) {
      EXPECT_TRUE(wrong.failed());
      EXPECT_NE(wrong.check_result.find("the root mean square error is"), std::string::npos) << wrong.check_result;
    }
  }
}

// Element by element; of both sides, which lie alike.
std::int64_t touched_bytes(CopyCase const& c) {
  std::set<std::int64_t> sectors;
  std::int64_t const n = c.elements();
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t at = c.base_src, rest = i;
    for (std::size_t k = 0; k < c.sizes.size(); ++k)
      at += rest % c.sizes[k] * std::abs(c.src_strides[k]) * c.elem_bytes, rest /= c.sizes[k];
    for (std::int64_t s = at / 32; s <= (at + c.elem_bytes - 1) / 32; ++s) sectors.insert(s);
  }
  return 2 * 32 * std::int64_t(sectors.size());
}
CopyCase alike(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, int elem_bytes, std::int64_t base) {
  CopyCase c;
  c.sizes = std::move(sizes), c.src_strides = c.dst_strides = std::move(strides), c.elem_bytes = elem_bytes;
  c.base_src = c.base_dst = base, c.perm.resize(c.sizes.size());
  for (std::size_t k = 0; k < c.perm.size(); ++k) c.perm[k] = std::int64_t(k);
  return c;
}

TEST(CopyCase, SectorsAreThoseTouched) {
  for (CopyCase const& c :
       {alike({683, 7}, {6, 4098}, 6, 0), alike({64, 63, 5}, {1, 65, 5525}, 3, 2), alike({31, 8}, {0, 40}, 4, 28),
        alike({5, 9, 11}, {7, -35, 315}, 16, 16), alike({100, 20}, {1, 107}, 1, 31), alike({9, 50}, {-3, 64}, 2, 6)}) {
    SCOPED_TRACE(c.sentence());
    EXPECT_EQ(c.sector_bytes(), touched_bytes(c));
  }
}
// Where runs are too many, what is touched on average, from the same modes.
TEST(CopyCase, SectorsOfManyRunsAreTheirMean) {
  for (CopyCase c :
       {alike({11, 96}, {12, 132}, 6, 0), alike({11, 96}, {13, 147}, 6, 4), alike({11, 96}, {7, 77}, 16, 0),
        alike({33, 32}, {1, 67}, 1, 5), alike({70, 32}, {1, 107}, 2, 6)}) {
    SCOPED_TRACE(c.sentence());
    double const few = double(touched_bytes(c));
    c.sizes[1] *= 1 << 18;
    EXPECT_NEAR(double(c.sector_bytes()) / (1 << 18) / few, 1, .01);
  }
}

}  // namespace
}  // namespace inlay::lab
