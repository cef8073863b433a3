#include "commands.h"
#include "draw/command.h"
#include "explain/explain.h"
#include "layout/command.h"
#include "run.h"

namespace inlay::lab {

int run_without_gpu(int argc, char** argv) {
  int status = 0;
  CLI::App app("The commands of inlay that need no GPU.", "inlay");
  app.require_subcommand(1);
  add_list_command(app);
  add_layout_command(app);
  add_explain_command(app);
  add_draw_command(app);
  add_completion_command(app);
  return run_command(app, argc, argv, status);
}

}  // namespace inlay::lab
