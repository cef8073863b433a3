// Numbers in rows and columns, cut to what a terminal shows.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace inlay::lab {

struct GridAxis {
  char const* name;
  std::int64_t extent;
  std::int64_t step;  // what a label counts
};

// The value at (i, j); a negative one is a dot.
using GridCell = std::function<std::int64_t(std::int64_t, std::int64_t)>;

// With a heading that says what it shows and of how much. `whole`: all of it, however wide.
std::string grid(std::string const& title, GridAxis const& rows, GridAxis const& cols, bool whole,
                 GridCell const& cell);

}  // namespace inlay::lab
