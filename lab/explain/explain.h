// `inlay explain`: what a kernel does to memory, and how long that takes on a GPU that need not be here.
#pragma once
#include <inlay/explain/explanation.h>

#include <string>

#include "problems/problem.h"
#include "results/json_rows.h"

namespace CLI {
class App;
}

namespace inlay::lab {

// Throws UsageError where the kernel does not take the problem, or `device` has not the shared memory for its launches;
// Error where a check speaks.
void refuse(char const* kernel, Reason const& reason);
void check_samples(char const* kernel, Recorder const& recorder, Device const& device);

// Explains a kernel on a problem of any size, from samples of its blocks. Throws UsageError when the kernel does not take it.
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
  return explanation_of(recorder, {entry.info().name, c.sentence(), c.name(), c.bytes(), c.flops()}, device);
}

// The same by the kernel's name. Also throws UsageError if there is no such kernel.
Explanation explain_kernel(std::string const& kernel, Problem const& problem, Device const& device);

Json to_json(Explanation const& explanation);

// A line with the time that was measured, where one is recorded of that device; else nothing.
std::string recorded_text(Explanation const& explanation, Problem const& problem);

void add_explain_command(CLI::App& app);

}  // namespace inlay::lab
