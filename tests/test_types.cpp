// Element types: a closed list, each with its bytes and its name.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>
#include <inlay/inlay.h>

#include <array>
#include <set>
#include <string>
#include <vector>

namespace inlay {
namespace {
using enum DType;

struct Listed {
  DType type;
  int bytes;
  char const* name;
};
constexpr Listed kNamed[] = {{f64, 8, "f64"},   {f32, 4, "f32"},   {tf32, 4, "tf32"}, {f16, 2, "f16"},
                             {bf16, 2, "bf16"}, {e4m3, 1, "e4m3"}, {e5m2, 1, "e5m2"}, {i8, 1, "i8"},
                             {i16, 2, "i16"},   {i32, 4, "i32"},   {i64, 8, "i64"},   {u8, 1, "u8"},
                             {u16, 2, "u16"},   {u32, 4, "u32"},   {u64, 8, "u64"}};

TEST(Types, HaveBytesAndNames) {
  for (Listed const& t : kNamed) {
    EXPECT_EQ(bytes_of(t.type), t.bytes) << t.name;
    EXPECT_STREQ(name_of(t.type), t.name);
  }
  for (int bytes = 1; bytes <= 16; ++bytes) {
    EXPECT_EQ(bytes_of(opaque(bytes)), bytes);
    EXPECT_EQ(name_of(opaque(bytes)), "b" + std::to_string(8 * bytes));
  }
  EXPECT_EQ(opaque(16), b128);
}
// The table has no gap and no name twice: what lies behind its last row is no type.
TEST(Types, AreAClosedList) {
  std::set<std::string> names;
  int n = 0;
  for (; std::string(name_of(DType(n + 1))) != "none"; ++n) names.insert(name_of(DType(n + 1)));
  EXPECT_EQ(n, 16 + int(std::size(kNamed)));
  EXPECT_EQ(names.size(), std::size_t(n));
  for (int t = 1; t <= n; ++t) EXPECT_TRUE(bytes_of(DType(t)) >= 1 && bytes_of(DType(t)) <= 16) << t;
  EXPECT_STREQ(name_of(DType{}), "none");
  EXPECT_STREQ(name_of(DType(255)), "none");
  for (int none : {-1, 0, 17, 1000}) EXPECT_EQ(opaque(none), DType{}) << none;
}
// The same size, different types.
static_assert(f16 != bf16 && e4m3 != e5m2 && f32 != tf32 && f32 != b32 && f32 != i32 && i32 != u32 && u8 != b8 &&
              i8 != e4m3);

// A C++ type: arithmetic ones and CUDA's are what they are, all others are bits.
struct Pixel {
  unsigned char red, green, blue;
};
static_assert(dtype_of<float>() == f32 && dtype_of<double>() == f64);
static_assert(dtype_of<signed char>() == i8 && dtype_of<short>() == i16 && dtype_of<int>() == i32);
static_assert(dtype_of<long long>() == i64 && dtype_of<unsigned char>() == u8 && dtype_of<unsigned short>() == u16);
static_assert(dtype_of<unsigned>() == u32 && dtype_of<unsigned long long>() == u64);
static_assert(dtype_of<__half>() == f16 && dtype_of<__nv_bfloat16>() == bf16);
static_assert(dtype_of<__nv_fp8_e4m3>() == e4m3 && dtype_of<__nv_fp8_e5m2>() == e5m2);
static_assert(dtype_of<Pixel>() == b24 && dtype_of<unsigned __int128>() == b128 && bytes_of(dtype_of<Pixel>()) == 3);

// Offsets of views are those of their elements.
TEST(Types, ASliceOfAViewBeginsSoManyElementsOn) {
  char memory[1000];
  for (DType t : {b8, b16, b32, b64, b128, f32, bf16, e5m2}) {
    Tensor const m = matrix(memory, t, 4, 6, 10);
    EXPECT_EQ(static_cast<char*>(m.slice(0, 2, 1).slice(1, 3, 2).data) - memory, 23 * bytes_of(t)) << name_of(t);
  }
}

// Const data is read alone: a view of it is no destination, nor does one become another's.
static_assert(std::is_aggregate_v<Tensor> && std::is_aggregate_v<ConstTensor>);
static_assert(std::is_convertible_v<Tensor, ConstTensor> && !std::is_convertible_v<ConstTensor, Tensor>);
static_assert(std::is_same_v<decltype(matrix(static_cast<float*>(nullptr), 1, 1)), Tensor>);
static_assert(std::is_same_v<decltype(matrix(static_cast<float const*>(nullptr), 1, 1)), ConstTensor>);
static_assert(std::is_same_v<decltype(matrix(static_cast<void const*>(nullptr), f32, 1, 1).transposed()), ConstTensor>);
static_assert(std::is_same_v<decltype(tensor(static_cast<float const*>(nullptr), {1})), ConstTensor>);
static_assert(std::is_invocable_v<decltype(transpose), Tensor, ConstTensor, cudaStream_t>);
static_assert(!std::is_invocable_v<decltype(transpose), ConstTensor, ConstTensor, cudaStream_t>);
template <class A, class B, class D>
concept Multiplies = requires(A const& a, B const& b, D const& d) {
  gemm(a, b, d);
  gemm_workspace(a, b, d);
  plan(a, b, d);
};
static_assert(Multiplies<ConstTensor, ConstTensor, Tensor> && Multiplies<Tensor, Tensor, Tensor>);
static_assert(!Multiplies<Tensor, Tensor, ConstTensor>);

TEST(Types, AViewOfWhatIsReadIsTheSameView) {
  float memory[24];
  Tensor const t = tensor(memory, {2, 3, 4}, {1, 2, 6});
  ConstTensor const c = t;
  EXPECT_EQ(c.data, memory);
  EXPECT_EQ(c.dtype, f32);
  ASSERT_EQ(c.rank, 3);
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(c.extent[k] == t.extent[k] && c.stride[k] == t.stride[k]);
  EXPECT_EQ(c.size(), 24);
  EXPECT_EQ(c.permuted({2, 0, 1}).slice(1, 1, 1).data, memory + 1);
}

// ---- tensors of any rank
template <class F>
std::string said_by(F f) {
  try {
    f();
  } catch (Error const& e) {
    return e.what();
  }
  return "";
}
TEST(Types, ATensorIsMadeOfExtentsAndStrides) {
  float memory[1];
  Tensor const t = tensor(memory, {8, 3, 64}, {12288, -1, 192});
  ASSERT_EQ(t.rank, 3);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(t.extent[k], (std::array{8, 3, 64})[std::size_t(k)]);
    EXPECT_EQ(t.stride[k], (std::array{12288, -1, 192})[std::size_t(k)]);
  }
  std::vector<std::int64_t> const extents{5, 6, 7, 8};
  Tensor const dense = tensor(memory, extents);
  ASSERT_EQ(dense.rank, 4);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(dense.stride[k], (std::array{336, 56, 8, 1})[std::size_t(k)]);
  EXPECT_EQ(tensor(memory, {}).rank, 0);  // one element
  EXPECT_EQ(tensor(memory, {}).size(), 1);
  EXPECT_EQ(tensor(static_cast<void*>(memory), bf16, {4, 0, 2}).stride[0], 2);
  EXPECT_EQ(tensor(static_cast<void*>(memory), bf16, {4, 0, 2}).dtype, bf16);
}
TEST(Types, BadRanksAreRefused) {
  float memory[1];
  std::vector<std::int64_t> const most(64, 1), more(65, 1);
  EXPECT_EQ(tensor(memory, most).rank, 64);
  EXPECT_EQ(tensor(memory, most, most).rank, 64);
  EXPECT_EQ(said_by([&] { tensor(memory, more); }), "a tensor has at most 64 modes, not 65");
  EXPECT_EQ(said_by([&] { tensor(memory, more, more); }), "a tensor has at most 64 modes, not 65");
  EXPECT_EQ(said_by([&] { tensor(memory, {2, 3}, {1}); }), "the tensor has 2 extents and 1 strides");
  std::int64_t const large = std::int64_t(1) << 40;
  EXPECT_EQ(said_by([&] {
              tensor(memory, {2, large, large});
            }),
            "the strides of a row-major tensor exceed 63 bits at its mode 1, of extent 1099511627776");
}

TEST(Types, ATensorTellsHowItLies) {
  float memory[1];
  Tensor const t = tensor(memory, {4, 5, 6});
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_EQ(t.stride_bytes(0), 120);
  EXPECT_EQ(t.stride_bytes(2), 4);
  EXPECT_FALSE(t.transposed().is_contiguous());
  EXPECT_FALSE(t.slice(1, 0, 3).is_contiguous());
  EXPECT_TRUE(t.slice(0, 1, 2).is_contiguous());
  EXPECT_TRUE(tensor(memory, {4, 1, 6}, {6, 99, 1}).is_contiguous());
  EXPECT_TRUE(tensor(memory, {4, 0, 6}, {7, 7, 7}).is_contiguous());
  Tensor const swapped = t.transposed(0, 2);
  EXPECT_EQ(swapped.extent[0], 6);
  EXPECT_EQ(swapped.stride[0], 1);
  EXPECT_EQ(swapped.extent[2], 4);
  EXPECT_EQ(swapped.stride[2], 30);
  EXPECT_EQ(swapped.extent[1], 5);
  EXPECT_EQ(said_by([&] { (void)t.transposed(0, 3); }), "transposed: there is no mode 3 in a tensor of rank 3");
  EXPECT_EQ(said_by([&] { (void)t.transposed(-1, 0); }), "transposed: there is no mode -1 in a tensor of rank 3");
}
TEST(Types, AnErrorHasACode) {
  EXPECT_EQ(Error("a shape").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(Error("a shape").cuda_status(), cudaSuccess);
  EXPECT_EQ(Error("a kernel", ErrorCode::unsupported).code(), ErrorCode::unsupported);
  EXPECT_EQ(Error("a call", cudaErrorInvalidValue).code(), ErrorCode::cuda);
  EXPECT_EQ(Error("a call", cudaErrorInvalidValue).cuda_status(), cudaErrorInvalidValue);
}
TEST(Types, TheLibraryHasTheVersionOfItsHeaders) {
  EXPECT_EQ(version(), std::to_string(INLAY_VERSION_MAJOR) + "." + std::to_string(INLAY_VERSION_MINOR) + "." +
                           std::to_string(INLAY_VERSION_PATCH));
}

// What a GEMM is asked for where nothing is said.
TEST(Types, AnEpilogueIsTheGemmItself) {
  EXPECT_EQ(Epilogue{}.alpha, 1);
  EXPECT_EQ(Epilogue{}.beta, 0);
  EXPECT_EQ(Compute{}, Compute::fp32);
}

}  // namespace
}  // namespace inlay
