// Tunes the problems of a suite.
#pragma once
#include <string>

#include "problems/suites.h"

namespace inlay::lab {

// Measures what is predicted to be nearly the fastest for a case, within `milliseconds`, and remembers the
// choice (inlay/tuning.h). Returns the case and its choice in a line. Throws UsageError without memory for the case.
std::string tune(SuiteCase const& listed, double milliseconds);

// Writes what has been tuned; reads it, and returns how many choices it has.
void save_tuned(std::string const& path);
std::size_t load_tuned(std::string const& path);

}  // namespace inlay::lab
