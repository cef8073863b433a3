// The host side of the vocabulary: the same names as DeviceBlock, each handed to the executor. A mutant is a subclass.
#pragma once
#include "block/block.h"
#include "plan/traffic.h"
#include "replay/executor.h"
#include "replay/operations.h"

namespace inlay::replay {

// Lies in the kernel's shared memory, where the host may not look: the executor keeps the state, by address.
class Mbarrier {
 public:
  void init(std::uint32_t count) const { running().mbarrier_init(this, count); }
  void arrive() const { running().mbarrier_arrive(this, 0); }
  void arrive_and_expect_tx(std::uint32_t bytes) const { running().mbarrier_arrive(this, bytes); }
  void wait(std::uint32_t parity) const { running().mbarrier_wait(this, parity); }

 private:
  std::uint64_t opaque_;
};

struct HostBlock {
  template <class Op>
  using op = Recorded<Op>;
  using Mbarrier = replay::Mbarrier;
  unsigned rank, group;

  unsigned thread_rank() const { return rank; }
  unsigned group_index() const { return group; }
  void sync(std::source_location at = std::source_location::current()) const { running().sync(at); }

  template <int Id, int Threads>
  void sync(cute::Int<Id>, cute::Int<Threads>, std::source_location at = std::source_location::current()) const {
    static_assert(Id >= 1 && Id <= 15 && Threads % 32 == 0);
    running().sync(Id, Threads, at);
  }
  void sync_warp(std::source_location at = std::source_location::current()) const { running().sync_warp(at); }

  void cp_async_fence() const { running().cp_async_fence(); }
  template <int N>
  void cp_async_wait(cute::Int<N>) const {
    running().cp_async_wait(N);
  }

  void tma_load(CUtensorMap const& map, Mbarrier const& full, void const* smem, int c0, int c1, int c2,
                L2 = L2::normal) const {
    running().tma_load(decode(map), &full, smem, {c0, c1, c2});
  }
  void tma_store(CUtensorMap const& map, void const* smem, int c0, int c1, int c2) const {
    running().tma_store(decode(map), smem, {c0, c1, c2});
  }
  void tma_store_commit() const { running().tma_store_commit(); }
  template <int N>
  void tma_store_wait(cute::Int<N>) const {
    running().tma_store_wait(N);
  }
  void fence_async() const { running().fence_async(); }
  void fence_barrier_init() const {}

  void start_next_kernel() const {}
  void wait_previous_kernel() const {}  // kernels are replayed one after the other

  template <int Threads>
  void sync_cluster(cute::Int<Threads>, std::source_location at = std::source_location::current()) const {
    running().sync_cluster(Threads, at);
  }
  template <class X>
  X const* peer(X const* shared, int rank) const {
    return static_cast<X const*>(running().peer(shared, unsigned(rank)));
  }

  template <int N>
  void more_registers(cute::Int<N>) const {
    static_assert(N % 8 == 0 && N >= 24 && N <= 240);
  }
  template <int N>
  void fewer_registers(cute::Int<N> n) const {
    more_registers(n);  // what the instruction takes is the same
  }

  void release(unsigned* flag, unsigned value) const { running().release(flag, value); }
  void acquire(unsigned const* flag, unsigned value) const { running().acquire(flag, value); }
};

template <class Kernel>
unsigned cluster_of(Kernel const& kernel) {
  if constexpr (requires { kernel.cluster(); })
    return unsigned(kernel.cluster());
  else
    return 1;
}

// The arrays of a kernel's Smem, by the names that kernels use: A, B, C, raw, full and empty; or by names of their own,
// which Smem gives: static void members(auto name) { name("tile", &Smem::tile), ...; }. Anything else is plain
// "shared".
template <class Smem>
std::vector<Operand> operands_of() {
  std::vector<Operand> v;
  auto const add = [&]<class Member>(char const* name, std::size_t offset, std::type_identity<Member>) {
    v.push_back({name, offset, sizeof(Member), int(sizeof(std::remove_all_extents_t<Member>))});
  };
  if constexpr (requires { Smem::members([](char const*, auto Smem::*) {}); }) {
    alignas(Smem) static char const place[sizeof(Smem)]{};  // nothing is read: a member's address alone
    auto const& smem = *reinterpret_cast<Smem const*>(place);
    Smem::members([&]<class Member>(char const* name, Member Smem::*member) {
      auto const offset = reinterpret_cast<char const*>(&(smem.*member)) - place;
      add((std::string("shared ") + name).c_str(), std::size_t(offset), std::type_identity<Member>{});
    });
  }
  if constexpr (requires(Smem s) { s.A; }) add("shared A", offsetof(Smem, A), std::type_identity<decltype(Smem::A)>{});
  if constexpr (requires(Smem s) { s.B; }) add("shared B", offsetof(Smem, B), std::type_identity<decltype(Smem::B)>{});
  if constexpr (requires(Smem s) { s.C; }) add("shared C", offsetof(Smem, C), std::type_identity<decltype(Smem::C)>{});
  if constexpr (requires(Smem s) { s.raw; })
    add("shared raw", offsetof(Smem, raw), std::type_identity<decltype(Smem::raw)>{});
  if constexpr (requires(Smem s) { s.full; })
    add("shared full", offsetof(Smem, full), std::type_identity<decltype(Smem::full)>{});
  if constexpr (requires(Smem s) { s.empty; })
    add("shared empty", offsetof(Smem, empty), std::type_identity<decltype(Smem::empty)>{});
  v.push_back({"shared", 0, sizeof(Smem), 1});
  return v;
}

// Runs `count` blocks of a kernel on the host, from block `first` on.
template <class Block = HostBlock, class Kernel>
void run(Kernel const& kernel, Recorder& recorder, std::int64_t first, std::int64_t count) {
  using Smem = typename Kernel::Smem;
  constexpr std::size_t smem_bytes = std::is_empty_v<Smem> ? 0 : sizeof(Smem);
  recorder.executor().run(first, count, Kernel::threads, cluster_of(kernel), smem_bytes, operands_of<Smem>(),
                          [&](unsigned group, unsigned rank, void* shared) {
                            Block block;
                            block.rank = rank, block.group = group;
                            if constexpr (smem_bytes) {
                              kernel(block, *static_cast<Smem*>(shared));
                            } else {
                              Smem none;
                              kernel(block, none);
                            }
                          });
}
template <class Block = HostBlock, class Kernel>
void run(Kernel const& kernel, Recorder& recorder) {
  run<Block>(kernel, recorder, 0, kernel.blocks());
}

template <class Kernel>
Launch launch_of(Kernel const& kernel) {
  using Smem = typename Kernel::Smem;
  Launch x{kernel.blocks(), Kernel::threads, cluster_of(kernel), std::is_empty_v<Smem> ? 0 : sizeof(Smem), 0, 0};
  if constexpr (requires { Kernel::min_blocks; }) x.min_blocks = Kernel::min_blocks;
  if constexpr (requires { Kernel::blocks_per_sm; }) x.blocks_per_sm = Kernel::blocks_per_sm;
  return x;
}

// Replays a few blocks in the place of all: one, or one cluster, of each kind that the kernel tells apart, and counts
// it as often as there are of its kind.
struct Sampler {
  Recorder& recorder;

  template <class Kernel>
  void kinds(Kernel const& kernel, std::int64_t times) const {
    if constexpr (requires { Kernel::kinds(kernel, [](Kernel const&, std::int64_t, std::int64_t) {}); })
      Kernel::kinds(kernel, [&](Kernel const& k, std::int64_t block, std::int64_t alike) {
        recorder.times(times * alike, [&] { run(k, recorder, block, cluster_of(k)); });
      });
    else
      all(kernel, times);
  }
  template <class Kernel>
  void all(Kernel const& kernel, std::int64_t times) const {
    recorder.times(times, [&] { run(kernel, recorder); });
  }
};

// Replays a kernel of any kind, of which reads() and writes() have said what it may touch, with all checks but the
// result's: that is the caller's, who finds the bytes at Recorder::real.
template <class Block = HostBlock, class Kernel>
void replay_kernel(std::string name, Kernel const& kernel, Recorder& recorder) {
  recorder.kernel = std::move(name);
  recorder.launches.push_back(launch_of(kernel));
  run<Block>(kernel, recorder);
  recorder.conclude();
}

// Replays what a variant of Gemm launches, in order, with all checks.
template <class Kernel, class Block = HostBlock>
void replay_gemm(Gemm const& gemm, Recorder& recorder) {
  recorder.expect(gemm);
  if (gemm.elements())
    over_launches<Kernel>(gemm, recorder.device, recorder.workspace(), ReplayEncoder{},
                          [&](auto const& kernel) { run<Block>(kernel, recorder); });
  recorder.conclude(gemm);
}

// Replays Kernel<T> for the element size of the move, with all checks.
template <template <class> class Kernel, class Block = HostBlock>
void replay_move(Move const& move, Recorder& recorder) {
  recorder.expect(move);
  if (move.elements())
    with_element(move.elem_bytes,
                 [&](auto e) { run<Block>(Kernel<decltype(e)>::make(move, ReplayEncoder{}), recorder); });
  recorder.conclude(move);
}

// Counts what a variant does, from samples of its blocks: of any size in little time. Bounds, races and barriers are
// checked in these blocks, the result is not.
template <class Kernel>
void sample_gemm(Gemm const& gemm, Recorder& recorder) {
  if (!gemm.elements()) return;
  recorder.expect_samples();
  over_launches<Kernel>(gemm, recorder.device, recorder.workspace(), ReplayEncoder{},
                        [&](auto const& kernel) { recorder.launches.push_back(launch_of(kernel)); });
  Sampler const sampler{recorder};
  if constexpr (requires { Kernel::samples(gemm, recorder.device, recorder.workspace(), ReplayEncoder{}, sampler); })
    return Kernel::samples(gemm, recorder.device, recorder.workspace(), ReplayEncoder{}, sampler);
  std::int64_t period = 32;
  if constexpr (requires { Kernel::k_period; }) period = Kernel::k_period;
  over_lengths(gemm, period, [&](Gemm const& part, std::int64_t times) {
    over_launches<Kernel>(part, recorder.device, recorder.workspace(), ReplayEncoder{},
                          [&](auto const& kernel) { sampler.kinds(kernel, times); });
  });
}
template <template <class> class Kernel>
void sample_move(Move const& move, Recorder& recorder) {
  recorder.expect_samples();
  if (!move.elements()) return;
  with_element(move.elem_bytes, [&](auto e) {
    auto const kernel = Kernel<decltype(e)>::make(move, ReplayEncoder{});
    recorder.launches.push_back(launch_of(kernel));
    Sampler{recorder}.kinds(kernel, 1);
  });
}

}  // namespace inlay::replay
