// The host side of the vocabulary: the same names as DeviceBlock, each handed to the executor. A mutant is a subclass.
#pragma once
#include <inlay/block/block.h>
#include <inlay/replay/executor.h>
#include <inlay/replay/operations.h>

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

}  // namespace inlay::replay
