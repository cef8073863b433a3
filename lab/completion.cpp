// `inlay completion` and what its scripts ask for.
#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "problems/kernels.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr char const* kBash = R"(_inlay() {
  local IFS=$'\n'
  COMPREPLY=($(inlay complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _inlay inlay
)";
constexpr char const* kZsh = "autoload -U +X bashcompinit && bashcompinit\n";
constexpr char const* kFish = "complete -c inlay -a '(inlay complete (commandline -opc)[2..] (commandline -ct))'\n";

// Options and positional words of a command and of its groups.
std::vector<CLI::Option const*> options_of(CLI::App const& command) {
  std::vector<CLI::Option const*> all = command.get_options();
  for (CLI::App const* group : command.get_subcommands([](CLI::App const* c) { return c->get_name().empty(); })) {
    auto const more = options_of(*group);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

// The values of an option or a positional word, if they are known.
std::vector<std::string> values_of(CLI::Option const& option) {
  std::string const name = option.get_single_name();
  if (name == "kernel" || name == "kernels") return all_kernel_names();
  std::vector<std::string> values;
  if (name == "device") {
    for (Device const& device : model::devices()) values.push_back(device.name);
    values.emplace_back("here");
  }
  if (name == "compute") values.assign(std::begin(kComputeWords), std::end(kComputeWords));
  if (name == "type") values = {"f32", "bf16", "f16"};
  return values;
}

}  // namespace

std::vector<std::string> completions(CLI::App& app, std::vector<std::string> const& words) {
  std::string const typed = words.empty() ? "" : words.back(), before = words.size() > 1 ? words[words.size() - 2] : "";
  CLI::App const* level = &app;
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    for (CLI::App const* command : level->get_subcommands([&](CLI::App const* c) { return c->get_name() == words[i]; }))
      level = command;
  std::vector<std::string> all;
  for (CLI::App const* command : level->get_subcommands([](CLI::App const* c) { return !c->get_name().empty(); }))
    all.push_back(command->get_name());
  for (CLI::Option const* option : options_of(*level)) {
    bool const asked = before.starts_with("--") && option->check_lname(before.substr(2));
    if (asked && !values_of(*option).empty()) {
      all = values_of(*option);
      break;
    }
    for (std::string const& name : option->get_lnames()) all.push_back("--" + name);
    if (option->get_positional())
      for (std::string& value : values_of(*option)) all.push_back(std::move(value));
  }
  std::erase_if(all, [&](std::string const& word) { return !word.starts_with(typed); });
  if (!typed.starts_with('-') && std::any_of(all.begin(), all.end(), [](auto& word) { return !word.starts_with('-'); }))
    std::erase_if(all, [](std::string const& word) { return word.starts_with('-'); });
  return all;
}

void add_completion_command(CLI::App& app) {
  auto* const command = app.add_subcommand(
      "completion", "a script for a shell: source <(inlay completion bash), or inlay completion fish | source");
  auto const shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell] {
    fmt::print("{}", *shell == "fish" ? kFish : *shell == "zsh" ? std::string(kZsh) + kBash : kBash);
  });
}

}  // namespace inlay::lab
