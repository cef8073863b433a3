#include "suites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "usage_error.h"

namespace inlay::lab {
namespace {

using Json = nlohmann::json;

std::filesystem::path suites_dir() { return INLAY_SUITES_DIR; }

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (auto const& file : std::filesystem::directory_iterator(suites_dir()))
    if (file.path().extension() == ".json") names.push_back(file.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> variants_of(Json const& value) {
  if (value.is_array()) return value;
  std::string const word = value;
  if (word == "all") return {};
  if (word == kProduction) return {word};
  throw UsageError(fmt::format("variants is '{}', neither 'all' nor '{}' nor a list of names", word, kProduction));
}

SuiteCase parse_case(Json const& object) {
  SuiteCase c{{}, {kProduction}};
  c.shape.rows = object.at("rows"), c.shape.cols = object.at("cols");
  for (auto const& [key, value] : object.items()) {
    if (key == "rows" || key == "cols") continue;
    if (key == "batch")
      c.shape.batch = value;
    else if (key == "elem_bytes")
      c.shape.elem_bytes = value;
    else if (key == "pitch")
      c.shape.pitch = value;
    else if (key == "pitch_dst")
      c.shape.pitch_dst = value;
    else if (key == "base_src")
      c.shape.base_src = value;
    else if (key == "base_dst")
      c.shape.base_dst = value;
    else if (key == "variants")
      c.variants = variants_of(value);
    else
      throw UsageError(fmt::format("there is no key '{}'", key));
  }
  validate(c.shape);
  return c;
}

}  // namespace

std::vector<SuiteCase> load_suite(std::string const& name) {
  auto const names = suite_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw UsageError(fmt::format("there is no suite '{}'; there are {}", name, fmt::join(names, ", ")));
  auto const file = suites_dir() / (name + ".json");
  std::vector<SuiteCase> cases;
  try {
    std::ifstream in(file);
    for (Json const& object : Json::parse(in)) cases.push_back(parse_case(object));
  } catch (std::exception const& e) {
    throw UsageError(fmt::format("{}, after {} good cases: {}", file.string(), cases.size(), e.what()));
  }
  return cases;
}

}  // namespace inlay::lab
