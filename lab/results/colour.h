// Colours of the terminal, where stdout is one and NO_COLOR (https://no-color.org) is not set.
#pragma once
#include <cstdint>
#include <string>

namespace inlay::lab {

enum class Colour : std::uint8_t { bold = 1, red = 31, green = 32 };
// The text in this colour, or plain.
std::string coloured(std::string const& text, Colour colour);
// The lines that begin so are bold.
std::string bold_lines(std::string const& text, std::string const& beginning);

}  // namespace inlay::lab
