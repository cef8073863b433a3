#include "explain/demo.h"

#include <fmt/format.h>

#include "problems/shown_case.h"
#include "results/text.h"

namespace inlay::lab {
namespace {

constexpr char const* kCopies =
    "Every step of the matrix transpose, replayed on this CPU thread by thread: each access is counted and checked.\n"
    "  The 32 threads of a warp access memory together: one request. Global memory transfers sectors of 32 bytes.\n"
    "  Shared memory has 32 banks. A wavefront is one access to all banks; different words of one bank take several.\n"
    "  Ideal: 4 sectors and 1 wavefront for 4-byte accesses, 16 sectors and 4 wavefronts for 16-byte accesses.\n"
    "  32 sectors: every lane in a sector of its own.  32 wavefronts: all lanes in one bank, one after the other.\n";
constexpr char const* kGemms =
    "Every step of the GEMM in fp32, replayed in the same way. In the time of one wavefront, a multiprocessor does "
    "128\n"
    "  multiply-adds (FMAs): a kernel with fewer FMAs for each wavefront is limited by its loads from shared memory.\n";

// Transactions per request: "4", "15.9"; "4a" for cp.async; "box" for TMA; "-" without requests.
std::string per_request(banks::Traffic const& plain, banks::Traffic const& async = {}, banks::Traffic const& tma = {}) {
  if (tma.requests) return "box";
  if (async.requests) return fmt::format("{:.0f}a", async.per_request());
  if (!plain.requests) return "-";
  double const x = plain.per_request();
  return x == double(int(x)) ? fmt::format("{:.0f}", x) : fmt::format("{:.1f}", x);
}
std::string load(Counts const& c) { return per_request(c.global_load, c.async_copy, c.tma_load); }
std::string store(Counts const& c) { return per_request(c.global_store, {}, c.tma_store); }

std::string head(CopyCase const& ragged) {
  return fmt::format("\n{:<33}{:<13}{:>11}{:>13}{:>17}  {}\n", "", ragged.name(), "global", "shared", "H200",
                     "the tutorial's own") +
         fmt::format("{:<33}{:<13}{:>5}{:>6}{:>7}{:>6}{:>8}{:>9}  {}\n", "kernel", "all checks", "load", "store",
                     "store", "load", "ms", "of copy", "figure");
}
std::string head(GemmCase const& ragged) {
  return fmt::format("\n{:<33}{:<13}{:<4}{:>12}{:>12}{:>27}  {}\n", "", ragged.name(), "", "global", "shared", "H200",
                     "the tutorial's own") +
         fmt::format("{:<33}{:<13}{:<4}{:>6}{:>6}{:>6}{:>6}{:>7}{:>9}{:>11}  {}\n", "kernel", "all checks", "", "load",
                     "store", "store", "load", "FMAs", "TFLOP/s", "of cuBLAS", "figure");
}

// The counts of a replay, and the recorded figures.
std::string cells(CopyCase const&, Counts const& c, Row const& row) {
  std::string const share = row.share ? fmt::format("{:.0f}%", 100 * *row.share) : "-";
  return fmt::format("{:>5}{:>6}{:>7}{:>6}{:>8}{:>9}", load(c), store(c), per_request(c.shared_store),
                     per_request(c.shared_load), number(row.ms_median, 3, "-"), share);
}
std::string cells(GemmCase const& shown, Counts const& c, Row const& row) {
  auto const wavefronts = c.shared_load.transactions;
  return fmt::format("{:<4}{:>6}{:>6}{:>6}{:>6}{:>7}{:>9}{:>11}", shown.transposes(), load(c), store(c),
                     per_request(c.shared_store), per_request(c.shared_load),
                     wavefronts ? fmt::format("{:.1f}", double(c.all_fma()) / double(wavefronts)) : "-",
                     number(row.rate, 1, "-"), number(row.share, 3, "-"));
}

// The first figure of a kernel: published.json has the figures for the size measured here first.
std::string published_figure(std::vector<Published> const& published, std::string const& kernel) {
  for (Published const& p : published)
    if (p.kernel == kernel) return p.sentence();
  return "-";
}

template <class C>
std::string ladder(std::span<Entry<typename C::Canonical> const> kernels, Results const& results,
                   std::vector<Published> const& published) {
  std::string s;
  for (auto const rung : {model::Ladder::copy, model::Ladder::transpose, model::Ladder::sgemm, model::Ladder::hgemm,
                          model::Ladder::sgemm_tc, model::Ladder::none})
    for (auto const& entry : kernels) {
      if (entry.info().ladder != rung) continue;
      std::string const name = entry.info().name;
      auto const [ragged, full, measured] = shown_cases(entry);
      if (s.empty()) s = head(ragged);
      Replayed const replayed = replay_on_cpu(entry, full);
      Row const* const row = results.find(measured, name);
      s += fmt::format("{:<33}{:<13}{}  {}\n", name, short_check_result(replay_on_cpu(entry, ragged), replayed),
                       cells(full, replayed.counts, row ? *row : Row{}), published_figure(published, name));
    }
  return s + '\n';
}

std::string legend_of_copies(bool has_results) {
  std::string s =
      "all checks: result, bounds, alignment, races, barriers; (aligned): rejects rows that are not whole 16-byte "
      "vectors.\n"
      "load, store: sectors of global memory, or wavefronts of shared memory, per request; a: cp.async; box: TMA.\n";
  s += has_results ? "ms: 32768 x 32768 elements of 4 bytes, recorded on one H200; of copy: share of the faster of two "
                     "plain copies.\n"
                   : "ms: nothing is recorded yet for 32768 x 32768 elements of 4 bytes.\n";
  return s + "The tutorials measured on other GPUs: compare the steps, not the milliseconds.\n";
}

std::string legend_of_gemms(bool has_results) {
  std::string const s =
      "nn, nt, tn, tt: the transposes of A and B (t: stored transposed); FMAs: for each wavefront of loads from shared "
      "memory.\n";
  return s +
         (has_results
              ? "TFLOP/s: 4096 x 4096 x 4096 in f32, hgemm: 8192 x 8192 x 8192 in bf16, at these transposes, recorded "
                "on one H200; of\ncuBLAS: at the same type and transposes.\n"
              : "TFLOP/s: nothing is recorded yet.\n");
}

}  // namespace

Shown<CopyCase> shown_cases(Entry<Copy> const&) {
  return {transpose_case(204, 148), transpose_case(256, 256), transpose_case()};
}
Shown<GemmCase> shown_cases(Entry<Gemm> const& entry) {
  std::int64_t const n = entry.info().ladder == model::Ladder::hgemm ? 8192 : 4096;
  return {shown_case(entry.info(), 130, 70, 20), shown_case(entry.info(), 256, 256, 32),
          shown_case(entry.info(), n, n, n)};
}

std::string short_check_result(Replayed const& ragged, Replayed const& full) {
  if (ragged.failed() || full.failed()) return "FAILED";
  return ragged.ok() ? "ok" : full.ok() ? "ok (aligned)" : "rejected";
}

std::string demo_screen(std::span<Entry<Copy> const> copies, std::span<Entry<Gemm> const> gemms) {
  auto recorded = load_recorded();
  for (Results const* more : {&recorded.tensor_gemms, &recorded.sliced_gemms})
    recorded.gemms.rows.insert(recorded.gemms.rows.end(), more->rows.begin(), more->rows.end());
  auto const published = load_published();
  return kCopies + ladder<CopyCase>(copies, recorded.ours, published) + legend_of_copies(!recorded.ours.rows.empty()) +
         '\n' + kGemms + ladder<GemmCase>(gemms, recorded.gemms, published) +
         legend_of_gemms(!recorded.gemms.rows.empty());
}

}  // namespace inlay::lab
