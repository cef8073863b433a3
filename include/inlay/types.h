// Element types, and how a GEMM forms its sums and scales them.
#pragma once
#include <cstdint>
#include <type_traits>

struct __half;  // of CUDA's cuda_fp16.h, cuda_bf16.h and cuda_fp8.h
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace inlay {

/// Element types. Copies take all of them, because they depend on the size only; GEMMs take f32, bf16 and f16. Opaque
/// types are bits without interpretation; their enumerator value is their size, 1 to 16 bytes.
enum class DType : std::uint8_t {
  b8 = 1,  ///< Opaque, to b128: bits.
  b16,
  b24,
  b32,
  b40,
  b48,
  b56,
  b64,
  b72,
  b80,
  b88,
  b96,
  b104,
  b112,
  b120,
  b128,
  f64,  ///< IEEE 754, and those below.
  f32,
  tf32,  ///< f32 in memory; copies alone take it.
  f16,
  bf16,
  e4m3,  ///< OCP's fp8: 4 bits of exponent, no infinities.
  e5m2,
  i8,  ///< Two's complement, to i64.
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
};

/// Size of one element in bytes.
constexpr int bytes_of(DType t) {
  using enum DType;
  if (t == f64 || t == i64 || t == u64) return 8;
  if (t == f32 || t == tf32 || t == i32 || t == u32) return 4;
  if (t == f16 || t == bf16 || t == i16 || t == u16) return 2;
  if (t == e4m3 || t == e5m2 || t == i8 || t == u8) return 1;
  return int(t);  // opaque
}

/// "f32", "b128"; "none" for a value that is no type.
constexpr char const* name_of(DType t) {
  constexpr char const* names[] = {"none", "b8",   "b16",  "b24",  "b32",  "b40",  "b48", "b56", "b64",  "b72", "b80",
                                   "b88",  "b96",  "b104", "b112", "b120", "b128", "f64", "f32", "tf32", "f16", "bf16",
                                   "e4m3", "e5m2", "i8",   "i16",  "i32",  "i64",  "u8",  "u16", "u32",  "u64"};
  return unsigned(t) < sizeof(names) / sizeof(names[0]) ? names[unsigned(t)] : names[0];
}

/// The opaque type of 1 to 16 bytes. Other sizes return a value that is no type, which every function rejects.
constexpr DType opaque(int bytes) { return bytes >= 1 && bytes <= 16 ? DType(bytes) : DType{}; }

/// The element type of a C++ type: that of an arithmetic type, CUDA's 16-bit and 8-bit floating-point types among them,
/// or an opaque type for other trivially copyable types.
template <class T>
constexpr DType dtype_of() {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16, "elements have 1 to 16 bytes");
  using enum DType;
  constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  if constexpr (std::is_same_v<T, double>) return f64;
  if constexpr (std::is_same_v<T, float>) return f32;
  if constexpr (std::is_same_v<T, __half>) return f16;
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return bf16;
  if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) return e4m3;
  if constexpr (std::is_same_v<T, __nv_fp8_e5m2>) return e5m2;
  if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) return DType(int(std::is_signed_v<T> ? i8 : u8) + log2);
  return opaque(sizeof(T));
}

/// How a GEMM of f32 operands forms its sums over K. The first two round to nearest after every operation.
enum class Compute : std::uint8_t {
  /// FMA units: each sum in one register, over all of K or over the slice of K of a block.
  fp32,
  /// Blocked summation: at most 1024 FMAs in one register, 256 in large matrices, then added to another register. The
  /// error hardly grows with K. On an H200 0.92 to 0.96 of the speed of fp32 with a workspace, far less without.
  fp32_blocked,
  /// Tensor cores: f32 operands are written as sums of three bf16 slices, six pairs of which are multiplied and added
  /// in fp32. As accurate as fp32 on nearly all data from K = 16 on (docs/05_results.md), but
  ///   - of elements below about 2^-110 low bits are lost;
  ///   - an infinite element of A makes NaN of its row of D, of B of its column, where fp32 may give an infinity;
  ///   - a sum that is zero is +0.
  /// Needs compute capability 9.0 and, for most shapes, a workspace; without them, and where FMA units are predicted to
  /// be faster, fp32 is computed.
  split_safe,
  /// The same with two f16 slices, scaled by a power of two for each row of A and column of B, and three pairs. A
  /// matrix of a batch is computed so if
  ///   - K is 64 or more,
  /// and every row of its A and every column of its B is zero, or
  ///   - is finite,
  ///   - has a largest element from 2^-49 to 2^78,
  ///   - has half of its elements within a factor of 2^28 of that, and
  ///   - loses at most 2^-24 of the sum of its |x| to the slices.
  /// Otherwise, and where that is predicted to be faster, it is computed as split_safe does. The GPU decides; the call
  /// does not synchronise.
  split_fast,
};
constexpr bool is_split(Compute compute) { return compute == Compute::split_safe || compute == Compute::split_fast; }

/// A function of each element of D. GELU and SiLU are computed in fp32, to 1e-6 of |x|.
enum class Activation : std::uint8_t {
  none,
  relu,       ///< max(x, 0); NaN stays
  gelu_tanh,  ///< x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  gelu_erf,   ///< x / 2 (1 + erf(x / sqrt(2)))
  silu,       ///< x / (1 + exp(-x))
};
constexpr char const* name_of(Activation a) {
  constexpr char const* names[] = {"none", "relu", "gelu_tanh", "gelu_erf", "silu"};
  return unsigned(a) < sizeof(names) / sizeof(names[0]) ? names[unsigned(a)] : "unknown";
}

/// The epilogue of a GEMM: D = activation(alpha A B + beta C), where C is D before the call, or another operand.
struct Epilogue {
  float alpha = 1;
  float beta = 0;  ///< 0: neither C nor D is read.
  Activation activation = Activation::none;
};

}  // namespace inlay
