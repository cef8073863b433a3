#include "problems/suites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "problems/kernels.h"
#include "results/data_files.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using Path = std::filesystem::path;

std::vector<std::string> suite_names(Path const& folder) {
  std::vector<std::string> names;
  for (auto const& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".json") names.push_back(file.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

// The path of a suite's file, from its name or from a path, which ends in .json.
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

std::vector<std::string> kernels_of(Json const& value) {
  if (value.is_array()) return value;
  std::string const word = value;
  if (word == Selection::kAll || word == Selection::kProduction) return {word};
  throw UsageError(fmt::format("kernels is '{}', neither '{}' nor '{}' nor a list of names", word, Selection::kAll,
                               Selection::kProduction));
}

void set(Json const& value, Field const& field) {
  std::visit(
      [&]<class T>(T* at) {
        if constexpr (std::is_integral_v<T>)
          if (!value.is_number_integer() || !(value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                                         : std::in_range<T>(value.get<std::int64_t>())))
            throw UsageError(
                fmt::format("{} is {}, no whole number of {} bits", field.key, value.dump(), 8 * sizeof(T)));
        if constexpr (!std::is_same_v<T, Compute>) value.get_to(*at);
      },
      field.value);
}

// Sets the fields of a case. `takes(key, value)`: whether a key is no field, but has been dealt with.
template <class C, class Takes>
C read_case(Json const& object, C c, Takes const& takes) {
  auto const fields = c.fields();
  for (Field const& field : fields)
    if (field.needed) (void)object.at(field.key);
  for (auto const& [key, value] : object.items()) {
    if (takes(key, value)) continue;
    auto const at = std::find_if(fields.begin(), fields.end(),
                                 [&k = key](Field const& field) { return field.key && field.key == k; });
    if (at == fields.end()) throw UsageError(fmt::format("there is no key '{}'", key));
    set(value, *at);
  }
  c.validate();
  return c;
}

// Calls `add` for each object of a suite.
template <class Add>
void over_suite(Path const& file, Add const& add) {
  int good = 0;
  try {
    std::ifstream in(file);
    for (Json const& object : Json::parse(in)) add(object), ++good;
  } catch (std::exception const& e) {
    throw UsageError(fmt::format("{}, after {} good cases: {}", file.string(), good, e.what()));
  }
}

}  // namespace

std::vector<std::string> suites_in(std::vector<std::string> const& folders) {
  std::vector<std::string> all;
  for (std::string const& folder : folders)
    for (std::string const& name : suite_names(data_file(folder))) all.push_back(folder + "/" + name);
  return all;
}

template <class C>
std::vector<SuiteCase> load_suite(std::string const& asked, C const& defaults) {
  Path const file = file_of_suite(data_file(defaults.notation().suites), asked);
  std::vector<SuiteCase> cases;
  over_suite(file, [&](Json const& object) {
    std::vector<std::string> kernels{Selection::kProduction};
    C const c = read_case(object, defaults, [&](std::string const& key, Json const& value) {
      if (key == "kernels") kernels = kernels_of(value);
      return key == "kernels";
    });
    cases.push_back({c, kernels, file.stem()});
  });
  return cases;
}

template std::vector<SuiteCase> load_suite(std::string const&, CopyCase const&);
template std::vector<SuiteCase> load_suite(std::string const&, GemmCase const&);

std::vector<ShardedCase> load_redistributions(std::string const& asked) {
  Path const file = file_of_suite(data_file("suites/redistribute"), asked);
  std::vector<ShardedCase> cases;
  over_suite(file, [&](Json const& object) {
    std::string name;
    ShardedCase c = read_case(object, ShardedCase{}, [&](std::string const& key, Json const& value) {
      if (key == "name") name = value;
      return key == "name";
    });
    c.name = name;
    cases.push_back(std::move(c));
  });
  return cases;
}

}  // namespace inlay::lab
