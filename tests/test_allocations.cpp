// Planning allocates nothing on the host: operator new, which this program replaces, is not called.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include <inlay/kernels/kernel_list.h>
#include <inlay/planner/candidate.h>
#include "corpus.h"
#include "only_run.h"

namespace {
std::size_t allocations = 0;
void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  if (void* const p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)) return p;
  throw std::bad_alloc();
}
}  // namespace

// The forms for arrays and those that do not throw call these. Not inlined: g++ would see free() meet operator new.
void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return allocate(bytes, std::size_t(alignment)); }
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace inlay::test {
namespace {
using namespace planner;

// How often f calls operator new.
template <class F>
std::size_t allocations_of(F f) {
  std::size_t const before = allocations;
  f();
  return allocations - before;
}

TEST(Allocations, AreCounted) {
  EXPECT_EQ(allocations_of([] { std::string(100, 'x'); }), 1u);
  // Called by name: a new-expression whose result nobody needs may be left out.
  EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(sizeof(Copy))); }), 1u);
}
TEST(Allocations, NoneInAPlan) {
  Device const device;
  for (int e : kElementSizes)
    for (Case const& c : corpus())
      for (bool transpose : {false, true}) {
        SCOPED_TRACE(std::to_string(e) + " bytes, " + c.name());
        Views const v = views_of(c, transpose);
        void *const in = reinterpret_cast<void*>(1ull << 40), *const out = reinterpret_cast<void*>(1ull << 41);
        Copy copy;
        EXPECT_EQ(allocations_of([&] { copy = copy_of(c, v, in, out, e); }), 0u) << "views and copy";
        Plan plan;
        EXPECT_EQ(allocations_of([&] { plan = make_plan(copy, device, false); }), 0u) << "plan";
        EXPECT_EQ(plan.num_launches, copy.elements() ? 1 : 0);
      }
}
// With and without operands to pack: what they are packed for does not matter here.
TEST(Allocations, NoneInAPlanOfGemm) {
  using namespace kernels;
  Device const device;
  constexpr planner::Layout lies = planner::Layout::aligned_mn;
  Candidate<Gemm> const packing[] = {{.kernel = &sgemm_simple::kernel, .a = lies, .b = lies}};
  std::span<Candidate<Gemm> const> const rows = packing;
  for (std::int64_t n : {2, 3, 64, 1000, 4096})
    for (bool may_use_workspace : {false, true}) {
      auto const square = [n](std::uint64_t address) { return matrix(reinterpret_cast<void*>(address), f32, n, n); };
      Gemm gemm;
      EXPECT_EQ(allocations_of([&] {
                  gemm = make_gemm(square(1ull << 40), square(1ull << 41).transposed(), square(1ull << 42), {},
                                   Compute::fp32);
                }),
                0u)
          << "views and gemm";
      EXPECT_EQ(allocations_of([&] { EXPECT_GE(make_plan(gemm, device, may_use_workspace).candidate, 0); }), 0u)
          << "plan";
      EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(make_plan(gemm, device, true, rows).find<Copy>()); }), 0u)
          << "plan that packs";
    }
}
// Nor in running a plan, for GEMMs with packed operands and sums of parts too.
TEST(Allocations, NoneInARun) {
  using namespace kernels;
  static int ran;
  ran = 0;
  Info<Gemm> multiplies = sgemm_split_64x64::kernel;
  multiplies.run = [](Gemm const&, Device const&, void*, cudaStream_t) { ++ran; };
  Candidate<Gemm> const all[] = {{.kernel = &multiplies}};
  std::span<Candidate<Gemm> const> const rows = all;
  auto const square = [](std::uint64_t address) { return matrix(reinterpret_cast<void*>(address), f32, 64, 64); };
  Gemm const gemm = make_gemm(square(1ull << 40), square(1ull << 41), square(1ull << 42), {}, Compute::fp32);
  Plan const plan = make_plan(gemm, Device{}, false, rows);
  Operands const operands{{gemm.A.base, gemm.B.base, gemm.D.base}, nullptr};
  Device const device;
  EXPECT_EQ(allocations_of([&] { run(plan, device, operands, nullptr); }), 0u);
  auto const copies = only_run<Copy>([](Copy const&, Device const&, void*, cudaStream_t) { ++ran; });
  auto const sums = only_run<Reduction>([](Reduction const&, Device const&, void*, cudaStream_t) { ++ran; });
  Plan steps;
  steps.add(LaunchOf<Copy>{&copies, copy_of({7, 9}, views_of({7, 9}, true), gemm.A.base, gemm.B.base, 4), {}});
  steps.add(LaunchOf<Reduction>{&sums, {}, {}});
  EXPECT_EQ(allocations_of([&] { run(steps, device, operands, nullptr); }), 0u);
  EXPECT_EQ(ran, 3);
}

}  // namespace
}  // namespace inlay::test
