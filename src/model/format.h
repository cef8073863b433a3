// Numbers in text.
#pragma once
#include <cstdio>
#include <string>

namespace inlay::model {

// As printf; what exceeds 319 characters is cut off.
template <class... Args>
std::string format(char const* text, Args... args) {
  char s[320];
  std::snprintf(s, sizeof s, text, args...);
  return s;
}

// A number with an SI prefix, such as "1.07 G".
inline std::string count(double n) {
  char const* const unit[] = {"", " K", " M", " G", " T", " P"};
  int u = 0;
  for (; n >= 9999.5 && u < 5; ++u) n /= 1000;
  return u == 0 ? format("%.0f", n) : format("%.4g%s", n, unit[u]);
}

}  // namespace inlay::model
