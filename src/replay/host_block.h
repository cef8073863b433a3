// The host side of the vocabulary: the same names as DeviceBlock, each handed to the executor. A mutant is a subclass.
#pragma once
#include "block/block.h"
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
};

// The arrays of a kernel's Smem, by the names that kernels use: A, B and full. Anything else is plain "shared".
template <class Smem>
std::vector<Operand> operands_of() {
  std::vector<Operand> v;
  if constexpr (requires(Smem s) { s.A; })
    v.push_back({"shared A", offsetof(Smem, A), sizeof(Smem::A), int(sizeof(Smem::A[0]))});
  if constexpr (requires(Smem s) { s.B; })
    v.push_back({"shared B", offsetof(Smem, B), sizeof(Smem::B), int(sizeof(Smem::B[0]))});
  if constexpr (requires(Smem s) { s.full; })
    v.push_back({"shared full", offsetof(Smem, full), sizeof(Smem::full), int(sizeof(Smem::full))});
  v.push_back({"shared", 0, sizeof(Smem), 1});
  return v;
}

// Runs all blocks of a kernel on the host.
template <class Block = HostBlock, class Kernel>
void run(Kernel const& kernel, Recorder& recorder) {
  using Smem = typename Kernel::Smem;
  constexpr std::size_t smem_bytes = std::is_empty_v<Smem> ? 0 : sizeof(Smem);
  recorder.executor().run(kernel.blocks(), Kernel::threads, smem_bytes, operands_of<Smem>(),
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

// Replays Kernel<T> for the element size of the move, with all checks.
template <template <class> class Kernel, class Block = HostBlock>
void replay_move(Move const& move, Recorder& recorder) {
  recorder.expect(move);
  if (move.elements())
    with_element(move.elem_bytes,
                 [&](auto e) { run<Block>(Kernel<decltype(e)>::make(move, ReplayEncoder{}), recorder); });
  recorder.conclude(move);
}

}  // namespace inlay::replay
