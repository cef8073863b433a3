#include "page/html.h"

#include <fmt/format.h>

#include <cmath>

namespace inlay::lab::page {

std::string count(double n) {
  constexpr char const* kUnits[] = {"", " K", " M", " G", " T", " P"};
  int unit = 0;
  for (; n >= 9999.5 && unit < 5; ++unit) n /= 1000;
  return fmt::format("{:.{}f}{}", n, unit == 0 || n >= 100 ? 0 : n >= 10 ? 1 : 2, kUnits[unit]);
}

std::string duration(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.1f} µs", seconds * 1e6) : fmt::format("{:.3f} ms", seconds * 1e3);
}

std::string deviation(double ratio) {
  double const percent = 100 * (ratio - 1);
  if (std::abs(percent) < .05) return "0.0 %";
  return fmt::format("{}{:.1f} %", percent < 0 ? "−" : "+", std::abs(percent));
}

std::string scrolling(std::string_view label, std::string const& content) {
  return fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n",
                     escaped(label), content);
}

std::string table(std::string_view label, char const* classes, std::string const& headings, std::string const& rows) {
  return scrolling(
      label, fmt::format("<table{}><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table>\n", classes, headings, rows));
}

}  // namespace inlay::lab::page
