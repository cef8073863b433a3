#include <fmt/format.h>
#include <inlay/error.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "explain/demo.h"
#include "explain/explain.h"
#include "page/parts.h"
#include "problems/kernels.h"
#include "results/progress.h"
#include "usage_error.h"

namespace inlay::lab::page {
namespace {

void explain_at(Step& step, Problem const& problem) {
  step.problem = problem;
  step.explained = explain_kernel(step.name, problem, *find_device("H200"));  // the results were recorded on an H200
}

// Explains a step at the ladder's problem. If the kernel rejects it: at the recorded problem with the largest share,
// or, if nothing is recorded, at a small one.
void explain_step(Step& step, Problem const& problem, Results const& recorded, std::optional<Problem> const& small) {
  try {
    return explain_at(step, problem);
  } catch (UsageError const& e) {
    step.why_not_explained = e.what();
  }
  Row const* best = nullptr;
  for (Row const& row : recorded.rows)
    if (row.kernel == step.name && row.ok() && row.share && (!best || *row.share > *best->share)) best = &row;
  if (!best && !small) return;
  step.at_ladder_problem = false;
  explain_at(step, best ? best->measured : *small);
}

Json counters_file() {
  std::ifstream in(results_dir() / "h200" / "counters.json");
  return in ? Json::parse(in).at("rows") : Json::array();
}

std::vector<Counter> counters_of(Json const& rows, Step const& step) {
  auto const number = [](Json const& j) { return j.is_number() ? std::optional(j.get<double>()) : std::nullopt; };
  std::vector<Counter> counters;
  for (Json const& row : rows)
    if (row.at("kernel") == step.name && parse_problem(row) == step.problem)
      counters.push_back({row.at("counter"), number(row.at("predicted")), number(row.at("measured"))});
  return counters;
}

// Calls f(0) .. f(n - 1) on all cores. Replays share no state that they change.
template <class F>
void on_all_cores(std::size_t n, F const& f) {
  std::atomic<std::size_t> next = 0;
  Progress progress(n);
  std::mutex one_at_a_time;
  auto const work = [&] {
    for (std::size_t i; (i = next++) < n;) {
      {
        std::scoped_lock const lock(one_at_a_time);
        progress.next("replaying kernels");
      }
      f(i);
    }
  };
  std::vector<std::future<void>> workers;
  for (unsigned core = 1; core < std::thread::hardware_concurrency() && core < n; ++core)
    workers.push_back(std::async(std::launch::async, work));
  work();
  for (auto& worker : workers) worker.get();
}

// The ladder of the page that shows a kernel. Kernels for f32 that are in no ladder stand beside those of the SGEMM
// ladder.
model::Ladder shown_in(Info<Gemm> const& info) {
  using enum model::Ladder;
  return info.ladder == hgemm || info.ladder == sgemm_tc ? info.ladder : sgemm;
}

// The steps whose kernels `is_shown` selects by their info.
template <class C, class F>
std::vector<Step> steps_of(Results const& recorded, F const& is_shown) {
  auto const published = load_published();
  Json const counters = counters_file();
  std::vector<Entry<typename C::Canonical>> entries;
  for (auto const& entry : C::kernels())
    if (is_shown(entry.info())) entries.push_back(entry);
  std::vector<Step> steps(entries.size());
  on_all_cores(entries.size(), [&](std::size_t i) {
    auto const& entry = entries[i];
    Step& step = steps[i];
    auto const [ragged, full, measured] = shown_cases(entry);
    std::optional<C> const small = small_case(entry);
    step.name = entry.info().name, step.idea = entry.info().idea, step.source = entry.info().source;
    step.ladder = entry.info().ladder, step.origin = entry.info().origin;
    Replayed const check_result = replay_on_cpu(entry, ragged);
    step.replayed = short_check_result(check_result, small ? replay_on_cpu(entry, *small) : check_result);
    if (small) step.pictures = pictures_of(entry, *small);
    explain_step(step, measured, recorded, small ? std::optional<Problem>(*small) : std::nullopt);
    if (Row const* row = recorded.find(step.problem, step.name)) step.recorded = *row;
    step.counters = counters_of(counters, step);
    for (Published const& p : published)
      if (p.kernel == step.name) step.published.push_back(p.sentence());
  });
  return steps;
}

// Adds the rows that belong to no step, and the time of the first row whose share is 1.
void add_other_rows(Ladder& ladder, std::vector<Row> const& rows) {
  for (Row const& row : rows) {
    if (row.share == 1. && !ladder.limit_ms) ladder.limit_ms = row.ms_median;
    if (std::ranges::find(ladder.steps, row.kernel, &Step::name) == ladder.steps.end())
      ladder.other_rows.push_back(row);
  }
}

}  // namespace

namespace {

// Where the number of a step begins in its name: transpose_03_smem_read_conflict, sgemm_tc_03_own_corrections.
std::size_t number_at(std::string const& name) {
  auto const digit = [](char c) { return c >= '0' && c <= '9'; };
  for (auto at = name.find('_'); at != name.npos && at + 3 < name.size(); at = name.find('_', at + 1))
    if (digit(name[at + 1]) && digit(name[at + 2]) && name[at + 3] == '_') return at + 1;
  return name.find('_') + 1;
}

}  // namespace

std::string Step::number() const { return name.substr(number_at(name), 2); }

std::string Step::title() const {
  std::string s = name.substr(number_at(name) + 3);
  std::replace(s.begin(), s.end(), '_', ' ');
  return s;
}

std::optional<double> Step::predicted_over_measured() const {
  if (!explained || !recorded || !recorded->ms_median) return std::nullopt;
  return explained->seconds * 1e3 / *recorded->ms_median;
}

std::string shown_problem(Step const& step) {
  return step.is_gemm() && step.at_ladder_problem ? std::get<GemmCase>(step.problem).transposes()
                                                  : sentence(step.problem);
}

namespace {

Ladder copies(Recorded const& recorded) {
  Ladder ladder{.id = "transposes",
                .title = "Transposes",
                .baseline = "the copy limit",
                .meaning_of_share =
                    "Share of the copy limit: the throughput of the faster of two plain copies of as many bytes is 1.",
                .public_function = "transpose",
                .problem = transpose_case(),
                .steps = steps_of<CopyCase>(recorded.ours, [](auto const&) { return true; }),
                .other_rows = {},
                .limit_ms = {},
                .device = recorded.ours.device,
                .date = recorded.ours.date};
  add_other_rows(ladder, recorded.rows(ladder.problem));
  return ladder;
}

// A ladder of GEMMs, and how it is shown.
struct GemmLadder {
  model::Ladder ladder;
  char const *id, *title;
  char const* compared_with;    // how cuBLAS computes
  char const* public_function;  // as in Ladder
  char const* suite;            // in which it was recorded
};
Ladder gemm_ladder(GemmLadder const& shown, GemmCase const& problem, Results const& recorded) {
  Ladder ladder{
      .id = shown.id,
      .title = shown.title,
      .baseline = "cuBLAS",
      .meaning_of_share =
          fmt::format("Share of the throughput of cuBLAS in {}, at the same transposes.", shown.compared_with),
      .public_function = shown.public_function,
      .problem = problem,
      .steps = steps_of<GemmCase>(recorded, [&](Info<Gemm> const& info) { return shown_in(info) == shown.ladder; }),
      .other_rows = {},
      .limit_ms = {},
      .device = recorded.device,
      .date = recorded.date};
  std::vector<Row> rows;
  for (Row const& row : recorded.rows)
    if (row.measured == ladder.problem && row.suite == shown.suite) rows.push_back(row);
  add_other_rows(ladder, rows);
  return ladder;
}

}  // namespace

std::vector<Ladder> ladders() {
  Recorded const recorded = load_recorded();
  GemmCase in_bf16 = gemm_case(8192, 8192, 8192, "nt");
  in_bf16.type = "bf16";
  using enum model::Ladder;
  constexpr char const* fp32 = "fp32, without TF32";
  return {copies(recorded), gemm_ladder({sgemm, "GEMMs", "GEMMs", fp32, "gemm", "ladder"}, GemmCase{}, recorded.gemms),
          gemm_ladder({hgemm, "tensor-cores", "GEMMs on tensor cores", "bf16, with sums in fp32", "", "hgemm"}, in_bf16,
                      recorded.tensor_gemms),
          gemm_ladder({sgemm_tc, "slices", "fp32 GEMMs on tensor cores", fp32, "", "sgemm_tc"},
                      gemm_case(4096, 4096, 4096, "nt"), recorded.sliced_gemms)};
}

}  // namespace inlay::lab::page
