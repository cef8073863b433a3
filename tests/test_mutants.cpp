// Broken kernels, each caught by the check that should catch it. A mutant is an executor that leaves an operation out,
// an edit of the lanes' passes, or a parameter changed: the kernels are the registry's own, unchanged.
#include <gtest/gtest.h>

#include <inlay/explain/explanation.h>
#include <inlay/kernels/copy/transpose_batched.h>
#include <inlay/kernels/copy/transpose_realigned.h>
#include <inlay/registry/replay_kernel.h>
#include <inlay/tutorial/copy/copy_01_scalar.h>
#include <inlay/tutorial/copy/copy_02_smem.h>
#include <inlay/tutorial/copy/copy_03_vector.h>
#include <inlay/tutorial/transpose/transpose_01_naive_read.h>
#include <inlay/tutorial/transpose/transpose_02_naive_write.h>
#include <inlay/tutorial/transpose/transpose_06_smem_swizzled.h>
#include <inlay/tutorial/transpose/transpose_09_vector_swizzled.h>
#include <inlay/tutorial/transpose/transpose_10_cp_async.h>
#include <inlay/tutorial/transpose/transpose_11_tma_store.h>
#include <inlay/tutorial/transpose/transpose_12_register_tile.h>
#include <inlay/tutorial/transpose/transpose_14_tma.h>
#include "corpus.h"
#include "mutants.h"

namespace inlay::kernels {
namespace {

using T = std::uint32_t;
using explain::counted;
using replay::Check, replay::Executor, replay::Finding, replay::Lane, replay::Launch, replay::Mechanism,
    replay::Recorder, replay::Site, replay::Where;
using test::Changed, test::expect_only, test::recorder_with;
constexpr int kRows = 70, kCols = 80;  // ragged both ways, rows of whole vectors

// A kernel of the registry by its name, and the type of which its parameters are, where a mutant changes them.
template <class K = void>
struct Named {
  char const* name;
  bool transposes() const { return std::string_view(name).starts_with("transpose"); }
};
constexpr Named<copy_01_scalar::Kernel> kCopy01{"copy_01_scalar"};
constexpr Named<copy_02_smem::Kernel> kCopy02{"copy_02_smem"};
constexpr Named<copy_03_vector::Kernel> kCopy03{"copy_03_vector"};
constexpr Named<> kCopy04{"copy_04_tma"};
constexpr Named<transpose_01_naive_read::Kernel> kNaiveRead{"transpose_01_naive_read"};
constexpr Named<transpose_02_naive_write::Kernel> kNaiveWrite{"transpose_02_naive_write"};
constexpr Named<> kPadded{"transpose_05_smem_padded"};
constexpr Named<transpose_06_smem_swizzled::Kernel> kSwizzled{"transpose_06_smem_swizzled"};
constexpr Named<transpose_09_vector_swizzled::Kernel> kVector{"transpose_09_vector_swizzled"};
constexpr Named<transpose_10_cp_async::Kernel> kCpAsync{"transpose_10_cp_async"};
constexpr Named<transpose_11_tma_store::Kernel> kTmaStore{"transpose_11_tma_store"};
constexpr Named<transpose_12_register_tile::Kernel> kRegisterTranspose{"transpose_12_register_tile"};
constexpr Named<transpose_14_tma::Kernel> kTmaBothWays{"transpose_14_tma"};
constexpr Named<> kEvictLast{"transpose_registers"}, kContiguous{"copy_contiguous"};
constexpr Named<transpose_realigned::Kernel<T>> kSkewed{"transpose_realigned"};
constexpr Named<transpose_realigned::Kernel<std::uint8_t>> kRealigned{"transpose_realigned"};
constexpr Named<transpose_batched::Kernel<T>> kSquares{"transpose_batched"};

template <class K>
registry::Replay<Copy> replay_of(Named<K> kernel) {
  return test::entry_named(registry::copy_kernels(), kernel.name).replay;
}
// Replays a kernel with a mutant and changed parameters on a case of e-byte elements; what the recorder found.
template <class Mutant = Changed, class K>
std::unique_ptr<Recorder> run(Named<K> kernel, test::Case const& c, int e, test::Change const& change = {}) {
  std::unique_ptr<Recorder> recorder = recorder_with<Mutant>(change);
  test::Views const v = test::views_of(c, kernel.transposes());
  void* const in = recorder->allocate("in", std::size_t(v.in_elements * e) + 64, e, 1);
  void* const out = recorder->allocate("out", std::size_t(v.out_elements * e) + 64, e, 2);
  replay_of(kernel)(test::copy_of(c, v, in, out, e), Device{}, *recorder);
  return recorder;
}
// On matrices with pitches of whole vectors.
template <class Mutant = Changed, class K>
std::unique_ptr<Recorder> run(Named<K> kernel, test::Change const& change = {}) {
  return run<Mutant>(kernel, {kRows, kCols, 1, 0, kernel.transposes() ? 2 : 4}, sizeof(T), change);
}
// f(parameters), before the kernel is replayed.
template <class K, class F>
test::Change changed(Named<K>, F const& f) {
  return [f](Launch const& x) {
    K* const kernel = x.as<K>();
    if (!kernel) throw std::runtime_error("the parameters are of another type");
    return f(*kernel), true;
  };
}
template <class K, class F>
std::unique_ptr<Recorder> run_changed(Named<K> kernel, F const& f) {
  return run(kernel, changed(kernel, f));
}
template <class K, class F>
std::unique_ptr<Recorder> run_changed(Named<K> kernel, test::Case const& c, int e, F const& f) {
  return run(kernel, c, e, changed(kernel, f));
}

// Ragged at the tiles' edges, and: whole vectors both ways; odd pitches and bases; matrices of 16 x 16, of which a
// block takes 16.
constexpr test::Case kWhole{72, 80}, kOdd{130, 131, 1, 1, 1, 3, 5}, kMatrices{16, 16, 20, 0, 0, 0, 0, 0};

// What stands here is not broken: the mutants below differ from these.
TEST(Mutants, OriginalsAreSilent) {
  expect_only(*run(kRegisterTranspose, kWhole, 4), {});
  expect_only(*run(kSkewed, kOdd, 4), {});
  expect_only(*run(kRealigned, kOdd, 1), {});
  expect_only(*run(kTmaBothWays, kWhole, 4), {});
  expect_only(*run(kSquares, kMatrices, 4), {});
}

// ---- the barrier removed: threads run one after another here, so they read what is not there yet
struct NoSync : Changed {
  using Changed::Changed, Changed::sync;
  void sync(std::source_location) override {}
};
TEST(Mutants, BarrierRemoved) {
  expect_only(*run<NoSync>(kPadded), {Check::race, Check::result});
  expect_only(*run<NoSync>(kVector), {Check::race, Check::result});
  expect_only(*run<NoSync>(kCpAsync), {Check::race, Check::result});
  expect_only(*run<NoSync>(kRegisterTranspose, kWhole, 4), {Check::race, Check::result});
  expect_only(*run<NoSync>(kSkewed, kOdd, 4), {Check::race, Check::result});
  expect_only(*run<NoSync>(kRealigned, kOdd, 1), {Check::race, Check::result});
  expect_only(*run<NoSync>(kSquares, kMatrices, 4), {Check::race, Check::result});
}
TEST(Mutants, BarrierRemovedBeforeTmaStore) {
  auto const r = run<NoSync>(kTmaStore, kWhole, 4);
  EXPECT_TRUE(r->found(Check::race));
  EXPECT_TRUE((run<NoSync>(kTmaBothWays, kWhole, 4)->found(Check::race)));
}
// One barrier of several left out, by its number from 1 on.
template <int number>
struct NoSyncNumber : Changed {
  using Changed::Changed, Changed::sync;
  test::PerThread<int> passed;
  void sync(std::source_location at) override {
    if (++passed.of(*this) != number) Changed::sync(at);
  }
};
TEST(Mutants, OneBarrierOfTheTmaTransposeRemoved) {
  expect_only(*run<NoSyncNumber<1>>(kTmaBothWays, kWhole, 4), {Check::race});  // the mbarrier, not yet initialised
  // The second holds the stores back until the image they go over has been read.
  auto const over = run<NoSyncNumber<2>>(kTmaBothWays, kWhole, 4);
  expect_only(*over, {Check::race, Check::result});
  EXPECT_NE(over->findings.front().sentence.find("shared A["), std::string::npos) << over->findings.front().sentence;
  EXPECT_TRUE((run<NoSyncNumber<3>>(kTmaBothWays, kWhole, 4)->found(Check::race)));  // TMA stores what is not there yet
}
TEST(Mutants, TheBarrierOfCopy02IsNotNeeded) { expect_only(*run<NoSync>(kCopy02), {}); }

// ---- the swizzle dropped on the side that reads: XOR undoes itself
template <class Kernel>
struct ReadsUnswizzled : Changed {
  using Changed::Changed, Changed::edit;
  void edit(Lane& lane) override {
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
template <class K>
bool is_caught_unswizzled(Named<K> kernel) {
  return run<ReadsUnswizzled<K>>(kernel)->found(Check::result);
}
TEST(Mutants, SwizzleDroppedOnOneSide) {
  EXPECT_TRUE(is_caught_unswizzled(kSwizzled));
  EXPECT_TRUE(is_caught_unswizzled(kVector));
  EXPECT_TRUE(is_caught_unswizzled(kCpAsync));
}

// The copy engine swizzles one box and not the other.
TEST(Mutants, TmaSwizzleDroppedOnOneSide) {
  auto const plain = [](CUtensorMap& map) {
    TmaTensor tensor = replay::decode(map);
    tensor.swizzle_128b = false;
    map = replay::ReplayEncoder{}(tensor);
  };
  expect_only(*run_changed(kTmaBothWays, kWhole, 4, [&](auto& kernel) { plain(kernel.mapA); }), {Check::result});
  expect_only(*run_changed(kTmaBothWays, kWhole, 4, [&](auto& kernel) { plain(kernel.mapB); }), {Check::result});
}

// ---- and on both: right, without a race, but not what the step promises
template <class Step>
struct Plain : Step {
  using SmemLayout = RowMajor<typename Step::Tile>;
};
// These kernels are compiled here.
template <class Step>
void replay_plain(Copy const& copy, Device const& device, Recorder& recorder) {
  recorder.kernel = "plain";
  registry::replay_kernel<SmemTile<Plain<Step>>>(copy, device, recorder);
}
std::int64_t wavefronts_of_loads(registry::Replay<Copy> replay) {
  Recorder recorder;
  test::Case const c{kRows, kCols, 1, 0, 2};
  test::Views const v = test::views_of(c, true);
  void* const in = recorder.allocate("in", std::size_t(v.in_elements) * sizeof(T) + 64, sizeof(T), 1);
  void* const out = recorder.allocate("out", std::size_t(v.out_elements) * sizeof(T) + 64, sizeof(T), 2);
  replay(test::copy_of(c, v, in, out, sizeof(T)), Device{}, recorder);
  expect_only(recorder, {});
  return counted(recorder).shared_load.transactions;
}
TEST(Mutants, SwizzleDroppedOnBothSides) {
  EXPECT_GT(wavefronts_of_loads(replay_plain<transpose_06_smem_swizzled::Step>),
            wavefronts_of_loads(replay_of(kSwizzled)) * 8);
  EXPECT_GT(wavefronts_of_loads(replay_plain<transpose_10_cp_async::Step>),
            wavefronts_of_loads(replay_of(kCpAsync)) * 8);
  EXPECT_GT(wavefronts_of_loads(replay_plain<transpose_09_vector_swizzled::Step>),
            wavefronts_of_loads(replay_of(kVector)) * 4);
}

// ---- a bound off by one: the predicate lets a row through that is none
constexpr auto kOneRowMore = [](auto& kernel) { kernel.M += 1; };
constexpr auto kOneRowLess = [](auto& kernel) { kernel.M -= 1; };
TEST(Mutants, PredicateOffByOne) {
  expect_only(*run_changed(kSwizzled, kOneRowMore), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kVector, kOneRowMore), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kCpAsync, kOneRowMore), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kTmaStore, kWhole, 4, kOneRowMore), {Check::bounds, Check::coverage});
  auto const one_column_more = [](auto& kernel) { kernel.N += 1; };
  expect_only(*run_changed(kCopy01, one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kCopy02, one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kCopy03, one_column_more), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kNaiveRead, kOneRowMore), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kNaiveWrite, kOneRowMore), {Check::bounds, Check::coverage});
  auto const one_chunk_more = [](auto& kernel) { kernel.M += 4; };  // squares are inside or outside as a whole
  expect_only(*run_changed(kRegisterTranspose, kWhole, 4, one_chunk_more), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kSkewed, kOdd, 4, kOneRowMore), {Check::bounds, Check::coverage});
  expect_only(*run_changed(kSkewed, kOdd, 4, kOneRowLess), {Check::coverage});
  expect_only(*run_changed(kRealigned, kOdd, 1, kOneRowLess), {Check::coverage});
  expect_only(*run_changed(kNaiveWrite, kOneRowLess), {Check::coverage});
  expect_only(*run_changed(kVector, kOneRowLess), {Check::coverage});
  expect_only(*run_changed(kSwizzled, kOneRowLess), {Check::coverage});
}

// Mutant: the last block of a batch copies a full group of matrices, although fewer are left. It reads and writes past
// the operands.
TEST(Mutants, LastBlockNotClipped) {
  auto const whole_groups = [](auto& kernel) { kernel.batch += kernel.group - kernel.batch % kernel.group; };
  expect_only(*run_changed(kSquares, kMatrices, 4, whole_groups), {Check::bounds, Check::coverage});
}

// ---- an aligned vector that is only partly the row's, read all the same: what lies behind the row is no element
struct VectorsIntoTheGap : Changed {
  using Changed::Changed, Changed::edit;
  void edit(Lane& lane) override {
    if (lane.src_in != Where::global || lane.src_bytes != 16) return;
    auto const address = reinterpret_cast<std::uint64_t>(lane.src);
    replay::Region const* const r = memory.find(address);
    lane.active |= r && address - reinterpret_cast<std::uint64_t>(r->seen) + 16 <= r->bytes;
  }
};
TEST(Mutants, VectorReachesIntoTheGap) {
  auto const r = run<VectorsIntoTheGap>(kRealigned, kOdd, 1);
  expect_only(*r, {Check::bounds, Check::coverage});
  EXPECT_NE(r->findings.front().sentence.find("no element of the source"), std::string::npos)
      << r->findings.front().sentence;
}

// ---- the skew off by one element: where a row of the output is taken from, or where it is written
template <bool reads>
struct SkewedByOneMore : Changed {
  using Changed::Changed, Changed::edit;
  void edit(Lane& lane) override {
    if (reads && lane.src_in == Where::shared) lane.src = static_cast<char const*>(lane.src) - sizeof(T);
    if (!reads && lane.dst_in == Where::global) lane.dst = static_cast<char*>(lane.dst) + sizeof(T);
  }
};
TEST(Mutants, SkewOffByOne) {
  expect_only(*run<SkewedByOneMore<true>>(kSkewed, kOdd, 4), {Check::result});
  expect_only(*run<SkewedByOneMore<false>>(kSkewed, kOdd, 4), {Check::bounds, Check::coverage, Check::result});
}

// ---- the transpose in registers left out: a square's rows are stored where its columns belong
struct NoRegisterTranspose : Changed {
  using Changed::Changed, Changed::edit;
  struct Thread {
    std::vector<void const*> loaded;  // its vectors, in order
    std::size_t stored = 0;
  };
  test::PerThread<Thread> threads;
  void edit(Lane& lane) override {
    Thread& x = threads.of(*this);
    if (lane.src_in == Where::global)
      x.loaded.push_back(lane.dst);
    else if (lane.dst_in == Where::shared)
      lane.src = x.loaded.at(x.stored++);
  }
};
TEST(Mutants, RegisterTransposeLeftOut) {
  expect_only(*run<NoRegisterTranspose>(kRegisterTranspose, kWhole, 4), {Check::result});
  expect_only(*run<NoRegisterTranspose>(kSquares, kMatrices, 4), {Check::result});
}

// ---- the load's predicate reused for the store: the same thread has another element there
struct OnePredicate : Changed {
  using Changed::Changed, Changed::edit;
  struct Thread {
    std::vector<bool> said;  // the predicates of its loads, in order
    std::size_t next = 0;
  };
  test::PerThread<Thread> threads;
  void edit(Lane& lane) override {
    Thread& x = threads.of(*this);
    if (lane.src_in == Where::global)
      x.said.push_back(lane.active);
    else if (lane.dst_in == Where::global && !x.said.empty())
      lane.active = x.said[x.next++ % x.said.size()];
  }
};
template <class K>
void expect_caught_with_one_predicate(Named<K> kernel) {
  auto const r = run<OnePredicate>(kernel);  // reads what nobody loaded, writes beyond the edge, leaves elements out
  EXPECT_TRUE(r->found(Check::bounds) || r->found(Check::race));
  EXPECT_TRUE(r->found(Check::coverage));
}
TEST(Mutants, LoadPredicateReusedForTheStore) {
  expect_caught_with_one_predicate(kSwizzled);
  expect_caught_with_one_predicate(kVector);
  expect_caught_with_one_predicate(kCpAsync);
}

// ---- vectors that are not aligned
constexpr auto kOneElementOn = [](auto& kernel) {
  kernel.in = reinterpret_cast<decltype(kernel.in)>(reinterpret_cast<std::uint64_t>(kernel.in) + sizeof(T));
};
TEST(Mutants, MisalignedVector) {
  expect_only(*run_changed(kCopy03, kOneElementOn), {Check::alignment, Check::coverage});
  expect_only(*run_changed(kVector, kOneElementOn), {Check::alignment, Check::coverage});
  expect_only(*run_changed(kTmaStore, kWhole, 4, kOneElementOn), {Check::alignment, Check::coverage});
  expect_only(*run_changed(kRegisterTranspose, kWhole, 4, kOneElementOn), {Check::alignment, Check::coverage});
}

TEST(Mutants, ADescriptorThatTheDriverWouldRefuse) {
  TmaTensor const good{nullptr, 4, {64, 64, 1}, {256, 16}, {32, 32, 1}};
  TmaTensor bad[] = {good, good, good, good};
  bad[0].base = reinterpret_cast<void*>(8), bad[1].stride[0] = 260, bad[2].box[0] = 257, bad[3].box[0] = 3;
  EXPECT_NO_THROW(replay::ReplayEncoder{}(good));
  for (TmaTensor const& t : bad) EXPECT_THROW(replay::ReplayEncoder{}(t), replay::Fault);
}

// ---- asynchronous copies
struct NoCpAsyncWait : Changed {
  using Changed::Changed;
  void cp_async_wait(int) override {}
};
TEST(Mutants, NoWaitAfterCpAsync) {
  auto const r = run<NoCpAsyncWait>(kCpAsync);
  EXPECT_TRUE(r->found(Check::race));
  EXPECT_TRUE(r->found(Check::misuse));
}
struct NoFence : Changed {
  using Changed::Changed;
  void fence_proxy_async() override {}
};
TEST(Mutants, NoFenceBeforeTmaStore) {  // the output is right
  expect_only(*run<NoFence>(kTmaStore, kWhole, 4), {Check::race});
  expect_only(*run<NoFence>(kTmaBothWays, kWhole, 4), {Check::race});
}

struct NoBarrierFence : Changed {
  using Changed::Changed;
  void fence_barrier_init() override {}
};
TEST(Mutants, MbarrierNotFencedBeforeTmaLoad) {  // nor is anything wrong with this output
  expect_only(*run<NoBarrierFence>(kCopy04), {Check::race});
  expect_only(*run<NoBarrierFence>(kTmaBothWays, kWhole, 4), {Check::race});
}
// TMA stores what a fence of its own thread alone has not covered: that one comes before the barrier.
struct OneFences : Changed {
  using Changed::Changed;
  void fence_proxy_async() override {
    if (rank() == 0) Changed::fence_proxy_async();
  }
};
TEST(Mutants, FencedByTheWrongThread) {
  expect_only(*run<OneFences>(kTmaStore, kWhole, 4), {Check::race});
  expect_only(*run<OneFences>(kTmaBothWays, kWhole, 4), {Check::race});
}
struct InitialisesTwice : Changed {
  using Changed::Changed;
  void mbarrier_init(void const* address, unsigned count) override {
    Changed::mbarrier_init(address, count), Changed::mbarrier_init(address, count);
  }
};
TEST(Mutants, MbarrierInitialisedTwice) {
  expect_only(*run<InitialisesTwice>(kCopy04), {Check::misuse});
  expect_only(*run<InitialisesTwice>(kTmaBothWays, kWhole, 4), {Check::misuse});
}
struct ExpectsTooLittle : Changed {
  using Changed::Changed;
  void mbarrier_arrive(void const* address, std::int64_t bytes) override {
    Changed::mbarrier_arrive(address, bytes ? bytes - 16 : 0);
  }
};
TEST(Mutants, PhaseThatEndsInTheMiddleOfABox) {
  auto const r = run<ExpectsTooLittle>(kCopy04);
  EXPECT_TRUE(r->found(Check::misuse));
  EXPECT_TRUE(r->found(Check::race));  // the rest of the box is stored before it has come
}

struct NoStoreWait : Changed {
  using Changed::Changed;
  void tma_store_wait_read(int) override {}
};
TEST(Mutants, NoWaitForTheTmaStore) {
  EXPECT_TRUE((run<NoStoreWait>(kTmaStore, kWhole, 4)->found(Check::misuse)));
  EXPECT_TRUE((run<NoStoreWait>(kCopy04)->found(Check::misuse)));
  EXPECT_TRUE((run<NoStoreWait>(kTmaBothWays, kWhole, 4)->found(Check::misuse)));
}
struct NoWait : Changed {
  using Changed::Changed;
  void mbarrier_wait(void const*, unsigned) override {}
};
TEST(Mutants, NoWaitForTheTmaLoad) {
  EXPECT_TRUE((run<NoWait>(kCopy04)->found(Check::race)));
  EXPECT_TRUE((run<NoWait>(kTmaBothWays, kWhole, 4)->found(Check::race)));
}

struct ExpectsTooMuch : Changed {
  using Changed::Changed;
  void mbarrier_arrive(void const* address, std::int64_t bytes) override {
    Changed::mbarrier_arrive(address, bytes ? bytes + 16 : 0);
  }
};
TEST(Mutants, ExpectsBytesThatNeverCome) {
  auto const r = run<ExpectsTooMuch>(kCopy04);
  ASSERT_TRUE(r->found(Check::deadlock));
  EXPECT_NE(r->findings.front().sentence.find("16 bytes missing"), std::string::npos) << r->findings.front().sentence;
}

// ---- barriers that not everybody reaches, or not the same one
struct OneStaysAway : Changed {
  using Changed::Changed, Changed::sync;
  void sync(std::source_location at) override {
    if (rank() != 5) Changed::sync(at);
  }
};
struct TwoBarriers : Changed {
  using Changed::Changed, Changed::sync;
  void sync(std::source_location at) override { Changed::sync(rank() % 2 ? at : std::source_location::current()); }
};
// The others go on when it has ended, as on a GPU: no deadlock, but it reads too early.
TEST(Mutants, BarrierThatOneThreadMisses) {
  auto const r = run<OneStaysAway>(kSwizzled);
  expect_only(*r, {Check::race, Check::result});
  EXPECT_NE(r->findings.front().sentence.find("thread 5: reads shared A["), std::string::npos)
      << r->findings.front().sentence;
}
TEST(Mutants, TwoBarriersForOne) { expect_only(*run<TwoBarriers>(kSwizzled), {Check::divergence}); }

// ---- an access that no copy operation makes
struct PastTheRecorder : Changed {
  using Changed::Changed, Changed::edit;
  void edit(Lane& lane) override {
    if (lane.src_in != Where::registers && lane.active) [[maybe_unused]]
      char const c = *static_cast<char const volatile*>(lane.src);
  }
};
TEST(Mutants, AccessPastTheRecorder) {
  expect_only(*run<PastTheRecorder>(kCopy01), {Check::unrecorded, Check::coverage});
  expect_only(*run<PastTheRecorder>(kSwizzled), {Check::unrecorded, Check::coverage});
  expect_only(*run<PastTheRecorder>(kNaiveWrite), {Check::unrecorded, Check::coverage});
  expect_only(*run<PastTheRecorder>(kCpAsync), {Check::unrecorded, Check::coverage});
  expect_only(*run<PastTheRecorder>(kTmaStore), {Check::unrecorded, Check::coverage});
  auto const r = run<PastTheRecorder>(kVector);  // that replay failed, the process goes on
  EXPECT_EQ(r->findings.front().sentence,
            "transpose_09_vector_swizzled, block 0, thread 0: accesses in[0] (byte 0) directly, not through a copy "
            "operation");
}

// ---- every destination element exactly once
TEST(Mutants, WrittenTwiceOrNotAtAll) {
  auto const twice = run_changed(kSwizzled, [](auto& kernel) { kernel.batch = 2; });
  expect_only(*twice, {Check::coverage});
  EXPECT_NE(twice->findings.front().sentence.find("once more"), std::string::npos);
  expect_only(*run_changed(kSwizzled, [](auto& kernel) { kernel.M -= 6, kernel.tiles_m = 1; }), {Check::coverage});
}

// ---- a finding names kernel, block, thread, access and element
TEST(Findings, NameTheElementAndTheOtherThread) {
  auto const r = run<NoSync>(kPadded);
  ASSERT_FALSE(r->findings.empty());
  std::string const s = r->findings.front().sentence;
  EXPECT_TRUE(s.starts_with("transpose_05_smem_padded, block 0, thread ")) << s;
  EXPECT_NE(s.find("reads shared A["), std::string::npos) << s;
}

// ---- a load with a cache policy is one load, at the source, of all its bytes
Site const* load_of(Recorder const& r, std::string const& operand) {
  for (Site const& s : r.sites)
    if (s.operand == operand && !s.store) return &s;
  return nullptr;
}
void expect_the_same_loads(Named<> hinted_kernel, char const* plain_kernel, test::Case const& c, unsigned bytes) {
  auto const hinted = run(hinted_kernel, c, 4), plain = run(Named<>{plain_kernel}, c, 4);
  Site const *const a = load_of(*hinted, "in"), *const b = load_of(*plain, "in");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->space, replay::Space::global);
  EXPECT_EQ(a->mechanism, Mechanism::plain);
  EXPECT_EQ(a->bytes, bytes);
  EXPECT_EQ(a->traffic, b->traffic);
}
TEST(Findings, AnEvictLastLoadIsALoad) {
  expect_the_same_loads(kEvictLast, "transpose_13_in_flight", kWhole, 16);
  expect_the_same_loads(kContiguous, "copy_03_vector", kWhole, 16);
  EXPECT_EQ(load_of(*run(kSkewed, kOdd, 4), "in")->bytes, 4u);
  EXPECT_EQ(load_of(*run(kSquares, kMatrices, 4), "in")->bytes, 16u);
}

}  // namespace
}  // namespace inlay::kernels
