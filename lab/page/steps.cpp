#include <fmt/format.h>
#include <inlay/error.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>
#include <thread>

#include "explain/demo_parts.h"
#include "explain/explain.h"
#include "page/parts.h"
#include "usage_error.h"
#include "variants.h"

namespace inlay::lab::page {
namespace {

// The device whose runs are recorded.
Device const& device() { return *find_device("H200"); }

void explain_at(Step& step, Problem const& problem) {
  step.problem = problem;
  step.explained = std::visit([&](auto const& c) { return explain_variant(step.name, c, device()); }, problem);
}

// A variant that does not take the ladder's problem is shown where it was recorded nearest to the yardstick.
void explain_or_look_elsewhere(Step& step, Problem const& problem, Results const& recorded) {
  try {
    return explain_at(step, problem);
  } catch (UsageError const& e) {
    step.why_not_explained = e.what();
  }
  Row const* best = nullptr;
  for (Row const& row : recorded.rows)
    if (row.variant == step.name && row.ok() && row.share && (!best || *row.share > *best->share)) best = &row;
  if (!best) return;
  step.at_home = false;
  explain_at(step, best->measured);
}

Json counters_file() {
  std::ifstream in(results_dir() / "h200" / "counters.json");
  return in ? Json::parse(in).at("rows") : Json::array();
}

// Whether a row of the counters is of this problem.
bool is_of(Json const& row, Case const& c) {
  return !row.contains("layout") && row.at("case") == c.name() && row.at("elem_bytes") == c.elem_bytes &&
         Case{c.rows, c.cols, 1, c.elem_bytes} == c;
}
bool is_of(Json const& row, GemmCase const& c) {
  return row.contains("layout") && row["layout"] == c.layout && row.at("case") == c.name();
}

std::vector<Counter> counters_of(Json const& rows, Step const& step) {
  auto const number = [](Json const& j) { return j.is_number() ? std::optional(j.get<double>()) : std::nullopt; };
  std::vector<Counter> counters;
  for (Json const& row : rows)
    if (row.at("variant") == step.name && std::visit([&](auto const& c) { return is_of(row, c); }, step.problem))
      counters.push_back({row.at("counter"), number(row.at("predicted")), number(row.at("measured"))});
  return counters;
}

// f(0) .. f(n - 1) on all cores: a replay has all that it changes to itself.
template <class F>
void on_all_cores(std::size_t n, F const& f) {
  std::atomic<std::size_t> next = 0;
  auto const work = [&] {
    for (std::size_t i; (i = next++) < n;) f(i);
  };
  std::vector<std::future<void>> others;
  for (unsigned core = 1; core < std::thread::hardware_concurrency() && core < n; ++core)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
}

template <class P, class Replay, class Problems>
std::vector<Step> steps_of(Results const& recorded, Replay const& verdict, Problems const& problem_of) {
  auto const published = load_published();
  Json const counters = counters_file();
  std::span<Entry<P> const> const entries = variants<P>();
  std::vector<Step> steps(entries.size());
  on_all_cores(entries.size(), [&](std::size_t i) {
    Entry<P> const& entry = entries[i];
    Step& step = steps[i];
    step.name = entry.info().name, step.idea = entry.info().idea, step.source = entry.info().source;
    step.ladder = entry.info().ladder, step.origin = entry.info().origin;
    step.replayed = verdict(entry);
    step.pictures = pictures_of(entry);
    explain_or_look_elsewhere(step, problem_of(entry), recorded);
    if (Row const* row = recorded.find(step.problem, step.name)) step.recorded = *row;
    step.counters = counters_of(counters, step);
    for (Published const& p : published)
      if (p.variant == step.name) step.published.push_back(p.sentence());
  });
  return steps;
}

// The rows that are no step's, and what has the share 1.
void add_others(Ladder& ladder, std::vector<Row> const& rows) {
  for (Row const& row : rows) {
    if (row.share == 1. && !ladder.limit_ms) ladder.limit_ms = row.ms_median;
    bool const own =
        std::any_of(ladder.steps.begin(), ladder.steps.end(), [&](Step const& s) { return s.name == row.variant; });
    if (!own) ladder.others.push_back(row);
  }
}

}  // namespace

std::string Step::number() const {
  auto const at = name.find('_');
  return name.substr(at + 1, 2);
}

std::string Step::title() const {
  std::string s = name.substr(name.find('_') + 4);
  std::replace(s.begin(), s.end(), '_', ' ');
  return s;
}

std::optional<double> Step::off() const {
  if (!explained || !recorded || !recorded->ms_median) return std::nullopt;
  return explained->seconds * 1e3 / *recorded->ms_median;
}

std::string shown_problem(Step const& step) {
  return step.is_product() && step.at_home ? std::get<GemmCase>(step.problem).layout : sentence(step.problem);
}

Ladder moves() {
  Recorded const recorded = load_recorded();
  Ladder ladder{"transposes", "Transposes",         "the copy limit",  Case{}, {}, {},
                {},           recorded.ours.device, recorded.ours.date};
  auto const verdict = [](Entry<Move> const& entry) {
    return short_verdict(replay_on_cpu(entry, kRagged), replay_on_cpu(entry, small_case(entry).value_or(kFull)));
  };
  ladder.steps = steps_of<Move>(recorded.ours, verdict, [](auto const&) { return Case{}; });
  add_others(ladder, recorded.rows(Case{}));
  return ladder;
}

Ladder products() {
  Results const recorded = load_recorded().products;
  Ladder ladder{"products", "Products", "cuBLAS", GemmCase{}, {}, {}, {}, recorded.device, recorded.date};
  auto const verdict = [](Entry<Gemm> const& entry) {
    std::string const layout = shown_layout(entry.info());
    return short_verdict(replay_on_cpu(entry, ragged_product(layout)), replay_on_cpu(entry, full_product(layout)));
  };
  ladder.steps = steps_of<Gemm>(
      recorded, verdict, [](auto const& entry) { return product_of(4096, 4096, 4096, shown_layout(entry.info())); });
  std::vector<Row> rows;
  for (Row const& row : recorded.rows)
    if (row.measured == ladder.problem && row.suite == "ladder") rows.push_back(row);
  add_others(ladder, rows);
  return ladder;
}

}  // namespace inlay::lab::page
