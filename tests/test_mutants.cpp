// Broken kernels, each caught by the check that should catch it. A mutant is a Block with one member hidden, an edit of
// the lanes' passes, or a parameter changed: the kernels are the ladder's own, unchanged.
#include <gtest/gtest.h>

#include <inlay/explain/explanation.h>
#include <inlay/kernels/copy/copy_contiguous.h>
#include <inlay/kernels/copy/transpose_batched.h>
#include <inlay/kernels/copy/transpose_realigned.h>
#include <inlay/kernels/copy/transpose_registers.h>
#include <inlay/registry/replay_kernel.h>
#include <inlay/tutorial/copy/copy_01_scalar.h>
#include <inlay/tutorial/copy/copy_02_smem.h>
#include <inlay/tutorial/copy/copy_03_vector.h>
#include <inlay/tutorial/copy/copy_04_tma.h>
#include <inlay/tutorial/transpose/transpose_01_naive_read.h>
#include <inlay/tutorial/transpose/transpose_02_naive_write.h>
#include <inlay/tutorial/transpose/transpose_05_smem_padded.h>
#include <inlay/tutorial/transpose/transpose_06_smem_swizzled.h>
#include <inlay/tutorial/transpose/transpose_09_vector_swizzled.h>
#include <inlay/tutorial/transpose/transpose_10_cp_async.h>
#include <inlay/tutorial/transpose/transpose_11_tma_store.h>
#include <inlay/tutorial/transpose/transpose_12_register_tile.h>
#include <inlay/tutorial/transpose/transpose_13_in_flight.h>
#include <inlay/tutorial/transpose/transpose_14_tma.h>
#include "corpus.h"

namespace inlay::kernels {
namespace {

using T = std::uint32_t;
using explain::counted;
using replay::Check, replay::Finding, replay::HostBlock, replay::Lane, replay::Mechanism, replay::Recorder,
    replay::Site, replay::Where;
constexpr int kRows = 70, kCols = 80;  // ragged both ways, rows of whole vectors
constexpr auto kNone = [](auto&) {};

// Replays a kernel with a mutant's Block and parameters on a case of e-byte elements; what the recorder found.
template <class Kernel, class Block = HostBlock, class Change = decltype(kNone)>
std::unique_ptr<Recorder> run(test::Case const& c, int e, Change change = {}) {
  auto recorder = std::make_unique<Recorder>();
  recorder->kernel = "mutant";
  test::Views const v = test::views_of(c, Kernel::transposes);
  void* const in = recorder->allocate("in", std::size_t(v.in_elements * e) + 64, e, 1);
  void* const out = recorder->allocate("out", std::size_t(v.out_elements * e) + 64, e, 2);
  Copy const copy = test::copy_of(c, v, in, out, e);
  auto const wanted = registry::expected(copy, *recorder);
  auto kernel = Kernel::make(copy, registry::ReplaySetting{Device{}, nullptr, {}});
  change(kernel);
  replay::run<Block>(kernel, *recorder);
  wanted.conclude();
  return recorder;
}
template <class Kernel, class Block = HostBlock, class Change = decltype(kNone)>
std::unique_ptr<Recorder> run(Change change = {}) {
  return run<Kernel, Block>({kRows, kCols, 1, 0, Kernel::transposes ? 2 : 4}, sizeof(T),
                            change);  // pitches of whole vectors
}
void expect_only(Recorder const& r, std::initializer_list<Check> checks) {
  for (Check c : checks) EXPECT_TRUE(r.found(c)) << "not found: " << name_of(c);
  for (Finding const& f : r.findings) {
    bool expected = false;
    for (Check c : checks) expected |= f.check == c;
    EXPECT_TRUE(expected) << name_of(f.check) << ": " << f.sentence;
  }
}

using Copy01 = copy_01_scalar::Kernel;
using Copy02 = copy_02_smem::Kernel;
using Copy03 = copy_03_vector::Kernel;
using Copy04 = copy_04_tma::Kernel;
using NaiveRead = transpose_01_naive_read::Kernel;
using NaiveWrite = transpose_02_naive_write::Kernel;
using Padded = transpose_05_smem_padded::Kernel;
using Swizzled = transpose_06_smem_swizzled::Kernel;
using Vector = transpose_09_vector_swizzled::Kernel;
using CpAsync = transpose_10_cp_async::Kernel;
using TmaStore = transpose_11_tma_store::Kernel;
using RegisterTranspose = transpose_12_register_tile::Kernel;
using InFlight = transpose_13_in_flight::Kernel;
using EvictLast = transpose_registers::Kernel<T>;
using Skewed = transpose_realigned::Kernel<T>;
using Realigned = transpose_realigned::Kernel<std::uint8_t>;
using TmaBothWays = transpose_14_tma::Kernel;
using Squares = transpose_batched::Kernel<T>;

// Ragged at the tiles' edges, and: whole vectors both ways; odd pitches and bases; matrices of 16 x 16, of which a block
// takes 16.
constexpr test::Case kWhole{72, 80}, kOdd{130, 131, 1, 1, 1, 3, 5}, kSquares{16, 16, 20, 0, 0, 0, 0, 0};

// What stands here is not broken: the mutants below differ from these.
TEST(Mutants, OriginalsAreSilent) {
  expect_only(*run<RegisterTranspose>(kWhole, 4), {});
  expect_only(*run<Skewed>(kOdd, 4), {});
  expect_only(*run<Realigned>(kOdd, 1), {});
  expect_only(*run<TmaBothWays>(kWhole, 4), {});
  expect_only(*run<Squares>(kSquares, 4), {});
}

// ---- the barrier removed: threads run one after another here, so they read what is not there yet
struct NoSync : HostBlock {
  void sync() const {}
};
TEST(Mutants, BarrierRemoved) {
  expect_only(*run<Padded, NoSync>(), {Check::race, Check::result});
  expect_only(*run<Vector, NoSync>(), {Check::race, Check::result});
  expect_only(*run<CpAsync, NoSync>(), {Check::race, Check::result});
  expect_only(*run<RegisterTranspose, NoSync>(kWhole, 4), {Check::race, Check::result});
  expect_only(*run<Skewed, NoSync>(kOdd, 4), {Check::race, Check::result});
  expect_only(*run<Realigned, NoSync>(kOdd, 1), {Check::race, Check::result});
  expect_only(*run<Squares, NoSync>(kSquares, 4), {Check::race, Check::result});
}
TEST(Mutants, BarrierRemovedBeforeTmaStore) {
  auto const r = run<TmaStore, NoSync>(kWhole, 4);
  EXPECT_TRUE(r->found(Check::race));
  EXPECT_TRUE((run<TmaBothWays, NoSync>(kWhole, 4)->found(Check::race)));
}
// One barrier of several left out, by its number from 1 on.
template <int number>
struct NoSyncNumber : HostBlock {
  mutable int passed = 0;
  void sync(std::source_location at = std::source_location::current()) const {
    if (++passed != number) HostBlock::sync(at);
  }
};
TEST(Mutants, OneBarrierOfTheTmaTransposeRemoved) {
  expect_only(*run<TmaBothWays, NoSyncNumber<1>>(kWhole, 4), {Check::race});  // the mbarrier, not yet initialised
  // The second holds the stores back until the image they go over has been read.
  auto const over = run<TmaBothWays, NoSyncNumber<2>>(kWhole, 4);
  expect_only(*over, {Check::race, Check::result});
  EXPECT_NE(over->findings.front().sentence.find("shared A["), std::string::npos) << over->findings.front().sentence;
  EXPECT_TRUE((run<TmaBothWays, NoSyncNumber<3>>(kWhole, 4)->found(Check::race)));  // TMA stores what is not there yet
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

// The copy engine swizzles one box and not the other.
TEST(Mutants, TmaSwizzleDroppedOnOneSide) {
  auto const plain = [](CUtensorMap& map) {
    TmaTensor tensor = replay::decode(map);
    tensor.swizzle_128b = false;
    map = replay::ReplayEncoder{}(tensor);
  };
  expect_only(*run<TmaBothWays>(kWhole, 4, [&](auto& kernel) { plain(kernel.mapA); }), {Check::result});
  expect_only(*run<TmaBothWays>(kWhole, 4, [&](auto& kernel) { plain(kernel.mapB); }), {Check::result});
}

// ---- and on both: right, without a race, but not what the step promises
template <class Step>
struct Plain : Step {
  using SmemLayout = RowMajor<typename Step::Tile>;
};
template <class Step>
Traffic shared_loads_without_swizzle() {
  auto const r = run<SmemTile<Plain<Step>>>();
  expect_only(*r, {});
  return counted(*r).shared_load;
}
TEST(Mutants, SwizzleDroppedOnBothSides) {
  auto const promised = [](auto kernel) { return counted(*run<decltype(kernel)>()).shared_load; };
  EXPECT_GT(shared_loads_without_swizzle<transpose_06_smem_swizzled::Step>().transactions,
            promised(Swizzled{}).transactions * 8);
  EXPECT_GT(shared_loads_without_swizzle<transpose_10_cp_async::Step>().transactions,
            promised(CpAsync{}).transactions * 8);
  EXPECT_GT(shared_loads_without_swizzle<transpose_09_vector_swizzled::Step>().transactions,
            promised(Vector{}).transactions * 4);
}

// ---- a bound off by one: the predicate lets a row through that is none
constexpr auto kOneRowMore = [](auto& kernel) { kernel.M += 1; };
constexpr auto kOneRowLess = [](auto& kernel) { kernel.M -= 1; };
TEST(Mutants, PredicateOffByOne) {
  using Change = decltype(kOneRowMore);
  expect_only(*run<Swizzled, HostBlock, Change>(), {Check::bounds, Check::coverage});
  expect_only(*run<Vector, HostBlock, Change>(), {Check::bounds, Check::coverage});
  expect_only(*run<CpAsync, HostBlock, Change>(), {Check::bounds, Check::coverage});
  expect_only(*run<TmaStore, HostBlock, Change>(kWhole, 4), {Check::bounds, Check::coverage});
  auto const one_column_more = [](auto& kernel) { kernel.N += 1; };
  expect_only(*run<Copy01>(one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run<Copy02>(one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run<Copy03>(one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run<NaiveRead, HostBlock, Change>(), {Check::bounds, Check::coverage});
  expect_only(*run<NaiveWrite, HostBlock, Change>(), {Check::bounds, Check::coverage});
  auto const one_chunk_more = [](auto& kernel) { kernel.M += 4; };  // squares are inside or outside as a whole
  expect_only(*run<RegisterTranspose>(kWhole, 4, one_chunk_more), {Check::bounds, Check::coverage});
  expect_only(*run<Skewed>(kOdd, 4, kOneRowMore), {Check::bounds, Check::coverage});
  expect_only(*run<Skewed>(kOdd, 4, kOneRowLess), {Check::coverage});
  expect_only(*run<Realigned>(kOdd, 1, kOneRowLess), {Check::coverage});
  expect_only(*run<NaiveWrite, HostBlock, decltype(kOneRowLess)>(), {Check::coverage});
  expect_only(*run<Vector, HostBlock, decltype(kOneRowLess)>(), {Check::coverage});
  expect_only(*run<Swizzled, HostBlock, decltype(kOneRowLess)>(), {Check::coverage});
}

// Mutant: the last block of a batch copies a full group of matrices, although fewer are left. It reads and writes past the
// operands.
TEST(Mutants, LastBlockNotClipped) {
  auto const whole_groups = [](auto& kernel) { kernel.batch += kernel.group - kernel.batch % kernel.group; };
  expect_only(*run<Squares>(kSquares, 4, whole_groups), {Check::bounds, Check::coverage});
}

// ---- an aligned vector that is only partly the row's, read all the same: what lies behind the row is no element
struct ReadsTheGap {
  static void edit(Lane& lane) {
    if (lane.src_in != Where::global || lane.src_bytes != 16) return;
    auto const address = reinterpret_cast<std::uint64_t>(lane.src);
    replay::Region const* const r = replay::running().memory.find(address);
    lane.active |= r && address - reinterpret_cast<std::uint64_t>(r->seen) + 16 <= r->bytes;
  }
};
struct VectorsIntoTheGap : HostBlock {
  template <class Op>
  using op = replay::Recorded<Op, ReadsTheGap>;
};
TEST(Mutants, VectorReachesIntoTheGap) {
  auto const r = run<Realigned, VectorsIntoTheGap>(kOdd, 1);
  expect_only(*r, {Check::bounds, Check::coverage});
  EXPECT_NE(r->findings.front().sentence.find("no element of the source"), std::string::npos)
      << r->findings.front().sentence;
}

// ---- the skew off by one element: where a row of the output is taken from, or where it is written
template <bool reads>
struct SkewOffByOne {
  static void edit(Lane& lane) {
    if (reads && lane.src_in == Where::shared) lane.src = static_cast<char const*>(lane.src) - sizeof(T);
    if (!reads && lane.dst_in == Where::global) lane.dst = static_cast<char*>(lane.dst) + sizeof(T);
  }
};
template <bool reads>
struct SkewedByOneMore : HostBlock {
  template <class Op>
  using op = replay::Recorded<Op, SkewOffByOne<reads>>;
};
TEST(Mutants, SkewOffByOne) {
  expect_only(*run<Skewed, SkewedByOneMore<true>>(kOdd, 4), {Check::result});
  expect_only(*run<Skewed, SkewedByOneMore<false>>(kOdd, 4), {Check::bounds, Check::coverage, Check::result});
}

// ---- the transpose in registers left out: a square's rows are stored where its columns belong
struct KeepsRows {
  static inline std::vector<std::vector<void const*>> loaded;  // by thread: its vectors, in order
  static inline std::vector<std::size_t> stored;
  static void edit(Lane& lane) {
    unsigned const rank = replay::running().rank();
    if (loaded.size() <= rank) loaded.resize(rank + 1), stored.resize(rank + 1);
    if (lane.src_in == Where::global) {
      if (stored[rank]) loaded[rank].clear(), stored[rank] = 0;  // the next block
      loaded[rank].push_back(lane.dst);
    } else if (lane.dst_in == Where::shared) {
      lane.src = loaded[rank].at(stored[rank]++);
    }
  }
};
struct NoRegisterTranspose : HostBlock {
  template <class Op>
  using op = replay::Recorded<Op, KeepsRows>;
};
template <class Kernel>
void expect_caught_without_the_transpose(test::Case const& c) {
  KeepsRows::loaded.clear(), KeepsRows::stored.clear();
  expect_only(*run<Kernel, NoRegisterTranspose>(c, 4), {Check::result});
}
TEST(Mutants, RegisterTransposeLeftOut) {
  expect_caught_without_the_transpose<RegisterTranspose>(kWhole);
  expect_caught_without_the_transpose<Squares>(kSquares);
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
  using Change = decltype(kOneElementOn);
  expect_only(*run<Copy03, HostBlock, Change>(), {Check::alignment, Check::coverage});
  expect_only(*run<Vector, HostBlock, Change>(), {Check::alignment, Check::coverage});
  expect_only(*run<TmaStore, HostBlock, Change>(kWhole, 4), {Check::alignment, Check::coverage});
  expect_only(*run<RegisterTranspose>(kWhole, 4, kOneElementOn), {Check::alignment, Check::coverage});
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
  void fence_proxy_async() const {}
};
TEST(Mutants, NoFenceBeforeTmaStore) {  // the output is right
  expect_only(*run<TmaStore, NoFence>(kWhole, 4), {Check::race});
  expect_only(*run<TmaBothWays, NoFence>(kWhole, 4), {Check::race});
}

struct NoBarrierFence : HostBlock {
  void fence_barrier_init() const {}
};
TEST(Mutants, MbarrierNotFencedBeforeTmaLoad) {  // nor is anything wrong with this output
  expect_only(*run<Copy04, NoBarrierFence>(), {Check::race});
  expect_only(*run<TmaBothWays, NoBarrierFence>(kWhole, 4), {Check::race});
}
// TMA stores what a fence of its own thread alone has not covered: that one comes before the barrier.
struct OneFences : HostBlock {
  void fence_proxy_async() const {
    if (rank == 0) HostBlock::fence_proxy_async();
  }
};
TEST(Mutants, FencedByTheWrongThread) {
  expect_only(*run<TmaStore, OneFences>(kWhole, 4), {Check::race});
  expect_only(*run<TmaBothWays, OneFences>(kWhole, 4), {Check::race});
}
struct InitialisesTwice : HostBlock {
  struct Mbarrier : replay::Mbarrier {
    void init(std::uint32_t count) const { replay::Mbarrier::init(count), replay::Mbarrier::init(count); }
  };
};
TEST(Mutants, MbarrierInitialisedTwice) {
  expect_only(*run<Copy04, InitialisesTwice>(), {Check::misuse});
  expect_only(*run<TmaBothWays, InitialisesTwice>(kWhole, 4), {Check::misuse});
}
struct ExpectsTooLittle : HostBlock {
  struct Mbarrier : replay::Mbarrier {
    void arrive_and_expect_tx(std::uint32_t bytes) const { replay::Mbarrier::arrive_and_expect_tx(bytes - 16); }
  };
};
TEST(Mutants, PhaseThatEndsInTheMiddleOfABox) {
  auto const r = run<Copy04, ExpectsTooLittle>();
  EXPECT_TRUE(r->found(Check::misuse));
  EXPECT_TRUE(r->found(Check::race));  // the rest of the box is stored before it has come
}

struct NoStoreWait : HostBlock {
  template <int N>
  void tma_store_wait_read(Int<N>) const {}
};
TEST(Mutants, NoWaitForTheTmaStore) {
  EXPECT_TRUE((run<TmaStore, NoStoreWait>(kWhole, 4)->found(Check::misuse)));
  EXPECT_TRUE((run<Copy04, NoStoreWait>()->found(Check::misuse)));
  EXPECT_TRUE((run<TmaBothWays, NoStoreWait>(kWhole, 4)->found(Check::misuse)));
}
struct NoWait : HostBlock {
  struct Mbarrier : replay::Mbarrier {
    void wait(std::uint32_t) const {}
  };
};
TEST(Mutants, NoWaitForTheTmaLoad) {
  EXPECT_TRUE((run<Copy04, NoWait>()->found(Check::race)));
  EXPECT_TRUE((run<TmaBothWays, NoWait>(kWhole, 4)->found(Check::race)));
}

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
// The others go on when it has ended, as on a GPU: no deadlock, but it reads too early.
TEST(Mutants, BarrierThatOneThreadMisses) {
  auto const r = run<Swizzled, OneStaysAway>();
  expect_only(*r, {Check::race, Check::result});
  EXPECT_NE(r->findings.front().sentence.find("thread 5: reads shared A["), std::string::npos)
      << r->findings.front().sentence;
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
            "mutant, block 0, thread 0: accesses in[0] (byte 0) directly, not through a copy operation");
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

// ---- a load with a cache policy is one load, at the source, of all its bytes
Site const* load_of(Recorder const& r, std::string const& operand) {
  for (Site const& s : r.sites)
    if (s.operand == operand && !s.store) return &s;
  return nullptr;
}
template <class Hinted, class Plain>
void expect_the_same_loads(test::Case const& c, unsigned bytes) {
  auto const hinted = run<Hinted>(c, 4), plain = run<Plain>(c, 4);
  Site const *const a = load_of(*hinted, "in"), *const b = load_of(*plain, "in");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->space, replay::Space::global);
  EXPECT_EQ(a->mechanism, Mechanism::plain);
  EXPECT_EQ(a->bytes, bytes);
  EXPECT_EQ(a->traffic, b->traffic);
}
TEST(Findings, AnEvictLastLoadIsALoad) {
  expect_the_same_loads<EvictLast, InFlight>(kWhole, 16);
  expect_the_same_loads<copy_contiguous::Kernel<T>, Copy03>(kWhole, 16);
  EXPECT_EQ(load_of(*run<Skewed>(kOdd, 4), "in")->bytes, 4u);
  EXPECT_EQ(load_of(*run<Squares>(kSquares, 4), "in")->bytes, 16u);
}

}  // namespace
}  // namespace inlay::kernels
