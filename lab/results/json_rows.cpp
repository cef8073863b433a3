#include "results/json_rows.h"

#include <inlay/error.h>

#include "problems/problem.h"

namespace inlay::lab {
namespace {

Json optional_number(std::optional<double> x) { return x ? Json(*x) : Json(); }

std::optional<double> optional_number(Json const& row, char const* key) {
  auto const at = row.find(key);
  return at == row.end() || at->is_null() ? std::nullopt : std::optional(at->get<double>());
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
