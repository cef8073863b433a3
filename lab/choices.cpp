// `inlay choices`: what the planner chooses for every case of every suite. The file in suites/ makes each change of a
// choice visible.
#include <fmt/format.h>
#include <inlay/planner/candidate.h>

#include <fstream>
#include <sstream>

#include "commands.h"
#include "problems/suites.h"
#include "results/data_files.h"
#include "results/output.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

template <class C>
std::string configuration(C const& c, Device const& device, bool with_workspace) {
  auto const problem = planned(c);
  return planner::configuration_of(planner::make_plan(problem, device, with_workspace));
}

// "CASE: CONFIGURATION" on an H200, and a line for each other choice: on an H100, without a workspace, with slices.
template <class C>
std::string lines_of(C const& c) {
  Device const h200 = *model::find_device("H200"), h100 = *model::find_device("H100-SXM");
  std::string const usual = configuration(c, h200, true);
  std::string s = fmt::format("{}: {}\n", c.sentence(), usual);
  auto const add = [&](char const* where, std::string const& other) {
    if (other != usual) s += fmt::format("  {}: {}\n", where, other);
  };
  add("H100", configuration(c, h100, true));
  if constexpr (std::is_same_v<C, GemmCase>) {
    add("no workspace", configuration(c, h200, false));
    if (c.type == "f32")
      for (auto const& [where, compute] :
           {std::pair{"split_safe", Compute::split_safe}, {"split_fast", Compute::split_fast}}) {
        GemmCase sliced = c;
        sliced.compute = compute;
        add(where, configuration(sliced, h200, true));
      }
  }
  return s;
}

template <class C>
std::string suite_text(std::string const& suite, C const& defaults) {
  std::string s = fmt::format("# {}\n", suite);
  for (SuiteCase const& listed : load_suite(data_file(suite + ".json").string(), defaults))
    s += lines_of(std::get<C>(listed.problem));
  return s;
}

// Suites of transposes and of copies lie in one folder: what has sizes is a copy.
bool is_of_copies(std::string const& suite) {
  std::ifstream in(data_file(suite + ".json"));
  std::stringstream text;
  text << in.rdbuf();
  return text.str().find("\"sizes\"") != std::string::npos;
}

std::string choices() {
  std::string s;
  for (std::string const& suite : suites_in({"suites", "suites/copy", "suites/permute"}))
    s += is_of_copies(suite) ? suite_text(suite, CopyCase{}) : suite_text(suite, transpose_case());
  for (std::string const& suite : suites_in({"suites/gemm"})) s += suite_text(suite, GemmCase{});
  return s;
}

// The first lines in which two texts differ, and how many do, line by line.
std::string difference(std::string const& before, std::string const& now) {
  std::istringstream a(before), b(now);
  std::string was, is, s;
  int count = 0;
  for (bool more_a = true, more_b = true; more_a || more_b;) {
    was.clear(), is.clear();
    more_a = bool(std::getline(a, was)), more_b = bool(std::getline(b, is));
    if (was != is && ++count <= 10) s += fmt::format("- {}\n+ {}\n", was, is);
  }
  return count ? s + fmt::format("{} lines differ; `inlay choices --write suites/choices.txt`, then git diff\n", count)
               : "";
}

}  // namespace

void add_choices_command(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand("choices", "the planner's choice for every case of every suite");
  auto const write = std::make_shared<std::string>(), check = std::make_shared<std::string>();
  command->add_option("--write", *write, "the file to write");
  command->add_option("--check", *check, "a file to compare with: exit code 1 if a choice differs")
      ->excludes("--write");
  command->callback([write, check, &status] {
    std::string const text = choices();
    if (!write->empty()) return write_file(*write, text);
    if (check->empty()) return fmt::print("{}", text);
    std::ifstream in(*check);
    if (!in) throw UsageError(fmt::format("there is no file '{}'", *check));
    std::stringstream before;
    before << in.rdbuf();
    std::string const differs = difference(before.str(), text);
    fmt::print("{}", differs.empty() ? "every choice is the one that is written there\n" : differs);
    status = differs.empty() ? 0 : 1;
  });
}

}  // namespace inlay::lab
