// Pieces of a page that is HTML for browsers and well-formed XML for whoever checks it.
#pragma once
#include <string>
#include <string_view>

namespace inlay::lab::page {

std::string escaped(std::string_view text);

// For people: "33.6 M", "2.041 ms", "12.3 µs", "+4.2 %".
std::string count(double n);
std::string duration(double seconds);
std::string deviation(double ratio);

// What is wider than a phone scrolls in a box of its own; the keyboard reaches it.
std::string scrolling(std::string_view label, std::string const& content);

// C++ with its comments, strings, directives and keywords marked.
std::string coloured(std::string_view source);

}  // namespace inlay::lab::page
