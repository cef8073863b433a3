// Operands of a GEMM that do not have the layout that a kernel needs: a copy packs them into the workspace first.
#pragma once
#include <inlay/planner/candidate.h>

namespace inlay::planner {

// ---- Layouts of operands. Rows of A run along m, rows of B along n; columns of both run along k.

inline bool along_mn(Operand const& o) { return o.row_stride == 1; }
inline bool along_k(Operand const& o) { return !along_mn(o) && o.col_stride == 1; }
inline std::int64_t pitch(Operand const& o) { return along_mn(o) ? o.col_stride : o.row_stride; }

// Why an operand has to be packed for a layout. Empty: it already has the layout.
Reason misplaced(Operand const& o, Layout wanted);
Reason misplaced_a(Gemm const& g, Candidate<Gemm> const& candidate);
Reason misplaced_b(Gemm const& g, Candidate<Gemm> const& candidate);

// An operand that is packed into the workspace: its layout there, and the copy that packs it.
struct Packing {
  Reason reason;  // empty: it is not packed
  Operand from, to{};
  std::int64_t offset = 0;

  explicit operator bool() const { return bool(reason); }
  Operand const& used() const { return reason ? to : from; }
  // Bytes in the workspace, rounded up to 256 to keep the next operand aligned. Broadcast operands can exceed 63 bits.
  __int128 bytes() const;
  // Contiguous along k in the workspace, else along m or n. Operands of tensor cores keep the mode along which they are
  // contiguous, unless the other way takes less than half the bytes: few rows, or a short K.
  bool is_along_k() const;
  void put(std::int64_t at);
  Plan plan(Device const& device) const;
  double seconds(Device const& device) const;  // predicted; 0 if nothing is packed

 private:
  // Elements from one row to the next: whole lines of 128 bytes, or whole 16 bytes where lines would take more than
  // twice of that.
  __int128 pitch_of(std::int64_t extent) const;
  std::int64_t run() const { return is_along_k() ? from.cols : from.rows; }
  std::int64_t rows() const { return is_along_k() ? from.rows : from.cols; }
};

// The slot of A (0) or B (1) of the problem among the operands of the call, which `exchanged` swaps.
inline OperandSlot slot_of(Gemm const& g, int operand) {
  return {OperandSlot::In::operand, g.exchanged ? 1 - operand : operand, 0};
}
inline OperandSlot in_workspace(std::int64_t offset) { return {OperandSlot::In::workspace, 0, offset}; }

// Adds the launch that packs the operand in slot `from`. shared: the plan of the last packing of this operand.
// no_kernel: the reason if no copy kernel accepts it.
Reason add_packing(Plan& plan, Packing const& p, OperandSlot const& from, Device const& device,
                   std::optional<Planner<Gemm>::Shared::Packed>& shared, char const* no_kernel);

}  // namespace inlay::planner
