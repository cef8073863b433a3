// `inlay bench`: the options of copies and of GEMMs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "commands.h"
#include "problems/checks.h"
#include "problems/kernels.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// The options of a bench command, as typed.
template <class C>
struct Asked {
  C shape;
  std::string cases, filed_under;
  std::vector<std::string> suites, kernels, errors;
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

// The data sets of --errors. Throws UsageError for a name that is none, and if no case is one that --errors takes.
std::vector<ErrorData> asked_errors(std::vector<std::string> const& names, std::vector<SuiteCase> const& cases) {
  auto const data = error_data_named(names);
  std::string why;
  for (SuiteCase const& listed : cases)
    if (why = why_no_errors(std::get<GemmCase>(listed.problem)); why.empty()) return data;
  throw UsageError(why);
}

// The options that GEMMs alone have.
void add_options_of_gemms(CLI::App& command, std::vector<std::string>& errors, BenchOptions& options) {
  command
      .add_option(
          "--errors", errors,
          "also each row's error against fp64 on these data sets, or, without a name, on all: " + error_data_names())
      ->expected(0, CLI::detail::expected_max_vector_size)
      ->delimiter(',')
      ->default_str("all")
      ->option_text("[NAME,...]");
  command.add_flag("--sustained", options.sustained,
                   "time each row alone, back to back for half a second of which the later half counts. Interleaved, "
                   "as without this flag, kernels that heat the GPU lower the clock of the other rows");
}

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
  command->add_flag(
      "--regret", asked->options.regret,
      "also a row for each candidate of the planner or, of copies, for each configuration of kernels that "
      "have several: bench/regret.py compares them");
  if constexpr (std::is_same_v<C, GemmCase>) add_options_of_gemms(*command, asked->errors, options);
  command->add_option("--json", options.json, "the file to write");
  command->add_option("--tuning", options.tuning, "a file of tuned choices, which the public function then takes");
  command->callback([asked, one, suite, act] {
    for (CLI::Option const* option : one->get_options())
      if (suite->count() && option->count())
        throw UsageError(fmt::format("{} was given with --suite, which lists whole problems", option->get_name()));
    asked->refuse_ignored(*one);
    asked->options.cases = asked->all();
    if (!asked->errors.empty()) asked->options.errors = asked_errors(asked->errors, asked->options.cases);
    act(asked->options);
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

}  // namespace inlay::lab
