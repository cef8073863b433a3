// The commands that measure: `bench` and `tune`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "commands.h"
#include "measure/gpu.h"
#include "measure/tune.h"
#include "problems/checks.h"
#include "problems/kernels.h"
#include "results/output.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// The options of a bench command, as typed.
template <class C>
struct Asked {
  C shape;
  std::string cases, filed_under;
  std::vector<std::string> suites, kernels;
  BenchOptions options;

  // The cases of all suites, with --kernels instead of their own rows if given; or else those of the flags and --cases.
  std::vector<SuiteCase> all() const {
    std::vector<SuiteCase> listed;
    for (std::string const& suite : suites)
      for (SuiteCase& c : load_suite(suite, shape)) {
        if (!kernels.empty()) c.kernels = kernels;
        listed.push_back(std::move(c));
      }
    if (!suites.empty()) return listed;
    if (cases.empty()) shape.validate();
    for (C const& c : cases.empty() ? std::vector{shape} : parse_cases(cases, shape))
      listed.push_back({c, kernels, filed_under});
    return listed;
  }

  // Throws UsageError for options without effect on any row.
  void refuse_ignored(CLI::App const& flags) const {
    for (CLI::Option const* option : flags.get_options())
      if (flags.count("--cases") > 0 && option->count() && named_by_item(option->get_single_name()))
        throw UsageError(fmt::format("{} was given with --cases, which name it too", option->get_name()));
    auto const names = rows();
    if (names.empty()) return;
    GemmCase gemm;
    if constexpr (std::is_same_v<C, GemmCase>) gemm = shape;
    lab::refuse_ignored(flags, names, gemm);
    std::string const function = shape.notation().public_function;
    if (options.host && std::find(names.begin(), names.end(), function) == names.end())
      throw UsageError(fmt::format("--host was given without the row of {}, which it times", function));
  }

 private:
  // The names of the rows that --kernels selects; empty if it selects all, or groups of rows.
  std::vector<std::string> rows() const {
    auto all = kernel_names<C>();
    std::vector<std::string> names;
    for (std::string const& word : kernels) {
      if (word == Selection::kAll || word == Selection::kProduction) return {};
      auto const before = names.size();
      std::copy_if(all.begin(), all.end(), std::back_inserter(names),
                   [&](std::string const& name) { return name.starts_with(word); });
      if (names.size() == before || word == shape.notation().public_function) names.push_back(word);
    }
    return names;
  }
  // "rows" is a part of "ROWSxCOLS:ELEM".
  bool named_by_item(std::string name) const {
    for (char& letter : name) letter = char(std::toupper(static_cast<unsigned char>(letter)));
    std::string parts;  // of the form, between blanks
    for (char const* at = shape.notation().item_shape; *at; ++at) parts += *at == 'x' || *at == ':' ? ' ' : *at;
    return (' ' + parts + ' ').find(' ' + name + ' ') != std::string::npos;
  }
};

// Adds a bench command.
template <class C>
void add_bench_of(CLI::App& bench, C const& shape, char const* description, char const* filed_under,
                  std::string const& typed, Act const& act) {
  auto* const command = bench.add_subcommand(shape.notation().public_function, description);
  auto const asked = std::make_shared<Asked<C>>();
  asked->shape = shape;
  asked->filed_under = filed_under;
  BenchOptions& options = asked->options;
  options.command = typed;
  auto* const one = command->add_option_group("one problem, or several of a kind");
  add_flags(*one, asked->shape);
  one->add_option("--cases", asked->cases, fmt::format("several: {0},{0},...", shape.notation().item_shape));
  auto* const suite =
      command->add_option("--suite", asked->suites, "the problems of files: names in suites/, or paths of .json files");
  suite->delimiter(',');
  command->add_option("--kernels", asked->kernels, "names or their beginnings, production, or all (the default)");
  command->add_option("--samples", options.samples, "rounds, at least 15")->capture_default_str();
  command->add_flag("--host", options.host, "also the host's time per call, and of its bare launches");
  if constexpr (std::is_same_v<C, GemmCase>)
    command->add_flag("--regret", options.regret,
                      "also a row for each candidate of the planner, which bench/regret.py compares");
  command->add_option("--json", options.json, "the file to write");
  command->add_option("--tuning", options.tuning, "a file of tuned choices, which the public function then takes");
  command->callback([asked, one, suite, act] {
    for (CLI::Option const* option : one->get_options())
      if (suite->count() && option->count())
        throw UsageError(fmt::format("{} was given with --suite, which lists whole problems", option->get_name()));
    asked->refuse_ignored(*one);
    asked->options.cases = asked->all();
    act(asked->options);
  });
}

template <class C>
void add_tune_of(CLI::App& tune_command, C const& shape) {
  auto* const command = tune_command.add_subcommand(shape.notation().public_function, "the problems of its suites");
  struct Asked {
    std::vector<std::string> suites;
    std::string out;
    float milliseconds = 200;
  };
  auto const asked = std::make_shared<Asked>();
  command->add_option("--suite", asked->suites, "names in suites/, or paths of .json files")
      ->delimiter(',')
      ->required();
  command->add_option("--out", asked->out, "the file to write, for --tuning and load_tuning()")->required();
  command->add_option("--milliseconds", asked->milliseconds, "of measuring, for each problem")->capture_default_str();
  command->callback([asked, shape] {
    check_writable(asked->out);
    if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("tune needs a GPU: " + why);
    for (std::string const& suite : asked->suites)
      for (SuiteCase const& listed : load_suite(suite, shape)) {
        fmt::print("{}\n", tune(listed, double(asked->milliseconds)));
        flush_stdout();
      }
    save_tuned(asked->out);
  });
}

}  // namespace

void add_bench_of_copies(CLI::App& bench, std::string const& typed, Act const& act) {
  add_bench_of(bench, transpose_case(), "of a batch of matrices, against the copy limit", "2d", typed, act);
  add_bench_of(bench, CopyCase{}, "any layout to any other, against a copy of as many sectors", "permute", typed, act);
}
void add_bench_of_gemms(CLI::App& bench, std::string const& typed, Act const& act) {
  add_bench_of(bench, GemmCase{}, "GEMMs against cuBLAS, with sums in fp32", "gemm", typed, act);
}

void add_tune(CLI::App& app) {
  auto* const command =
      app.add_subcommand("tune", "measure which kernels and tilings are the fastest, and write that to a file");
  command->require_subcommand(1);
  add_tune_of(*command, transpose_case());
  add_tune_of(*command, CopyCase{});
  add_tune_of(*command, GemmCase{});
}

}  // namespace inlay::lab
