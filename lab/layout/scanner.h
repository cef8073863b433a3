// Text that is read from left to right, where every mistake is told with its place.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace inlay::lab {

class Scanner {
 public:
  explicit Scanner(std::string_view text);

  // All skip blanks. peek: the next character, or 0 at the end; take: goes on behind the word if it comes next.
  char peek();
  bool take(std::string_view word);
  void need(std::string_view word);
  // Digits, which may stand behind a _: a static integer.
  std::int64_t number(std::int64_t least, std::int64_t most, char const* expected);

  // Throw UsageError: a sentence with the place, the text, a caret below it.
  [[noreturn]] void fail(std::string const& expected);  // here
  [[noreturn]] void fail(std::string const& expected, std::size_t at) const;
  [[noreturn]] void fail_with(std::string const& sentence, std::size_t at) const;

 protected:
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace inlay::lab
