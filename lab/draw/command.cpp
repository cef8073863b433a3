#include "draw/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "commands.h"
#include "draw/banks.h"
#include "draw/ladder.h"
#include "draw/path.h"
#include "draw/request.h"
#include "draw/timeline.h"
#include "draw/watch.h"
#include "problems/kernels.h"
#include "problems/shown_case.h"
#include "results/output.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Writes what `draw` returns to the file, or to standard output if there is none. Finds out whether the file can be
// written before it draws.
template <class Draw>
void write_picture(std::string const& file, Draw const& draw) {
  if (file.empty() && isatty(fileno(stdout))) throw UsageError("a picture is a file of SVG: --out FILE, or > FILE");
  if (file.empty()) return fmt::print("{}", draw());
  check_writable(file);
  write_file(file, draw());
}
constexpr char const* kOut = "the file to write (default: standard output, if that is no terminal)";

// A kernel of either kind, and the case that it is replayed at.
struct Options {
  CLI::App const* command;
  std::string kernel, site, out;
  CopyCase copy = transpose_case(256, 256);
  GemmCase gemm;
};
std::shared_ptr<Options> add_kernel(CLI::App& command, GemmCase const& default_gemm) {
  auto const options = std::make_shared<Options>();
  options->command = &command;
  options->gemm = default_gemm;
  command.add_option("kernel", options->kernel, "its name, or the beginning of it")->required();
  add_flags(command, options->copy);
  add_flags(command, options->gemm, {kBatchFlag});
  command.add_option("file,--out", options->out, kOut);
  return options;
}

// Sets the first operand transposes that the kernel accepts; without such transposes, leaves the case as given.
void set_accepted_transposes(Entry<Gemm> const& entry, GemmCase& c) {
  for (std::string const transposes : {"nn", "nt", "tn", "tt"}) {
    GemmCase possible = c;
    possible.transa = transposes[0], possible.transb = transposes[1];
    possible.validate();
    if (!entry.info().rejects(planned(possible), Device{})) return void(c = possible);
  }
}

// Writes what draw_case(entry, case) returns.
template <class Draw>
void draw(Options& o, Draw const& draw_case) {
  std::string const name = resolve(o.kernel, all_kernel_names());
  refuse_ignored(*o.command, {name}, o.gemm);
  write_picture(o.out, [&] {
    if (!info_of<GemmCase>(name)) {
      o.copy.validate();
      return draw_case(kernel_named<CopyCase>(name), o.copy);
    }
    auto const& entry = kernel_named<GemmCase>(name);
    o.gemm.batch = o.copy.batch();
    if (!o.command->count("--type")) o.gemm.type = shown_case(entry.info(), 256, 256, 32).type;
    if (!o.command->count("--transa") && !o.command->count("--transb")) set_accepted_transposes(entry, o.gemm);
    o.gemm.validate();
    return draw_case(entry, o.gemm);
  });
}

void add_ladder(CLI::App& app) {
  auto* const command = app.add_subcommand("ladder", "the recorded results: every kernel against the copy limit");
  auto const shape = std::make_shared<CopyCase>(transpose_case());
  auto const file = std::make_shared<std::string>();
  command->add_option("file,--out", *file, kOut);
  add_flags(*command, *shape);
  command->callback([shape, file] {
    shape->validate();
    write_picture(*file, [&] { return draw_ladder(*shape); });
  });
}

void add_banks(CLI::App& app) {
  auto* const command = app.add_subcommand("banks", "the bank of each element of a tile");
  auto const layouts = std::make_shared<std::vector<std::string>>();
  auto const elem_bytes = std::make_shared<std::optional<int>>();
  auto const file = std::make_shared<std::string>();
  command->add_option("layouts", *layouts, "one or more, such as '(32,64):(64,1)' 'Swizzle<5,0,6> o (32,64):(64,1)'")
      ->required();
  command->add_option("--elem", *elem_bytes, "bytes of an element (default: 4, or what an smem_ptr names)");
  command->add_option("--out", *file, kOut);
  command->callback(
      [layouts, elem_bytes, file] { write_picture(*file, [&] { return draw_banks(*layouts, *elem_bytes); }); });
}

void add_request(CLI::App& app) {
  auto* const command = app.add_subcommand("request", "the banks or sectors that the lanes of a warp request");
  auto const o = add_kernel(*command, gemm_case(256, 256, 64, "nn"));
  command->add_option("--site", o->site,
                      "such as 'A store' (default: the site whose worst request is farthest above its ideal)");
  command->callback([o] {
    draw(*o, [&](auto const& entry, auto const& c) { return draw_request(worst_request(entry, c, o->site)); });
  });
}

void add_path(CLI::App& app) {
  auto* const command = app.add_subcommand("path", "the path of a tile through memory, or the tiles of a GEMM");
  auto const o = add_kernel(*command, gemm_case(256, 256, 64, "nn"));
  command->callback([o] { draw(*o, [](auto const& entry, auto const& c) { return draw_path(entry, c); }); });
}

void add_timeline(CLI::App& app) {
  auto* const command = app.add_subcommand("timeline", "the stages of a pipeline: in flight, landed, read, free");
  auto const o = add_kernel(*command, gemm_case(128, 256, 256, "nn"));
  command->callback([o] {
    draw(*o, [](auto const& entry, auto const& c) { return draw_timeline(title_of(entry, c), timeline_of(entry, c)); });
  });
}

}  // namespace

void add_draw_command(CLI::App& app) {
  auto* const command = app.add_subcommand("draw", "pictures, as SVG");
  command->require_subcommand(1);
  add_ladder(*command);
  add_banks(*command);
  add_request(*command);
  add_path(*command);
  add_timeline(*command);
}

}  // namespace inlay::lab
