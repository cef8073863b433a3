// The command `inlay`: what can be asked, and who answers. Exit codes: 0 well, 1 something is wrong, 2 asked wrongly.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "compare.h"
#include "demo.h"
#include "draw.h"
#include "gpu.h"
#include "plan/plan.h"
#include "readme.h"
#include "suites.h"
#include "usage_error.h"
#include "variants.h"
#include "verify.h"

namespace inlay::lab {
namespace {

void add_shape(CLI::App& command, Case& c) {
  command.add_option("--rows", c.rows, "rows of the source")->capture_default_str();
  command.add_option("--cols", c.cols, "columns of the source")->capture_default_str();
  command.add_option("--batch", c.batch, "how many matrices")->capture_default_str();
  command.add_option("--pitch", c.pitch, "elements from one row of the source to the next (default: cols)");
  command.add_option("--pitch-dst", c.pitch_dst, "the same of the destination (default: rows); copies pack the rows");
  command.add_option("--base-src", c.base_src, "elements from a 256-byte aligned address to the source (default: 0)");
  command.add_option("--base-dst", c.base_dst, "the same of the destination (default: 0)");
}

void add_list(CLI::App& app) {
  auto* const command = app.add_subcommand("list", "every variant: its name, its idea, where it comes from");
  auto const json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  command->callback([json] { list_variants(*json); });
}

void add_info(CLI::App& app) {
  app.add_subcommand("info", "the GPU, and how fast it copies")->callback([] {
    auto const why = why_no_gpu();
    if (why.empty())
      print_gpu_info();
    else
      fmt::print("There is no GPU to use here ({}). list, verify, demo and why work without one.\n", why);
  });
}

void add_verify(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand("verify", "run variants and compare every element; replayed without a GPU");
  auto const options = std::make_shared<VerifyOptions>();
  command->add_option("variants", options->variants, "names or their beginnings (default: all)");
  add_shape(*command, options->shape);
  command->add_option("--elem", options->elem_bytes, "bytes of an element; may be repeated")
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_flag("--cpu", options->cpu, "replay on the CPU although there is a GPU");
  command->callback([options, &status] { status = verify(*options) ? 0 : 1; });
}

// Which problems `inlay bench` is to measure, as typed.
struct BenchProblems {
  Case shape;
  std::string cases, suite;
  std::vector<std::string> variants;

  std::vector<SuiteCase> all(std::string const& what) const {
    if (!suite.empty()) {
      auto listed = load_suite(suite);
      for (SuiteCase& c : listed)
        if (what == "copy" || !variants.empty()) c.variants = variants;  // suites name transposes
      return listed;
    }
    if (cases.empty()) validate(shape);
    std::vector<SuiteCase> typed;
    for (Case const& c : cases.empty() ? std::vector{shape} : parse_cases(cases, shape)) typed.push_back({c, variants});
    return typed;
  }
};

void add_bench(CLI::App& app, int& status, std::string const& typed) {
  auto* const command = app.add_subcommand("bench", "verify, then measure against the copy limit; needs a GPU");
  auto const options = std::make_shared<BenchOptions>();
  auto const problems = std::make_shared<BenchProblems>();
  options->command = typed;
  command->add_option("what", options->what, "transpose, or copy")
      ->required()
      ->check(CLI::IsMember({"transpose", "copy"}));
  auto* const one = command->add_option_group("one problem, or several of a kind");
  add_shape(*one, problems->shape);
  one->add_option("--elem", problems->shape.elem_bytes, "bytes of an element")->capture_default_str();
  one->add_option("--cases", problems->cases, "several: ROWSxCOLS:ELEM,ROWSxCOLS:ELEM,...");
  auto* const suite = command->add_option("--suite", problems->suite, "the problems of a file in suites/, such as 2d");
  command->add_option("--variants", problems->variants, "names or their beginnings, or production (default: all)");
  command->add_option("--samples", options->samples, "rounds, at least 15")->capture_default_str();
  command->add_flag("--host", options->host, "also the host's time per call of transpose, and of its bare launch");
  command->add_option("--json", options->json, "the file to write");
  command->callback([options, problems, one, suite, &status] {
    for (CLI::Option const* option : one->get_options())
      if (suite->count() && option->count())
        throw UsageError(fmt::format("{} was given with --suite, which lists whole problems", option->get_name()));
    options->cases = problems->all(options->what);
    if (!problems->suite.empty()) options->suite = problems->suite;
    status = bench(*options) ? 0 : 1;
  });
}

void add_compare(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand("compare", "what became better or worse between two results files");
  auto const before = std::make_shared<std::string>(), after = std::make_shared<std::string>();
  auto const tolerance = std::make_shared<double>(2);
  command->add_option("old", *before, "the file that is compared with")->required();
  command->add_option("new", *after, "the file that is judged: exit code 1 if a row of it is worse")->required();
  command->add_option("--tolerance", *tolerance, "percent within which figures are the same")->capture_default_str();
  command->callback([before, after, tolerance, &status] {
    auto const [text, worse] = compare(*before, *after, *tolerance);
    fmt::print("{}", text);
    status = worse ? 1 : 0;
  });
}

void add_demo(CLI::App& app, int& status) {
  app.add_subcommand("demo", "the ladder of transposes on one screen; with a GPU, measured too")->callback([&status] {
    fmt::print("{}", demo_screen());
    if (!why_no_gpu().empty()) return;
    BenchOptions options;
    options.cases = {{{8192, 8192, 1, 4}, {}}};
    std::fflush(stdout);
    fmt::print("\n");
    status = bench(options) ? 0 : 1;
  });
}

void add_why(CLI::App& app) {
  auto* const command = app.add_subcommand("why", "which variant answers a problem, and why");
  auto const shape = std::make_shared<Case>();
  auto const what = std::make_shared<std::string>();
  command->add_option("what", *what, "transpose")->required()->check(CLI::IsMember({"transpose"}));
  add_shape(*command, *shape);
  command->add_option("--elem", shape->elem_bytes, "bytes of an element")->capture_default_str();
  command->callback([shape] {
    validate(*shape);
    // Nothing is touched: any two aligned addresses that are far enough apart.
    auto const at = [](int bit) { return reinterpret_cast<void*>(std::uintptr_t(1) << bit); };
    Device const device = gpu_or_table();
    fmt::print("{}", plan_move(transpose_move(*shape, at(62), at(40)), device).why(device));
    if (auto const why = why_no_gpu(); !why.empty()) fmt::print("(planned for the device table's H200: {})\n", why);
  });
}

void add_readme(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand("readme", "rewrite the tables of a Markdown file from the recorded results");
  auto const file = std::make_shared<std::string>();
  auto const check = std::make_shared<bool>(false);
  command->add_option("file", *file, "the file, with markers such as <!-- table:h200-32768-4 -->")->required();
  command->add_flag("--check", *check, "write nothing; exit with 1 if the file would change");
  command->callback([file, check, &status] {
    bool const current = update_readme(*file, *check);
    fmt::print("{}: {}\n", *file, current ? "up to date" : *check ? "would change" : "rewritten");
    status = current || !*check ? 0 : 1;
  });
}

void add_draw(CLI::App& app) {
  auto* const command = app.add_subcommand("draw", "pictures of the recorded results, as SVG");
  auto const shape = std::make_shared<Case>();
  auto const what = std::make_shared<std::string>(), file = std::make_shared<std::string>();
  command->add_option("what", *what, "ladder: every variant against the copy limit")
      ->required()
      ->check(CLI::IsMember({"ladder"}));
  command->add_option("file", *file, "the file to write")->required();
  add_shape(*command, *shape);
  command->add_option("--elem", shape->elem_bytes, "bytes of an element")->capture_default_str();
  command->callback([shape, file] {
    validate(*shape);
    draw_ladder(*shape, *file);
  });
}

int run(int argc, char** argv) {
  std::string typed = "inlay";
  for (int i = 1; i < argc; ++i) typed += std::string(" ") + argv[i];
  int status = 0;
  CLI::App app("Matrix transposes for CUDA, from naive to as fast as a copy: replayed, verified, measured, explained.",
               "inlay");
  app.require_subcommand(1);
  add_demo(app, status);
  add_list(app);
  add_info(app);
  add_verify(app, status);
  add_bench(app, status, typed);
  add_compare(app, status);
  add_why(app);
  add_readme(app, status);
  add_draw(app);
  try {
    auto const commands = app.get_subcommands([](CLI::App const*) { return true; });
    auto const typed_it = [&](CLI::App const* command) { return command->get_name() == argv[1]; };
    if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), typed_it))
      throw UsageError(fmt::format("there is no command '{}' (see inlay --help)", argv[1]));
    app.parse(argc, argv);
    return status;
  } catch (CLI::Success const& help) {
    return app.exit(help);
  } catch (CLI::ParseError const& e) {
    fmt::print(stderr, "inlay: {} (see inlay --help)\n", e.what());
  } catch (UsageError const& e) {
    fmt::print(stderr, "inlay: {}\n", e.what());
  } catch (std::exception const& e) {
    fmt::print(stderr, "inlay: {}\n", e.what());
    return 1;
  }
  return 2;
}

}  // namespace
}  // namespace inlay::lab

int main(int argc, char** argv) { return inlay::lab::run(argc, argv); }
