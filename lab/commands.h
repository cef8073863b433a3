// Parts of the command line that several commands and bench/gemm_baselines share.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "problems/problem.h"
#include "results/bench.h"

namespace inlay::lab {

inline constexpr std::string_view kBatchFlag = "--batch";  // of copies and of GEMMs

// Adds the flags of a problem, except those in `but`, under a heading of their own in the help.
void add_fields(CLI::App& command, std::vector<Field> const& fields, std::vector<std::string_view> const& but,
                std::string const& heading);
template <class C>
void add_flags(CLI::App& command, C& c, std::vector<std::string_view> const& but = {}) {
  add_fields(command, c.fields(), but, fmt::format("Options of a {}", C::kind));
}

// Throws UsageError for a given option that has no effect on any of these rows: a flag of another kind of problem, the
// pitch of the destination of packing copies, an accuracy that no kernel has. Baselines and public functions use all
// flags of their kind.
void refuse_ignored(CLI::App const& command, std::vector<std::string> const& names, GemmCase const& gemm);

// The names of the device table: "H200, H100-SXM, ...".
std::string known_devices();
// The device with this name, upper or lower case; "here" is the current GPU. Throws UsageError with the known names.
Device device_named(std::string const& typed);
// --device of the commands that predict. Without it they take the GPU here, or else the H200 of the device table, and
// say so.
class DeviceOption {
 public:
  explicit DeviceOption(CLI::App& command);
  // needs_rates: the GPU here serves only if the table has it.
  Device get(bool needs_rates) const;
  // The line of which device it was and why, or nothing for the GPU here.
  std::string note(Device const& device, char const* done) const;

 private:
  std::shared_ptr<std::string> typed_ = std::make_shared<std::string>();
};

// Add `bench transpose`, `bench copy` and `bench gemm`, which call `act` with the parsed options. `typed`: the command
// line.
using Act = std::function<void(BenchOptions const&)>;
void add_bench_of_copies(CLI::App& bench, std::string const& typed, Act const& act);
void add_bench_of_gemms(CLI::App& bench, std::string const& typed, Act const& act);

// Adds `list`: every kernel.
void add_list_command(CLI::App& app);

// Adds `choices`: what the planner chooses for the cases of the suites.
void add_choices_command(CLI::App& app, int& status);

// Adds `tune` with a command for each kind of problem.
void add_tune(CLI::App& app);

// What may follow the words of an unfinished command line, the last of which is being typed: commands, options,
// kernels, devices.
std::vector<std::string> completions(CLI::App& app, std::vector<std::string> const& words);
// Adds `completion`: the script with which a shell asks for them.
void add_completion_command(CLI::App& app);

// Parses the command line and runs its command. Errors are printed on stderr. Returns the exit code: `status`, which
// the command may have set, 1 after an error, 2 after a usage error, 3 after a failed call of CUDA. No words, and the
// word help before others, ask for help.
int run_command(CLI::App& app, int argc, char** argv, int const& status);

}  // namespace inlay::lab
