// Shared by the TMA steps: TMA tensors of matrices, and why TMA cannot describe a matrix.
#pragma once
#include <inlay/kernels/copy/tile_grid.h>
#include <inlay/tutorial/copy/step.h>

namespace inlay::kernels {

// A batch of row-major matrices of floats, (rows, cols, L):(ld,1,batch), whose boxes are (box_rows, box_cols).
inline TmaTensor tma_matrix(void const* base, int64_t rows, int64_t cols, int64_t L, int64_t ld, int64_t batch,
                            int box_rows, int box_cols, bool swizzle_128b = false) {
  constexpr int64_t e = sizeof(float);
  // A stride over an extent of 1 is never used, but must still be one that TMA accepts.
  int64_t const row = rows > 1 ? ld * e : 16, matrix = L > 1 ? batch * e : 16;
  return {base, int(e), {cols, rows, L}, {row, matrix}, {box_cols, box_rows, 1}, swizzle_128b};
}

inline Reason rejects_tma(Device const& device) {
  if (device.has_tma()) return {};
  return {"TMA needs a GPU of compute capability 9.0 or later, not {}.{}",
          {device.compute_capability / 10, device.compute_capability % 10}};
}
// Extents fit 31 bits, strides are positive and below 2^40 bytes. Alignment: rejects_unaligned.
inline Reason rejects_tma_extents(int64_t rows, int64_t cols, int64_t L, int64_t ld, int64_t batch) {
  constexpr int64_t e = sizeof(float);
  for (int64_t extent : {rows, cols, L})
    if (extent > INT32_MAX) return {"TMA coordinates have 31 bits, an extent of {} does not fit", {extent}};
  for (int64_t stride : {rows > 1 ? ld * e : 16, L > 1 ? batch * e : 16})
    if (stride <= 0 || stride >> 40) return {"TMA strides are positive and below 2^40 bytes, not {}", {stride}};
  return {};
}
// TMA stores 16 bytes at a time, past the end of a row too.
inline Reason rejects_tma_store(int64_t row_bytes) {
  if (row_bytes % 16 == 0) return {};
  return {"TMA stores whole vectors of 16 bytes and would write past the end of rows of {} bytes", {row_bytes}};
}

}  // namespace inlay::kernels
