// CuTe operations on the CPU. Recorded<Op> has the traits of Op, so that partitioning is the same as on the GPU. Copies
// are executed and recorded as accesses of a lane; fused multiply-adds are executed and counted.
#pragma once
#include <cstring>
#include <cute/atom/copy_atom.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/tensor.hpp>
#include <type_traits>

#include <inlay/block/block.h>
#include <inlay/replay/executor.h>
#include <inlay/replay/matrix_operations.h>

namespace inlay::replay {

// HostBlock::op<Op>.
template <class Op>
struct Recorded {};

// Executes and records a copy of one lane. The ids of its call sites are those of its load and of its store.
template <bool cp_async, bool bypasses_l1>
inline void execute_copy(int load_site, int store_site, Lane& lane) {
  using Direction = Executor::Direction;
  Executor& x = running();
  x.edit(lane);
  auto const load = lane.src_in != Where::registers ? x.begin_pass(load_site) : Executor::Pass{};
  auto const store = lane.dst_in != Where::registers ? x.begin_pass(store_site) : Executor::Pass{};
  if (!lane.active) {
    if (lane.src_in != Where::registers) x.end_pass(load);
    if (lane.zero_fills_when_off) {
      char* const zeros =
          x.access(store, lane.dst, lane.dst_bytes, Direction::store, Mechanism::cp_async, x.cp_async_operation());
      x.cp_async({zeros, nullptr, lane.dst_bytes});
    } else if (lane.dst_in != Where::registers) {
      x.end_pass(store);
    }
    return;
  }
  Mechanism const mechanism = cp_async ? Mechanism::cp_async : Mechanism::plain;
  auto from = static_cast<char const*>(lane.src);
  auto to = static_cast<char*>(lane.dst);
  if constexpr (bypasses_l1) x.note_split_sectors(load, lane.src, lane.dst);
  if (lane.src_in != Where::registers) from = x.access(load, from, lane.src_bytes, Direction::load, mechanism);
  if (lane.dst_in != Where::registers)
    to = x.access(store, to, lane.dst_bytes, Direction::store, mechanism, cp_async ? x.cp_async_operation() : -1);
  if constexpr (cp_async)
    x.cp_async({to, from, lane.dst_bytes});
  else if (lane.src_bytes < lane.dst_bytes)
    std::memcpy(std::memset(to, 0, lane.dst_bytes), from, lane.src_bytes);
  else
    std::memcpy(to, from, lane.dst_bytes);
}

// Fused multiply-adds.
template <class D, class A, class B, class C>
struct Recorded<cute::UniversalFMA<D, A, B, C>> : cute::UniversalFMA<D, A, B, C> {
  static void fma(D& d, A const& a, B const& b, C const& c) {
    running().fma();
    cute::UniversalFMA<D, A, B, C>::fma(d, a, b, c);
  }
};
template <>
struct Recorded<OrderedFma> {
  static void fma(float& d, float a, float b) {
    running().fma();
    OrderedFma::fma(d, a, b);
  }
};
}  // namespace inlay::replay

namespace cute {
template <class D, class A, class B, class C>
struct MMA_Traits<inlay::replay::Recorded<UniversalFMA<D, A, B, C>>> : MMA_Traits<UniversalFMA<D, A, B, C>> {};

// mma.sync: the lanes of a warp meet.
template <class Op>
requires inlay::block::is_warp_mma<Op>
struct MMA_Traits<inlay::replay::Recorded<Op>> : MMA_Traits<Op> {
  template <class TD, class DLayout, class TA, class ALayout, class TB, class BLayout, class TC, class CLayout>
  friend void mma_unpack(MMA_Traits const&, Tensor<TD, DLayout>& D, Tensor<TA, ALayout> const& A,
                         Tensor<TB, BLayout> const& B, Tensor<TC, CLayout> const& C) {
    using Lane = inlay::replay::MmaLane<MMA_Traits<Op>>;
    Lane lane;
    for (int i = 0; i < int(std::size(lane.A)); ++i) lane.A[i] = A(i);
    for (int i = 0; i < int(std::size(lane.B)); ++i) lane.B[i] = B(i);
    for (int i = 0; i < int(std::size(lane.D)); ++i) lane.D[i] = C(i);
    inlay::replay::running().collective("mma", {}, 32, true, lane, &Lane::execute);
    for (int i = 0; i < int(std::size(lane.D)); ++i) D(i) = lane.D[i];
  }
};

template <class Op>
struct Copy_Traits<inlay::replay::Recorded<Op>> : Copy_Traits<Op> {
  bool active = true;

  // Because of this member, CuTe calls the operation also for lanes whose predicate is false, so that all lanes of a
  // warp pass a call site equally often.
  Copy_Traits with(bool predicate) const {
    Copy_Traits traits;
    traits.active = predicate;
    return traits;
  }

  template <class SrcEngine, class SrcLayout, class DstEngine, class DstLayout>
  friend void copy_unpack(Copy_Traits const& self, Tensor<SrcEngine, SrcLayout> const& src,
                          Tensor<DstEngine, DstLayout>& dst) {
    using Src = std::remove_extent_t<typename Op::SRegisters>;
    using Dst = std::remove_extent_t<typename Op::DRegisters>;
    Tensor rS = recast<Src const>(src);
    Tensor rD = recast<Dst>(dst);
    if constexpr (inlay::block::matrix_copy<Op>.matrices) {
      copy_matrix_rows(self.active, rS, rD);
    } else {
      static_assert(
          std::extent_v<typename Op::SRegisters> == 1 && std::extent_v<typename Op::DRegisters> == 1,
          "one access of one thread; of the operations of a warp, replay/matrix_operations.h has those that a "
          "replay executes");
      CUTE_STATIC_ASSERT_V(size(rS) == _1{}, "src failed to vectorize");
      CUTE_STATIC_ASSERT_V(size(rD) == _1{}, "dst failed to vectorize");
      // One pair of call sites per operation and pair of tensor types. Two copies of a body with the same types share
      // it: their requests differ by the number of the pass.
      static int const load = inlay::replay::Executor::new_call_site(),
                       store = inlay::replay::Executor::new_call_site();
      inlay::replay::Lane lane{self.active,
                               static_cast<void const*>(&rS(0)),
                               static_cast<void*>(const_cast<std::remove_const_t<Dst>*>(&rD(0))),
                               sizeof(Src),
                               sizeof(Dst),
                               where<SrcEngine>(),
                               where<DstEngine>(),
                               inlay::block::zero_fills_when_off<Op>};
      inlay::replay::execute_copy<inlay::block::is_cp_async<Op>, inlay::block::bypasses_l1<Op>>(load, store, lane);
    }
  }

 private:
  // ldmatrix: one row in shared memory, registers on the other side; stmatrix: the other way round.
  template <class SrcTensor, class DstTensor>
  static void copy_matrix_rows(bool active, SrcTensor const& rS, DstTensor& rD) {
    using namespace inlay::replay;
    constexpr auto kind = inlay::block::matrix_copy<Op>;
    static int const call_site = Executor::new_call_site();
    std::uint32_t registers[4]{};
    void const* row;
    if constexpr (kind.is_store) {
      for (int i = 0; i < kind.matrices; ++i) registers[i] = rS(i);
      row = &rD(0);
    } else {
      row = &rS(0);
    }
    inlay::replay::Lane lane{active, row, nullptr, 16, 16, Where::shared, Where::registers, false};
    running().edit(lane);
    execute_matrix_copy<kind>(call_site, lane.src, lane.active, registers);
    if constexpr (!kind.is_store)
      for (int i = 0; i < kind.matrices; ++i) rD(i) = registers[i];
  }

  template <class Engine>
  static constexpr inlay::replay::Where where() {
    using inlay::replay::Where;
    return is_rmem<Engine>::value ? Where::registers : is_smem<Engine>::value ? Where::shared : Where::global;
  }
};
}  // namespace cute
