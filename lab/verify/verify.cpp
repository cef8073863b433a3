#include "verify/verify.h"

#include <fmt/format.h>

#include <set>

#include "measure/gpu.h"
#include "problems/variants.h"
#include "verify/replay_check.h"

namespace inlay::lab {
namespace {

// The chosen variants of one kind on their problems; how many failed.
template <KindOf C>
int verify_kind(std::set<std::string> const& chosen, std::vector<Problem> const& problems, bool on_gpu) {
  int failures = 0;
  for (auto const& entry : Kind<C>::variants()) {
    if (!chosen.contains(entry.info().name)) continue;
    for (Problem const& problem : problems) {
      C const* const c = problem.as<C>();
      if (!c) continue;
      std::string const verdict = on_gpu ? check_on_gpu(entry, *c) : replay_on_cpu(entry, *c).verdict;
      failures += verdict.starts_with("FAILED");
      fmt::print("{:<34} {}  {}\n", entry.info().name, Kind<C>::short_name(*c), verdict);
      std::fflush(stdout);
    }
  }
  return failures;
}

}  // namespace

bool verify(std::vector<std::string> const& variants, std::vector<Problem> const& problems, bool on_cpu) {
  auto const known = all_variant_names();
  std::set<std::string> chosen;
  for (auto const& name : variants.empty() ? known : variants) chosen.insert(resolve(name, known));
  std::string const missing = on_cpu ? "as asked" : why_no_gpu();
  if (missing.empty())
    fmt::print("on the GPU: poisoned output, guard bands, every element compared\n");
  else
    fmt::print("replayed on the CPU, thread by thread ({})\n", missing);

  bool const on_gpu = missing.empty();
  return verify_kind<MoveCase>(chosen, problems, on_gpu) + verify_kind<GemmCase>(chosen, problems, on_gpu) == 0;
}

}  // namespace inlay::lab
