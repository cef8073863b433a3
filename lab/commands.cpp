#include "commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "usage_error.h"

namespace inlay::lab {
namespace {

// Which problems are to be measured, as typed.
template <class C>
struct Asked {
  C shape;
  std::string cases;
  std::vector<std::string> suites, variants;
  BenchOptions options;

  // A suite's own rows are taken unless others are named.
  template <class Load, class Parse>
  std::vector<SuiteCase> all(std::string const& filed_under, Load load, Parse parse) const {
    std::vector<SuiteCase> listed;
    for (std::string const& suite : suites)
      for (SuiteCase& c : load(suite)) {
        if (!variants.empty() || options.copies_alone) c.variants = variants;  // suites name transposes
        listed.push_back(std::move(c));
      }
    if (!suites.empty()) return listed;
    if (cases.empty()) validate(shape);
    for (C const& c : cases.empty() ? std::vector{shape} : parse(cases, shape))
      listed.push_back({c, variants, filed_under});
    return listed;
  }
};

// The flags that all benches have, and what they do. `one` has those of a single problem.
template <class C, class Cases>
void finish(CLI::App& command, CLI::App& one, std::shared_ptr<Asked<C>> const& asked, std::string const& typed,
            char const* form, Cases cases, Act const& act) {
  BenchOptions& options = asked->options;
  options.command = typed;
  one.add_option("--cases", asked->cases, fmt::format("several: {0},{0},...", form));
  auto* const suite =
      command.add_option("--suite", asked->suites, "the problems of files: names in suites/, or paths of .json files");
  suite->delimiter(',');
  command.add_option("--variants", asked->variants, "names or their beginnings, production, or all (the default)");
  command.add_option("--samples", options.samples, "rounds, at least 15")->capture_default_str();
  command.add_flag("--host", options.host, "also the host's time per call, and of its bare launches");
  command.add_option("--json", options.json, "the file to write");
  command.callback([asked, &one, suite, cases, act] {
    for (CLI::Option const* option : one.get_options())
      if (suite->count() && option->count())
        throw UsageError(fmt::format("{} was given with --suite, which lists whole problems", option->get_name()));
    asked->options.cases = cases(*asked);
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

void add_shape(CLI::App& command, Case& c) {
  command.add_option("--rows", c.rows, "rows of the source")->capture_default_str();
  command.add_option("--cols", c.cols, "columns of the source")->capture_default_str();
  command.add_option("--pitch", c.pitch, "elements from one row of the source to the next (default: cols)");
  command.add_option("--pitch-dst", c.pitch_dst, "the same of the destination (default: rows); copies pack the rows");
  command.add_option("--base-src", c.base_src, "elements from a 256-byte aligned address to the source (default: 0)");
  command.add_option("--base-dst", c.base_dst, "the same of the destination (default: 0)");
}

void add_shape(CLI::App& command, GemmCase& c) {
  command.add_option("--m", c.M, "rows of C")->capture_default_str();
  command.add_option("--n", c.N, "columns of C")->capture_default_str();
  command.add_option("--k", c.K, "what is summed over")->capture_default_str();
  command.add_option("--alpha", c.alpha, "factor of the product")->capture_default_str();
  command.add_option("--beta", c.beta, "factor of C's old values")->capture_default_str();
  command.add_option("--lda", c.lda, "elements from one row of A, as it is stored, to the next (default: its columns)");
  command.add_option("--ldb", c.ldb, "the same of B");
  command.add_option("--ldc", c.ldc, "the same of C");
  std::map<std::string, Compute> const words{{"one_level", Compute::fp32}, {"two_level", Compute::fp32_two_level}};
  command.add_option("--accuracy", c.compute, "how a sum is formed: one_level or two_level")
      ->transform(CLI::CheckedTransformer(words).description(""));
}

void add_batch(CLI::App& command, std::int64_t& batch) {
  command.add_option("--batch", batch, "how many matrices")->capture_default_str();
}

CLI::Option* add_layout(CLI::App& command, GemmCase& c) {
  return command.add_option("--layout", c.layout, "of A and of B: n as written, t stored transposed")
      ->capture_default_str();
}

void add_bench_of_moves(CLI::App& bench, char const* what, std::string const& typed, Act const& act) {
  auto* const command = bench.add_subcommand(what, "against the copy limit");
  auto const asked = std::make_shared<Asked<Case>>();
  asked->options.copies_alone = std::string(what) == "copy";
  auto* const one = command->add_option_group("one problem, or several of a kind");
  add_shape(*one, asked->shape);
  add_batch(*one, asked->shape.batch);
  one->add_option("--elem", asked->shape.elem_bytes, "bytes of an element")->capture_default_str();
  auto const cases = [](Asked<Case> const& a) { return a.all("2d", load_suite, parse_cases); };
  finish(*command, *one, asked, typed, "ROWSxCOLS:ELEM", cases, act);
}

void add_bench_of_products(CLI::App& bench, std::string const& typed, Act const& act) {
  auto* const command = bench.add_subcommand("gemm", "products in fp32 against cuBLAS");
  auto const asked = std::make_shared<Asked<GemmCase>>();
  auto* const one = command->add_option_group("one problem, or several of a kind");
  add_shape(*one, asked->shape);
  add_batch(*one, asked->shape.batch);
  add_layout(*one, asked->shape);
  auto const cases = [](Asked<GemmCase> const& a) { return a.all("gemm", load_gemm_suite, parse_gemm_cases); };
  finish(*command, *one, asked, typed, "MxNxK:LAYOUT", cases, act);
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
