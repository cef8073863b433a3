// One case: verify every contender, then time those that are right.
#pragma once
#include <inlay/plan/device.h>

#include <vector>

#include "measure/buffers.h"
#include "measure/on_device.h"
#include "measure/progress.h"

namespace inlay::lab {

// The contenders of a case; `call` is one of those they will be launched with.
template <KindOf C>
using ContendersOf =
    std::function<std::vector<typename OnDevice<C>::Contender>(CallOf<C> const& call, cudaStream_t stream)>;

// The rows in the order of the contenders, yardsticks among them.
template <RunsOnDevice C>
std::vector<Row> measure(C const& c, ContendersOf<C> const& contenders_of, int samples, cudaStream_t stream,
                         Progress& progress) {
  using On = OnDevice<C>;
  CaseBuffers<C> const buffers(c, current_device().l2_bytes);
  CallOf<C> const call = buffers.call(0);
  CheckOf<C> const checked = On::check(c, call, stream);
  auto const contenders = contenders_of(call, stream);
  std::vector<Trial> trials;
  for (auto const& x : contenders)
    trials.push_back({{x.name, [&](int set, cudaStream_t s) { x.launch(buffers.call(set), s); }},
                      On::work(c, x),
                      On::is_yardstick(x),
                      [&] { return checked(x); }});
  auto rows = verified(c, trials, progress);
  for (int set = 0; set < buffers.count(); ++set) On::fill(c, buffers.call(set), stream);
  On::add_errors(c, call, contenders, rows, stream);
  check(cudaStreamSynchronize(stream));
  time_right(rows, trials, buffers.count(), samples, stream, progress);
  return rows;
}

}  // namespace inlay::lab
