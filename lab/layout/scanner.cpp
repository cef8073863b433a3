#include "layout/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "usage_error.h"

namespace inlay::lab {

Scanner::Scanner(std::string_view text) : text_(text) {
  std::replace_if(
      text_.begin(), text_.end(), [](unsigned char c) { return std::isspace(c); }, ' ');
}

char Scanner::peek() {
  while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Scanner::take(std::string_view word) {
  peek();
  if (!std::string_view(text_).substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

void Scanner::need(std::string_view word) {
  if (!take(word)) fail(fmt::format("'{}'", word));
}

std::int64_t Scanner::number(std::int64_t least, std::int64_t most, char const* expected) {
  take("_");
  char const first = peek();
  std::size_t const start = at_;
  std::int64_t value = 0;
  for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_)
    value = std::min(value * 10 + (text_[at_] - '0'), most + 1);
  if (at_ == start) fail(first == '-' ? "a number that is not negative" : expected);
  if (value < least || value > most)
    fail_with(fmt::format("expected a number from {} to {}, found {}", least, most, text_.substr(start, at_ - start)),
              start);
  return value;
}

void Scanner::fail(std::string const& expected) { fail(expected, (peek(), at_)); }

void Scanner::fail(std::string const& expected, std::size_t at) const {
  std::size_t end = std::min(at + 1, text_.size());
  while (end < text_.size() && (text_[end] & 0xC0) == 0x80) ++end;  // the rest of a character of several bytes
  std::string const found = at < text_.size() ? fmt::format("'{}'", text_.substr(at, end - at)) : "the end";
  fail_with(fmt::format("expected {}, found {}", expected, found), at);
}

void Scanner::fail_with(std::string const& sentence, std::size_t at) const {
  throw UsageError(fmt::format("at {}: {}\n  {}\n  {:>{}}", at + 1, sentence, text_, '^', at + 1));
}

}  // namespace inlay::lab
