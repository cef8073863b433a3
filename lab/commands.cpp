#include "commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "problems/checks.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Which problems are to be measured, as typed.
template <KindOf C>
struct Asked {
  C shape;
  std::string cases, filed_under;
  std::vector<std::string> suites, variants;
  BenchOptions options;

  // A suite's own rows are taken unless others are named.
  std::vector<SuiteCase> all() const {
    std::vector<SuiteCase> listed;
    for (std::string const& suite : suites)
      for (SuiteCase& c : load_suite<C>(suite)) {
        if (!variants.empty() || options.copies_alone) c.variants = variants;  // suites name transposes
        listed.push_back(std::move(c));
      }
    if (!suites.empty()) return listed;
    if (cases.empty()) Kind<C>::validate(shape);
    for (C const& c : cases.empty() ? std::vector{shape} : parse_cases(cases, shape))
      listed.push_back({c, variants, filed_under});
    return listed;
  }
};

// The flags that all benches have, and what they do.
template <KindOf C>
void add_bench_of(CLI::App& bench, char const* what, char const* description, char const* filed_under,
                  std::string const& typed, Act const& act) {
  auto* const command = bench.add_subcommand(what, description);
  auto const asked = std::make_shared<Asked<C>>();
  asked->filed_under = filed_under;
  BenchOptions& options = asked->options;
  options.command = typed, options.copies_alone = std::string_view(what) == "copy";
  auto* const one = command->add_option_group("one problem, or several of a kind");
  add_flags(*one, asked->shape);
  one->add_option("--cases", asked->cases, fmt::format("several: {0},{0},...", Kind<C>::item_shape));
  auto* const suite =
      command->add_option("--suite", asked->suites, "the problems of files: names in suites/, or paths of .json files");
  suite->delimiter(',');
  command->add_option("--variants", asked->variants, "names or their beginnings, production, or all (the default)");
  command->add_option("--samples", options.samples, "rounds, at least 15")->capture_default_str();
  command->add_flag("--host", options.host, "also the host's time per call, and of its bare launches");
  command->add_option("--json", options.json, "the file to write");
  command->callback([asked, one, suite, act] {
    for (CLI::Option const* option : one->get_options())
      if (suite->count() && option->count())
        throw UsageError(fmt::format("{} was given with --suite, which lists whole problems", option->get_name()));
    asked->options.cases = asked->all();
    act(asked->options);
  });
}

// Throws UsageError when a word stands where a command should, and is none.
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
  static std::map<std::string, Compute> const words{{"one_level", Compute::fp32},
                                                    {"two_level", Compute::fp32_two_level}};
  for (Field const& field : fields) {
    if (std::find(but.begin(), but.end(), field.flag) != but.end()) continue;
    std::visit(
        [&]<class T>(T* at) {
          CLI::Option* const option = command.add_option(field.flag, *at, field.help);
          if (field.shows_default) option->capture_default_str();
          if constexpr (std::is_same_v<T, Compute>) option->transform(CLI::CheckedTransformer(words).description(""));
        },
        field.value);
  }
}

void add_batch(CLI::App& command, std::int64_t& batch) {
  command.add_option(std::string(kBatchFlag), batch, "how many matrices")->capture_default_str();
}

void add_bench_of_moves(CLI::App& bench, char const* what, std::string const& typed, Act const& act) {
  add_bench_of<MoveCase>(bench, what, "against the copy limit", "2d", typed, act);
}
void add_bench_of_products(CLI::App& bench, std::string const& typed, Act const& act) {
  add_bench_of<GemmCase>(bench, "gemm", "products in fp32 against cuBLAS", "gemm", typed, act);
}

int run_command(CLI::App& app, int argc, char** argv, int const& status) {
  std::string const who = app.get_name();
  try {
    check_words(app, argc, argv);
    app.parse(argc, argv);
    return status;
  } catch (CLI::Success const& help) {
    return app.exit(help);
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
