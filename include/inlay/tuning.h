// Tuned choices: what plan() has measured, kept for later calls of this process and, in a file, for other processes.
#pragma once
#include <inlay/export.h>

#include <cstddef>
#include <string>

namespace inlay {

// A plan that is made with Choose::measured is remembered: later calls and plans for the same problem on a GPU of the
// same name take its choice, and Plan::why() says so. The problem: modes or matrices, strides, addresses modulo 32
// bytes, and the options. A tuned GEMM may need more workspace than gemm_workspace() returned before. All three
// functions are thread-safe.

/// Writes all choices, one JSON object in a line. A file of this name is replaced.
/// @throws Error  For a file that cannot be written.
INLAY_API void save_tuning(std::string const& path);
/// Adds the choices of a file, which replace those for the same problems. Lines of another version of the library are
/// skipped.
/// @return        How many were added.
/// @throws Error  For a file that cannot be opened and, adding nothing, for a line that is no choice.
INLAY_API std::size_t load_tuning(std::string const& path);
/// Forgets all choices: plans are chosen by predicted time again.
INLAY_API void forget_tuning();

}  // namespace inlay
