#include "problems/suites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "results/data_files.h"
#include "usage_error.h"
#include "variants.h"

namespace inlay::lab {
namespace {

using Json = nlohmann::json;
using Path = std::filesystem::path;

std::vector<std::string> suite_names(Path const& folder) {
  std::vector<std::string> names;
  for (auto const& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".json") names.push_back(file.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

// A name, or the path of a file: that ends in .json, which no name does.
Path file_of_suite(Path const& folder, std::string const& asked) {
  if (Path const file = asked; file.extension() == ".json") {
    if (!std::filesystem::is_regular_file(file)) throw UsageError(fmt::format("there is no file '{}'", asked));
    return file;
  }
  auto const names = suite_names(folder);
  if (std::find(names.begin(), names.end(), asked) == names.end())
    throw UsageError(fmt::format("there is no suite '{}'; there are {}", asked, fmt::join(names, ", ")));
  return folder / (asked + ".json");
}

std::vector<std::string> variants_of(Json const& value) {
  if (value.is_array()) return value;
  std::string const word = value;
  if (word == Selection::kAll || word == Selection::kProduction) return {word};
  throw UsageError(fmt::format("variants is '{}', neither '{}' nor '{}' nor a list of names", word, Selection::kAll,
                               Selection::kProduction));
}

// Where the value of each key belongs; those of `needed` must be there.
using Fields = std::map<std::string, std::variant<std::int64_t*, int*, float*, std::string*>>;

Fields fields(Case& c) {
  return {
      {"rows", &c.rows},         {"cols", &c.cols},           {"batch", &c.batch},       {"pitch", &c.pitch},
      {"base_src", &c.base_src}, {"pitch_dst", &c.pitch_dst}, {"base_dst", &c.base_dst}, {"elem_bytes", &c.elem_bytes}};
}
Fields fields(GemmCase& c) {
  return {{"m", &c.M},         {"n", &c.N},       {"k", &c.K},     {"batch", &c.batch}, {"layout", &c.layout},
          {"alpha", &c.alpha}, {"beta", &c.beta}, {"lda", &c.lda}, {"ldb", &c.ldb},     {"ldc", &c.ldc}};
}
std::vector<char const*> needed(Case const&) { return {"rows", "cols"}; }
std::vector<char const*> needed(GemmCase const&) { return {"m", "n", "k", "layout"}; }

template <class C>
SuiteCase parse_case(Json const& object, std::string const& suite) {
  C c;
  SuiteCase parsed{{}, {Selection::kProduction}, suite};
  Fields const known = fields(c);
  for (char const* key : needed(c)) (void)object.at(key);
  for (auto const& [key, value] : object.items()) {
    auto const at = known.find(key);
    if (key == "variants")
      parsed.variants = variants_of(value);
    else if (at == known.end())
      throw UsageError(fmt::format("there is no key '{}'", key));
    else
      std::visit([&value = value](auto* field) { value.get_to(*field); }, at->second);
  }
  validate(c);
  parsed.problem = c;
  return parsed;
}

template <class C>
std::vector<SuiteCase> load(Path const& folder, std::string const& asked) {
  Path const file = file_of_suite(folder, asked);
  std::vector<SuiteCase> cases;
  try {
    std::ifstream in(file);
    for (Json const& object : Json::parse(in)) cases.push_back(parse_case<C>(object, file.stem()));
  } catch (std::exception const& e) {
    throw UsageError(fmt::format("{}, after {} good cases: {}", file.string(), cases.size(), e.what()));
  }
  return cases;
}

}  // namespace

std::vector<SuiteCase> load_suite(std::string const& name) { return load<Case>(data_file("suites"), name); }
std::vector<SuiteCase> load_gemm_suite(std::string const& name) {
  return load<GemmCase>(data_file("suites/gemm"), name);
}

}  // namespace inlay::lab
