// wgmma on the CPU: the threads of a warpgroup meet, and the last one executes the instruction for all.
//
// On a GPU, CuTe makes a descriptor of a tensor in shared memory; the instruction knows the tensor by it alone. Here
// the operand keeps the tensor beside what the descriptor says. Data is read where the descriptor says, and a
// descriptor that does not describe its tensor is reported.
#pragma once
#include <inlay/block/matrix_ops.h>
#include <inlay/replay/executor.h>
#include <inlay/replay/operations.h>

#include <span>

namespace inlay::replay {

// An operand of wgmma in shared memory: (rows, 16) elements of 16 bits; rows are those of A, or of B stored as (N,K).
struct SmemOperand {
  char const* start;                                            // of the first element, before swizzling
  int leading_bytes, stride_bytes;                              // leading and stride dimension byte offset
  int swizzle_bits;                                             // 0: none; 1, 2, 3: the swizzle of 32, 64, 128 bytes
  bool is_k_major;                                              // contiguous along k; otherwise along the rows
  char const* (*in_tensor)(char const* start, int row, int k);  // address of an element of the tensor at `start`

  friend bool operator==(SmemOperand const&, SmemOperand const&) = default;

  // Address of an element as the instruction computes it, from core matrices of 8 rows of 16 bytes (PTX ISA,
  // "Strides").
  char const* in_descriptor(int row, int k) const {
    int const width = 16 << swizzle_bits;                                   // bytes of a row of the swizzle's atom
    int const along = is_k_major ? k : row, across = is_k_major ? row : k;  // the contiguous mode and the other one
    std::ptrdiff_t const bytes = 2 * along;
    std::ptrdiff_t offset = across % 8 * width + bytes % width;
    if (is_k_major)
      offset += swizzle_bits ? across / 8 * stride_bytes : across / 8 * stride_bytes + bytes / 16 * leading_bytes;
    else
      offset += swizzle_bits ? across / 8 * stride_bytes + bytes / width * leading_bytes
                             : across / 8 * leading_bytes + bytes / 16 * stride_bytes;
    auto const address = reinterpret_cast<std::uintptr_t>(start) + std::uintptr_t(offset);
    return reinterpret_cast<char const*>(address ^ ((address >> 7 & ((1u << swizzle_bits) - 1)) << 4));
  }
};

// What CuTe's tensor of descriptors is made of: advancing moves the start by vectors of 16 bytes.
struct SmemOperandIterator {
  using reference = SmemOperand;
  using element_type = SmemOperand;
  using value_type = SmemOperand;

  SmemOperand operand;

  reference operator*() const { return operand; }
  template <class Index>
  reference operator[](Index const& i) const {
    return *(*this + i);
  }
  template <class Index>
  SmemOperandIterator operator+(Index const& offset) const {
    SmemOperandIterator moved = *this;
    moved.operand.start += 16 * std::ptrdiff_t(offset);
    return moved;
  }
};
template <cute::GMMA::Major major>
struct SmemFragment : SmemOperandIterator {};  // stands for cute::GMMA::smem_desc

// The operand of one instruction, as CuTe's make_gmma_desc describes it on a GPU. tensor: (rows,16) in shared memory.
template <cute::GMMA::Major major, class Engine, class Layout>
SmemOperand smem_operand(cute::Tensor<Engine, Layout> const& tensor) {
  using namespace cute;
  using Element = typename Engine::value_type;
  using Swizzle = get_swizzle_t<Engine>;
  static_assert(sizeof(Element) == 2, "operands of 16 bits");
  constexpr bool is_k_major = major == GMMA::Major::K;
  auto const vectors = recast<uint128_t const>(tensor).layout();  // in vectors of 16 bytes
  constexpr int bits = Swizzle::num_bits;
  auto const canonical = [&] {
    if constexpr (is_k_major)
      return logical_divide(vectors, Tile<cute::Layout<_8, _1>, cute::Layout<_2, _1>>{});  // ((8,m),(2,1))
    else
      return logical_divide(vectors, Tile<cute::Layout<Int<1 << bits>, _1>, cute::Layout<_8, _1>>{});  // ((W,m),(8,2))
  }();
  int const s01 = int(stride<0, 1>(canonical)), s10 = int(stride<1, 0>(canonical)), s11 = int(stride<1, 1>(canonical));
  int const stride_vectors = is_k_major || bits == 0 ? s01 : s11, leading_vectors = is_k_major  ? s10
                                                                                    : bits == 0 ? s11
                                                                                                : s01;
  return {reinterpret_cast<char const*>(raw_pointer_cast(tensor.data())),
          16 * leading_vectors,
          16 * stride_vectors,
          bits,
          is_k_major,
          [](char const* start, int row, int k) {
            auto const linear =
                reinterpret_cast<std::uintptr_t>(start) + sizeof(Element) * std::size_t(Layout{}(row, k));
            return reinterpret_cast<char const*>(Swizzle::apply(linear));
          }};
}

// What a thread brings to wgmma: operands, and where its accumulators' values are. Traits: those of CuTe's atom.
template <class Traits>
struct WgmmaThread {
  static constexpr int M = cute::get<0>(typename Traits::Shape_MNK{}), N = cute::get<1>(typename Traits::Shape_MNK{}),
                       K = cute::get<2>(typename Traits::Shape_MNK{}), values = M * N / 128, values_of_A = M * K / 128;
  static constexpr bool A_in_registers = !requires { typename Traits::FrgTypeA; };
  using Element = typename Traits::ValTypeA;
  SmemOperand A, B;               // A: where it is in shared memory
  Element const* registers = {};  // of A, where it is not
  bool accumulates;
  float* D;
  int operation = -1;

  // The sum, with C, is rounded once: see MmaLane.
  static void execute(std::span<WgmmaThread* const> threads) {
    static std::vector<int> const index = indices();
    Executor& x = running();
    for (WgmmaThread const* thread : threads)
      if (!((A_in_registers || thread->A == threads[0]->A) && thread->B == threads[0]->B))
        x.misuse("issues wgmma with other operands than other threads of its warpgroup");
    int const operation = x.wgmma_operation();
    static thread_local std::vector<float> A, B;
    if constexpr (A_in_registers)
      gather(threads, A);
    else
      read<Element>(threads[0]->A, M, operation, A);
    read<typename Traits::ValTypeB>(threads[0]->B, N, operation, B);
    for (std::size_t i = 0; i < index.size(); ++i) {
      WgmmaThread& thread = *threads[i / values];
      float& sum = thread.D[i % values];
      float const *a = &A[std::size_t(index[i] % M * K)], *b = &B[std::size_t(index[i] / M * K)];
      double all = thread.accumulates ? double(sum) : 0;
      for (int k = 0; k < K; ++k) all += double(a[k]) * double(b[k]);
      sum = float(all);
    }
    for (WgmmaThread* thread : threads) thread->operation = operation;
    x.count_wgmma_fma(std::int64_t(M) * N * K);
  }

 private:
  // The index in the tile of each value of each thread. A function, because GCC would try to evaluate a lambda while it
  // compiles, for seconds.
  static std::vector<int> indices() {
    std::vector<int> all;
    for (int thread = 0; thread < 128; ++thread)
      for (int v = 0; v < values; ++v) all.push_back(int(typename Traits::CLayout{}(thread, v)));
    return all;
  }
  // A (M,K) as floats, row by row, from the registers of all threads.
  static void gather(std::span<WgmmaThread* const> threads, std::vector<float>& to) {
    to.resize(std::size_t(M) * K);
    for (int thread = 0; thread < 128; ++thread)
      for (int v = 0; v < values_of_A; ++v) {
        int const at = int(typename Traits::ALayout{}(thread, v)), m = at % M, k = at / M;
        to[std::size_t(m * K + k)] = float(threads[std::size_t(thread)]->registers[v]);
      }
  }
  // Reads (rows,K) elements as floats, row by row.
  template <class Element>
  static void read(SmemOperand const& operand, int rows, int operation, std::vector<float>& to) {
    Executor& x = running();
    to.resize(std::size_t(rows) * K);
    int const along = operand.is_k_major ? K : rows;
    for (int i = 0; i < rows * K; i += 8) {  // a vector of eight elements
      int const row = operand.is_k_major ? i / along : i % along, k = operand.is_k_major ? i % along : i / along;
      char const* const address = operand.in_descriptor(row, k);
      if (char const* const there = operand.in_tensor(operand.start, row, k); address != there)
        x.misuse("issues wgmma with a descriptor that puts element (" + std::to_string(row) + "," + std::to_string(k) +
                 ") of an operand " + std::to_string(address - operand.start) +
                 " bytes from its start, where the tensor has it " + std::to_string(there - operand.start) +
                 " bytes from it");
      char const* const bytes = x.wgmma_read(address, operation);
      for (int e = 0; e < 8; ++e) {
        Element element;
        std::memcpy(&element, bytes + 2 * e, sizeof element);
        to[operand.is_k_major ? std::size_t(row * K + k + e) : std::size_t((row + e) * K + k)] = float(element);
      }
    }
    x.count_wgmma(operand.start, std::int64_t(rows) * K * 2);
  }
};

// The type of a fragment of descriptors.
template <class>
struct OnHost;
template <cute::GMMA::Major major>
struct OnHost<cute::GMMA::smem_desc<major>> {
  using type = SmemFragment<major>;
};
// The atom's traits with the fragment of A: descriptors, or the registers that CuTe makes where the traits name no
// type.
template <class Op>
struct FragmentOfA : cute::MMA_Traits<Op> {};
template <class Op>
requires(!block::has_A_in_registers<Op>) struct FragmentOfA<Op> : cute::MMA_Traits<Op> {
  using FrgTypeA = typename OnHost<typename cute::MMA_Traits<Op>::FrgTypeA>::type;
};

}  // namespace inlay::replay

namespace cute {
template <GMMA::Major major>
struct MakeTensor<inlay::replay::SmemFragment<major>> {
  template <class Engine, class Layout>
  auto operator()(Tensor<Engine, Layout> const& smem) const {
    return make_tensor(inlay::replay::SmemOperandIterator{inlay::replay::smem_operand<major>(tensor<0>(smem))},
                       replace<0>(recast<uint128_t const>(smem).layout(), cute::Layout<_1, _0>{}));
  }
};

template <class Op>
requires inlay::block::is_wgmma<Op>
struct MMA_Traits<inlay::replay::Recorded<Op>> : inlay::replay::FragmentOfA<Op> {
  using FrgTypeB = typename inlay::replay::OnHost<typename MMA_Traits<Op>::FrgTypeB>::type;

  template <class TD, class DLayout, class TA, class ALayout, class TB, class BLayout, class TC, class CLayout>
  friend void mma_unpack(MMA_Traits const& self, Tensor<TD, DLayout>& D, Tensor<TA, ALayout> const& A,
                         Tensor<TB, BLayout> const& B, Tensor<TC, CLayout> const&) {
    using namespace inlay::replay;
    using Thread = WgmmaThread<MMA_Traits<Op>>;
    Executor& x = running();
    for (int i = 0; i < Thread::values; ++i)
      if (&D(i) != &D(0) + i) x.misuse("issues wgmma on accumulators that are not neighbours in its fragment");
    Thread mine{{}, B(0), {}, self.accumulate_ == GMMA::ScaleOut::One, x.wgmma_accumulators(&D(0), Thread::values)};
    if constexpr (Thread::A_in_registers) {
      for (int i = 0; i < Thread::values_of_A; ++i)
        if (&A(i) != &A(0) + i) x.misuse("issues wgmma on registers of A that are not neighbours in its fragment");
      mine.registers = &A(0);
    } else {
      mine.A = A(0);
      x.edit(mine.A, true);
    }
    x.edit(mine.B, false);
    x.collective("wgmma", {}, 128, true, mine, &Thread::execute);
    x.wgmma_issued(&D(0), mine.operation);
    if constexpr (Thread::A_in_registers)
      x.wgmma_reads_registers(&A(0), Thread::values_of_A * sizeof(typename Thread::Element), mine.operation);
  }
};
}  // namespace cute
