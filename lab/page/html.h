// Parts of an HTML page that is also well-formed XML.
#pragma once
#include <string>
#include <string_view>

#include "draw/svg.h"

namespace inlay::lab::page {

using svg::escaped;

// Numbers with units: "33.6 M"; "2.041 ms", "12.3 µs"; "+4.2 %".
std::string count(double n);
std::string duration(double seconds);
std::string deviation(double ratio);

// A box that scrolls, for content that can be wider than the window of a phone. The keyboard can focus it.
std::string scrolling(std::string_view label, std::string const& content);
// A table in such a box. `classes` is an attribute of the table or empty; `headings` are th elements, `rows` tr
// elements.
std::string table(std::string_view label, char const* classes, std::string const& headings, std::string const& rows);

// C++ source with its comments, strings, directives and keywords marked.
std::string coloured(std::string_view source);

}  // namespace inlay::lab::page
