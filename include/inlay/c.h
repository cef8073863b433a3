/** @file
   The C interface of inlay, in C11. Tensors are DLTensor of DLPack: a device pointer, a type, extents, and strides in
   elements, or no strides for a row-major tensor. Functions return a code; inlay_last_error() has the sentence. They do
   what the functions of inlay/copy.h and inlay/gemm.h do: allocate no device memory, do not synchronise, and launch on
   `stream` (a cudaStream_t, or null) of the current device. All are thread-safe. */
#ifndef INLAY_C_H
#define INLAY_C_H
#include <inlay/dlpack.h>
#include <inlay/export.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum inlay_status {
  INLAY_OK = 0,
  INLAY_INVALID_ARGUMENT = 1, /**< a shape, stride, type, pointer, stream or device that does not fit */
  INLAY_UNSUPPORTED = 2,      /**< a valid problem that no kernel can run */
  INLAY_WORKSPACE = 3,        /**< too small, misaligned, or overlapping an operand */
  INLAY_CUDA = 4,             /**< a CUDA call failed: inlay_last_cuda_status() */
  INLAY_INTERNAL = 5          /**< out of host memory, or a fault of the library */
} inlay_status;

/** The version of the library, such as "0.1.0". */
INLAY_API char const* inlay_version(void);
/** The sentence of this thread's last call that did not return INLAY_OK, until its next such call; at first "". */
INLAY_API char const* inlay_last_error(void);
/** The cudaError_t of that call; 0 if it failed for another reason. */
INLAY_API int inlay_last_cuda_status(void);

/** dst(i) = src(i), for two tensors of one shape and type; types that DLPack has and inlay/types.h has not are bits. */
INLAY_API inlay_status inlay_copy(DLTensor const* dst, DLTensor const* src, void* stream);
/** dst(..., j, i) = src(..., i, j). */
INLAY_API inlay_status inlay_transpose(DLTensor const* dst, DLTensor const* src, void* stream);
/** Mode k of dst is mode axes[k] of src. axes: as many as modes. */
INLAY_API inlay_status inlay_permute(DLTensor const* dst, DLTensor const* src, int const* axes, void* stream);

/** inlay_copy for `count` pairs; copies of equal layouts are batched into one launch. */
INLAY_API inlay_status inlay_copy_list(DLTensor const* const* dst, DLTensor const* const* src, size_t count,
                                       void* stream);

typedef enum inlay_compute {
  INLAY_COMPUTE_FP32 = 0,         /**< FMA units, each sum in one register */
  INLAY_COMPUTE_FP32_BLOCKED = 1, /**< FMA units, blocked summation */
  INLAY_COMPUTE_SPLIT_SAFE = 2,   /**< tensor cores, three bf16 slices of each operand: inlay/types.h */
  INLAY_COMPUTE_SPLIT_FAST = 3    /**< tensor cores, two f16 slices where the data allow it, else as split_safe */
} inlay_compute;

typedef enum inlay_activation {
  INLAY_ACTIVATION_NONE = 0,
  INLAY_ACTIVATION_RELU = 1,
  INLAY_ACTIVATION_GELU_TANH = 2,
  INLAY_ACTIVATION_GELU_ERF = 3,
  INLAY_ACTIVATION_SILU = 4
} inlay_activation;

/** A packed B: (K,N): a view of the caller's memory, valid until B's elements change. */
typedef struct inlay_packed_b {
  void const* data;
  int compute; /**< an inlay_compute */
  int64_t K, N;
} inlay_packed_b;
/** Packs a B for many GEMMs with one of the split modes. packed: device memory of `bytes` bytes, aligned to 256. */
INLAY_API inlay_status inlay_pack_b(DLTensor const* B, int compute, void* packed, size_t bytes, void* stream,
                                    inlay_packed_b* result);
INLAY_API inlay_status inlay_packed_b_bytes(DLTensor const* B, int compute, size_t* bytes);

/** Options of a GEMM. `size` must equal sizeof(inlay_gemm_options). */
typedef struct inlay_gemm_options {
  size_t size; /**< sizeof(inlay_gemm_options) */
  float alpha, beta;
  int compute;     /**< an inlay_compute */
  void* workspace; /**< device memory, aligned to 256 bytes; null: the plan needs none */
  size_t workspace_bytes;
  DLTensor const* C; /**< what beta scales, of D's type, repeated to D's shape as NumPy does; null: what D holds */
  int activation;    /**< an inlay_activation */
  inlay_packed_b const* packed_B; /**< B, packed for the same compute mode; null: the call packs it */
} inlay_gemm_options;
#define INLAY_GEMM_OPTIONS \
  { sizeof(inlay_gemm_options), 1.0f, 0.0f, INLAY_COMPUTE_FP32, NULL, 0, NULL, INLAY_ACTIVATION_NONE, NULL }

/** D = activation(alpha A B + beta C).
    @param A        (M,K), or a batch (L,M,K) with any number of batch modes.
    @param B        (K,N), or (L,K,N). A and B have one type: f32, bf16 or f16.
    @param D        (M,N), or (L,M,N), of that type or f32.
    @param options  Null: INLAY_GEMM_OPTIONS.
    @param stream   A cudaStream_t of the current device, or null. */
INLAY_API inlay_status inlay_gemm(DLTensor const* A, DLTensor const* B, DLTensor const* D,
                                  inlay_gemm_options const* options, void* stream);
/** D = activation(alpha A B + beta D) for groups of rows, each with a B of its own: grouped_gemm() of inlay/gemm.h.
    @param A           (M,K), of bf16 or f16.
    @param B           (G,K,N), of that type.
    @param D           (M,N), of that type or f32.
    @param group_ends  (G), contiguous, of int32: the row behind the last one of each group. Read when the kernel runs.
    @param options     Null: INLAY_GEMM_OPTIONS. No C, packed_B or compute mode; the workspace is not used. */
INLAY_API inlay_status inlay_grouped_gemm(DLTensor const* A, DLTensor const* B, DLTensor const* D,
                                          DLTensor const* group_ends, inlay_gemm_options const* options, void* stream);
/** Bytes of workspace of the fastest plan; options->workspace is not read. */
INLAY_API inlay_status inlay_gemm_workspace(DLTensor const* A, DLTensor const* B, DLTensor const* D,
                                            inlay_gemm_options const* options, size_t* bytes);

/** A plan, which runs for other pointers that agree with those of its tensors modulo 16 bytes. */
typedef struct inlay_plan inlay_plan;
INLAY_API inlay_status inlay_plan_copy(DLTensor const* dst, DLTensor const* src, inlay_plan** plan);
/** options->workspace_bytes: the most that its runs will have; 0: they have none. options->workspace is not read. */
INLAY_API inlay_status inlay_plan_gemm(DLTensor const* A, DLTensor const* B, DLTensor const* D,
                                       inlay_gemm_options const* options, inlay_plan** plan);
INLAY_API inlay_status inlay_plan_run_copy(inlay_plan const* plan, void* dst, void const* src, void* stream);
/** C: null, unless the plan has a C of its own. */
INLAY_API inlay_status inlay_plan_run_gemm(inlay_plan const* plan, void const* A, void const* B, void* D, void const* C,
                                           void* workspace, size_t workspace_bytes, void* stream);
INLAY_API size_t inlay_plan_workspace(inlay_plan const* plan);
/** Writes the plan's text and a 0 to `buffer`, cut off after `size` bytes. *needed, if not null: bytes of all of it. */
INLAY_API inlay_status inlay_plan_why(inlay_plan const* plan, char* buffer, size_t size, size_t* needed);
/** The same text for what inlay_copy or inlay_gemm would run. */
INLAY_API inlay_status inlay_why_copy(DLTensor const* dst, DLTensor const* src, char* buffer, size_t size,
                                      size_t* needed);
INLAY_API inlay_status inlay_why_gemm(DLTensor const* A, DLTensor const* B, DLTensor const* D,
                                      inlay_gemm_options const* options, char* buffer, size_t size, size_t* needed);
INLAY_API void inlay_plan_destroy(inlay_plan* plan); /**< null: nothing happens */

/** Tuned choices, as inlay/tuning.h says. *count, if not null: how many were loaded. */
INLAY_API inlay_status inlay_save_tuning(char const* path);
INLAY_API inlay_status inlay_load_tuning(char const* path, size_t* count);

#ifdef __cplusplus
}
#endif
#endif
