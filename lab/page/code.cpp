#include <algorithm>
#include <array>

#include "page/html.h"

namespace inlay::lab::page {
namespace {

constexpr std::array kKeywords{
    "alignas",     "auto",     "bool",     "break",    "case",     "char",      "class",   "concept",  "const",
    "constexpr",   "continue", "decltype", "double",   "else",     "enum",      "false",   "float",    "for",
    "friend",      "if",       "inline",   "int",      "int64_t",  "namespace", "nullptr", "operator", "private",
    "public",      "requires", "return",   "short",    "signed",   "sizeof",    "size_t",  "static",   "static_assert",
    "static_cast", "struct",   "switch",   "template", "this",     "true",      "typedef", "typename", "uint32_t",
    "uint64_t",    "unsigned", "using",    "void",     "volatile", "while"};

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string marked(char const* tag, std::string_view text) {
  return std::string("<") + tag + '>' + escaped(text) + "</" + tag + '>';
}

// The position behind the string or character literal that begins at `begin`.
std::size_t end_of_literal(std::string_view s, std::size_t begin) {
  std::size_t i = begin + 1;
  while (i < s.size() && s[i] != s[begin] && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
  return std::min(i + 1, s.size());
}

std::size_t line_end(std::string_view s, std::size_t from) { return std::min(s.find('\n', from), s.size()); }

}  // namespace

// Comments become em elements, literals q, directives i and keywords b; the style sheet gives them colours.
std::string coloured(std::string_view s) {
  std::string html;
  for (std::size_t i = 0, end; i < s.size(); i = end) {
    bool const line_begins = i == 0 || s[i - 1] == '\n';
    if (s.substr(i, 2) == "//") {
      html += marked("em", s.substr(i, (end = line_end(s, i)) - i));
    } else if (s.substr(i, 2) == "/*") {
      end = std::min(s.find("*/", i), s.size() - 2) + 2;
      html += marked("em", s.substr(i, end - i));
    } else if (line_begins && s[i] == '#') {
      html += marked("i", s.substr(i, (end = line_end(s, i)) - i));
    } else if (s[i] == '"' || s[i] == '\'') {
      html += marked("q", s.substr(i, (end = end_of_literal(s, i)) - i));
    } else if (is_word(s[i])) {
      // Digit separators belong to a number.
      bool const number = s[i] >= '0' && s[i] <= '9';
      for (end = i; end < s.size() && (is_word(s[end]) || (number && s[end] == '\'')); ++end) {
      }
      auto const word = s.substr(i, end - i);
      bool const keyword = std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
      html += keyword ? marked("b", word) : escaped(word);
    } else {
      html += escaped(s.substr(i, (end = i + 1) - i));
    }
  }
  return html;
}

}  // namespace inlay::lab::page
