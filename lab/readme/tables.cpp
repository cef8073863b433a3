#include "readme/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "page/report.h"
#include "problems/problem.h"
#include "problems/suites.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr char const* kNone = "–";  // a cell without a number
std::string cell(std::optional<double> x, int digits) { return number(x, digits, kNone); }
std::string error(std::optional<double> x) { return error_number(x, kNone); }

std::string line(std::vector<std::string> const& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

// The tutorials' figures for a kernel.
std::string figures(std::vector<Published> const& published, std::string const& kernel) {
  std::string s;
  for (Published const& p : published)
    if (p.kernel == kernel) s += (s.empty() ? "" : "; ") + p.sentence();
  return s;
}

// The first row of a kernel, or one without numbers.
Row of_kernel(std::vector<Row> const& rows, char const* kernel) {
  auto const at = std::find_if(rows.begin(), rows.end(), [&](Row const& r) { return r.kernel == kernel; });
  return at == rows.end() ? Row{} : *at;
}

// Shares of the copy limit: the public function, PyTorch (the better compiled form), and cuBLAS.
std::vector<std::string> shares(std::vector<Row> const& rows) {
  auto const share = [&](char const* kernel) { return cell(of_kernel(rows, kernel).share, 3); };
  auto const by_default = of_kernel(rows, "torch_compile").share, tuned = of_kernel(rows, "torch_max_autotune").share;
  return {share("transpose"), share("torch_eager"), cell(std::max(by_default, tuned), 3), share("cublas_geam")};
}
std::vector<std::string> joined(std::vector<std::string> a, std::vector<std::string> const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The public function's rows of a file of copies.
std::vector<Row> copies(char const* name) {
  auto const file = results_dir() / "h200" / name;
  auto const results = load_results(file);
  if (!results) throw UsageError(fmt::format("there is no {}", file.string()));
  std::vector<Row> rows;
  for (Row const& row : results->rows)
    if (row.kernel == "copy" && row.ok()) rows.push_back(row);
  return rows;
}

// The kernels in the order of the file, each once.
std::vector<std::string> kernels_of(Results const& results, std::vector<SuiteCase> const& cases) {
  std::vector<std::string> names;
  for (Row const& row : results.rows)
    if (std::any_of(cases.begin(), cases.end(), [&](SuiteCase const& c) { return c.problem == row.measured; }) &&
        std::find(names.begin(), names.end(), row.kernel) == names.end())
      names.push_back(row.kernel);
  return names;
}

}  // namespace

std::string copy_suites_table() {
  std::map<std::pair<int, std::string>, std::vector<double>> shares;  // by a line's place and name
  for (Row const& row : copies("copy.json")) {
    CopyCase const& c = std::get<CopyCase>(row.measured);
    std::int64_t const bytes = c.elements() * c.elem_bytes, mb = 1 << 20;  // of a side
    auto const add = [&](int place, std::string const& name) { shares[{place, name}].push_back(*row.share); };
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
  for (auto const& [key, of] : shares) {
    double logarithms = 0;
    for (double share : of) logarithms += std::log(share);
    s += line({key.second, std::to_string(of.size()), cell(std::exp(logarithms / double(of.size())), 3),
               cell(*std::min_element(of.begin(), of.end()), 2)});
  }
  return s;
}

std::string copy_cases_table() {
  std::string s = "| case | us | of copy limit |\n|---|--:|--:|\n";
  for (Row const& row : copies("copy_cases.json"))
    s += line({sentence(row.measured), cell(*row.ms_median * 1e3, 1), cell(row.share, 3)});
  return s;
}

std::string square_table(Recorded const& recorded, std::int64_t n, int elem_bytes) {
  TransposeCase const c{n, n, 1, elem_bytes};
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
  for (SuiteCase const& c : load_suite<TransposeCase>(suite)) {
    auto const rows = recorded.rows(c.problem);
    Row const own = of_kernel(rows, "transpose");
    s += line(joined({sentence(c.problem), cell(own.ms_median, 3), cell(own.rate, 0)}, shares(rows)));
  }
  return s;
}

std::string brief_copies_table(Recorded const& recorded) {
  std::string s =
      "| case | ms | of copy limit | torch eager | torch.compile | cuBLAS geam |\n|---|--:|--:|--:|--:|--:|\n";
  for (TransposeCase const& c :
       {TransposeCase{32768, 32768, 1, 4}, TransposeCase{16384, 16384, 1, 8}, TransposeCase{32768, 32768, 1, 1},
        TransposeCase{10007, 10009, 1, 4}, TransposeCase{10007, 10009, 1, 1}, TransposeCase{16, 16, 1000000, 4}}) {
    auto const rows = recorded.rows(c);
    s += line(joined({c.sentence(), cell(of_kernel(rows, "transpose").ms_median, 3)}, shares(rows)));
  }
  return s;
}

std::string brief_gemms_table(Results const& results) {
  std::string s = "| M = N = K | nn | nt | tn | tt |\n|---|--:|--:|--:|--:|\n";
  for (std::int64_t n : {1024, 2047, 2048, 4096, 8192, 16384}) {
    std::vector<std::string> cells{std::to_string(n)};
    for (char const* layout : {"nn", "nt", "tn", "tt"}) {
      Row const* const row = results.find(gemm_case(n, n, n, layout), "gemm", "squares");
      cells.push_back(cell(row ? row->share : std::nullopt, 3));
    }
    s += line(cells);
  }
  return s;
}

std::string gemm_ladder_table(Results const& results) {
  auto const cases = load_suite<GemmCase>("ladder");
  auto const published = load_published();
  std::vector<std::string> head{"TFLOP/s (of cuBLAS)"};
  std::string last, rule = "|---|";
  for (SuiteCase const& c : cases) {
    auto const& gemm = std::get<GemmCase>(c.problem);
    head.push_back(last = fmt::format("{}, {}", gemm.M, gemm.transposes()));
    rule += "--:|";
  }
  head.insert(head.end(), {"error, cuBLAS's at " + last, "the tutorial's own figure"});
  std::string s = line(head) + rule + "--:|---|\n";
  for (std::string const& kernel : kernels_of(results, cases)) {
    std::vector<std::string> cells{"`" + kernel + "`"};
    std::string errors;  // of the last case
    for (SuiteCase const& c : cases) {
      Row const* const found = results.find(c.problem, kernel, "ladder");
      Row const row = found ? *found : Row{};
      cells.push_back(row.rate ? fmt::format("{:.2f} ({})", *row.rate, cell(row.share, 3)) : kNone);
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
  double logarithms = 0;
  int measured = 0;
  for (SuiteCase const& c : load_suite<GemmCase>(suite)) {
    auto const row = [&](char const* kernel) {
      Row const* const found = results.find(c.problem, kernel, suite);
      return found ? *found : Row{};
    };
    Row const own = row("gemm"), blocked_sums = row("gemm_blocked");
    if (own.share) logarithms += std::log(*own.share), ++measured;
    s += line({sentence(c.problem), cell(row("cublas").rate, 2), cell(own.rate, 2), cell(own.share, 3),
               cell(own.of_peak, 3), cell(row("gemm_no_workspace").share, 3), cell(blocked_sums.share, 3),
               error(own.rel_err), error(blocked_sums.rel_err), error(own.rel_err_cublas)});
  }
  if (measured) s += fmt::format("| geometric mean | | | {:.3f} | | | | | | |\n", std::exp(logarithms / measured));
  return s;
}

}  // namespace inlay::lab
