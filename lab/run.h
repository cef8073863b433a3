// The command `inlay` as a function.
#pragma once

namespace inlay::lab {

// Runs a command line, argv[0] included, and returns the exit code.
int run(int argc, char** argv);
// `list`, `layout`, `explain` and `draw` alone.
int run_without_gpu(int argc, char** argv);

}  // namespace inlay::lab
