// wgmma: what it gives for each layout of its operands, and what is said of each way to leave a part of its protocol
// out.
#include <cstdint>

#include "small_kernels.h"

namespace inlay::replay {
namespace {

constexpr int kM = 64, kN = 64, kK = 64;
struct Operands {
  alignas(1024) bfloat16_t A[kM * kK];
  alignas(1024) bfloat16_t B[kN * kK];
  std::uint64_t full;
  static void members(auto name) { name("A", &Operands::A), name("B", &Operands::B), name("full", &Operands::full); }
};
constexpr LaunchInfo kWarpgroup{.threads = 128};

int a(int m, int k) { return (m * 5 + k * 3) % 7 - 3; }
int b(int n, int k) { return (n * 2 + k * 11) % 5 - 2; }

enum class Flaw {
  none,
  no_fence,
  no_commit,
  no_wait,
  short_wait,
  no_proxy_fence,
  // descriptors that do not describe their tensor
  wrong_swizzle,
  wrong_stride_of_A,
  wrong_stride_of_B,
  wrong_leading,
  wrong_k_step  // 16 bytes for each 16 elements along k, where 32 are right
};
struct Flawed : Executor {
  using Executor::Executor, Executor::edit;
  Flaw flaw = Flaw::none;

  void wgmma_fence() override {
    if (flaw != Flaw::no_fence) Executor::wgmma_fence();
  }
  void wgmma_commit() override {
    if (flaw != Flaw::no_commit) Executor::wgmma_commit();
  }
  void wgmma_wait(int groups) override {
    if (flaw != Flaw::no_wait) Executor::wgmma_wait(groups + (flaw == Flaw::short_wait));
  }
  void fence_proxy_async() override {
    if (flaw != Flaw::no_proxy_fence) Executor::fence_proxy_async();
  }
  void edit(SmemOperand& operand, bool is_A) override {
    if (flaw == Flaw::wrong_swizzle) operand.swizzle_bits -= is_A;
    if (flaw == (is_A ? Flaw::wrong_stride_of_A : Flaw::wrong_stride_of_B)) operand.stride_bytes *= 2;
    if (flaw == Flaw::wrong_leading) operand.leading_bytes += 64;
    if (flaw == Flaw::wrong_k_step && is_A) operand.start -= reinterpret_cast<std::uintptr_t>(operand.start) % 1024 / 2;
  }
};

template <GMMA::Major majorA, GMMA::Major majorB>
using Wgmma = SM90_64x64x16_F32BF16BF16_SS<majorA, majorB>;
template <class Atom, int rows>
using Smem = decltype(tile_to_shape(Atom{}, Shape<Int<rows>, Int<kK>>{}));

class ReplayWgmma : public SmallKernels {
 protected:
  ReplayWgmma() : SmallKernels([](Recorder& r) { return std::make_unique<Flawed>(r); }) {}
  Flaw& flaw() { return static_cast<Flawed&>(recorder.executor()).flaw; }

  float* sums = recorder.allocate_integers("sums", kM* kN, 7);

  // D = A B^T by one warpgroup, operands filled by ordinary stores.
  template <class SmemA, class SmemB, GMMA::Major majorA = GMMA::Major::K, GMMA::Major majorB = GMMA::Major::K>
  void multiply(Flaw f = Flaw::none) {
    flaw() = f;
    recorder.expect_samples();
    replay<kWarpgroup, Operands>([&](auto block, auto& smem) {
      int const t = int(block.thread_rank());
      Tensor sA = make_tensor(make_smem_ptr(smem.A), SmemA{});  // (M,K)
      Tensor sB = make_tensor(make_smem_ptr(smem.B), SmemB{});  // (N,K)
      for (int i = t; i < kM * kK; i += 128) {
        store_shared(block, &sA(i % kM, i / kM), bfloat16_t(float(a(i % kM, i / kM))));
        store_shared(block, &sB(i % kN, i / kN), bfloat16_t(float(b(i % kN, i / kN))));
      }
      block.fence_proxy_async();
      block.sync();
      auto mma = make_tiled_mma(MMA_Atom<On<decltype(block), Wgmma<majorA, majorB>>>{});
      auto thr = mma.get_slice(t);
      Tensor tCrA = thr.make_fragment_A(thr.partition_A(sA));
      Tensor tCrB = thr.make_fragment_B(thr.partition_B(sB));
      Tensor gD = make_tensor(make_gmem_ptr(sums), Shape<Int<kM>, Int<kN>>{}, Stride<Int<kN>, _1>{});
      Tensor tCrD = thr.partition_fragment_C(gD);
      Tensor tCgD = thr.partition_C(gD);
      clear(tCrD);
      block.wgmma_fence();
      for (int k = 0; k < size<2>(tCrA); ++k) gemm(mma, tCrA(_, _, k), tCrB(_, _, k), tCrD);
      block.wgmma_commit();
      block.wgmma_wait(Int<0>{});
      for (int i = 0; i < size(tCrD); ++i) store(block, &tCgD(i), tCrD(i));
    });
  }
  int wrong_sums() const {
    int wrong = 0;
    for (int m = 0; m < kM; ++m)
      for (int n = 0; n < kN; ++n) {
        float sum = 0;
        for (int k = 0; k < kK; ++k) sum += float(a(m, k) * b(n, k));
        wrong += !(recorder.number(sums + kN * m + n) == sum);
      }
    return wrong;
  }
};

using K128 = GMMA::Layout_K_SW128_Atom<bfloat16_t>;
using MN128 = GMMA::Layout_MN_SW128_Atom<bfloat16_t>;
using KA = Smem<K128, kM>;
using KB = Smem<K128, kN>;

TEST_F(ReplayWgmma, MultipliesEachLayoutOfItsOperands) {
  auto const all = [this]<class AtomA, class AtomB>(AtomA, AtomB) {
    multiply<Smem<AtomA, kM>, Smem<AtomB, kN>>();
    expect_nothing();
    EXPECT_EQ(wrong_sums(), 0);
  };
  all(K128{}, K128{});
  all(GMMA::Layout_K_SW64_Atom<bfloat16_t>{}, GMMA::Layout_K_SW32_Atom<bfloat16_t>{});
  all(GMMA::Layout_K_INTER_Atom<bfloat16_t>{}, K128{});
  EXPECT_EQ(recorder.wgmma_fma, 3 * kM * kN * kK);
  constexpr auto MN = GMMA::Major::MN, K = GMMA::Major::K;
  multiply<Smem<MN128, kM>, KB, MN, K>();
  EXPECT_EQ(wrong_sums(), 0);
  multiply<KA, Smem<MN128, kN>, K, MN>();
  EXPECT_EQ(wrong_sums(), 0);
  multiply<Smem<GMMA::Layout_MN_SW64_Atom<bfloat16_t>, kM>, Smem<GMMA::Layout_MN_SW32_Atom<bfloat16_t>, kN>, MN, MN>();
  EXPECT_EQ(wrong_sums(), 0);
  multiply<Smem<GMMA::Layout_MN_INTER_Atom<bfloat16_t>, kM>, Smem<MN128, kN>, MN, MN>();
  EXPECT_EQ(wrong_sums(), 0);
  expect_nothing();
}
TEST_F(ReplayWgmma, ItsProtocolIsChecked) {
  multiply<KA, KB>(Flaw::no_fence);
  expect(Check::race, "issues a wgmma with no wgmma_fence() since its registers were accessible");
  multiply<KA, KB>(Flaw::no_proxy_fence);
  expect(Check::race, "with no fence.proxy.async since");
  for (Flaw f : {Flaw::no_commit, Flaw::no_wait, Flaw::short_wait}) {
    multiply<KA, KB>(f);
    expect(Check::misuse, "ends with a wgmma that it did not commit and wait for");
    EXPECT_EQ(wrong_sums(), kM * kN);  // the accumulators were in flight
  }
}
// A in registers: each thread fills its fragment from the coordinates of its elements.
enum class Registers { right, changed_in_flight, changed_without_fence };
TEST_F(ReplayWgmma, TakesAFromRegisters) {
  auto const multiply_registers = [this](Registers how) {
    recorder.expect_samples();
    replay<kWarpgroup, Operands>([&](auto block, auto& smem) {
      int const t = int(block.thread_rank());
      Tensor sB = make_tensor(make_smem_ptr(smem.B), KB{});
      for (int i = t; i < kN * kK; i += 128)
        store_shared(block, &sB(i % kN, i / kN), bfloat16_t(float(b(i % kN, i / kN))));
      block.fence_proxy_async();
      block.sync();
      using Op = SM90_64x64x16_F32BF16BF16_RS<GMMA::Major::K, GMMA::Major::K>;
      auto mma = make_tiled_mma(MMA_Atom<On<decltype(block), Op>>{});
      auto thr = mma.get_slice(t);
      Tensor tCcA = thr.partition_A(make_identity_tensor(Shape<Int<kM>, Int<kK>>{}));  // (MMA,MMA_M,MMA_K) -> (m,k)
      Tensor tCrA = make_tensor<bfloat16_t>(shape(tCcA));                              // (MMA,MMA_M,MMA_K)
      Tensor tCrB = thr.make_fragment_B(thr.partition_B(sB));
      Tensor gD = make_tensor(make_gmem_ptr(sums), Shape<Int<kM>, Int<kN>>{}, Stride<Int<kN>, _1>{});
      Tensor tCrD = thr.partition_fragment_C(gD);
      Tensor tCgD = thr.partition_C(gD);
      clear(tCrD);
      for (int i = 0; i < size(tCrA); ++i) tCrA(i) = bfloat16_t(float(a(int(get<0>(tCcA(i))), int(get<1>(tCcA(i))))));
      block.wgmma_fence();
      for (int k = 0; k < size<2>(tCrA); ++k) gemm(mma, tCrA(_, _, k), tCrB(_, _, k), tCrD);
      if (how == Registers::changed_without_fence) {
        tCrA(0) = bfloat16_t(9.f);
        gemm(mma, tCrA(_, _, 0), tCrB(_, _, 0), tCrD);
      }
      block.wgmma_commit();
      if (how == Registers::changed_in_flight) tCrA(0) = bfloat16_t(9.f);
      block.wgmma_wait(Int<0>{});
      for (int i = 0; i < size(tCrD); ++i) store(block, &tCgD(i), tCrD(i));
    });
  };
  multiply_registers(Registers::right);
  EXPECT_EQ(wrong_sums(), 0);
  EXPECT_EQ(recorder.wgmma_fma, kM * kN * kK);
  expect_nothing();
  multiply_registers(Registers::changed_in_flight);
  expect(Check::race, "changes registers of A before the wait for the wgmma that reads them");
  multiply_registers(Registers::changed_without_fence);
  expect(Check::race, "issues a wgmma with registers of A that changed since wgmma_fence()");
}
TEST_F(ReplayWgmma, OperandsInFlightAreNotOverwritten) {
  // A thread stores to A before the wait, then after it.
  auto const overwrite = [this](bool before) {
    recorder.expect_samples();
    replay<kWarpgroup, Operands>([&](auto block, auto& smem) {
      int const t = int(block.thread_rank());
      Tensor sA = make_tensor(make_smem_ptr(smem.A), KA{});
      Tensor sB = make_tensor(make_smem_ptr(smem.B), KB{});
      for (int i = t; i < kM * kK; i += 128) {
        store_shared(block, &sA(i % kM, i / kM), bfloat16_t(1.f));
        store_shared(block, &sB(i % kN, i / kN), bfloat16_t(1.f));
      }
      block.fence_proxy_async();
      block.sync();
      auto mma = make_tiled_mma(MMA_Atom<On<decltype(block), Wgmma<GMMA::Major::K, GMMA::Major::K>>>{});
      auto thr = mma.get_slice(t);
      Tensor tCrA = thr.make_fragment_A(thr.partition_A(sA));
      Tensor tCrB = thr.make_fragment_B(thr.partition_B(sB));
      Tensor tCrD = partition_fragment_C(mma, Shape<Int<kM>, Int<kN>>{});
      clear(tCrD);
      block.wgmma_fence();
      gemm(mma, tCrA(_, _, 0), tCrB(_, _, 0), tCrD);
      block.wgmma_commit();
      if (before && t == 0) store_shared(block, &sA(0, 0), bfloat16_t(2.f));
      block.wgmma_wait(Int<0>{});
      block.sync();
      if (!before && t == 0) store_shared(block, &sA(0, 0), bfloat16_t(2.f));
    });
  };
  overwrite(true);
  expect(Check::race, "read by wgmma of thread");
  overwrite(false);
  expect_nothing();
}
TEST_F(ReplayWgmma, DescriptorsDescribeTheirTensor) {
  constexpr auto MN = GMMA::Major::MN, K = GMMA::Major::K;
  multiply<KA, KB>(Flaw::wrong_swizzle);
  expect(Check::misuse, "issues wgmma with a descriptor that puts element (");
  multiply<KA, KB>(Flaw::wrong_stride_of_B);
  expect(Check::misuse,
         "issues wgmma with a descriptor that puts element (8,0) of an operand 2048 bytes from its start, "
         "where the tensor has it 1024 bytes from it");
  multiply<Smem<GMMA::Layout_K_INTER_Atom<bfloat16_t>, kM>, KB>(Flaw::wrong_leading);
  expect(Check::misuse, "issues wgmma with a descriptor that puts element (0,8)");
  multiply<KA, KB>(Flaw::wrong_k_step);  // describes a tensor, but not the one that is wanted
  EXPECT_GT(wrong_sums(), 0);
  expect_nothing();
  multiply<Smem<MN128, kM>, KB, MN, K>(Flaw::wrong_stride_of_B);
  expect(Check::misuse, "issues wgmma with a descriptor that puts element (");
}

// A warp may still be at an instruction of its own while other warps wait for it at one of the warpgroup.
TEST_F(ReplayWgmma, WarpsMeetApartFromWarpgroups) {
  recorder.expect_samples();
  replay<kWarpgroup, Operands>([&](auto block, auto& smem) {
    int const t = int(block.thread_rank());
    Tensor sA = make_tensor(make_smem_ptr(smem.A), KA{});
    Tensor sB = make_tensor(make_smem_ptr(smem.B), KB{});
    for (int i = t; i < kM * kK; i += 128)
      store_shared(block, &sA(i % kM, i / kM), bfloat16_t(1.f)),
          store_shared(block, &sB(i % kN, i / kN), bfloat16_t(1.f));
    block.fence_proxy_async();
    block.sync();
    auto mma = make_tiled_mma(MMA_Atom<On<decltype(block), Wgmma<GMMA::Major::K, GMMA::Major::K>>>{});
    auto thr = mma.get_slice(t);
    Tensor tCrA = thr.make_fragment_A(thr.partition_A(sA));
    Tensor tCrB = thr.make_fragment_B(thr.partition_B(sB));
    Tensor tCrD = partition_fragment_C(mma, Shape<Int<kM>, Int<kN>>{});
    clear(tCrD);
    if (t < 32) {
      block.sync(Int<1>{}, Int<32>{});
      for (int i = 0; i < 3; ++i) block.shfl(t, 0);
    }
    block.wgmma_fence();
    gemm(mma, tCrA(_, _, 0), tCrB(_, _, 0), tCrD);
    block.wgmma_commit();
    block.wgmma_wait(Int<0>{});
  });
  expect_nothing();
}

}  // namespace
}  // namespace inlay::replay
