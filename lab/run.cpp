// The command `inlay`: its sub-commands and their options.
#include "run.h"

#include <fmt/format.h>
#include <inlay/planner/candidate.h>
#include <inlay/version.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "commands.h"
#include "draw/command.h"
#include "explain/demo.h"
#include "explain/explain.h"
#include "fuzz/fuzz.h"
#include "layout/command.h"
#include "measure/gpu.h"
#include "page/report_page.h"
#include "problems/kernels.h"
#include "readme/readme.h"
#include "results/colour.h"
#include "results/compare.h"
#include "results/output.h"
#include "results/redistribute.h"
#include "verify/verify.h"

namespace inlay::lab {
namespace {

constexpr char const* kExitCodes =
    "Exit codes: 0 all is well; 1 something is not: a check failed, a row is worse, output cannot be written; 2 asked "
    "wrongly, or without the GPU that it takes; 3 a CUDA call failed.";

void add_info(CLI::App& app) {
  app.add_subcommand("info", "the GPU, and how fast it copies")->callback([] {
    auto const why = why_no_gpu();
    if (why.empty())
      print_gpu_info();
    else
      fmt::print("There is no GPU to use here ({}). All commands but bench and tune work without one.\n", why);
  });
}

// Whether the kernels of copies among these are steps of tutorials alone.
bool all_are_steps(std::vector<std::string> const& kernels) {
  auto const steps = registry::copy_steps();
  return std::all_of(kernels.begin(), kernels.end(), [&](std::string const& name) {
    return !info_of<CopyCase>(name) ||
           std::any_of(steps.begin(), steps.end(), [&](auto const& step) { return name == step.info().name; });
  });
}

struct AskedToVerify {
  std::vector<std::string> kernels;
  CopyCase copy = transpose_case(1003, 517);
  std::vector<int> elem_bytes{1, 2, 4, 8, 16};
  GemmCase gemm = gemm_case(131, 275, 67, "nn");
  std::vector<std::string> transa{"n", "t"}, transb{"n", "t"};
  bool cpu = false;

  // A copy for each element size and a GEMM for each combination of operand transposes. Throws UsageError if one is not
  // valid.
  std::vector<Problem> problems() const {
    std::vector<Problem> all;
    auto const add = [&all]<class C>(C c) { c.validate(), all.push_back(c); };
    CopyCase m = copy;
    for (int e : elem_bytes) m.elem_bytes = e, add(m);
    GemmCase p = gemm;
    p.batch = copy.batch();
    for (std::string const& a : transa)
      for (std::string const& b : transb) p.transa = a, p.transb = b, add(p);
    return all;
  }
};

void add_verify(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand("verify", "run kernels and check what they give; replayed without a GPU");
  auto const asked = std::make_shared<AskedToVerify>();
  command->add_option("kernels", asked->kernels, "names or their beginnings (default: all)");
  add_flags(*command, asked->copy, {"--elem"});
  command
      ->add_option("--elem", asked->elem_bytes,
                   "bytes of an element; may be repeated (default: 1, 2, 4, 8 and 16; 4 for steps of tutorials)")
      ->allow_extra_args(false);
  add_flags(*command, asked->gemm, {kBatchFlag, "--transa", "--transb"});
  for (auto const& [flag, trans] : {std::pair{"--transa", &asked->transa}, {"--transb", &asked->transb}})
    command->add_option(flag, *trans, "n: the operand of a GEMM as written; t: stored transposed; may be repeated")
        ->allow_extra_args(false)
        ->capture_default_str();
  command->add_flag("--cpu", asked->cpu, "replay on the CPU although there is a GPU");
  command->callback([asked, command, &status] {
    auto const kernels = chosen_kernels(asked->kernels);
    if (!command->count("--elem") && all_are_steps(kernels)) asked->elem_bytes = {4};  // which they are written for
    refuse_ignored(*command, kernels, asked->gemm);
    status = verify(kernels, asked->problems(), asked->cpu) ? 0 : 1;
  });
}

void add_bench(CLI::App& app, int& status, std::string const& typed) {
  auto* const command = app.add_subcommand("bench", "verify, then measure; needs a GPU");
  command->require_subcommand(1);
  auto const act = [&status](BenchOptions const& options) { status = run_bench(options) ? 0 : 1; };
  add_bench_of_copies(*command, typed, act);
  add_bench_of_gemms(*command, typed, act);
  add_bench_of_redistributions(*command, typed, status);
}

void add_compare(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand("compare", "what became better or worse between two results files");
  auto const before = std::make_shared<std::string>(), after = std::make_shared<std::string>();
  auto const tolerance = std::make_shared<double>(2);
  command->add_option("old", *before, "the file that is compared with")->required();
  command->add_option("new", *after, "the new file: exit code 1 if one of its rows is worse")->required();
  command->add_option("--tolerance", *tolerance, "percent within which figures are the same")->capture_default_str();
  command->callback([before, after, tolerance, &status] {
    auto const [text, worse] = compare(*before, *after, *tolerance);
    fmt::print("{}", text);
    status = worse ? 1 : 0;
  });
}

void add_demo(CLI::App& app, int& status) {
  auto* const command = app.add_subcommand("demo", "the ladders on one screen; with a GPU, measured too");
  command->callback([&status] {
    fmt::print("{}", demo_screen(registry::copy_kernels(), registry::gemm_kernels()));
    flush_stdout();
    if (why_no_gpu().empty()) {
      BenchOptions options;
      options.cases = {{transpose_case(8192, 8192), {}, "demo"}, {GemmCase{}, {}, "demo"}};
      fmt::print("\n");
      flush_stdout();
      status = run_bench(options) ? 0 : 1;
    }
    fmt::print("\nEvery step explained, with pictures and its code: inlay report\n");
  });
}

constexpr std::size_t kShownCandidates = 5;  // of why without --all

// `why transpose`, `why copy`, `why gemm`.
template <class C>
void add_why_of(CLI::App& why, C const& shape, char const* description) {
  auto* const command = why.add_subcommand(shape.notation().public_function, description);
  auto const c = std::make_shared<C>(shape);
  auto const all = std::make_shared<bool>(false);
  auto const no_workspace = std::make_shared<bool>(!std::is_same_v<C, GemmCase>);
  add_flags(*command, *c);
  DeviceOption const named(*command);
  command->add_flag("--all", *all, "every candidate, with why it was not chosen or rejects the problem");
  if (!*no_workspace) command->add_flag("--no-workspace", *no_workspace, "without a workspace");
  command->callback([c, all, no_workspace, named] {
    c->validate();
    auto const problem = planned(*c);
    Device const device = named.get(false);
    auto const plan = planner::make_plan(problem, device, !*no_workspace);
    std::size_t const most = *all ? SIZE_MAX : kShownCandidates;
    std::string const text =
        planner::why(plan, problem, device, !*no_workspace, planner::candidates<typename C::Canonical>(), most);
    fmt::print("{}{}", bold_lines(bold_lines(text, "chosen:"), "  ->"), named.note(device, "planned"));
  });
}

void add_why(CLI::App& app) {
  auto* const command = app.add_subcommand("why", "which kernel answers a problem, and why");
  command->require_subcommand(1);
  add_why_of(*command, transpose_case(), "of a batch of matrices");
  add_why_of(*command, CopyCase{}, "of a tensor from any layout to any other");
  add_why_of(*command, GemmCase{}, "of a batch of GEMMs");
  add_why_of_redistributions(*command);
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

}  // namespace

int run(int argc, char** argv) {
  std::string typed = "inlay";
  for (int i = 1; i < argc; ++i) typed += std::string(" ") + argv[i];
  int status = 0;
  CLI::App app(
      "Transposes and GEMMs of matrices for CUDA, from naive to fast: replayed, verified, measured, explained.",
      "inlay");
  app.require_subcommand(1);
  app.footer(kExitCodes);
  app.set_version_flag("--version",
                       fmt::format("inlay {}.{}.{}", INLAY_VERSION_MAJOR, INLAY_VERSION_MINOR, INLAY_VERSION_PATCH));
  add_demo(app, status);
  add_list_command(app);
  add_info(app);
  add_verify(app, status);
  add_fuzz_command(app, status);
  add_bench(app, status, typed);
  add_tune(app);
  add_choices_command(app, status);
  add_compare(app, status);
  add_why(app);
  add_layout_command(app);
  add_explain_command(app);
  add_report_command(app);
  add_readme(app, status);
  add_draw_command(app);
  add_completion_command(app);
  return run_command(app, argc, argv, status);
}

}  // namespace inlay::lab
