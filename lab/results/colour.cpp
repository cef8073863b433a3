#include "results/colour.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace inlay::lab {
namespace {

bool takes_colours() {
  char const* const none = std::getenv("NO_COLOR");
  char const* const terminal = std::getenv("TERM");
  return isatty(fileno(stdout)) && !(none && *none) && terminal && std::string_view(terminal) != "dumb";
}

}  // namespace

std::string coloured(std::string const& text, Colour colour) {
  static bool const takes = takes_colours();
  return takes ? fmt::format("\033[{}m{}\033[0m", int(colour), text) : text;
}

std::string bold_lines(std::string const& text, std::string const& beginning) {
  std::istringstream lines(text);
  std::string s;
  for (std::string line; std::getline(lines, line);)
    s += (line.starts_with(beginning) ? coloured(line, Colour::bold) : line) + '\n';
  return s;
}

}  // namespace inlay::lab
