// Adds the partial sums of a split-K GEMM, in the order of the slices, and applies the epilogue.
#pragma once
#include <inlay/kernels/common/epilogue.h>
#include <inlay/problem/reduction.h>

namespace inlay::kernels {

// GROUPS threads share an element, each with consecutive slices; their sums are added in the order
// of the groups. The order does not depend on the batch size.
// T: the type of D.
template <int GROUPS, class T>
struct SumSlicesBy {
  Reduction r;
  static constexpr int threads = 256, elements = threads / GROUPS, at_once = 8;  // loads in flight
  static constexpr LaunchInfo launch_info{.threads = threads, .follows = true};
  struct Smem {
    alignas(128) float C[threads];
    static void members(auto name) { name("C", &Smem::C); }
  };

  int64_t blocks() const { return ceil_div(r.elements(), int64_t(elements)); }
  void relocate(auto const& at) {
    r.partial.base = at(r.partial.base), r.D.base = at(r.D.base), r.C.base = at(r.C.base);
  }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    int const rank = int(block.thread_rank()), group = rank / elements;
    block.griddep_wait();
    int64_t const all = r.elements(), e = int64_t(block.block_index()) * elements + rank % elements;
    int64_t const n = e % r.D.cols, m = e / r.D.cols % r.D.rows, l = e / r.D.cols / r.D.rows;
    auto const at = [&](Operand const& o) { return l * o.batch_stride + m * o.row_stride + n * o.col_stride; };
    auto const in = [&](Operand const& o) { return o.as<T>() + at(o); };
    float const* const partial = r.partial.as<float>() + at(r.partial);
    Copy_Atom<On<Block, UniversalCopy<float>>, float> atom;
    int const share = ceil_div(r.slices, GROUPS), end = share * (group + 1) < r.slices ? share * (group + 1) : r.slices;
    float sum = 0;
    CUTE_NO_UNROLL
    for (int first = share * group; first < share * (group + 1); first += at_once) {
      float part[at_once] = {};
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i)
        copy_one(atom, e < all && first + i < end, make_gmem_ptr(partial + (first + i) * all), &part[i]);
      CUTE_UNROLL
      for (int i = 0; i < at_once; ++i) sum += part[i];
    }
    if constexpr (GROUPS > 1) {
      auto shared = [&](int i) { return make_smem_ptr(smem.C + i); };
      copy_one(atom, true, &sum, shared(rank));
      block.sync();
      sum = 0;
      CUTE_UNROLL
      for (int i = 0; i < GROUPS; ++i) {
        float of_group = 0;
        copy_one(atom, group == 0, shared(i * elements + rank % elements), &of_group);
        sum += of_group;
      }
    }
    bool const on = group == 0 && e < all;
    if constexpr (std::is_same_v<T, float>)
      if (r.slices == 0) copy_one(atom, on, make_gmem_ptr(in(r.D)), &sum);
    Copy_Atom<On<Block, UniversalCopy<T>>, T> element;
    T x{};
    if (r.epilogue.beta != 0) copy_one(element, on, make_gmem_ptr(in(r.addend())), &x);
    sum = scaled(r.epilogue, sum, float(x));
    float* const result = &sum;
    activate<1>(r.epilogue.activation, [result](int) -> float& { return *result; });
    x = T(sum);
    copy_one(element, on, &x, make_gmem_ptr(in(r.D)));
  }
};

struct SumSlices {
  template <class S, class F>
  static void launches(Reduction const& r, S const&, F const& f) {
    int const groups = groups_of_slices(r.slices, r.D.rows * r.D.cols);
    auto const of = [&]<class T>(std::type_identity<T>) {
      if (groups == 32)
        f(SumSlicesBy<32, T>{r});
      else if (groups == 8)
        f(SumSlicesBy<8, T>{r});
      else
        f(SumSlicesBy<1, T>{r});
    };
    if (r.D.type == bf16)
      of(std::type_identity<bfloat16_t>{});
    else if (r.D.type == f16)
      of(std::type_identity<half_t>{});
    else
      of(std::type_identity<float>{});
  }
};

}  // namespace inlay::kernels
