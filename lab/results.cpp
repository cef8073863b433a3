#include "results.h"

#include <fmt/format.h>
#include <inlay/error.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace inlay::lab {
namespace {

using Json = nlohmann::ordered_json;  // fields stay in the order they are written in

std::optional<Json> parse(std::filesystem::path const& file) {
  std::ifstream in(file);
  if (!in) return std::nullopt;
  try {
    return Json::parse(in);
  } catch (std::exception const& e) {
    throw Error(fmt::format("{} is no JSON: {}", file.string(), e.what()));
  }
}

Case parse_case(Json const& row) {
  Case c;
  std::string const name = row.at("case");
  auto const x = name.find('x');
  c.rows = std::stoll(name), c.cols = std::stoll(name.substr(x + 1));
  c.elem_bytes = row.at("elem_bytes");
  c.batch = row.value("batch", std::int64_t(1));
  auto const elements = [&](char const* key) { return row.value(key, std::int64_t(0)) / c.elem_bytes; };
  c.pitch = elements("pitch_src"), c.pitch_dst = elements("pitch_dst");
  c.base_src = elements("base_src"), c.base_dst = elements("base_dst");
  return c;
}

Json optional_number(std::optional<double> x) { return x ? Json(*x) : Json(); }

std::optional<double> optional_number(Json const& row, char const* key) {
  auto const at = row.find(key);
  return at == row.end() || at->is_null() ? std::nullopt : std::optional(at->get<double>());
}

Json to_json(Row const& r) {
  Case const& c = r.measured;
  Json json{{"suite", r.suite},
            {"case", c.name()},
            {"batch", c.batch},
            {"pitch_src", c.source_pitch() * c.elem_bytes},
            {"pitch_dst", c.destination_pitch() * c.elem_bytes},
            {"base_src", c.base_src * c.elem_bytes},
            {"base_dst", c.base_dst * c.elem_bytes},
            {"variant", r.variant},
            {"elem_bytes", c.elem_bytes},
            {"verdict", r.verdict},
            {"ms_median", optional_number(r.ms_median)},
            {"ms_iqr", optional_number(r.ms_iqr)},
            {"gbps", optional_number(r.gbps)},
            {"of_copy", optional_number(r.of_copy)},
            {"of_peak", optional_number(r.of_peak)}};
  if (r.host_us) json["host_us"] = *r.host_us;
  if (r.host_us_bare) json["host_us_bare"] = *r.host_us_bare;
  return json;
}

Row parse_row(Json const& j) {
  return {j.value("suite", "2d"),
          parse_case(j),
          j.at("variant"),
          j.at("verdict"),
          optional_number(j, "ms_median"),
          optional_number(j, "ms_iqr"),
          optional_number(j, "gbps"),
          optional_number(j, "of_copy"),
          optional_number(j, "of_peak"),
          optional_number(j, "host_us"),
          optional_number(j, "host_us_bare")};
}

}  // namespace

std::filesystem::path results_dir() { return INLAY_RESULTS_DIR; }

Row const* Results::find(Case const& c, std::string const& variant) const {
  for (Row const& row : rows)
    if (row.variant == variant && row.measured == c) return &row;
  return nullptr;
}

std::optional<Results> load_results(std::filesystem::path const& file) {
  auto const json = parse(file);
  if (!json) return std::nullopt;
  try {
    Results r{json->at("device"), json->value("clock_mhz", 0.), json->at("date"), json->at("command"), {}};
    for (Json const& row : json->at("rows")) r.rows.push_back(parse_row(row));
    return r;
  } catch (std::exception const& e) {
    throw Error(fmt::format("{} is no results file: {}", file.string(), e.what()));
  }
}

std::vector<Row> Recorded::rows(Case const& c) const {
  std::vector<Row> of_case;
  std::optional<double> limit;  // GB/s; the copy limit's two rows come first, and one of them is 1
  for (Row const& row : ours.rows) {
    if (row.measured != c) continue;
    of_case.push_back(row);
    if (!limit && row.of_copy && *row.of_copy >= 1) limit = row.gbps;
  }
  for (Row row : peers.rows) {
    if (row.measured != c) continue;
    row.of_copy = row.gbps && limit ? std::optional(*row.gbps / *limit) : std::nullopt;
    of_case.push_back(row);
  }
  return of_case;
}

Recorded load_recorded() {
  auto const folder = results_dir() / "h200";
  return {load_results(folder / "transpose.json").value_or(Results{}),
          load_results(folder / "torch.json").value_or(Results{})};
}

void save_results(Results const& results, std::filesystem::path const& file) {
  auto rows = Json::array();
  for (Row const& row : results.rows) rows.push_back(to_json(row));
  Json const json = {{"device", results.device},
                     {"clock_mhz", results.clock_mhz},
                     {"date", results.date},
                     {"command", results.command},
                     {"rows", rows}};
  std::ofstream out(file);
  out << json.dump(1) << '\n';
  if (!out.flush()) throw Error(fmt::format("{} cannot be written", file.string()));
}

std::string Published::sentence() const {
  bool const same_size = measured.rows == 32768 && measured.cols == 32768;
  return fmt::format("{} {} ({}{})", device, ms ? fmt::format("{:.3f} ms", *ms) : fmt::format("{:.1f} GB/s", gbps),
                     source, same_size ? "" : fmt::format(", {}", measured.name()));
}

std::vector<Published> load_published() {
  auto const file = results_dir() / "published.json";
  auto const json = parse(file);
  if (!json) return {};
  std::vector<Published> all;
  try {
    for (Json const& j : *json)
      all.push_back({j.at("source"), j.at("device"), j.at("variant"), j.at("name"), parse_case(j),
                     optional_number(j, "ms"), j.at("gbps")});
  } catch (std::exception const& e) {
    throw Error(fmt::format("{} is no list of published figures: {}", file.string(), e.what()));
  }
  return all;
}

}  // namespace inlay::lab
