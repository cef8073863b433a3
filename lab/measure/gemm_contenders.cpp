#include "measure/gemm_contenders.h"

#include <inlay/gemm.h>

#include <algorithm>
#include <memory>

#include "measure/cuda_handles.h"
#include "measure/gemm_check.h"
#include "problems/variants.h"
#include "usage_error.h"
#ifdef INLAY_CUBLAS
#include "measure/cublas.h"
#endif

namespace inlay::lab {
namespace {

using On = OnDevice<GemmCase>;
constexpr char const* kGemm = Kind<GemmCase>::public_function;  // with the workspace that it wants

GemmContender public_contender(char const* name, GemmCase const& c, GemmCall const& call, bool with_workspace) {
  auto const [a, b, out] = views(c, call);
  std::size_t const bytes = with_workspace ? gemm_workspace(a, b, out, {call.alpha, call.beta}, c.compute) : 0;
  return {{name, [c, bytes, workspace = poisoned_workspace(bytes)](GemmCall const& now, cudaStream_t stream) {
             auto const [a, b, out] = views(c, now);
             gemm(a, b, out, {now.alpha, now.beta}, stream, {c.compute, workspace.get(), bytes});
           }}};
}

GemmContender cublas_contender([[maybe_unused]] GemmCase const& c) {
#ifdef INLAY_CUBLAS
  return {{kCublas, sgemm(c, CublasMath::pedantic)}};
#else
  throw UsageError("products are measured against cuBLAS, which this build was made without");
#endif
}

GemmContender named(std::string const& name, GemmCase c, GemmCall const& call) {
  if (name == kGemm) return public_contender(kGemm, c, call, true);
  if (name == kGemmWithout) return public_contender(kGemmWithout, c, call, false);
  if (name != kGemmTwoLevel) return On::of_variant(variant_named<GemmCase>(name), c, call);
  c.compute = Compute::fp32_two_level;
  return public_contender(kGemmTwoLevel, c, call, true);
}

}  // namespace

std::vector<GemmContender> On::contenders(GemmCase const& c, GemmCall const& call, cudaStream_t,
                                          std::vector<std::string> const& asked, BenchOptions const& options) {
  auto names = variant_names<GemmCase>();
  for (char const* name : {kGemm, kGemmWithout, kGemmTwoLevel}) names.emplace_back(name);
  auto known = names;
  known.emplace_back(kCublas);
  Selection const selection(asked, known);
  std::vector<GemmContender> rows{cublas_contender(c)};
  for (auto const& name : names)
    if (selection.has(name, !info_of<GemmCase>(name))) rows.push_back(named(name, c, call));
  if (options.peers)
    for (GemmContender& peer : options.peers(c)) rows.push_back(std::move(peer));
  return rows;
}

void On::fill(GemmCase const& c, GemmCall const& call, cudaStream_t stream) {
  fill_operands(c, call, {}, stream);
  prepare_c(product_of(c, call), {}, stream);
}

void On::add_errors(GemmCase const& c, GemmCall const& call, std::vector<GemmContender> const& contenders,
                    std::vector<Row>& rows, cudaStream_t stream) {
  Product const p = product_of(c, call);
  std::optional<double> cublas;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].ok()) continue;
    prepare_c(p, {}, stream);
    contenders[i].launch(call, stream);
    rows[i].rel_err = deviation(p, {}, 0, sample_of(p), stream).rel_err;
    if (rows[i].variant == kCublas) cublas = rows[i].rel_err;
    rows[i].rel_err_cublas = cublas;
  }
}

std::function<void(cudaStream_t)> On::public_call(GemmCase const& c, GemmCall const& call, void* workspace,
                                                  std::size_t bytes) {
  return [v = views(c, call), epilogue = Epilogue{c.alpha, c.beta}, options = GemmOptions{c.compute, workspace, bytes}](
             cudaStream_t stream) { gemm(v.a, v.b, v.c, epilogue, stream, options); };
}

Operands On::in_order(GemmCase const& c, GemmCall const& call, void* workspace) {
  GemmViews const v = views(c, call);
  return {{v.a.data, v.b.data, v.c.data}, workspace};
}

CheckOf<GemmCase> On::check(GemmCase const& c, GemmCall const& call, cudaStream_t stream) {
  fill_operands(c, call, exact_values(c), stream);
  return [check = std::make_shared<ExactCheck>(c, call, stream)](GemmContender const& x) { return (*check)(x); };
}

}  // namespace inlay::lab
