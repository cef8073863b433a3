#include <fmt/format.h>

#include "explain/demo_parts.h"
#include "page/report.h"
#include "variants.h"

namespace inlay::lab {
namespace {

constexpr char const* kIntroduction =
    "Every step of the matrix product in fp32, replayed in the same way. A multiprocessor makes 128 multiply-adds "
    "(FMAs) in "
    "the\n"
    "  time of one wavefront: a kernel that loads more often than that from shared memory waits for it.\n";

std::string per_wavefront(Counts const& c) {
  Traffic const& shared = c.shared_load;
  return shared.transactions ? fmt::format("{:.1f}", double(c.fma) / double(shared.transactions)) : "-";
}

std::string counts(Counts const& c) {
  return fmt::format("{:>7}{:>7}{:>8}{:>9}", per_request(c.global_load, c.async_copy, c.tma_load),
                     per_request(c.global_store, {}, c.tma_store), per_request(c.shared_load, {}, {}),
                     per_wavefront(c));
}

std::string recorded(Results const& results, GemmCase const& c, std::string const& variant) {
  Row const* const row = results.find(c, variant);
  return fmt::format("{:>9}{:>11}", number(row ? row->rate : std::nullopt, 1, "-"),
                     number(row ? row->share : std::nullopt, 3, "-"));
}

}  // namespace

std::string products_screen(Results const& results, std::vector<Published> const& published) {
  std::string s = kIntroduction;
  s += fmt::format("\n{:<33}{:<13}{:<4}{:>12}{:>17}{:>20}  {}\n", "", "130x70x20", "", "global", "shared", "H200",
                   "the tutorial's own");
  s += fmt::format("{:<33}{:<13}{:<4}{:>7}{:>7}{:>8}{:>9}{:>9}{:>11}  {}\n", "variant", "all checks", "", "load",
                   "store", "load", "FMAs", "TFLOP/s", "of cuBLAS", "figure");
  for (auto const& entry : gemm_variants()) {
    std::string const name = entry.info().name;
    std::string const layout = shown_layout(entry.info());
    Replayed const full = replay_on_cpu(entry, full_product(layout));
    Replayed const ragged = replay_on_cpu(entry, ragged_product(layout));
    s += fmt::format("{:<33}{:<13}{:<4}{}{}  {}\n", name, short_verdict(ragged, full), layout, counts(full.counts),
                     recorded(results, product_of(4096, 4096, 4096, layout), name), tutorial(published, name));
  }
  s += "\nFMAs: of all threads, for each wavefront that loads from shared memory; layout: nn, or nt, where B is stored "
       "transposed.\n";
  s += results.rows.empty()
           ? "TFLOP/s: nothing is recorded yet.\n"
           : "TFLOP/s: 4096 x 4096 x 4096 in that layout, recorded on one H200; of cuBLAS in fp32 at the "
             "same letters.\n";
  return s;
}

}  // namespace inlay::lab
