// The data of the report and the functions that write its sections as HTML.
#pragma once
#include <inlay/explain/explanation.h>
#include <inlay/registry/registry.h>

#include <optional>
#include <string>
#include <vector>

#include "results/results.h"

namespace inlay::lab::page {

using explain::ExplainedSite, explain::Explanation, model::Resource, replay::Mechanism;

// A hardware counter from results/h200/counters.json, at the problem of the step.
struct Counter {
  std::string name;
  std::optional<double> predicted, measured;
};

struct Picture {
  std::string caption, svg;  // without a style sheet
};

// One kernel of a ladder.
struct Step {
  std::string name, idea, source;
  model::Ladder ladder{};
  Origin origin{};
  std::string replayed;           // the check result of replays of small cases
  Problem problem;                // at which the step is explained and its recorded row was measured
  bool at_ladder_problem = true;  // the problem is the ladder's, except for operand transposes
  std::optional<Explanation> explained;
  std::string why_not_explained;
  std::optional<Row> recorded;
  std::vector<Counter> counters;
  std::vector<std::string> published;  // figures of tutorials
  std::vector<Picture> pictures;

  bool is_gemm() const { return is_a<GemmCase>(problem); }
  bool is_tutorial() const { return origin == Origin::tutorial; }
  bool is_copy() const { return ladder == model::Ladder::copy; }
  std::string number() const;  // "03"
  std::string title() const;   // "smem read conflict"
  // Empty if one of the times is missing.
  std::optional<double> predicted_over_measured() const;
};

// The problem of a step that is not the ladder's: its operand transposes if these are the only difference.
std::string shown_problem(Step const& step);

struct Ladder {
  std::string id, title, baseline;  // "transposes", "Transposes", "the copy limit"
  std::string meaning_of_share;     // a sentence
  std::string public_function;      // whose share is a headline; empty: none
  Problem problem;
  std::vector<Step> steps;
  std::vector<Row> other_rows;     // copies, baselines and public functions
  std::optional<double> limit_ms;  // the time of the baseline, whose share is 1
  std::string device, date;
};

// Transposes, GEMMs in f32, in bf16 on tensor cores, and in f32 on tensor cores.
std::vector<Ladder> ladders();

// A bar for each recorded step and other row, with the predicted share.
std::string bars(Ladder const& ladder);
// Measured and predicted rates, over the work for each clock of the busiest unit on the chip.
std::string roofline(Ladder const& ladder);
// The memory accesses of a step, its launches and resources, advice and hardware counters.
std::string explanation(Step const& step);
// All of a step: idea, figures, explanation, code and pictures.
std::string section(Step const& step);

// The sections before the steps: header, ladders, rooflines, predicted times, and links to the steps.
std::string overview(std::vector<Ladder> const& ladders);

// A small problem for pictures; none if a copy kernel accepts none of those that are tried. Pictures may change its
// extents.
std::optional<CopyCase> small_case(Entry<Copy> const& entry);
std::optional<GemmCase> small_case(Entry<Gemm> const& entry);
// The pictures of a kernel that show something: path, worst request, timeline.
std::vector<Picture> pictures_of(Entry<Copy> const& entry, CopyCase const& small);
std::vector<Picture> pictures_of(Entry<Gemm> const& entry, GemmCase const& small);
// The style sheet of all pictures.
std::string picture_style();

// Source files of kernels by their stems, which are the names of the steps. Empty if there is no such file.
std::string path_of(std::string const& stem);  // "tutorial/copy/copy_01_scalar.h"
std::string source_of(std::string const& stem);
// The stems of the kernel headers that a step includes, directly or not.
std::vector<std::string> family_of(std::string const& stem);
// The function operator()(Block, ...) of the step's file or of its family, with the stem of the file.
struct Body {
  std::string stem, text;
};
Body body_of(std::string const& stem);

char const* style();

}  // namespace inlay::lab::page
