#include "packed_b.h"

#include <inlay/planner/kernel_list.h>
#include <inlay/problem/footprint.h>
#include <inlay/problem/integers.h>

#include <string>

#include "access.h"

namespace inlay {

using namespace problem;
using planner::Device;

namespace {

planner::LinkedKernel<Gemm> kernel_for(Compute compute) {
  if (!is_split(compute))
    throw Error("a packed B is for split_safe or split_fast: fp32 and fp32_blocked pack nothing that could be kept");
  return compute == Compute::split_fast ? kernels::sgemm_split_fast::kernel() : kernels::sgemm_split_safe::kernel();
}

// A GEMM that packs B for all others: one row, of which nothing is computed.
Gemm packing(ConstTensor const& B, Compute compute, void* packed) {
  if (B.rank != 2) throw Error("B has rank " + std::to_string(B.rank) + "; what is packed is one matrix, of rank 2");
  Gemm g;
  g.compute = compute, g.only_packs = true;
  g.A = {nullptr, f32, 1, B.extent[0], 1, B.extent[0], 1, 0};
  g.B = {const_cast<void*>(B.data), B.dtype, B.extent[1], B.extent[0], 1, B.stride[1], B.stride[0], 0};
  g.D = {nullptr, f32, 1, B.extent[1], 1, B.extent[1], 1, 0};
  g.B.kept = packed;
  return g;
}

std::string size_of(std::int64_t K, std::int64_t N) { return std::to_string(K) + " x " + std::to_string(N); }

void check_packed(void const* packed, std::size_t bytes, std::size_t needed) {
  if (!packed) throw Error("the memory for the packed B is a null pointer");
  if (auto const past = misalignment(packed, 256))
    throw Error("the packed B begins " + std::to_string(past) + " bytes past a multiple of 256");
  if (bytes < needed)
    throw Error("the packed B has " + std::to_string(bytes) + " bytes and needs " + std::to_string(needed));
}

}  // namespace

std::size_t packed_b_bytes(ConstTensor const& B, Compute compute) {
  auto const kernel = kernel_for(compute);
  // Any address will do: whether an operand is kept decides.
  alignas(256) static char stand_in[256];
  Gemm const g = packing(B, compute, stand_in);
  return kernel.info->workspace(g, planner::current_device());
}

PackedB pack_b(ConstTensor const& B, Compute compute, void* packed, std::size_t bytes, cudaStream_t stream) {
  auto const kernel = kernel_for(compute);
  Gemm const g = packing(B, compute, packed);
  if (B.dtype != f32)
    throw Error(std::string("B has elements of type ") + name_of(B.dtype) + "; slices are made of f32");
  if (g.elements() == 0 || g.K() == 0)
    throw Error("B of shape " + shape(B) + " has no elements, of which nothing is packed");
  check_memory(B, "B");
  Device const& device = planner::current_device();
  if (planner::Reason const r = kernel.info->rejects(g, device))
    throw Error("B of shape " + shape(B) + " cannot be packed: " + r.sentence(), ErrorCode::unsupported);
  std::size_t const needed = kernel.info->workspace(g, device);
  check_packed(packed, bytes, needed);
  if (overlap(Footprint(packed, std::int64_t(needed)), Footprint(B)))
    throw Error("the packed B of " + std::to_string(needed) + " bytes overlaps B of shape " + shape(B) + " in memory");
  check_stream(stream, device);
  check_accessible(B.data, "B", device, stream);
  check_accessible(packed, "packed B", device, stream);
  kernel.run(g, device, nullptr, stream);
  return {packed, compute, B.extent[0], B.extent[1]};
}

void keep_packed_b(BatchedGemm& batched, PackedB const& packed, ConstTensor const& B, ConstTensor const& D,
                   void const* workspace, std::size_t workspace_bytes) {
  Gemm& g = batched.gemm;
  if (packed.compute != g.compute || !is_split(packed.compute))
    throw Error("B was packed for another Compute than that of the GEMM: number " +
                std::to_string(int(packed.compute)) + " and not " + std::to_string(int(g.compute)));
  std::int64_t const K = B.extent[B.rank - 2], N = B.extent[B.rank - 1];
  if (packed.K != K || packed.N != N)
    throw Error("B of " + size_of(packed.K, packed.N) + " was packed, and the GEMM's has " + size_of(K, N));
  Operand& o = g.exchanged ? g.A : g.B;
  bool one = o.matrices == 1;
  for (BatchedGemm::Mode const& mode : batched.outer) one &= mode.stride[1] == 0;
  if (!one) throw Error("B of shape " + shape(B) + " is a batch; a packed B is one matrix, which a batch may share");
  if (g.elements() == 0 || g.K() == 0) return;
  Gemm const needs = packing({B.data, f32, 2, {K, N}, {B.stride[B.rank - 2], B.stride[B.rank - 1]}}, g.compute,
                             const_cast<void*>(packed.data));
  auto const needed = kernel_for(g.compute).info->workspace(needs, planner::current_device());
  check_packed(packed.data, needed, needed);
  Footprint const footprint(packed.data, std::int64_t(needed));
  if (overlap(footprint, Footprint(D)))
    throw Error("D of shape " + shape(D) + " overlaps the packed B of " + std::to_string(needed) + " bytes in memory");
  if (workspace_bytes && overlap(footprint, Footprint(workspace, std::int64_t(workspace_bytes))))
    throw Error("the workspace of " + std::to_string(workspace_bytes) + " bytes overlaps the packed B in memory",
                ErrorCode::workspace);
  o.kept = const_cast<void*>(packed.data);
}

bool took_f16_slices(void const* workspace, std::int64_t matrix, cudaStream_t stream) {
  detail::require(workspace != nullptr && matrix >= 0, "the workspace is null, or the matrix is negative");
  unsigned refused = 0;
  detail::check(cudaMemcpyAsync(&refused, static_cast<unsigned const*>(workspace) + matrix, sizeof refused,
                                cudaMemcpyDeviceToHost, stream));
  detail::check(cudaStreamSynchronize(stream));
  return refused == 0;
}

}  // namespace inlay
