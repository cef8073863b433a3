#include "measure/gemm_contenders.h"

#include <inlay/gemm.h>

#include <algorithm>
#include <memory>

#include "measure/cuda_handles.h"
#include "measure/device_data.h"
#include "usage_error.h"
#include "variants.h"
#ifdef INLAY_CUBLAS
#include "measure/cublas.h"
#endif

namespace inlay::lab {
namespace {

// Poisoned: nobody may count on what a workspace holds. Null for no bytes.
std::shared_ptr<char> workspace_of(std::size_t bytes) {
  if (bytes == 0) return {};
  DeviceMemory memory = device_memory(bytes);
  check(cudaMemset(memory.get(), kPoison, bytes));
  check(cudaStreamSynchronize(nullptr));  // the streams of the lab do not wait for that one
  return memory;
}

GemmContender public_contender(char const* name, GemmCase const& c, GemmCall const& call, bool with_workspace) {
  auto const [a, b, out] = views(c, call);
  std::size_t const bytes = with_workspace ? gemm_workspace(a, b, out, {call.alpha, call.beta}, c.compute) : 0;
  return {name, [c, bytes, workspace = workspace_of(bytes)](GemmCall const& now, cudaStream_t stream) {
            auto const [a, b, out] = views(c, now);
            gemm(a, b, out, {now.alpha, now.beta}, stream, {c.compute, workspace.get(), bytes});
          }};
}

GemmContender cublas_contender([[maybe_unused]] GemmCase const& c) {
#ifdef INLAY_CUBLAS
  return {kCublas, sgemm(c, CublasMath::pedantic)};
#else
  throw UsageError("products are measured against cuBLAS, which this build was made without");
#endif
}

GemmContender named(std::string const& name, GemmCase c, GemmCall const& call) {
  if (name == kGemm) return public_contender(kGemm, c, call, true);
  if (name == kGemmWithout) return public_contender(kGemmWithout, c, call, false);
  if (name != kGemmTwoLevel) return gemm_contender(variant_named<Gemm>(name), c, call);
  c.compute = Compute::fp32_two_level;
  return public_contender(kGemmTwoLevel, c, call, true);
}

}  // namespace

GemmContender gemm_contender(Entry<Gemm> const& entry, GemmCase const& c, GemmCall const& call) {
  Gemm const planned = gemm_of(c, call);
  Device const& device = current_device();
  bool const runs = !entry.info().rejects(planned, device);
  auto const workspace = workspace_of(runs ? entry.info().workspace(planned, device) : 0);
  return {entry.info().name, [&entry, &device, c, workspace](GemmCall const& now, cudaStream_t stream) {
            Gemm const gemm = gemm_of(c, now);
            if (Reason const reason = entry.info().rejects(gemm, device)) throw Rejection(reason.sentence());
            entry.variant.run(gemm, device, workspace.get(), stream);
          }};
}

std::vector<GemmContender> gemm_table_rows(GemmCase const& c, GemmCall const& call,
                                           std::vector<std::string> const& typed) {
  auto names = variant_names<Gemm>();
  for (char const* name : {kGemm, kGemmWithout, kGemmTwoLevel}) names.emplace_back(name);
  auto known = names;
  known.emplace_back(kCublas);
  Selection const selection(typed, known);
  std::vector<GemmContender> rows{cublas_contender(c)};
  for (auto const& name : names)
    if (selection.has(name, !info_of<Gemm>(name))) rows.push_back(named(name, c, call));
  return rows;
}

}  // namespace inlay::lab
