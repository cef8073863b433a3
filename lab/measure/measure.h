// Measures one case: checks every candidate, then times those that passed.
#pragma once
#include <inlay/model/device.h>

#include <vector>

#include "measure/buffers.h"
#include "measure/candidate.h"
#include "results/progress.h"

namespace inlay::lab {

// The rows in the order of the candidates, baselines among them. candidates_of(call, stream) returns the candidates of
// the case; `call` is one of those that they will be launched with.
template <class C, class CandidatesOf>
std::vector<Row> measure(C const& c, CandidatesOf const& candidates_of, MeasureOptions const& options,
                         cudaStream_t stream, Progress& progress) {
  CaseBuffers<C> const buffers(c, current_device().l2_bytes);
  std::vector<typename C::Call> calls;
  for (int set = 0; set < buffers.count(); ++set) calls.push_back(buffers.call(set));
  auto checker = make_checker(c, calls[0], stream);
  auto const candidates = candidates_of(calls[0], stream);
  std::vector<Measurement> measurements;
  for (auto const& x : candidates)
    measurements.push_back({{x.name, [&](int set, cudaStream_t s) { x.launch(calls[std::size_t(set)], s); }, {}},
                            work(c, x),
                            is_baseline(x),
                            [&] { return checked_with_workspace(checker, x, stream); },
                            [&](AllSets const& all_sets) {
                              std::string const said = checker.again(x, calls, all_sets);
                              return x.workspace ? x.workspace->check_result(said, "the workspace", stream) : said;
                            }});
  auto rows = verified(c, measurements, progress);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].predicted_ms = candidates[i].predicted_ms;
  add_errors(c, candidates, calls[0], options.errors, rows, stream, progress);
  for (typename C::Call const& call : calls) checker.fill(call);
  check(cudaStreamSynchronize(stream));
  time_right(rows, measurements, buffers.count(), options, stream, progress);
  add_best(c, rows);
  return rows;
}

}  // namespace inlay::lab
