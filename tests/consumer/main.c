/* The C interface without a GPU: bad input is a code and a sentence, before anything is launched. */
#include <inlay/c.h>
#include <stdio.h>
#include <string.h>

static int expect(inlay_status got, inlay_status wanted, char const* sentence) {
  if (got == wanted && strcmp(inlay_last_error(), sentence) == 0) return 0;
  printf("code %d, not %d: %s\n", got, wanted, inlay_last_error());
  return 1;
}

int main(void) {
  static float a[16];
  int64_t shape[2] = {4, 4}, short_shape[2] = {3, 4}, strides[2] = {8, 1};
  DLTensor square = {a, {kDLCUDA, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  DLTensor shorter = square, strided = square, bits = square, host = square;
  inlay_gemm_options options = INLAY_GEMM_OPTIONS;
  inlay_plan* plan = NULL;
  size_t bytes = 0;
  int failures = 0;
  shorter.shape = short_shape, strided.strides = strides, bits.dtype.bits = 4, host.device.device_type = kDLCPU;

  if (strcmp(inlay_version(), "0.1.0") != 0 || strcmp(inlay_last_error(), "") != 0) return 2;
  failures += expect(inlay_transpose(&square, &shorter, NULL), INLAY_INVALID_ARGUMENT,
                     "the destination has shape (4,4) where the source gives (4,3)");
  failures += expect(inlay_copy(&square, NULL, NULL), INLAY_INVALID_ARGUMENT, "the source is a null pointer");
  failures += expect(inlay_copy(&square, &square, NULL), INLAY_INVALID_ARGUMENT,
                     "the source and the destination of shape (4,4) overlap in memory");
  failures += expect(inlay_copy(&bits, &square, NULL), INLAY_INVALID_ARGUMENT,
                     "the destination has elements of 4 bits; whole bytes, 1 to 16, are supported");
  failures += expect(inlay_copy(&host, &square, NULL), INLAY_INVALID_ARGUMENT,
                     "the destination lies on the CPU; tensors in CUDA's memory are taken");
  failures += expect(inlay_permute(&square, &strided, NULL, NULL), INLAY_INVALID_ARGUMENT, "axes is a null pointer");
  options.size = 8;
  failures += expect(inlay_gemm(&square, &square, &square, &options, NULL), INLAY_INVALID_ARGUMENT,
                     "the options have 8 bytes, this library's 64");
  options.size = sizeof options;
  failures += expect(inlay_grouped_gemm(&square, &square, &square, &square, &options, NULL), INLAY_INVALID_ARGUMENT,
                     "group_ends has elements of type f32 and rank 2; it is a contiguous vector of int32");
  options.compute = INLAY_COMPUTE_SPLIT_FAST;
  failures += expect(inlay_grouped_gemm(&square, &square, &square, &square, &options, NULL), INLAY_INVALID_ARGUMENT,
                     "a grouped GEMM takes no C, no packed B and no compute mode");
  options.compute = 7;
  failures += expect(inlay_gemm_workspace(&square, &square, &square, &options, &bytes), INLAY_INVALID_ARGUMENT,
                     "there is no compute mode 7");
  failures += expect(inlay_plan_copy(&shorter, &square, &plan), INLAY_INVALID_ARGUMENT,
                     "the destination has shape (3,4) where the source gives (4,4)");
  failures += expect(inlay_plan_run_copy(plan, a, a, NULL), INLAY_INVALID_ARGUMENT, "plan is a null pointer");
  if (inlay_last_cuda_status() != 0 || inlay_plan_workspace(plan) != 0) return 3;
  inlay_plan_destroy(plan);
  return failures;
}
