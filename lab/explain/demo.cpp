#include "explain/demo.h"

#include <fmt/format.h>
#include <unistd.h>

#include "explain/demo_parts.h"
#include "page/report_page.h"
#include "results/data_files.h"
#include "variants.h"

namespace inlay::lab {
namespace {

Case const kMeasured{32768, 32768, 1, 4};

constexpr char const* kIntroduction =
    "Every step of the matrix transpose, replayed on this CPU thread by thread: each access is counted and checked.\n"
    "  A warp is 32 threads that access memory together: one request. Global memory answers in sectors of 32 bytes, "
    "shared\n"
    "  memory in wavefronts: one pass over its 32 banks, and lanes that meet in one bank wait for another pass.\n"
    "  Ideal: 4 sectors for 4-byte accesses, 16 for 16-byte ones; 1 wavefront for 4-byte accesses, 4 for 16-byte "
    "ones.\n"
    "  32 sectors: every lane in a sector of its own.  32 wavefronts: all lanes in one bank, one after the other.\n";

std::string counts(Counts const& c) {
  return fmt::format("{:>5}{:>6}{:>7}{:>6}", per_request(c.global_load, c.async_copy, c.tma_load),
                     per_request(c.global_store, {}, c.tma_store), per_request(c.shared_store, {}, {}),
                     per_request(c.shared_load, {}, {}));
}

// The recorded time and its share of the copy limit.
std::string recorded(Results const& results, std::string const& variant) {
  Row const* const row = results.find(kMeasured, variant);
  if (!row || !row->ms_median || !row->share) return fmt::format("{:>8}{:>9}", "-", "-");
  return fmt::format("{:>8.3f}{:>8.0f}%", *row->ms_median, 100 * *row->share);
}

std::string legend(bool has_results) {
  std::string s =
      "all checks: result, bounds, alignment, races, barriers; (aligned): takes only rows of whole 16-byte vectors.\n"
      "load, store: sectors per request (a: by cp.async; box: TMA moves whole tiles, no lanes take part), or "
      "wavefronts.\n";
  s += has_results ? "ms: 32768 x 32768 elements of 4 bytes, recorded on one H200; of copy: share of the faster of two "
                     "plain copies.\n"
                   : "ms: nothing is recorded yet for 32768 x 32768 elements of 4 bytes.\n";
  return s + "The tutorials measured on other GPUs: compare the steps, not the milliseconds.\n";
}

std::string moves_screen(Results const& results, std::vector<Published> const& published) {
  std::string s = kIntroduction;
  s += fmt::format("\n{:<33}{:<13}{:>11}{:>13}{:>17}  {}\n", "", kRagged.name(), "global", "shared", "H200",
                   "the tutorial's own");
  s += fmt::format("{:<33}{:<13}{:>5}{:>6}{:>7}{:>6}{:>8}{:>9}  {}\n", "variant", "all checks", "load", "store",
                   "store", "load", "ms", "of copy", "figure");
  bool copies = true;
  for (auto const& entry : move_variants()) {
    std::string const name = entry.info().name;
    if (copies && !is_copy(entry.info())) s += '\n';
    copies = is_copy(entry.info());
    Replayed const full = replay_on_cpu(entry, kFull);
    s += fmt::format("{:<33}{:<13}{}{}  {}\n", name, short_verdict(replay_on_cpu(entry, kRagged), full),
                     counts(full.counts), recorded(results, name), tutorial(published, name));
  }
  return s + '\n' + legend(!results.rows.empty());
}

}  // namespace

std::string per_request(Traffic const& plain, Traffic const& async, Traffic const& tma) {
  if (tma.requests) return "box";
  if (async.requests) return fmt::format("{:.0f}a", async.per_request());
  if (!plain.requests) return "-";
  double const x = plain.per_request();
  return x == double(int(x)) ? fmt::format("{:.0f}", x) : fmt::format("{:.1f}", x);
}

std::string short_verdict(Replayed const& ragged, Replayed const& full) {
  if (ragged.failed() || full.failed()) return "FAILED";
  return ragged.verdict == "ok" ? "ok" : full.verdict == "ok" ? "ok (aligned)" : "rejected";
}

std::string tutorial(std::vector<Published> const& published, std::string const& variant) {
  for (Published const& p : published)
    if (p.variant == variant) return p.sentence();
  return "-";
}

std::string demo_report(std::string const& asked) {
  std::filesystem::path file = asked;
  if (asked.empty()) {
    auto const place = program_folder();
    bool const beside = !is_installed() && access(place.c_str(), W_OK) == 0;
    file = (beside ? place : std::filesystem::current_path()) / "report.html";
  }
  write_report(file);
  return std::filesystem::proximate(file).string();
}

std::string demo_screen() {
  auto const recorded = load_recorded();
  auto const published = load_published();
  return moves_screen(recorded.ours, published) + '\n' + products_screen(recorded.products, published);
}

}  // namespace inlay::lab
