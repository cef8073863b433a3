// `inlay readme`: the tables of a Markdown file, written from the recorded results.
#pragma once
#include <filesystem>

namespace inlay::lab {

// Rewrites what stands between a marker and <!-- /table -->: <!-- table:h200-N-ELEM --> is the table of NxN elements of
// ELEM bytes, <!-- table:h200-suite-2d --> a line for each case of suites/2d.json, and so for other suites,
// <!-- table:h200-gemm-squares --> the same of suites/gemm/, <!-- table:h200-gemm-ladder --> a line for each kernel,
// <!-- table:h200-copy-suites --> a line for each class of the suites of copies, -copy-cases for each of single cases,
// <!-- table:h200-brief-copies --> and -GEMMs README's. With
// `check_only` nothing is written. True when the file was up to date.
bool update_readme(std::filesystem::path const& file, bool check_only);

}  // namespace inlay::lab
