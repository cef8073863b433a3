// Planning allocates nothing on the host: operator new, which this program replaces, is not called.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "corpus.h"
#include "gemm_variants.h"
#include "plan/gemm_plan.h"

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
  EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(sizeof(Move))); }), 1u);
}
TEST(Allocations, NoneInAPlan) {
  Device const device;
  for (int e : kElementSizes)
    for (Case const& c : corpus())
      for (bool transpose : {false, true}) {
        SCOPED_TRACE(std::to_string(e) + " bytes, " + c.name());
        Views const v = views_of(c, transpose);
        void *const in = reinterpret_cast<void*>(1ull << 40), *const out = reinterpret_cast<void*>(1ull << 41);
        Move move;
        EXPECT_EQ(allocations_of([&] { move = move_of(c, v, in, out, e); }), 0u) << "views and move";
        Variant<Move> const* chosen = nullptr;
        EXPECT_EQ(allocations_of([&] { chosen = plan_move(move, device).chosen; }), 0u) << "plan";
        EXPECT_NE(chosen, nullptr);
      }
}
// With and without operands to pack: what they are packed for does not matter here.
TEST(Allocations, NoneInAPlanOfGemm) {
  using namespace kernels;
  Device const device;
  auto const any = [](Gemm const&, Device const&) { return true; };
  GemmPreference const packing[] = {
      {{sgemm_01_naive::facts, sgemm_01_naive::run}, any, "", Lies::along_mn, Lies::along_mn}};
  for (std::int64_t n : {2, 3, 64, 1000, 4096})
    for (bool may_use_workspace : {false, true}) {
      auto const square = [n](std::uint64_t address) { return matrix(reinterpret_cast<void*>(address), f32, n, n); };
      Gemm gemm;
      EXPECT_EQ(allocations_of([&] {
                  gemm = make_gemm(1, square(1ull << 40), square(1ull << 41).transposed(), 0, square(1ull << 42),
                                   Accuracy::one_level);
                }),
                0u)
          << "views and gemm";
      EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(plan_gemm(gemm, device, may_use_workspace).chosen); }), 0u) << "plan";
      EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(plan_gemm(gemm, device, true, packing).pack_a.chosen); }), 0u)
          << "plan that packs";
    }
}

}  // namespace
}  // namespace inlay::test
