// The operations of block.h on the CPU: each calls the executor whose block runs now.
#pragma once
#include <inlay/block/block.h>
#include <inlay/replay/executor.h>
#include <inlay/replay/operations.h>
#include <inlay/replay/wgmma_operations.h>

namespace inlay::replay {

// An mbarrier in the kernel's shared memory, which is inaccessible on the host. The executor keeps its state by
// address.
class Mbarrier {
 public:
  void init(std::uint32_t count) const { running().mbarrier_init(this, count); }
  void arrive() const { running().mbarrier_arrive(this, 0); }
  void arrive(unsigned rank) const { running().mbarrier_arrive_at(this, rank); }
  void arrive_and_expect_tx(std::uint32_t bytes) const { running().mbarrier_arrive(this, bytes); }
  void wait(std::uint32_t parity) const { running().mbarrier_wait(this, parity); }

 private:
  std::uint64_t opaque_;
};

struct HostBlock {
  template <class Op>
  using op = Recorded<Op>;
  using Mbarrier = replay::Mbarrier;
  unsigned rank, group;           // thread rank in the block, block index
  std::int64_t dst = 0, src = 0;  // bytes from the addresses in a kernel's parameters to those of its operands

  unsigned thread_rank() const { return rank; }
  unsigned block_index() const { return group; }
  template <class T>
  auto gmem(T* p) const {
    return cute::make_gmem_ptr(
        reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(p) + std::uintptr_t(std::is_const_v<T> ? src : dst)));
  }
  // The same thread in block `index` of the blocks of one pair of a list (kernels/common/listed.h).
  HostBlock of_pair(unsigned index, std::int64_t to_dst, std::int64_t to_src) const {
    return {rank, index, to_dst, to_src};
  }
  void sync(std::source_location at = std::source_location::current()) const { running().sync(at); }

  template <int Id, int Threads>
  void sync(cute::Int<Id>, cute::Int<Threads>, std::source_location at = std::source_location::current()) const {
    static_assert(Id >= 1 && Id <= 15 && Threads % 32 == 0);
    running().sync(Id, Threads, at);
  }
  void syncwarp(std::source_location at = std::source_location::current()) const { running().syncwarp(at); }

  template <Shuffled X>
  X shfl(X x, int lane, std::source_location at = std::source_location::current()) const {
    return shuffle("shfl", x, lane & 31, at);
  }
  template <Shuffled X>
  X shfl_up(X x, int n, std::source_location at = std::source_location::current()) const {
    int const from = lane() - n;
    return shuffle("shfl_up", x, from < 0 ? lane() : from, at);
  }
  template <Shuffled X>
  X shfl_down(X x, int n, std::source_location at = std::source_location::current()) const {
    int const from = lane() + n;
    return shuffle("shfl_down", x, from > 31 ? lane() : from, at);
  }
  template <Shuffled X>
  X shfl_xor(X x, int mask, std::source_location at = std::source_location::current()) const {
    return shuffle("shfl_xor", x, (lane() ^ mask) & 31, at);
  }
  bool any(bool p, std::source_location at = std::source_location::current()) const {
    return running().vote("any", p, at);
  }
  bool all(bool p, std::source_location at = std::source_location::current()) const {
    return running().vote("all", p, at);
  }
  unsigned ballot(bool p, std::source_location at = std::source_location::current()) const {
    return running().vote("ballot", p, at);
  }

  template <AtomicNumber X>
  void atomic_add(X* p, X x, bool on = true) const {
    atomically<Atomic::add>(p, x, x, on);
  }
  template <AtomicInteger X>
  void atomic_min(X* p, X x, bool on = true) const {
    atomically<Atomic::min>(p, x, x, on);
  }
  template <AtomicInteger X>
  void atomic_max(X* p, X x, bool on = true) const {
    atomically<Atomic::max>(p, x, x, on);
  }
  template <AtomicNumber X>
  X atomic_fetch_add(X* p, X x, bool on = true) const {
    return atomically<Atomic::add>(p, x, x, on);
  }
  template <AtomicNumber X>
  X atomic_exchange(X* p, X x, bool on = true) const {
    return atomically<Atomic::exchange>(p, x, x, on);
  }
  template <AtomicInteger X>
  X atomic_cas(X* p, X expected, X x, bool on = true) const {
    return atomically<Atomic::cas>(p, expected, x, on);
  }

  void cp_async_fence() const { running().cp_async_fence(); }
  template <int N>
  void cp_async_wait(cute::Int<N>) const {
    running().cp_async_wait(N);
  }

  void prefetch(CUtensorMap const&) const {}  // accesses no tensor
  void tma_load(CUtensorMap const& map, Mbarrier const& full, void const* smem, int c0, int c1, int c2,
                L2 = L2::normal) const {
    running().tma_load(decode(map), &full, smem, {c0, c1, c2}, 0);
  }
  void tma_load_multicast(CUtensorMap const& map, Mbarrier const& full, void const* smem, int c0, int c1, int c2,
                          unsigned ranks) const {
    running().tma_load(decode(map), &full, smem, {c0, c1, c2}, ranks);
  }
  void tma_store(CUtensorMap const& map, void const* smem, int c0, int c1, int c2) const {
    running().tma_store(decode(map), smem, {c0, c1, c2});
  }
  void tma_store_commit() const { running().tma_store_commit(); }
  template <int N>
  void tma_store_wait_read(cute::Int<N>) const {
    running().tma_store_wait_read(N);
  }
  template <int N>
  void tma_store_wait(cute::Int<N>) const {
    running().tma_store_wait(N);
  }
  void fence_proxy_async() const { running().fence_proxy_async(); }
  void fence_barrier_init() const { running().fence_barrier_init(); }

  void wgmma_fence() const { running().wgmma_fence(); }
  void wgmma_commit() const { running().wgmma_commit(); }
  template <int N>
  void wgmma_wait(cute::Int<N>) const {
    running().wgmma_wait(N);
  }

  void griddep_launch_dependents() const {}  // no effect: kernels are replayed one after another
  void griddep_wait() const { running().griddep_wait(); }

  template <int Threads>
  void sync_cluster(cute::Int<Threads>, std::source_location at = std::source_location::current()) const {
    running().sync_cluster(Threads, at);
  }
  template <class X>
  X const* peer(X const* shared, int rank) const {
    return static_cast<X const*>(running().map_shared_rank(shared, unsigned(rank)));
  }

  template <int N>
  void setmaxnreg_inc(cute::Int<N>) const {
    static_assert(N % 8 == 0 && N >= 24 && N <= 240);
    running().set_registers(N);
  }
  template <int N>
  void setmaxnreg_dec(cute::Int<N> n) const {
    setmaxnreg_inc(n);  // the same range of counts
  }

  void release(unsigned* flag, unsigned value) const { running().release(flag, value); }
  void acquire(unsigned const* flag, unsigned value) const { running().acquire(flag, value); }

 private:
  static int lane() { return int(running().lane()); }
  template <class X>
  static X shuffle(char const* what, X x, int from, std::source_location at) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    bits = running().shuffle(what, bits, unsigned(from), at);
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }
  // One call site per operation and type.
  template <Atomic kind, class X>
  static X atomically(X* p, X expected, X x, bool on) {
    static int const call_site = Executor::new_call_site();
    auto const pass = running().begin_pass(call_site);
    if (!on) return running().end_pass(pass), X{};
    char* const bytes = running().atomic(pass, p, sizeof x, kind);
    X old;
    std::memcpy(&old, bytes, sizeof old);
    if constexpr (kind == Atomic::add && std::is_floating_point_v<X>)
      running().check_sum_order(bytes, double(old), double(x), std::numeric_limits<X>::digits);
    if constexpr (kind == Atomic::add) x = X(old + x);
    if constexpr (kind == Atomic::min) x = std::min(old, x);
    if constexpr (kind == Atomic::max) x = std::max(old, x);
    if (kind != Atomic::cas || old == expected) std::memcpy(bytes, &x, sizeof x);
    return old;
  }
};

}  // namespace inlay::replay
