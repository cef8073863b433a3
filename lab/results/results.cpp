#include "results/results.h"

#include <fmt/format.h>
#include <inlay/error.h>

#include <fstream>

#include "results/data_files.h"
#include "results/json_rows.h"
#include "results/output.h"

namespace inlay::lab {
namespace {

std::optional<Json> parse(std::filesystem::path const& file) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  try {
    return Json::parse(in);
  } catch (std::exception const& e) {
    throw Error(fmt::format("{} is not valid JSON: {}", file.string(), e.what()));
  }
}

}  // namespace

std::filesystem::path results_dir() { return data_file("results"); }

Row const* Results::find(Problem const& problem, std::string const& kernel, std::string const& suite) const {
  Row const* first = nullptr;
  for (Row const& row : rows) {
    if (row.kernel != kernel || row.measured != problem) continue;
    if (row.suite == suite) return &row;
    if (!first) first = &row;
  }
  return first;
}

std::optional<Results> load_results(std::filesystem::path const& file) {
  auto const json = parse(file);
  if (!json) return std::nullopt;
  try {
    Results r{
        json->at("device"),        json->value("clock_mhz", 0.), json->at("date"),         json->at("command"), {},
        json->value("driver", ""), json->value("cuda", ""),      json->value("commit", "")};
    for (Json const& row : json->at("rows")) r.rows.push_back(parse_row(row));
    return r;
  } catch (std::exception const& e) {
    throw Error(fmt::format("{} is not a results file: {}", file.string(), e.what()));
  }
}

std::vector<Row> Recorded::rows(Problem const& problem) const {
  std::vector<Row> of_case;
  std::optional<double> limit;  // GB/s: the rate of the faster plain copy, whose share is 1; these rows come first
  for (Row const& row : ours.rows) {
    if (row.measured != problem) continue;
    of_case.push_back(row);
    if (!limit && row.share && *row.share >= 1) limit = row.rate;
  }
  for (Row row : baselines.rows) {
    if (row.measured != problem) continue;
    row.share = row.rate && limit ? std::optional(*row.rate / *limit) : std::nullopt;
    of_case.push_back(row);
  }
  return of_case;
}

Recorded load_recorded() {
  auto const load = [](char const* name) { return load_results(results_dir() / "h200" / name).value_or(Results{}); };
  return {load("transpose.json"), load("torch.json"), load("sgemm.json"), load("hgemm.json"), load("sgemm_tc.json")};
}

void save_results(Results const& results, std::filesystem::path const& file) {
  std::string rows;  // each on a line of its own
  for (Row const& row : results.rows) rows += (rows.empty() ? "\n  " : ",\n  ") + to_json(row).dump();
  Json head{{"device", results.device},   {"clock_mhz", results.clock_mhz}, {"date", results.date},
            {"command", results.command}, {"driver", results.driver},       {"cuda", results.cuda},
            {"commit", results.commit}};
  std::string const text = head.dump(1);  // without its end: "\n}"
  write_file(file, fmt::format("{},\n \"rows\": [{}\n ]\n}}\n", text.substr(0, text.size() - 2), rows));
}

std::string Published::sentence() const {
  if (share) return fmt::format("{:.2f} TFLOP/s, {:.3f} of cuBLAS ({})", rate, *share, source);
  bool const size = measured && *measured != Problem(transpose_case());
  return fmt::format("{} {} ({}{})", device, ms ? fmt::format("{:.3f} ms", *ms) : fmt::format("{:.1f} GB/s", rate),
                     source, size ? ", " + name_of(*measured) : "");
}

std::vector<Published> load_published() {
  auto const file = results_dir() / "published.json";
  auto const json = parse(file);
  if (!json) return {};
  std::vector<Published> all;
  try {
    for (Json const& j : *json) all.push_back(parse_published(j));
  } catch (std::exception const& e) {
    throw Error(fmt::format("{} is not a list of published figures: {}", file.string(), e.what()));
  }
  return all;
}

}  // namespace inlay::lab
