#include "verify/verify.h"

#include <fmt/format.h>

#include <set>

#include "measure/gpu.h"
#include "variants.h"
#include "verify/replay_check.h"

namespace inlay::lab {
namespace {

std::string told_apart(Case const& c) { return fmt::format("{:>2} B", c.elem_bytes); }
std::string told_apart(GemmCase const& c) { return "  " + c.layout; }

// The chosen variants of one kind on their cases; how many failed.
template <class P, class C>
int verify_all(std::set<std::string> const& chosen, std::vector<C> const& cases, bool on_gpu) {
  int failures = 0;
  for (auto const& entry : variants<P>()) {
    if (!chosen.contains(entry.info().name)) continue;
    for (C const& c : cases) {
      std::string const verdict = on_gpu ? check_on_gpu(entry, c) : replay_on_cpu(entry, c).verdict;
      failures += verdict.starts_with("FAILED");
      fmt::print("{:<34} {}  {}\n", entry.info().name, told_apart(c), verdict);
      std::fflush(stdout);
    }
  }
  return failures;
}

}  // namespace

bool verify(VerifyOptions const& options) {
  std::vector<Case> moves(options.elem_bytes.size(), options.move);
  for (std::size_t i = 0; i < moves.size(); ++i) moves[i].elem_bytes = options.elem_bytes[i];
  std::vector<GemmCase> products(options.layouts.size(), options.product);
  for (std::size_t i = 0; i < products.size(); ++i) products[i].layout = options.layouts[i];
  for (Case const& c : moves) validate(c);
  for (GemmCase const& c : products) validate(c);

  auto known = variant_names<Move>();
  for (auto& name : variant_names<Gemm>()) known.push_back(std::move(name));
  std::set<std::string> chosen;
  for (auto const& name : options.variants.empty() ? known : options.variants) chosen.insert(resolve(name, known));
  std::string const missing = options.cpu ? "as asked" : why_no_gpu();
  if (missing.empty())
    fmt::print("on the GPU: poisoned output, guard bands, every element compared\n");
  else
    fmt::print("replayed on the CPU, thread by thread ({})\n", missing);

  int const failures =
      verify_all<Move>(chosen, moves, missing.empty()) + verify_all<Gemm>(chosen, products, missing.empty());
  return failures == 0;
}

}  // namespace inlay::lab
