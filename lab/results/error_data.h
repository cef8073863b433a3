// The data sets on which `inlay bench gemm --errors` measures the errors of GEMMs.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace inlay::lab {

struct GemmCase;

// measure/error_data.cu fills operands with them. A row is a row of A or a column of B; k is what is summed over. An
// element is normal, of mean 0 and variance 1, unless said.
enum class ErrorData {
  normal,
  uniform,      // in (0,1)
  wide,         // of either sign, with exponents from -10 to 10
  scaled_rows,  // each row times a power of two from 2^-20 to 2^20
  outliers,     // one element of each row times 2^30
  sparse,       // seven of eight are zero
  hilbert,      // 1 / (row + k + 1)
  orthogonal,   // a discrete cosine transform with random signs of rows: dense, and orthogonal to one another
  decaying,     // element k of a row times 2^(-20 k / K)
  spikes,       // whole numbers from -3 to 3, and 2^18 at every 97th element
  denormals,    // A: of either sign, with exponents from -140 to -121, denormal below -126; B: times 2^60
  huge_column,  // element k = K / 3 of each row times 2^24
};

char const* name_of(ErrorData data);  // "normal"

// The names of all data sets, with ", " between them.
std::string error_data_names();

// The data sets with these names; of "all", every one. Throws UsageError for a name that is none.
std::vector<ErrorData> error_data_named(std::span<std::string const> names);

// Why --errors does not measure the case; empty if it does.
std::string why_no_errors(GemmCase const& c);

}  // namespace inlay::lab
