// What the report is made of.
#pragma once
#include <inlay/explain/explanation.h>

#include <optional>
#include <string>
#include <vector>

#include "page/pictures.h"
#include "results/results.h"

namespace inlay::lab::page {

// A counter of results/h200/counters.json, at the step's problem.
struct Counter {
  std::string name;
  std::optional<double> predicted, measured;
};

// All that is known of a kernel.
struct Step {
  std::string name, idea, source;
  planner::Ladder ladder{};
  Origin origin{};
  std::string replayed;  // the checks' check result, at small sizes
  Problem problem;       // that it is explained at, and measured
  bool at_home = true;   // the problem is the ladder's own, if need be in another layout
  std::optional<Explanation> explained;
  std::string why_not_explained;
  std::optional<Row> recorded;
  std::vector<Counter> counters;
  std::vector<std::string> published;  // the tutorials' figures
  std::vector<Picture> pictures;

  bool is_product() const { return is_a<GemmCase>(problem); }
  bool is_tutorials() const { return origin == Origin::tutorial; }
  bool is_copy() const { return ladder == planner::Ladder::copy; }
  // "03", and "smem read conflict".
  std::string number() const;
  std::string title() const;
  // Predicted time over measured time; nothing where one is missing.
  std::optional<double> off() const;
};

// How the problem of a step differs from the ladder's: its operand transposes, if nothing else differs.
std::string shown_problem(Step const& step);

struct Ladder {
  std::string id, title, baseline;  // "transposes", "Transposes", "the copy limit"
  Problem problem;
  std::vector<Step> steps;
  std::vector<Row> others;         // what stands beside the steps: copies and baselines, the public functions
  std::optional<double> limit_ms;  // of what has the share 1
  std::string device, date;
};

Ladder copies();
Ladder gemms();

// A bar for each recorded step and peer, and where the prediction is.
std::string bars(Ladder const& ladder);
// Measured and predicted rates over the work for each clock of the busiest unit on chip.
std::string roofline(Ladder const& ladder);
// Predicted beside measured.
std::string times(Ladder const& ladder);
// What a step's warps ask for, where its time goes, what to change, what the hardware counted.
std::string explanation(Step const& step);
// One step: its idea, its numbers, its code, its pictures.
std::string section(Step const& step);

// What stands before the steps: both ladders, at a glance.
std::string header(Ladder const& copies, Ladder const& gemms);
std::string ladders(Ladder const& copies, Ladder const& gemms);
std::string rooflines(Ladder const& copies, Ladder const& gemms);
std::string model(Ladder const& copies, Ladder const& gemms);
std::string contents(Ladder const& copies, Ladder const& gemms);

// The kernels' files. A step's family are the files of kernels/ that it includes, and those that these include.
std::string source_of(std::string const& stem);
std::vector<std::string> family_of(std::string const& stem);
std::string path_of(std::string const& stem);  // "tutorial/copy/copy_01_scalar.h"; empty: there is none
// What a thread of the kernel does, which stands in the step's own file or in one of its family.
struct Body {
  std::string stem, text;
};
Body body_of(std::string const& stem);

char const* style();

}  // namespace inlay::lab::page
