#include "commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <inlay/model/device.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "measure/gpu.h"
#include "problems/checks.h"
#include "problems/kernels.h"
#include "results/output.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

std::map<std::string, Compute> compute_modes() {
  std::map<std::string, Compute> words;
  for (std::size_t mode = 0; mode < std::size(kComputeWords); ++mode) words[kComputeWords[mode]] = Compute(mode);
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
      throw UsageError(fmt::format("{} was given without a {}: {} has options of its own (--help)", field.flag, C::kind,
                                   names.size() == 1 ? names[0] : "each of these kernels"));
}

// Whether the table has the rates of a device. A MIG instance has fewer multiprocessors than the GPU in the table.
bool has_rates(Device const& device) {
  Device const* const known = model::find_device(device.name);
  return known && known->sm_count == device.sm_count;
}

// Rejects numbers out of range, which CLI11 would replace by the largest integer or by infinity, in all sub-commands.
void refuse_unfit_numbers(CLI::App& app) {
  auto const all = [](auto const*) { return true; };
  for (CLI::Option* option : app.get_options(all)) {
    if (option->get_type_name() == "INT")
      option->check([](std::string const& typed) {
        errno = 0;
        char* end = nullptr;
        (void)std::strtoll(typed.c_str(), &end, 0);
        if (errno == ERANGE) return typed + " does not fit in 64 bits";
        return typed.empty() || *end ? fmt::format("'{}' is no whole number", typed) : "";
      });
    if (option->get_type_name() == "FLOAT")
      option->check([](std::string const& typed) {
        return std::isfinite(std::strtof(typed.c_str(), nullptr)) ? "" : typed + " is no finite float";
      });
  }
  for (CLI::App* command : app.get_subcommands(all)) refuse_unfit_numbers(*command);
}

// Those of a command and of its groups.
std::vector<std::string> long_options(CLI::App const& command) {
  std::vector<std::string> names;
  for (CLI::Option const* option : command.get_options())
    for (std::string const& name : option->get_lnames()) names.push_back("--" + name);
  for (CLI::App const* group : command.get_subcommands([](CLI::App const* c) { return c->get_name().empty(); }))
    for (std::string& name : long_options(*group)) names.push_back(std::move(name));
  return names;
}
// Throws UsageError if a word in the place of a command names none, and if the command has no option of that name.
void check_words(CLI::App const& app, int argc, char const* const* argv) {
  std::string so_far;
  CLI::App const* level = &app;
  int i = 1;
  for (; i < argc && argv[i][0] != '-'; ++i) {
    std::string const word = argv[i];
    auto const commands = level->get_subcommands([](CLI::App const* c) { return !c->get_name().empty(); });
    auto const at = std::find_if(commands.begin(), commands.end(), [&](auto* c) { return c->get_name() == word; });
    if (commands.empty()) break;
    if (at == commands.end()) {
      std::vector<std::string> known;
      for (auto const* command : commands) known.push_back(command->get_name());
      auto const kernels = all_kernel_names();
      bool const is_kernel =
          std::any_of(kernels.begin(), kernels.end(), [&](std::string const& name) { return name.starts_with(word); });
      std::string const near = is_kernel ? fmt::format("; it begins the name of a kernel: inlay explain {}", word)
                                         : did_you_mean(word, known);
      throw UsageError(
          fmt::format("there is no command '{}{}'{} (see {} {}--help)", so_far, word, near, app.get_name(), so_far));
    }
    level = *at, so_far += word + ' ';
  }
  if (i == argc && level->get_require_subcommand_min() > 0) {
    std::vector<std::string> names;
    for (auto const* command : level->get_subcommands([](CLI::App const* c) { return !c->get_name().empty(); }))
      names.push_back(command->get_name());
    throw UsageError(fmt::format("{} {}needs one of these words: {}", app.get_name(), so_far, fmt::join(names, ", ")));
  }
  std::vector<std::string> const known = long_options(*level);
  for (; i < argc; ++i) {
    std::string const word = argv[i], name = word.substr(0, word.find('='));
    if (!word.starts_with("--") || word.size() == 2 || known.empty()) continue;
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(fmt::format("'{}' has no option '{}'{} (see {} {}--help)",
                                   so_far.empty() ? app.get_name() : so_far.substr(0, so_far.size() - 1), name,
                                   did_you_mean(name, known), app.get_name(), so_far));
  }
}

}  // namespace

void add_fields(CLI::App& command, std::vector<Field> const& fields, std::vector<std::string_view> const& but,
                std::string const& heading) {
  for (Field const& field : fields) {
    if (std::find(but.begin(), but.end(), field.flag) != but.end()) continue;
    std::visit(
        [&]<class T>(T* at) {
          CLI::Option* const option = command.add_option(field.flag, *at, field.help)->group(heading);
          if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) option->delimiter(',');
          if (field.shows_default) option->capture_default_str();
          if constexpr (std::is_same_v<T, Compute>)
            option->transform(CLI::CheckedTransformer(compute_modes()).description(""));
        },
        field.value);
  }
}

void refuse_ignored(CLI::App const& command, std::vector<std::string> const& names, GemmCase const& gemm) {
  refuse_flags_of_another(command, names, transpose_case());
  refuse_flags_of_another(command, names, GemmCase{});
  if (given(command, "--pitch-dst") && !any_uses<CopyCase>(names, [](auto const& info) { return !is_copy(info); }))
    throw UsageError("--pitch-dst was given with copies alone, which pack their rows");
  // Split-K kernels sum as --compute says; other kernels have one way.
  auto const knows = [&](Info<Gemm> const& info) {
    return info.split || (info.accumulation_length > 0) == (gemm.compute == Compute::fp32_blocked);
  };
  if (given(command, "--compute") && !any_uses<GemmCase>(names, knows))
    throw UsageError(
        fmt::format("--compute {} has no effect on {}", kComputeWords[int(gemm.compute)], fmt::join(names, ", ")));
}

std::string known_devices() {
  std::string names;
  for (Device const& device : model::devices()) names += (names.empty() ? "" : ", ") + device.name;
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
  for (Device const& device : model::devices())
    if (is(device.name)) return device;
  throw UsageError(fmt::format("there is no device '{}' in the table, which has {}, and here", typed, known_devices()));
}

DeviceOption::DeviceOption(CLI::App& command) {
  command.add_option("--device", *typed_,
                     known_devices() + ", or here (default: the GPU here, or else the table's H200)");
}
Device DeviceOption::get(bool needs_rates) const {
  if (typed_->empty()) {
    Device const device = gpu_or_table();
    return !needs_rates || has_rates(device) ? device : Device{};
  }
  Device const device = device_named(*typed_);
  if (needs_rates && !has_rates(device))
    throw UsageError(fmt::format("the GPU here, {}, is not in the table", device.name));
  return device;
}
std::string DeviceOption::note(Device const& device, char const* done) const {
  if (!typed_->empty()) return fmt::format("({} for {})\n", done, device.name);
  std::string why = why_no_gpu();
  if (why.empty()) {
    Device const here = gpu_or_table();
    if (here.name == device.name && here.sm_count == device.sm_count) return "";
    why = fmt::format("the GPU here, {} with {} multiprocessors, is not in it", here.name, here.sm_count);
  }
  return fmt::format("({} for the device table's {}: {})\n", done, device.name, why);
}

void add_list_command(CLI::App& app) {
  auto* const command = app.add_subcommand("list", "every kernel: its name, its idea, where it comes from");
  auto const json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  command->callback([json] { list_kernels(*json); });
}

int run_command(CLI::App& app, int argc, char** argv, int const& status) {
  std::string const who = app.get_name();
  // `inlay` alone and `inlay help WORD...` ask for help.
  std::vector<char*> words(argv, argv + argc);
  char help_option[] = "--help";
  if (argc == 1) words.push_back(help_option);
  if (argc > 1 && std::string_view(argv[1]) == "help") words.erase(words.begin() + 1), words.push_back(help_option);
  argc = int(words.size()), argv = words.data();
  if (argc > 1 && std::string_view(argv[1]) == "complete") {
    for (std::string const& word : completions(app, {argv + 2, argv + argc})) fmt::print("{}\n", word);
    return 0;
  }
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
  } catch (Error const& e) {
    fmt::print(stderr, "{}: {}\n", who, e.what());
    return e.code() == ErrorCode::cuda ? 3 : 1;
  } catch (std::exception const& e) {
    fmt::print(stderr, "{}: {}\n", who, e.what());
    return 1;
  }
  return 2;
}

}  // namespace inlay::lab
