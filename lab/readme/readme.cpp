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
  static std::regex const marker("<!-- table:h200-([\\w-]+) -->\n");
  std::string const closing = "<!-- /table -->";
  Recorded const recorded = load_recorded();
  std::string s;
  auto copied = text.begin(), at = text.begin();  // up to `copied`, s has the text with its tables
  for (std::smatch m; std::regex_search(at, text.end(), m, marker);) {
    at = m[0].second;
    auto const table = table_named(m[1], recorded);
    if (!table) continue;
    auto const end = text.find(closing, std::size_t(at - text.begin()));
    if (end == text.npos) throw UsageError(fmt::format("{} has a table without its '{}'", file, closing));
    s.append(copied, at) += *table;
    copied = at = text.begin() + std::ptrdiff_t(end);
  }
  if (s.empty()) throw UsageError(fmt::format("{} has no line '<!-- table:h200-32768-4 -->' or the like", file));
  return s.append(copied, text.end());
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
