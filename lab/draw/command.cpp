#include "draw/command.h"

#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "draw/banks.h"
#include "draw/ladder.h"
#include "draw/path.h"
#include "draw/request.h"
#include "draw/timeline.h"
#include "draw/watch.h"
#include "problems/kernels.h"
#include "results/output.h"

namespace inlay::lab {
namespace {

void check(std::string const& file) {
  if (!file.empty()) check_writable(file);
}
void write(std::string const& picture, std::string const& file) {
  if (file.empty()) return fmt::print("{}", picture);
  write_file(file, picture);
}
constexpr char const* kOut = "the file to write (default: standard output)";
void add_out(CLI::App& command, std::string& file) { command.add_option("--out", file, kOut); }

// A kernel of either kind, and what it is to move or to multiply.
struct Asked {
  CLI::App const* command;
  std::string kernel, site, out;
  TransposeCase copy{256, 256};
  GemmCase gemm = gemm_case(256, 256, 64, "nn");
};
std::shared_ptr<Asked> add_kernel(CLI::App& command, GemmCase const& usual = gemm_case(256, 256, 64, "nn")) {
  auto const asked = std::make_shared<Asked>();
  asked->command = &command;
  asked->gemm = usual;
  command.add_option("kernel", asked->kernel, "its name, or the beginning of it")->required();
  add_flags_but(command, asked->copy, {kBatchFlag});
  add_flags_but(command, asked->gemm, {kBatchFlag});
  add_batch(command, asked->copy.batch);
  add_out(command, asked->out);
  return asked;
}

// The first operand transposes that the kernel accepts, if there are any.
void take_possible_transposes(Entry<Gemm> const& entry, GemmCase& c) {
  for (std::string const transposes : {"nn", "nt", "tn", "tt"}) {
    GemmCase possible = c;
    possible.transa = transposes[0], possible.transb = transposes[1];
    possible.validate();
    if (!entry.info().rejects(planned(possible), Device{})) return void(c = possible);
  }
}

// Draws with the kernel and its case.
template <class Draw>
void draw(Asked& asked, Draw const& picture_of) {
  std::string const name = resolve(asked.kernel, all_kernel_names());
  refuse_ignored(*asked.command, {name}, asked.gemm);
  check(asked.out);
  if (info_of<GemmCase>(name)) {
    auto const& entry = kernel_named<GemmCase>(name);
    asked.gemm.batch = asked.copy.batch;
    if (!asked.command->count("--transa") && !asked.command->count("--transb"))
      take_possible_transposes(entry, asked.gemm);
    asked.gemm.validate();
    write(picture_of(entry, asked.gemm), asked.out);
  } else {
    asked.copy.validate();
    write(picture_of(kernel_named<TransposeCase>(name), asked.copy), asked.out);
  }
}

void add_ladder(CLI::App& app) {
  auto* const command = app.add_subcommand("ladder", "the recorded results: every kernel against the copy limit");
  auto const shape = std::make_shared<TransposeCase>();
  auto const file = std::make_shared<std::string>();
  command->add_option("file,--out", *file, kOut);
  add_flags(*command, *shape);
  command->callback([shape, file] {
    shape->validate();
    check(*file);
    write(draw_ladder(*shape), *file);
  });
}

void add_banks(CLI::App& app) {
  auto* const command = app.add_subcommand("banks", "which bank each element of a tile lies in");
  auto const layouts = std::make_shared<std::vector<std::string>>();
  auto const elem_bytes = std::make_shared<std::optional<int>>();
  auto const file = std::make_shared<std::string>();
  command->add_option("layouts", *layouts, "one or more, such as '(32,64):(64,1)' 'Swizzle<5,0,6> o (32,64):(64,1)'")
      ->required();
  command->add_option("--elem", *elem_bytes, "bytes of an element (default: 4, or what an smem_ptr names)");
  add_out(*command, *file);
  command->callback([layouts, elem_bytes, file] {
    check(*file);
    write(draw_banks(*layouts, *elem_bytes), *file);
  });
}

void add_request(CLI::App& app) {
  auto* const command = app.add_subcommand("request", "which lanes of a warp meet which banks or sectors");
  auto const asked = add_kernel(*command);
  command->add_option("--site", asked->site, "such as 'A store' (default: what costs most beyond its ideal)");
  command->callback([asked] {
    draw(*asked, [&](auto const& entry, auto const& c) { return draw_request(worst_request(entry, c, asked->site)); });
  });
}

void add_path(CLI::App& app) {
  auto* const command = app.add_subcommand("path", "the way of a tile through memory, or the tiles of a GEMM");
  auto const asked = add_kernel(*command);
  command->callback([asked] { draw(*asked, [](auto const& entry, auto const& c) { return draw_path(entry, c); }); });
}

void add_timeline(CLI::App& app) {
  auto* const command = app.add_subcommand("timeline", "the stages of a pipeline: on their way, full, read, free");
  auto const asked = add_kernel(*command, gemm_case(128, 256, 256, "nn"));
  command->callback([asked] {
    draw(*asked,
         [](auto const& entry, auto const& c) { return draw_timeline(title_of(entry, c), timeline_of(entry, c)); });
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
