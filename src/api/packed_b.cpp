#include "packed_b.h"

#include <inlay/kernels/kernel_list.h>
#include <inlay/problem/footprint.h>
#include <inlay/problem/integers.h>

#include <string>

#include "access.h"

namespace inlay {

using namespace problem;
using model::Device;

namespace {

char const* name_of(Compute compute) {
  constexpr char const* names[] = {"fp32", "fp32_blocked", "split_safe", "split_fast"};
  return names[int(compute)];
}
model::Info<Gemm> const& kernel_for(Compute compute) {
  if (!is_split(compute))
    throw Error(std::string("a packed B is for split_safe or split_fast, not for ") + name_of(compute));
  return compute == Compute::split_fast ? kernels::sgemm_split_fast::kernel : kernels::sgemm_split_safe::kernel;
}

// A GEMM of one row that packs B for all others, and computes nothing.
Gemm packing(ConstTensor const& B, Compute compute, void* packed) {
  if (B.rank != 2) throw Error("B has rank " + std::to_string(B.rank) + "; what is packed is one matrix, of rank 2");
  if (B.dtype != f32)
    throw Error(std::string("B has elements of type ") + inlay::name_of(B.dtype) + "; slices are made of f32");
  check_extents(B, "B");
  std::int64_t const K = B.extent[0], N = B.extent[1];
  if (K == 0 || N == 0) throw Error("B of shape " + shape(B) + " has no elements, of which nothing is packed");
  // A and D are neither read nor written, so that symbolic addresses do. Strides of extents of 1 become those of a
  // GEMM.
  ConstTensor b = B;
  if (!b.data) b.data = model::symbolic(1, nullptr);
  ConstTensor const A = matrix(model::symbolic(0, nullptr), f32, 1, K);
  Gemm g = make_batched_gemm(A, b, matrix(model::symbolic(2, nullptr), f32, 1, N), {}, compute).gemm;
  g.only_packs = true, g.B.packed = packed;
  return g;
}
// Bytes of the packed operand of a GEMM.
std::size_t packed_bytes(Gemm g) {
  g.only_packs = true;
  return kernel_for(g.compute).workspace(g, model::current_device());
}

std::string size_of(std::int64_t K, std::int64_t N) { return std::to_string(K) + " x " + std::to_string(N); }

void check_address(void const* packed) {
  if (!packed) throw Error("the packed B is a null pointer");
  if (auto const past = misalignment(packed, 256))
    throw Error("the packed B begins " + std::to_string(past) + " bytes past a multiple of 256");
}

}  // namespace

std::size_t packed_b_bytes(ConstTensor const& B, Compute compute) {
  kernel_for(compute);
  return packed_bytes(packing(B, compute, model::symbolic(model::kPackedOperand, nullptr)));
}

PackedB pack_b(ConstTensor const& B, Compute compute, void* packed, std::size_t bytes, cudaStream_t stream) {
  model::Info<Gemm> const& kernel = kernel_for(compute);
  check_address(packed);
  Gemm const g = packing(B, compute, packed);
  check_memory(B, "B");
  Device const& device = model::current_device();
  if (model::Reason const r = kernel.rejects(g, device))
    throw Error("B of shape " + shape(B) + " cannot be packed: " + r.sentence(), ErrorCode::unsupported);
  std::size_t const needed = packed_bytes(g);
  if (bytes < needed)
    throw Error("the packed B has " + std::to_string(bytes) + " bytes and needs " + std::to_string(needed));
  if (overlap(Footprint(packed, std::int64_t(needed)), Footprint(B)))
    throw Error("the packed B of " + std::to_string(needed) + " bytes overlaps B of shape " + shape(B) + " in memory");
  check_stream(stream, device);
  check_accessible(B.data, "B", device, stream);
  check_accessible(packed, "packed B", device, stream);
  kernel.run(g, device, nullptr, stream);
  return {packed, compute, B.extent[0], B.extent[1]};
}

void keep_packed_b(BatchedGemm& batched, PackedB const& packed, ConstTensor const& B) {
  Gemm& g = batched.gemm;
  kernel_for(g.compute), kernel_for(packed.compute);
  if (packed.compute != g.compute)
    throw Error(std::string("B was packed for ") + name_of(packed.compute) + ", and the GEMM computes by " +
                name_of(g.compute));
  std::int64_t const K = B.extent[B.rank - 2], N = B.extent[B.rank - 1];
  if (packed.K != K || packed.N != N)
    throw Error("B of " + size_of(packed.K, packed.N) + " was packed, and the GEMM's has " + size_of(K, N));
  check_address(packed.data);
  if (g.elements() == 0 || g.K() == 0) return;
  Operand& o = g.exchanged ? g.A : g.B;
  bool one = o.matrices == 1;
  for (BatchedGemm::Mode const& mode : batched.outer) one &= mode.stride[1] == 0;
  if (!one) throw Error("B of shape " + shape(B) + " is a batch; a packed B is one matrix, which a batch may share");
  o.packed = const_cast<void*>(packed.data);
}

void check_packed_b(Gemm const& g, ConstTensor const& D, void const* workspace, std::size_t workspace_bytes) {
  if (!g.packed_operand() || g.elements() == 0) return;
  std::size_t const bytes = packed_bytes(g);
  Footprint const footprint(g.packed_operand(), std::int64_t(bytes));
  if (overlap(footprint, Footprint(D)))
    throw Error("D of shape " + shape(D) + " overlaps the packed B of " + std::to_string(bytes) + " bytes in memory");
  if (workspace_bytes && overlap(footprint, Footprint(workspace, std::int64_t(workspace_bytes))))
    throw Error("the workspace of " + std::to_string(workspace_bytes) + " bytes overlaps the packed B in memory",
                ErrorCode::workspace);
}

}  // namespace inlay
