#include "measure/tune.h"

#include <fmt/format.h>
#include <inlay/copy.h>
#include <inlay/gemm.h>
#include <inlay/tuning.h>

#include "measure/buffers.h"
#include "measure/candidate.h"
#include "measure/copy_candidates.h"
#include "measure/cuda_handles.h"
#include "measure/gemm_candidates.h"

namespace inlay::lab {
namespace {

Plan tuned_plan(CopyCase const& c, CopyCall const& call, double milliseconds, cudaStream_t stream) {
  auto const [dst, src] = views(c, call);
  return plan(dst, c.is_transpose ? src.transposed() : src, {Choose::measured, stream, milliseconds});
}
Plan tuned_plan(GemmCase const& c, GemmCall const& call, double milliseconds, cudaStream_t stream) {
  auto const [a, b, d] = views(c, call);
  GemmOptions options{.compute = c.compute};
  options.workspace_bytes = gemm_workspace(a, b, d, {call.alpha, call.beta}, options);
  auto const workspace = workspace_of(options.workspace_bytes);
  options.workspace = workspace ? workspace->get() : nullptr;
  return plan(a, b, d, {call.alpha, call.beta}, options, {Choose::measured, stream, milliseconds});
}

}  // namespace

std::string tune(SuiteCase const& listed, double milliseconds) {
  return std::visit(
      [&]<class C>(C const& c) {
        Stream const stream = make_stream();
        CaseBuffers<C> const buffers(c, 0);
        typename C::Call const call = buffers.call(0);
        make_checker(c, call, stream.get()).fill(call);
        std::string const text = tuned_plan(c, call, milliseconds, stream.get()).why();
        std::string const from = "chosen: ";
        std::size_t const begin = text.find(from) + from.size();
        return fmt::format("{}: {}", c.sentence(), text.substr(begin, text.find('.', begin) - begin));
      },
      listed.problem);
}
void save_tuned(std::string const& path) { save_tuning(path); }
std::size_t load_tuned(std::string const& path) { return load_tuning(path); }

}  // namespace inlay::lab
