// One case: verify every candidate, then time those that are right.
#pragma once
#include <inlay/planner/device.h>

#include <vector>

#include "measure/buffers.h"
#include "measure/on_device.h"
#include "measure/progress.h"

namespace inlay::lab {

// The candidates of a case; `call` is one of those they will be launched with.
template <KindOf C>
using CandidatesOf =
    std::function<std::vector<typename OnDevice<C>::Candidate>(CallOf<C> const& call, cudaStream_t stream)>;

// The rows in the order of the candidates, baseline among them.
template <RunsOnDevice C>
std::vector<Row> measure(C const& c, CandidatesOf<C> const& candidates_of, int samples, cudaStream_t stream,
                         Progress& progress) {
  using On = OnDevice<C>;
  CaseBuffers<C> const buffers(c, current_device().l2_bytes);
  std::vector<CallOf<C>> calls;
  for (int set = 0; set < buffers.count(); ++set) calls.push_back(buffers.call(set));
  typename On::Checker checker(c, calls[0], stream);
  auto const candidates = candidates_of(calls[0], stream);
  std::vector<Trial> trials;
  for (auto const& x : candidates)
    trials.push_back({{x.name, [&](int set, cudaStream_t s) { x.launch(calls[std::size_t(set)], s); }, {}},
                      On::work(c, x),
                      On::is_baseline(x),
                      [&] { return checked_with_workspace<C>(checker, x, stream); },
                      [&](AllSets const& all_sets) {
                        std::string const said = checker.again(x, calls, all_sets);
                        return x.workspace ? x.workspace->check_result(said, "the workspace", stream) : said;
                      }});
  auto rows = verified(c, trials, progress);
  for (CallOf<C> const& call : calls) checker.fill(call);
  check(cudaStreamSynchronize(stream));
  time_right(rows, trials, buffers.count(), samples, stream, progress);
  On::best(rows);
  return rows;
}

}  // namespace inlay::lab
