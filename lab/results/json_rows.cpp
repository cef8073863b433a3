#include "results/json_rows.h"

namespace inlay::lab {
namespace {

Json optional_number(std::optional<double> x) { return x ? Json(*x) : Json(); }

std::optional<double> optional_number(Json const& row, char const* key) {
  auto const at = row.find(key);
  return at == row.end() || at->is_null() ? std::nullopt : std::optional(at->get<double>());
}

// "32768x32768", "4096x4096x4096": as many numbers as are asked for.
void parse_extents(std::string name, std::initializer_list<std::int64_t*> extents) {
  for (std::int64_t* extent : extents) {
    *extent = std::stoll(name);
    name.erase(0, std::min(name.find('x'), name.size() - 1) + 1);
  }
}

Case parse_move(Json const& row) {
  Case c;
  parse_extents(row.at("case"), {&c.rows, &c.cols});
  c.elem_bytes = row.at("elem_bytes");
  c.batch = row.value("batch", std::int64_t(1));
  auto const elements = [&](char const* key) { return row.value(key, std::int64_t(0)) / c.elem_bytes; };
  c.pitch = elements("pitch_src"), c.pitch_dst = elements("pitch_dst");
  c.base_src = elements("base_src"), c.base_dst = elements("base_dst");
  return c;
}

GemmCase parse_product(Json const& row) {
  GemmCase c;
  parse_extents(row.at("case"), {&c.M, &c.N, &c.K});
  c.batch = row.value("batch", std::int64_t(1));
  c.layout = row.at("layout");
  c.alpha = row.value("alpha", 1.f), c.beta = row.value("beta", 0.f);
  c.lda = row.value("lda", std::int64_t(0)), c.ldb = row.value("ldb", std::int64_t(0));
  c.ldc = row.value("ldc", std::int64_t(0));
  if (row.contains("accuracy")) c.compute = row["accuracy"] == "two_level" ? Compute::fp32_two_level : Compute::fp32;
  return c;
}

// Only products have a layout.
Problem parse_problem(Json const& row) {
  return row.contains("layout") ? Problem(parse_product(row)) : Problem(parse_move(row));
}

Json head(Row const& r, Case const& c) {
  return {{"suite", r.suite},
          {"case", c.name()},
          {"batch", c.batch},
          {"pitch_src", c.source_pitch() * c.elem_bytes},
          {"pitch_dst", c.destination_pitch() * c.elem_bytes},
          {"base_src", c.base_src * c.elem_bytes},
          {"base_dst", c.base_dst * c.elem_bytes},
          {"variant", r.variant},
          {"elem_bytes", c.elem_bytes}};
}

// What a plain multiplication has none of is left out.
Json head(Row const& r, GemmCase const& c) {
  Json json{{"suite", r.suite}, {"case", c.name()}, {"batch", c.batch}, {"layout", c.layout}};
  if (c.alpha != 1) json["alpha"] = c.alpha;
  if (c.beta != 0) json["beta"] = c.beta;
  if (c.lda) json["lda"] = c.lda;
  if (c.ldb) json["ldb"] = c.ldb;
  if (c.ldc) json["ldc"] = c.ldc;
  if (c.compute == Compute::fp32_two_level) json["accuracy"] = "two_level";
  json["variant"] = r.variant;
  json["dtype"] = "f32";
  return json;
}

}  // namespace

Json to_json(Row const& r) {
  Json json = std::visit([&](auto const& c) { return head(r, c); }, r.measured);
  Units const& in = units(r.measured);
  json["verdict"] = r.verdict;
  json["ms_median"] = optional_number(r.ms_median);
  json["ms_iqr"] = optional_number(r.ms_iqr);
  json[in.rate_key] = optional_number(r.rate);
  json[in.share_key] = optional_number(r.share);
  json["of_peak"] = optional_number(r.of_peak);
  if (std::holds_alternative<GemmCase>(r.measured)) {
    json["rel_err"] = optional_number(r.rel_err);
    json["rel_err_cublas"] = optional_number(r.rel_err_cublas);
  }
  if (r.host_us) json["host_us"] = *r.host_us;
  if (r.host_us_bare) json["host_us_bare"] = *r.host_us_bare;
  return json;
}

Row parse_row(Json const& json) {
  Row r;
  r.suite = json.value("suite", "");
  r.measured = parse_problem(json);
  r.variant = json.at("variant"), r.verdict = json.at("verdict");
  Units const& in = units(r.measured);
  r.ms_median = optional_number(json, "ms_median"), r.ms_iqr = optional_number(json, "ms_iqr");
  r.rate = optional_number(json, in.rate_key), r.share = optional_number(json, in.share_key);
  r.of_peak = optional_number(json, "of_peak");
  r.rel_err = optional_number(json, "rel_err"), r.rel_err_cublas = optional_number(json, "rel_err_cublas");
  r.host_us = optional_number(json, "host_us"), r.host_us_bare = optional_number(json, "host_us_bare");
  return r;
}

Published parse_published(Json const& json) {
  Published p{json.at("source"), json.at("device"), json.at("variant"), json.at("name"), {}, {}, 0, {}};
  if (json.contains("case")) p.measured = parse_problem(json);
  p.ms = optional_number(json, "ms");
  p.rate = json.contains("tflops") ? json["tflops"] : json.at("gbps");
  p.share = optional_number(json, "of_cublas");
  return p;
}

}  // namespace inlay::lab
