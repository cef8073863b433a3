#include "results/json_rows.h"

#include <inlay/error.h>

#include <limits>

#include "problems/problem.h"

namespace inlay::lab {
namespace {

Json optional_number(std::optional<double> x) { return x ? Json(*x) : Json(); }

std::optional<double> optional_number(Json const& row, char const* key) {
  auto const at = row.find(key);
  return at == row.end() || at->is_null() ? std::nullopt : std::optional(at->get<double>());
}

// JSON has no infinity and no NaN: both are null, which is read as NaN.
double number_or_nan(Json const& json, char const* key) {
  return optional_number(json, key).value_or(std::numeric_limits<double>::quiet_NaN());
}

Json to_json(std::vector<DataError> const& errors) {
  Json json;
  for (DataError const& error : errors) {
    Json& of_data = json[error.data];
    of_data["rel_err"] = error.rel_err;
    of_data["largest"] = error.largest;
    if (error.of_cublas) of_data["of_cublas"] = *error.of_cublas;
    if (error.refused) of_data["refused"] = *error.refused;
  }
  return json;
}

std::vector<DataError> parse_errors(Json const& json) {
  std::vector<DataError> errors;
  for (auto const& [data, of_data] : json.items()) {
    DataError& error = errors.emplace_back(
        DataError{data, number_or_nan(of_data, "rel_err"), number_or_nan(of_data, "largest"), {}, {}});
    if (of_data.contains("of_cublas")) error.of_cublas = number_or_nan(of_data, "of_cublas");
    if (of_data.contains("refused")) error.refused = of_data["refused"];
  }
  return errors;
}

}  // namespace

Json to_json(Row const& r) {
  Json json{{"suite", r.suite}, {"case", name_of(r.measured)}};
  std::visit([&](auto const& c) { c.write(r.kernel, json); }, r.measured);
  Units const& in = units(r.measured);
  json["check"] = r.check_result;
  json["ms_median"] = optional_number(r.ms_median);
  json["ms_iqr"] = optional_number(r.ms_iqr);
  json[in.rate_key] = optional_number(r.rate);
  json[in.share_key] = optional_number(r.share);
  json["of_peak"] = optional_number(r.of_peak);
  if (in.errors) {
    json["rel_err"] = optional_number(r.rel_err);
    json["rel_err_cublas"] = optional_number(r.rel_err_cublas);
  }
  if (r.predicted_ms) json["predicted_ms"] = *r.predicted_ms;
  if (r.host) json["host_us"] = r.host->call_us, json["host_us_bare"] = r.host->bare_us;
  if (r.sustained) json["sustained"] = true;
  if (r.clock_mhz) json["clock_mhz"] = *r.clock_mhz;
  if (!r.errors.empty()) json["errors"] = to_json(r.errors);
  return json;
}

Problem parse_problem(Json const& row) {
  if (CopyCase::wrote(row)) return CopyCase::read(row);
  if (GemmCase::wrote(row)) return GemmCase::read(row);
  throw Error("a row has the fields of neither a transpose nor a copy nor a GEMM");
}

Row parse_row(Json const& json) {
  Row r;
  r.suite = json.value("suite", "");
  r.measured = parse_problem(json);
  r.kernel = json.at("kernel");
  r.check_result = json.at("check");
  Units const& in = units(r.measured);
  r.ms_median = optional_number(json, "ms_median");
  r.ms_iqr = optional_number(json, "ms_iqr");
  r.rate = optional_number(json, in.rate_key);
  r.share = optional_number(json, in.share_key);
  r.of_peak = optional_number(json, "of_peak");
  r.rel_err = optional_number(json, "rel_err");
  r.rel_err_cublas = optional_number(json, "rel_err_cublas");
  if (json.contains("predicted_ms")) r.predicted_ms = json["predicted_ms"];
  if (json.contains("host_us")) r.host = {json["host_us"], json.at("host_us_bare")};
  r.sustained = json.value("sustained", false);
  r.clock_mhz = optional_number(json, "clock_mhz");
  if (json.contains("errors")) r.errors = parse_errors(json["errors"]);
  return r;
}

Published parse_published(Json const& json) {
  return {.source = json.at("source"),
          .device = json.at("device"),
          .kernel = json.at("kernel"),
          .name = json.at("name"),
          .measured = json.contains("case") ? std::optional(parse_problem(json)) : std::nullopt,
          .ms = optional_number(json, "ms"),
          .rate = json.contains("tflops") ? json["tflops"] : json.at("gbps"),
          .share = optional_number(json, "of_cublas")};
}

}  // namespace inlay::lab
