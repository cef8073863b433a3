// Rows of kernels for plans that are run, and neither chosen nor explained.
#pragma once
#include <inlay/model/kernel_info.h>

namespace inlay::test {

template <class P>
model::Info<P> only_run(model::Run<P> run, model::Prepare<P> prepare = {}) {
  model::Info<P> info{};
  info.run = run, info.prepare = prepare;
  return info;
}

}  // namespace inlay::test
