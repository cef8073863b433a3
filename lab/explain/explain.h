// `inlay explain`: the memory accesses of a kernel, and its predicted time on a GPU, without a GPU.
#pragma once
#include <inlay/explain/explanation.h>

#include <string>

#include "problems/problem.h"
#include "results/json_rows.h"

namespace CLI {
class App;
}

namespace inlay::lab {

using explain::Explanation, model::find_device;

// Throws UsageError if there is a reason why the kernel rejects the problem.
void refuse(char const* kernel, Reason const& reason);
// Throws UsageError if a launch needs more shared memory than `device` has, and Error if a check of the replay failed.
void check_samples(char const* kernel, Recorder const& recorder, Device const& device);

// Explains a kernel on a problem of any size, by replaying samples of its blocks. Throws as `refuse` and
// `check_samples` do.
template <class C>
Explanation explain_entry(Entry<typename C::Canonical> const& entry, C const& c, Device const& device) {
  c.validate();
  Recorder recorder;
  std::vector<void*> addresses;
  for (OperandBuffer const& x : c.operands()) addresses.push_back(recorder.reserve(x.name, x.bytes(), x.elem_bytes));
  auto const problem = c.canonical(c.call(addresses), &entry.info());
  refuse(entry.info().name, entry.info().rejects(problem, device));
  recorder.reserve_workspace(entry.info().workspace(problem, device));
  entry.sample(problem, device, recorder);
  check_samples(entry.info().name, recorder, device);
  return explain::explanation_of(recorder, {entry.info().name, c.sentence(), c.name(), c.bytes(), c.flops()}, device);
}

// Explains a kernel by its name. Throws as explain_entry does, and UsageError if there is no such kernel.
Explanation explain_kernel(std::string const& kernel, Problem const& problem, Device const& device);

Json to_json(Explanation const& explanation);

// A line with the time that was recorded of this kernel, problem and device; empty if none was.
std::string recorded_text(Explanation const& explanation, Problem const& problem);

void add_explain_command(CLI::App& app);

}  // namespace inlay::lab
