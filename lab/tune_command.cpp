// `inlay tune`.
#include <fmt/format.h>

#include "commands.h"
#include "measure/gpu.h"
#include "measure/tune.h"
#include "problems/suites.h"
#include "results/output.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

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

void add_tune(CLI::App& app) {
  auto* const command =
      app.add_subcommand("tune", "measure which kernels and tilings are the fastest, and write that to a file");
  command->require_subcommand(1);
  add_tune_of(*command, transpose_case());
  add_tune_of(*command, CopyCase{});
  add_tune_of(*command, GemmCase{});
}

}  // namespace inlay::lab
