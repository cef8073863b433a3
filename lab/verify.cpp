#include "verify.h"

#include <fmt/format.h>

#include "gpu.h"
#include "replay_check.h"
#include "variants.h"

namespace inlay::lab {

bool verify(VerifyOptions const& options) {
  std::vector<Case> cases;
  for (int e : options.elem_bytes) {
    cases.push_back(options.shape);
    cases.back().elem_bytes = e;
  }
  for (Case const& c : cases) validate(c);

  auto const chosen = select_variants(options.variants);
  std::string const missing = options.cpu ? "as asked" : why_no_gpu();
  if (missing.empty())
    fmt::print("on the GPU: poisoned output, guard bands, every element compared\n");
  else
    fmt::print("replayed on the CPU, thread by thread ({})\n", missing);

  int failures = 0;
  for (auto const* entry : chosen)
    for (Case const& c : cases) {
      std::string const verdict = missing.empty() ? check_on_gpu(*entry, c) : replay_on_cpu(*entry, c).verdict;
      failures += verdict.starts_with("FAILED");
      fmt::print("{:<34} {:>2} B  {}\n", entry->info().name, c.elem_bytes, verdict);
      std::fflush(stdout);
    }
  return failures == 0;
}

}  // namespace inlay::lab
