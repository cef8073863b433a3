#include "readme/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>

#include "problems/problem.h"
#include "problems/suites.h"
#include "results/text.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr char const* kMissing = "–";
std::string cell(std::optional<double> x, int digits) { return number(x, digits, kMissing); }
std::string error(std::optional<double> x) { return error_number(x, kMissing); }

std::string line(std::vector<std::string> const& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

// The figures that tutorials published for a kernel.
std::string figures(std::vector<Published> const& published, std::string const& kernel) {
  std::string s;
  for (Published const& p : published)
    if (p.kernel == kernel) s += (s.empty() ? "" : "; ") + p.sentence();
  return s;
}

// The first row of a kernel; if there is none, a row without numbers.
Row row_of(std::vector<Row> const& rows, char const* kernel) {
  auto const at = std::ranges::find(rows, kernel, &Row::kernel);
  return at == rows.end() ? Row{} : *at;
}
Row row_of(Results const& results, Problem const& problem, std::string const& kernel, std::string const& suite) {
  Row const* const row = results.find(problem, kernel, suite);
  return row ? *row : Row{};
}

// The cells of a transpose case: the name, the time of inlay::transpose, its rate if `with_rate` is true, and the
// shares of the copy limit of inlay::transpose, PyTorch eager, the better of two forms of torch.compile, and cuBLAS.
std::string transpose_line(Recorded const& recorded, Problem const& problem, bool with_rate) {
  auto const rows = recorded.rows(problem);
  Row const own = row_of(rows, "transpose");
  auto const share = [&](char const* kernel) { return row_of(rows, kernel).share; };
  std::vector<std::string> cells{sentence(problem), cell(own.ms_median, 3)};
  if (with_rate) cells.push_back(cell(own.rate, 0));
  for (auto const& x : {own.share, share("torch_eager"), std::max(share("torch_compile"), share("torch_max_autotune")),
                        share("cublas_geam")})
    cells.push_back(cell(x, 3));
  return line(cells);
}

// The rows of inlay::copy in a results file.
std::vector<Row> copy_rows(char const* name) {
  auto const file = results_dir() / "h200" / name;
  auto const results = load_results(file);
  if (!results) throw UsageError(fmt::format("there is no {}", file.string()));
  std::vector<Row> rows;
  for (Row const& row : results->rows)
    if (row.kernel == "copy" && row.ok()) rows.push_back(row);
  return rows;
}

// The names of the kernels that have a row of one of the cases, in the order of the file.
std::vector<std::string> kernels_of(Results const& results, std::vector<SuiteCase> const& cases) {
  std::vector<std::string> names;
  for (Row const& row : results.rows)
    if (std::ranges::find(cases, row.measured, &SuiteCase::problem) != cases.end() &&
        std::ranges::find(names, row.kernel) == names.end())
      names.push_back(row.kernel);
  return names;
}

std::string copy_suites_table() {
  std::map<std::pair<int, std::string>, std::vector<double>> shares;  // by the position and the name of a line
  for (Row const& row : copy_rows("copy.json")) {
    CopyCase const& c = std::get<CopyCase>(row.measured);
    std::int64_t const bytes = c.elements() * c.elem_bytes, mb = 1 << 20;  // bytes: of the source
    auto const add = [&](int position, std::string const& name) { shares[{position, name}].push_back(*row.share); };
    if (row.suite != "wild")
      add(4, fmt::format("{}, {} B", row.suite, c.elem_bytes));
    else if (bytes < mb)
      add(3, "drawn, below 1 MB a side");
    else if (bytes < 64 * mb)
      add(2, "drawn, 1 to 64 MB");
    else if (c.elem_bytes < 4)
      add(1, fmt::format("drawn, 64 MB and more, {} B", c.elem_bytes));
    else
      add(0, "drawn, 64 MB and more, 4 to 16 B");
  }
  std::string s = "| cases | number | geometric mean | least |\n|---|--:|--:|--:|\n";
  for (auto const& [key, values] : shares)
    s += line({key.second, std::to_string(values.size()), cell(geometric_mean(values), 3),
               cell(std::ranges::min(values), 2)});
  return s;
}

std::string copy_cases_table() {
  std::string s = "| case | us | of copy limit |\n|---|--:|--:|\n";
  for (Row const& row : copy_rows("copy_cases.json"))
    s += line({sentence(row.measured), cell(*row.ms_median * 1e3, 1), cell(row.share, 3)});
  return s;
}

std::string square_table(Recorded const& recorded, std::int64_t n, int elem_bytes) {
  CopyCase const c = transpose_case(n, n, 1, elem_bytes);
  auto const published = load_published();
  auto const rows = recorded.rows(c);
  if (rows.empty())
    throw UsageError(fmt::format("{} has no row for {} at {} bytes",
                                 (results_dir() / "h200" / "transpose.json").string(), c.name(), c.elem_bytes));
  std::string s =
      "| kernel | ms | GB/s | of copy limit | check result | the tutorial's own figure |\n|---|--:|--:|--:|---|---|\n";
  for (Row const& row : rows)
    s += line({"`" + row.kernel + "`", cell(row.ms_median, 3), cell(row.rate, 0), cell(row.share, 3), row.check_result,
               figures(published, row.kernel)});
  return s;
}

std::string suite_table(Recorded const& recorded, std::string const& suite) {
  std::string s =
      "| case | `inlay::transpose`, ms | GB/s | of copy limit | torch eager | torch.compile | cuBLAS geam |\n"
      "|---|--:|--:|--:|--:|--:|--:|\n";
  for (SuiteCase const& c : load_suite(suite, transpose_case())) s += transpose_line(recorded, c.problem, true);
  return s;
}

std::string brief_copies_table(Recorded const& recorded) {
  std::string s =
      "| case | ms | of copy limit | torch eager | torch.compile | cuBLAS geam |\n|---|--:|--:|--:|--:|--:|\n";
  for (CopyCase const& c :
       {transpose_case(32768, 32768, 1, 4), transpose_case(16384, 16384, 1, 8), transpose_case(32768, 32768, 1, 1),
        transpose_case(10007, 10009, 1, 4), transpose_case(10007, 10009, 1, 1), transpose_case(16, 16, 1000000, 4)})
    s += transpose_line(recorded, c, false);
  return s;
}

std::string brief_gemms_table(Results const& results) {
  std::string s = "| M = N = K | nn | nt | tn | tt |\n|---|--:|--:|--:|--:|\n";
  for (std::int64_t n : {1024, 2047, 2048, 4096, 8192, 16384}) {
    std::vector<std::string> cells{std::to_string(n)};
    for (char const* transposes : {"nn", "nt", "tn", "tt"})
      cells.push_back(cell(row_of(results, gemm_case(n, n, n, transposes), "gemm", "squares").share, 3));
    s += line(cells);
  }
  return s;
}

std::string gemm_ladder_table(Results const& results, char const* suite) {
  auto const cases = load_suite(suite, GemmCase{});
  // Figures are published of GEMMs in f32.
  auto const published =
      std::get<GemmCase>(cases.front().problem).dtype() == f32 ? load_published() : std::vector<Published>{};
  std::vector<std::string> head{"TFLOP/s (of cuBLAS)"};
  std::string last, rule = "|---|";
  for (SuiteCase const& c : cases) {
    auto const& gemm = std::get<GemmCase>(c.problem);
    head.push_back(last = fmt::format("{},{}", gemm.M, gemm.short_name().substr(1)));
    rule += "--:|";
  }
  head.insert(head.end(), {"error, cuBLAS's at " + last, "the tutorial's own figure"});
  std::string s = line(head) + rule + "--:|---|\n";
  for (std::string const& kernel : kernels_of(results, cases)) {
    std::vector<std::string> cells{"`" + kernel + "`"};
    std::string errors;  // of the last case
    for (SuiteCase const& c : cases) {
      Row const row = row_of(results, c.problem, kernel, suite);
      cells.push_back(row.rate ? fmt::format("{:.2f} ({})", *row.rate, cell(row.share, 3)) : kMissing);
      errors = error(row.rel_err) + ", " + error(row.rel_err_cublas);
    }
    cells.insert(cells.end(), {errors, figures(published, kernel)});
    s += line(cells);
  }
  return s;
}

std::string gemm_suite_table(Results const& results, std::string const& suite) {
  std::string s =
      "| case | cuBLAS, TFLOP/s | `inlay::gemm` | of cuBLAS | of peak | no workspace | blocked | error | blocked's | "
      "cuBLAS's |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  std::vector<double> shares;
  for (SuiteCase const& c : load_suite(suite, GemmCase{})) {
    auto const row = [&](char const* kernel) { return row_of(results, c.problem, kernel, suite); };
    Row const own = row("gemm"), blocked_sums = row("gemm_blocked");
    if (own.share) shares.push_back(*own.share);
    s += line({sentence(c.problem), cell(row("cublas").rate, 2), cell(own.rate, 2), cell(own.share, 3),
               cell(own.of_peak, 3), cell(row("gemm_no_workspace").share, 3), cell(blocked_sums.share, 3),
               error(own.rel_err), error(blocked_sums.rel_err), error(own.rel_err_cublas)});
  }
  if (!shares.empty()) s += fmt::format("| geometric mean | | | {:.3f} | | | | | | |\n", geometric_mean(shares));
  return s;
}

// Times and bandwidth, for GEMMs whose bytes or latency limit.
std::string gemm_times_table(std::string const& suite) {
  auto const results = load_results(results_dir() / "h200" / ("gemm_" + suite + ".json")).value_or(Results{});
  std::string s = "| case | cuBLAS, us | `inlay::gemm`, us | of cuBLAS | GB/s |\n|---|--:|--:|--:|--:|\n";
  std::vector<double> shares;
  for (SuiteCase const& c : load_suite(suite, GemmCase{})) {
    Row const own = row_of(results, c.problem, "gemm", suite), cublas = row_of(results, c.problem, "cublas", suite);
    if (!own.ms_median || !cublas.ms_median) continue;
    shares.push_back(*own.share);
    s += line({sentence(c.problem), cell(*cublas.ms_median * 1e3, 1), cell(*own.ms_median * 1e3, 1), cell(own.share, 2),
               cell(std::get<GemmCase>(c.problem).bytes() / *own.ms_median * 1e-6, 0)});
  }
  if (!shares.empty()) s += fmt::format("| geometric mean | | | {:.2f} | |\n", geometric_mean(shares));
  return s;
}

}  // namespace

std::optional<std::string> table_named(std::string const& name, Recorded const& recorded) {
  static std::regex const square("(\\d{1,9})-(\\d{1,2})"), suite("suite-(\\w+)"), gemm_suite("gemm-(\\w+)");
  if (name == "copy-suites") return copy_suites_table();
  if (name == "copy-cases") return copy_cases_table();
  if (name == "brief-copies") return brief_copies_table(recorded);
  if (name == "brief-GEMMs") return brief_gemms_table(recorded.gemms);
  if (name == "gemm-ladder") return gemm_ladder_table(recorded.gemms, "ladder");
  if (name == "hgemm-ladder") return gemm_ladder_table(recorded.tensor_gemms, "hgemm");
  if (name == "sgemm_tc-ladder") return gemm_ladder_table(recorded.sliced_gemms, "sgemm_tc");
  if (name == "tensor-transposes")
    return gemm_ladder_table(load_results(results_dir() / "h200" / "tensor.json").value_or(Results{}), "tensor");
  if (name == "gemm-batched" || name == "gemm-thin") return gemm_times_table(name.substr(5));
  std::smatch m;
  if (std::regex_match(name, m, suite)) return suite_table(recorded, m[1]);
  if (std::regex_match(name, m, gemm_suite)) return gemm_suite_table(recorded.gemms, m[1]);
  if (std::regex_match(name, m, square)) return square_table(recorded, std::stoll(m[1]), std::stoi(m[2]));
  return std::nullopt;
}

}  // namespace inlay::lab
