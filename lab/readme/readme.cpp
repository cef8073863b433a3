#include "readme/readme.h"

#include <fmt/format.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "readme/tables.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

std::string with_tables(std::string const& text, std::string const& file) {
  static std::regex const marker(
      "<!-- table:h200-(?:(\\d{1,9})-(\\d{1,2})|suite-(\\w+)|gemm-(\\w+)|brief-(moves|GEMMs)|copy-(suites|cases)) "
      "-->\n");
  std::string const closing = "<!-- /table -->";
  Recorded const recorded = load_recorded();
  std::string s;
  auto at = text.begin();
  for (std::smatch m; std::regex_search(at, text.end(), m, marker);) {
    auto const end = text.find(closing, std::size_t(m[0].second - text.begin()));
    if (end == text.npos) throw UsageError(fmt::format("{} has a table without its '{}'", file, closing));
    s.append(at, m[0].second);
    if (m[6].matched)
      s += m[6] == "suites" ? copy_suites_table() : copy_cases_table();
    else if (m[5].matched)
      s += m[5] == "moves" ? brief_copies_table(recorded) : brief_gemms_table(recorded.gemms);
    else if (m[4].matched)
      s += m[4] == "ladder" ? gemm_ladder_table(recorded.gemms) : gemm_suite_table(recorded.gemms, m[4]);
    else if (m[3].matched)
      s += suite_table(recorded, m[3]);
    else
      s += square_table(recorded, std::stoll(m[1]), std::stoi(m[2]));
    at = text.begin() + std::ptrdiff_t(end);
  }
  if (at == text.begin())
    throw UsageError(fmt::format("{} has no line '<!-- table:h200-32768-4 -->' or the like", file));
  return s.append(at, text.end());
}

}  // namespace

bool update_readme(std::filesystem::path const& file, bool check_only) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw UsageError(fmt::format("{} cannot be read", file.string()));
  std::stringstream buffer;
  buffer << in.rdbuf();
  std::string const text = buffer.str(), updated = with_tables(text, file.string());
  if (updated == text) return true;
  if (!check_only) {
    std::ofstream out(file, std::ios::binary);
    if (!(out << updated).flush()) throw UsageError(fmt::format("{} cannot be written", file.string()));
  }
  return false;
}

}  // namespace inlay::lab
