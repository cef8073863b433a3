// hgemm_ping_pong, which no list names yet: replayed, and without the order in which its warpgroups multiply.
#include <gtest/gtest.h>

#include <inlay/registry/replay_kernel.h>

#include <inlay/kernels/gemm/tensor/hgemm_ping_pong.h>
#include <inlay/registry/rounding.h>
#include "gemm_corpus.h"
#include "mutants.h"

namespace inlay::kernels {
namespace {
using replay::Check, replay::Executor, replay::Recorder;
using test::GemmCase;
using Dispatch = OneOf<ByMajors<hgemm_ping_pong::Step, bfloat16_t>>;

// Warpgroups that do not wait for each other: for neither of the last two mbarriers.
struct NoOrder : Executor {
  char const* last = nullptr;
  explicit NoOrder(Recorder& recorder) : Executor(recorder) {}
  void mbarrier_init(void const* p, unsigned count) override {
    last = std::max(last, static_cast<char const*>(p));
    Executor::mbarrier_init(p, count);
  }
  void mbarrier_wait(void const* p, unsigned parity) override {
    if (static_cast<char const*>(p) < last - 8) Executor::mbarrier_wait(p, parity);
  }
};

// Replays a GEMM on few multiprocessors, so that a block has several tiles.
template <class Mutant = Executor>
std::unique_ptr<Recorder> replayed(GemmCase const& c, Config const& config, int sm_count) {
  auto recorder = test::recorder_with<Mutant>();
  auto const buffer = [&](char const* name, test::Stored const& s, unsigned seed) {
    return registry::allocate_numbers(*recorder, name, std::size_t(s.elements(c.L)) + 16, bf16, seed);
  };
  void *const A = buffer("A", stored_a(c), 1), *const B = buffer("B", stored_b(c), 2),
              *const D = buffer("D", stored_c(c), 3);
  Device device;
  device.sm_count = sm_count;
  Gemm const gemm = gemm_of(c, A, B, D, Compute::fp32, bf16);
  EXPECT_FALSE(Dispatch::rejects(gemm, device, config));
  recorder->kernel = hgemm_ping_pong::info.name;
  registry::replay_kernel<Dispatch>(gemm, device, *recorder, 0, config);
  return recorder;
}

// More stages than the ring has, and fewer; tiles of an odd number; ragged edges, old elements of D, rows of D that
// begin anywhere; clusters of two.
TEST(PingPong, MultipliesEveryOtherTile) {
  int number = -1;
  for (auto const& [M, N, K] :
       {std::array<std::int64_t, 3>{384, 384, 64}, {384, 384, 64 * 13}, {264, 520, 136}, {136, 72, 600}})
    for (int tile : {1, 2})
      for (int sm_count : {2, 4}) {
        ++number;
        if (!test::runs_long_tests() && number % 3) continue;
        GemmCase c{M, N, K, 1 + number % 2, std::array{"nn", "nt", "tn", "tt"}[std::size_t(number) % 4]};
        c.gap_batch = 8;
        if (number / 3 % 3 == 1) c.alpha = 2, c.beta = -1;
        if (number / 3 % 3 == 2) c.gap_c = 3;
        c.columns_c = number % 5 == 4;
        SCOPED_TRACE(c.name() + ", configuration " + std::to_string(tile) + " on " + std::to_string(sm_count));
        test::expect_only(*replayed(c, {.tile = tile}, sm_count), {});
      }
}
// A warpgroup that does not wait for the other one takes the stages of its tile.
TEST(PingPong, StagesAreAwaitedInOrder) {
  auto const r = replayed<NoOrder>({384, 384, 64 * 12, 1, "nt"}, {.tile = 1}, 1);
  EXPECT_TRUE(r->found(Check::deadlock));
}

}  // namespace
}  // namespace inlay::kernels
