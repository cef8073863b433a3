// Broken kernels, each caught by the check that should catch it. A mutant is a Block with one member hidden, an edit of
// the lanes' passes, or a parameter turned: the kernels are the ladder's own, unchanged.
#include <gtest/gtest.h>

#include "corpus.h"
#include "kernels/copy_01_scalar.h"
#include "kernels/copy_02_smem.h"
#include "kernels/copy_03_vector.h"
#include "kernels/copy_04_tma.h"
#include "kernels/transpose_01_naive_read.h"
#include "kernels/transpose_02_naive_write.h"
#include "kernels/transpose_05_smem_padded.h"
#include "kernels/transpose_06_smem_swizzled.h"
#include "kernels/transpose_09_vector_swizzled.h"
#include "kernels/transpose_10_cp_async.h"
#include "kernels/transpose_11_tma_store.h"
#include "replay/host_block.h"

namespace inlay::kernels {
namespace {

using T = std::uint32_t;
using replay::HostBlock, replay::Lane, replay::Where;
constexpr int kRows = 70, kCols = 80;  // ragged both ways, rows of whole vectors
constexpr auto kNone = [](auto&) {};

// Replays a kernel with a mutant's Block and parameters; what the recorder found.
template <class Kernel, class Block = HostBlock, class Turn = decltype(kNone)>
std::unique_ptr<Recorder> run(Turn turn = {}) {
  auto recorder = std::make_unique<Recorder>();
  recorder->kernel = "mutant";
  constexpr bool transpose = Kernel::transposes;
  test::Case const c{kRows, kCols, 1, 0, transpose ? 2 : 4};  // pitches of whole vectors
  test::Views const v = test::views_of(c, transpose);
  void* const in = recorder->allocate("in", std::size_t(v.in_elements) * sizeof(T) + 64, sizeof(T), 1);
  void* const out = recorder->allocate("out", std::size_t(v.out_elements) * sizeof(T) + 64, sizeof(T), 2);
  Move const move = test::move_of(c, v, in, out, sizeof(T));
  recorder->expect(move);
  auto kernel = Kernel::make(move, replay::ReplayEncoder{});
  turn(kernel);
  replay::run<Block>(kernel, *recorder);
  recorder->conclude(move);
  return recorder;
}
void expect_only(Recorder const& r, std::initializer_list<Check> checks) {
  for (Check c : checks) EXPECT_TRUE(r.found(c)) << "not found: " << name_of(c);
  for (Finding const& f : r.findings) {
    bool expected = false;
    for (Check c : checks) expected |= f.check == c;
    EXPECT_TRUE(expected) << name_of(f.check) << ": " << f.sentence;
  }
}

using Copy01 = copy_01_scalar::Kernel<T>;
using Copy02 = copy_02_smem::Kernel<T>;
using Copy03 = copy_03_vector::Kernel<T>;
using Copy04 = copy_04_tma::Kernel<T>;
using NaiveRead = transpose_01_naive_read::Kernel<T>;
using NaiveWrite = transpose_02_naive_write::Kernel<T>;
using Padded = transpose_05_smem_padded::Kernel<T>;
using Swizzled = transpose_06_smem_swizzled::Kernel<T>;
using Vector = transpose_09_vector_swizzled::Kernel<T>;
using CpAsync = transpose_10_cp_async::Kernel<T>;
using TmaStore = transpose_11_tma_store::Kernel<T>;

// ---- the barrier removed: threads run one after another here, so they read what is not there yet
struct NoSync : HostBlock {
  void sync() const {}
};
TEST(Mutants, BarrierRemoved) {
  expect_only(*run<Padded, NoSync>(), {Check::race, Check::result});
  expect_only(*run<Vector, NoSync>(), {Check::race, Check::result});
  expect_only(*run<CpAsync, NoSync>(), {Check::race, Check::result});
}
TEST(Mutants, BarrierRemovedBeforeTmaStore) {
  auto const r = run<TmaStore, NoSync>();
  EXPECT_TRUE(r->found(Check::race));
}
TEST(Mutants, TheBarrierOfCopy02IsNotNeeded) { expect_only(*run<Copy02, NoSync>(), {}); }

// ---- the swizzle dropped on the side that reads: XOR undoes itself
template <class Kernel>
struct Unswizzle {
  static void edit(Lane& lane) {
    if (lane.src_in != Where::shared) return;
    using Swz = typename decltype(layout_swizzle(typename Kernel::SmemLayout{}))::type;
    auto const base =
        reinterpret_cast<std::uint64_t>(lane.src) & ~std::uint64_t(0x3FFF);  // the tile is 16 KB, at a page
    auto const element = (reinterpret_cast<std::uint64_t>(lane.src) - base) / sizeof(T);
    lane.src = reinterpret_cast<void const*>(base + Swz::apply(element) * sizeof(T));
  }
  template <class Swz, class Offset, class Inner>
  static std::type_identity<Swz> layout_swizzle(ComposedLayout<Swz, Offset, Inner> const&);
};
template <class Kernel>
struct ReadsUnswizzled : HostBlock {
  template <class Op>
  using op = replay::Recorded<Op, Unswizzle<Kernel>>;
};
TEST(Mutants, SwizzleDroppedOnOneSide) {
  EXPECT_TRUE((run<Swizzled, ReadsUnswizzled<Swizzled>>()->found(Check::result)));
  EXPECT_TRUE((run<Vector, ReadsUnswizzled<Vector>>()->found(Check::result)));
  EXPECT_TRUE((run<CpAsync, ReadsUnswizzled<CpAsync>>()->found(Check::result)));
}

// ---- and on both: right, without a race, but not what the step promises
template <class Step>
struct Plain : Step {
  using SmemLayout = RowMajor<typename Step::Tile>;
};
template <class Step>
Traffic shared_loads_without_swizzle() {
  auto const r = run<SmemTile<T, Plain<Step>>>();
  expect_only(*r, {});
  return counted(*r).shared_load;
}
TEST(Mutants, SwizzleDroppedOnBothSides) {
  auto const promised = [](auto kernel) { return counted(*run<decltype(kernel)>()).shared_load; };
  EXPECT_GT(shared_loads_without_swizzle<transpose_06_smem_swizzled::Step<T>>().transactions,
            promised(Swizzled{}).transactions * 8);
  EXPECT_GT(shared_loads_without_swizzle<transpose_10_cp_async::Step<T>>().transactions,
            promised(CpAsync{}).transactions * 8);
  EXPECT_GT(shared_loads_without_swizzle<transpose_09_vector_swizzled::Step<T>>().transactions,
            promised(Vector{}).transactions * 4);
}

// ---- a bound off by one: the predicate lets a row through that is none
constexpr auto kOneRowMore = [](auto& kernel) { kernel.M += 1; };
constexpr auto kOneRowLess = [](auto& kernel) { kernel.M -= 1; };
TEST(Mutants, PredicateOffByOne) {
  using Turn = decltype(kOneRowMore);
  expect_only(*run<Swizzled, HostBlock, Turn>(), {Check::bounds, Check::coverage});
  expect_only(*run<Vector, HostBlock, Turn>(), {Check::bounds, Check::coverage});
  expect_only(*run<CpAsync, HostBlock, Turn>(), {Check::bounds, Check::coverage});
  expect_only(*run<TmaStore, HostBlock, Turn>(), {Check::bounds, Check::coverage});
  auto const one_column_more = [](auto& kernel) { kernel.N += 1; };
  expect_only(*run<Copy01>(one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run<Copy02>(one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run<Copy03>(one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run<NaiveRead, HostBlock, Turn>(), {Check::bounds, Check::coverage});
  expect_only(*run<NaiveWrite, HostBlock, Turn>(), {Check::bounds, Check::coverage});
  expect_only(*run<NaiveWrite, HostBlock, decltype(kOneRowLess)>(), {Check::coverage});
  expect_only(*run<Vector, HostBlock, decltype(kOneRowLess)>(), {Check::coverage});
  expect_only(*run<Swizzled, HostBlock, decltype(kOneRowLess)>(), {Check::coverage});
}

// ---- the load's predicate reused for the store: the same thread has another element there
struct ReuseLoadPredicate {
  static inline std::vector<std::vector<bool>> said;  // by thread: the predicates of its loads, in order
  static inline std::vector<std::size_t> next;
  static void edit(Lane& lane) {
    unsigned const rank = replay::running().rank();
    if (said.size() <= rank) said.resize(rank + 1), next.resize(rank + 1);
    if (lane.src_in == Where::global) {
      if (next[rank]) said[rank].clear(), next[rank] = 0;  // the next block
      said[rank].push_back(lane.active);
    } else if (lane.dst_in == Where::global && !said[rank].empty()) {
      lane.active = said[rank][next[rank]++ % said[rank].size()];
    }
  }
};
struct OnePredicate : HostBlock {
  template <class Op>
  using op = replay::Recorded<Op, ReuseLoadPredicate>;
};
template <class Kernel>
void expect_caught_with_one_predicate() {
  ReuseLoadPredicate::said.clear(), ReuseLoadPredicate::next.clear();
  auto const r = run<Kernel, OnePredicate>();  // reads what nobody loaded, writes beyond the edge, leaves elements out
  EXPECT_TRUE(r->found(Check::bounds) || r->found(Check::race));
  EXPECT_TRUE(r->found(Check::coverage));
}
TEST(Mutants, LoadPredicateReusedForTheStore) {
  expect_caught_with_one_predicate<Swizzled>();
  expect_caught_with_one_predicate<Vector>();
  expect_caught_with_one_predicate<CpAsync>();
}

// ---- vectors that are not aligned
constexpr auto kOneElementOn = [](auto& kernel) {
  kernel.in = reinterpret_cast<decltype(kernel.in)>(reinterpret_cast<std::uint64_t>(kernel.in) + sizeof(T));
};
TEST(Mutants, MisalignedVector) {
  using Turn = decltype(kOneElementOn);
  expect_only(*run<Copy03, HostBlock, Turn>(), {Check::alignment, Check::coverage});
  expect_only(*run<Vector, HostBlock, Turn>(), {Check::alignment, Check::coverage});
  expect_only(*run<TmaStore, HostBlock, Turn>(), {Check::alignment, Check::coverage});
}

TEST(Mutants, ADescriptorThatTheDriverWouldRefuse) {
  TmaTensor const good{nullptr, 4, {64, 64, 1}, {256, 16}, {32, 32, 1}};
  TmaTensor bad[] = {good, good, good, good};
  bad[0].base = reinterpret_cast<void*>(8), bad[1].stride[0] = 260, bad[2].box[0] = 257, bad[3].box[0] = 3;
  EXPECT_NO_THROW(replay::ReplayEncoder{}(good));
  for (TmaTensor const& t : bad) EXPECT_THROW(replay::ReplayEncoder{}(t), replay::Fault);
}

// ---- asynchronous copies
struct NoCpAsyncWait : HostBlock {
  template <int N>
  void cp_async_wait(Int<N>) const {}
};
TEST(Mutants, NoWaitAfterCpAsync) {
  auto const r = run<CpAsync, NoCpAsyncWait>();
  EXPECT_TRUE(r->found(Check::race));
  EXPECT_TRUE(r->found(Check::misuse));
}
struct NoFence : HostBlock {
  void fence_async() const {}
};
TEST(Mutants, NoFenceBeforeTmaStore) { expect_only(*run<TmaStore, NoFence>(), {Check::race}); }  // the output is right

struct NoStoreWait : HostBlock {
  template <int N>
  void tma_store_wait(Int<N>) const {}
};
TEST(Mutants, NoWaitForTheTmaStore) {
  EXPECT_TRUE((run<TmaStore, NoStoreWait>()->found(Check::misuse)));
  EXPECT_TRUE((run<Copy04, NoStoreWait>()->found(Check::misuse)));
}
struct NoWait : HostBlock {
  struct Mbarrier : replay::Mbarrier {
    void wait(std::uint32_t) const {}
  };
};
TEST(Mutants, NoWaitForTheTmaLoad) { EXPECT_TRUE((run<Copy04, NoWait>()->found(Check::race))); }

struct ExpectsTooMuch : HostBlock {
  struct Mbarrier : replay::Mbarrier {
    void arrive_and_expect_tx(std::uint32_t bytes) const { replay::Mbarrier::arrive_and_expect_tx(bytes + 16); }
  };
};
TEST(Mutants, ExpectsBytesThatNeverCome) {
  auto const r = run<Copy04, ExpectsTooMuch>();
  ASSERT_TRUE(r->found(Check::deadlock));
  EXPECT_NE(r->findings.front().sentence.find("16 bytes missing"), std::string::npos) << r->findings.front().sentence;
}

// ---- barriers that not everybody reaches, or not the same one
struct OneStaysAway : HostBlock {
  void sync(std::source_location at = std::source_location::current()) const {
    if (rank != 5) HostBlock::sync(at);
  }
};
struct TwoBarriers : HostBlock {
  void sync() const {
    if (rank % 2)
      HostBlock::sync();
    else
      HostBlock::sync(std::source_location::current());
  }
};
TEST(Mutants, BarrierThatOneThreadMisses) {
  auto const r = run<Swizzled, OneStaysAway>();
  ASSERT_TRUE(r->found(Check::deadlock));
  bool told = false;
  for (Finding const& f : r->findings)
    told |= f.sentence.find("threads 0-4,6-511 wait for the barrier") != std::string::npos;
  EXPECT_TRUE(told);
}
TEST(Mutants, TwoBarriersForOne) { expect_only(*run<Swizzled, TwoBarriers>(), {Check::divergence}); }

// ---- an access that no copy operation makes
struct Peek {
  static void edit(Lane& lane) {
    if (lane.src_in != Where::registers && lane.active) [[maybe_unused]]
      char const c = *static_cast<char const volatile*>(lane.src);
  }
};
struct PastTheRecorder : HostBlock {
  template <class Op>
  using op = replay::Recorded<Op, Peek>;
};
TEST(Mutants, AccessPastTheRecorder) {
  expect_only(*run<Copy01, PastTheRecorder>(), {Check::unrecorded, Check::coverage});
  expect_only(*run<Swizzled, PastTheRecorder>(), {Check::unrecorded, Check::coverage});
  expect_only(*run<NaiveWrite, PastTheRecorder>(), {Check::unrecorded, Check::coverage});
  expect_only(*run<CpAsync, PastTheRecorder>(), {Check::unrecorded, Check::coverage});
  expect_only(*run<TmaStore, PastTheRecorder>(), {Check::unrecorded, Check::coverage});
  auto const r = run<Vector, PastTheRecorder>();  // that replay failed, the process goes on
  EXPECT_EQ(r->findings.front().sentence,
            "mutant, block 0, thread 0: touches in[0] (byte 0) past the recorder, without a copy operation");
}

// ---- every destination element exactly once
TEST(Mutants, WrittenTwiceOrNotAtAll) {
  auto const twice = run<Swizzled>([](auto& kernel) { kernel.batch = 2; });
  expect_only(*twice, {Check::coverage});
  EXPECT_NE(twice->findings.front().sentence.find("once more"), std::string::npos);
  expect_only(*run<Swizzled>([](auto& kernel) { kernel.M -= 6, kernel.tiles_m = 1; }), {Check::coverage});
}

// ---- a finding names kernel, block, thread, access and element
TEST(Findings, NameTheElementAndTheOtherThread) {
  auto const r = run<Padded, NoSync>();
  ASSERT_FALSE(r->findings.empty());
  std::string const s = r->findings.front().sentence;
  EXPECT_TRUE(s.starts_with("mutant, block 0, thread ")) << s;
  EXPECT_NE(s.find("reads shared A["), std::string::npos) << s;
}

}  // namespace
}  // namespace inlay::kernels
