#include "commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <inlay/planner/device.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "measure/gpu.h"
#include "measure/tune.h"
#include "problems/checks.h"
#include "problems/kernels.h"
#include "results/output.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

std::map<std::string, Compute> const& levels() {
  static std::map<std::string, Compute> const words{{"fp32", Compute::fp32}, {"blocked", Compute::fp32_blocked}};
  return words;
}

bool given(CLI::App const& command, std::string const& flag) {
  CLI::Option const* const option = command.get_option_no_throw(flag);
  return option && option->count() > 0;
}

// Whether `uses` is true for the info of a row's kernel of this kind, or a row is no kernel.
template <class C, class Uses>
bool any_uses(std::vector<std::string> const& names, Uses const& uses) {
  return std::any_of(names.begin(), names.end(), [&](std::string const& name) {
    if (auto const* info = info_of<C>(name)) return uses(*info);
    return !info_of<CopyCase>(name) && !info_of<GemmCase>(name);
  });
}

template <class C>
void refuse_flags_of_another(CLI::App const& command, std::vector<std::string> const& names, C c) {
  if (any_uses<C>(names, [](auto const&) { return true; })) return;
  for (Field const& field : c.fields())
    if (field.flag != kBatchFlag && given(command, field.flag))
      throw UsageError(fmt::format("{} was given without a {}", field.flag, C::kind));
}

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
      if (given(flags, "--cases") && option->count() && named_by_item(option->get_single_name()))
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

// Rejects numbers out of range, which CLI11 would replace by the largest integer or by infinity, in all sub-commands.
void refuse_unfit_numbers(CLI::App& app) {
  auto const all = [](auto const*) { return true; };
  for (CLI::Option* option : app.get_options(all)) {
    if (option->get_type_name() == "INT")
      option->check([](std::string const& typed) {
        errno = 0;
        (void)std::strtoll(typed.c_str(), nullptr, 0);
        return errno == ERANGE ? typed + " does not fit in 64 bits" : "";
      });
    if (option->get_type_name() == "FLOAT")
      option->check([](std::string const& typed) {
        return std::isfinite(std::strtof(typed.c_str(), nullptr)) ? "" : typed + " is no finite float";
      });
  }
  for (CLI::App* command : app.get_subcommands(all)) refuse_unfit_numbers(*command);
}

// Throws UsageError if a word in the place of a command names none.
void check_words(CLI::App const& app, int argc, char const* const* argv) {
  std::string so_far;
  CLI::App const* level = &app;
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    std::string const word = argv[i];
    auto const commands = level->get_subcommands([](CLI::App const* c) { return !c->get_name().empty(); });
    auto const at = std::find_if(commands.begin(), commands.end(), [&](auto* c) { return c->get_name() == word; });
    if (commands.empty()) return;
    if (at == commands.end())
      throw UsageError(fmt::format("there is no command '{}{}' (see {} --help)", so_far, word, app.get_name()));
    level = *at, so_far += word + ' ';
  }
}

}  // namespace

void add_fields(CLI::App& command, std::vector<Field> const& fields, std::vector<std::string_view> const& but) {
  for (Field const& field : fields) {
    if (std::find(but.begin(), but.end(), field.flag) != but.end()) continue;
    std::visit(
        [&]<class T>(T* at) {
          CLI::Option* const option = command.add_option(field.flag, *at, field.help);
          if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) option->delimiter(',');
          if (field.shows_default) option->capture_default_str();
          if constexpr (std::is_same_v<T, Compute>)
            option->transform(CLI::CheckedTransformer(levels()).description(""));
        },
        field.value);
  }
}

void refuse_ignored(CLI::App const& command, std::vector<std::string> const& names, GemmCase const& gemm) {
  refuse_flags_of_another(command, names, transpose_case());
  refuse_flags_of_another(command, names, GemmCase{});
  if (given(command, "--pitch-dst") && !any_uses<CopyCase>(names, [](auto const& info) { return !is_copy(info); }))
    throw UsageError("--pitch-dst was given with copies alone, which pack their rows");
  // Split-K kernels sum as --accuracy says; other kernels have one way.
  auto const knows = [&](Info<Gemm> const& info) {
    return info.split || (info.accumulation_length > 0) == (gemm.compute == Compute::fp32_blocked);
  };
  if (given(command, "--accuracy") && !any_uses<GemmCase>(names, knows))
    for (auto const& [word, level] : levels())
      if (level == gemm.compute)
        throw UsageError(fmt::format("--accuracy {} has no effect on {}", word, fmt::join(names, ", ")));
}

std::string known_devices() {
  std::string names;
  for (Device const& device : planner::devices()) names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

Device device_named(std::string const& typed) {
  auto const is = [&](std::string_view name) {
    return std::equal(name.begin(), name.end(), typed.begin(), typed.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
  };
  if (is("here")) {
    if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("there is no GPU here: " + why);
    return gpu_or_table();
  }
  for (Device const& device : planner::devices())
    if (is(device.name)) return device;
  throw UsageError(fmt::format("there is no device '{}' in the table, which has {}, and here", typed, known_devices()));
}

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

int run_command(CLI::App& app, int argc, char** argv, int const& status) {
  std::string const who = app.get_name();
  try {
    check_words(app, argc, argv);
    refuse_unfit_numbers(app);
    check_stdout();
    try {
      app.parse(argc, argv);
    } catch (CLI::Success const& help) {
      app.exit(help);
    }
    flush_stdout();
    return status;
  } catch (CLI::ParseError const& e) {
    fmt::print(stderr, "{0}: {1} (see {0} --help)\n", who, e.what());
  } catch (UsageError const& e) {
    fmt::print(stderr, "{}: {}\n", who, e.what());
  } catch (std::exception const& e) {
    fmt::print(stderr, "{}: {}\n", who, e.what());
    return 1;
  }
  return 2;
}

}  // namespace inlay::lab
