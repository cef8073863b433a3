// Every kernel, replayed on the CPU over the corpus: bitwise against the oracle, and all checks silent.
#include <gtest/gtest.h>

#include <cstring>

#include <inlay/registry/registry.h>
#include "corpus.h"
#include "long_tests.h"

namespace inlay::test {
namespace {
using namespace registry;
using replay::Finding;

// Replays one case and holds it against the oracle; whether the kernel took it.
bool runs(Entry<Copy> const& entry, Case const& c, int e) {
  SCOPED_TRACE(c.name());
  Views const v = views_of(c, is_transpose(entry.info()));
  Recorder recorder;
  auto const bytes = [&](std::int64_t n) { return std::size_t(n * e) + 64; };
  void* const in = recorder.allocate("in", bytes(v.in_elements), e, 1);
  void* const out = recorder.allocate("out", bytes(v.out_elements), e, 2);
  Copy const copy = copy_of(c, v, in, out, e);
  if (Reason const why = entry.info().rejects(copy, Device{})) {
    EXPECT_GT(why.sentence().size(), 20u);
    return false;
  }
  entry.replay(copy, Device{}, recorder);
  for (Finding const& f : recorder.findings) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
  std::int64_t wrong = 0;
  for (std::int64_t l = 0; l < c.L; ++l)
    for (std::int64_t m = 0; m < c.M; ++m)
      for (std::int64_t n = 0; n < c.N; ++n)
        wrong += std::memcmp(recorder.real(out) + out_offset(c, v, l, m, n) * e,
                             recorder.real(in) + in_offset(c, v, l, m, n) * e, std::size_t(e)) != 0;
  EXPECT_EQ(wrong, 0) << "elements";
  return true;
}

// The cases with elements that each kernel runs at least, at every element size: else the corpus does not test it.
constexpr int kFewest = 6;

class Kernels : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Kernels, ReplayIsRight) {
  auto const& entry = copy_kernels()[std::size_t(std::get<0>(GetParam()))];
  int const e = std::get<1>(GetParam());
  std::string const name = entry.info().name;
  bool const is_short = is_thinned(name);
  int ran = 0, number = std::get<0>(GetParam()) + e;
  for (Case const& c : corpus()) {
    if (is_short && number++ % 3) continue;  // another third of the corpus with the next step and element size
    ran += runs(entry, c, e) && c.M * c.N > 0;
    if (HasFailure()) return;
  }
  bool const never = !takes_elements_of(name, e) || (name.ends_with("interleave") && e > 2);
  EXPECT_EQ(ran >= (is_short ? 1 : kFewest), !never) << "cases run: " << ran;
}

INSTANTIATE_TEST_SUITE_P(Ladder, Kernels,
                         testing::Combine(testing::Range(0, int(copy_kernels().size())),
                                          testing::ValuesIn(kElementSizes)),
                         [](auto const& info) {
                           return std::string(copy_kernels()[std::size_t(std::get<0>(info.param))].info().name) + "_e" +
                                  std::to_string(std::get<1>(info.param));
                         });

// Pitches of 128 and 256 KB are a case of their own to 14: bands of tiles that lie 16 or 8 KB apart alternate, where
// they make whole groups.
TEST(Bands, OfPitchesOf128And256KB) {
  for (auto const& entry : copy_kernels())
    if (std::string(entry.info().name) == "transpose_registers")
      for (int e : kElementSizes)
        for (int pitch : {128 << 10, 256 << 10})
          for (int row : {32 << 10, (32 << 10) + 256}) {
            std::int64_t const N = row / e;
            EXPECT_TRUE(runs(entry, {16, N, 1, pitch / e - N}, e)) << e << " bytes";
          }
}

}  // namespace
}  // namespace inlay::test
