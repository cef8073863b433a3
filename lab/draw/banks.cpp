#include "draw/banks.h"

#include <fmt/format.h>
#include <inlay/banks.h>

#include <algorithm>
#include <cmath>

#include "draw/svg.h"
#include "layout/layout.h"
#include "results/text.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr std::int64_t kMostExtent = 128;  // rows or columns of a grid that is still legible
constexpr double kTop = 76, kGap = 30, kHeading = 38;
constexpr double kMinNumberedWidth = 11.5;  // of a cell that has two digits written in it

// The wavefronts of a load whose lane i accesses element first + i, counted along rows or down columns. Lanes beyond
// the last element are inactive.
unsigned wavefronts(BankGrid const& grid, int elem_bytes, bool down, std::int64_t first) {
  banks::Request request{{}, 0, unsigned(elem_bytes)};
  for (int lane = 0; lane < 32 && first + lane < grid.rows * grid.cols; ++lane) {
    std::int64_t const n = first + lane;
    std::int64_t const offset =
        down ? grid.offset(n % grid.rows, n / grid.rows) : grid.offset(n / grid.cols, n % grid.cols);
    request.address[lane] = std::uint64_t(offset) * unsigned(elem_bytes);
    request.active |= 1u << lane;
  }
  return banks::wavefronts(request, banks::Access::load);
}
unsigned most_wavefronts(BankGrid const& grid, int elem_bytes, bool down) {
  unsigned most = 0;
  for (std::int64_t first = 0; first < grid.rows * grid.cols; first += 32)
    most = std::max(most, wavefronts(grid, elem_bytes, down, first));
  return most;
}

struct Cell {
  double width, height;
};

// The grid at (x, y), with frames around the elements of the first request along a row and of the first down a column.
void add_grid(svg::Picture& picture, BankGrid const& grid, int elem_bytes, double x, double y, Cell cell) {
  unsigned const least = banks::least_wavefronts(unsigned(elem_bytes));
  picture.text(x, y + 12, "mono bold", grid.title);
  picture.text(
      x, y + 29, "s11",
      fmt::format("a warp down a column: {}; along a row: {}", counted(grid.wavefronts_down(elem_bytes), "wavefront"),
                  counted(grid.wavefronts_along(elem_bytes), "wavefront")));
  y += kHeading;
  std::vector<unsigned> const ids = grid.bank_ids(elem_bytes);
  std::vector<std::vector<svg::Picture::Tile>> of_bank(32);
  for (std::int64_t n = 0; n < grid.rows * grid.cols; ++n)
    of_bank[ids[std::size_t(n)]].push_back(
        {x + double(n % grid.cols) * cell.width, y + double(n / grid.cols) * cell.height, cell.width});
  for (unsigned id = 0; id < 32; ++id) picture.tiles(of_bank[id], cell.height, svg::ramp(id / 31.));
  for (std::int64_t i = 0; i < grid.rows && cell.width >= kMinNumberedWidth; ++i) {
    std::vector<double> middles;
    std::vector<std::string> words;
    for (std::int64_t j = 0; j < grid.cols; ++j) {
      middles.push_back(x + (double(j) + .5) * cell.width);
      words.push_back(std::to_string(ids[std::size_t(i * grid.cols + j)]));
    }
    picture.words(middles, y + (double(i) + .5) * cell.height + 3, "dark", words);
  }
  auto const frame = [&](std::int64_t rows, std::int64_t cols, bool conflict) {
    picture.rect(x, y, double(cols) * cell.width, double(rows) * cell.height,
                 conflict ? "frame bad-line firm" : "frame dark-line");
  };
  frame(1, std::min<std::int64_t>(32, grid.cols), wavefronts(grid, elem_bytes, false, 0) > least);
  frame(std::min<std::int64_t>(32, grid.rows), 1, wavefronts(grid, elem_bytes, true, 0) > least);
}

}  // namespace

std::vector<unsigned> BankGrid::bank_ids(int elem_bytes) const {
  std::vector<unsigned> ids;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      ids.push_back(banks::bank([this](int i, int j) { return offset(i, j); }, int(i), int(j), elem_bytes));
  return ids;
}
unsigned BankGrid::wavefronts_down(int elem_bytes) const { return most_wavefronts(*this, elem_bytes, true); }
unsigned BankGrid::wavefronts_along(int elem_bytes) const { return most_wavefronts(*this, elem_bytes, false); }

std::string draw_banks(std::vector<BankGrid> const& grids, int elem_bytes) {
  std::int64_t cols = 0, widest = 0;
  for (BankGrid const& grid : grids) {
    if (grid.rows < 1 || grid.cols < 1 || grid.rows > kMostExtent || grid.cols > kMostExtent)
      throw UsageError(fmt::format("{} has {} x {} elements; at most {} x {} can be read in a picture", grid.title,
                                   grid.rows, grid.cols, kMostExtent, kMostExtent));
    cols += grid.cols, widest = std::max(widest, grid.cols);
  }
  double const space = svg::kWidth - 2 * svg::kMargin, gaps = kGap * double(grids.size() - 1);
  bool const beside = (space - gaps) / double(cols) >= kMinNumberedWidth;
  double const width = std::min(24., beside ? (space - gaps) / double(cols) : space / double(widest));
  Cell const cell = width >= kMinNumberedWidth ? Cell{std::floor(width * 2) / 2, 11} : Cell{width, width};

  svg::Picture picture;
  std::string const title = "Banks of shared memory, elements of " + counted(elem_bytes, "byte");
  picture.text(svg::kMargin, 36, "head", title);
  picture.text(svg::kMargin, 58, "pale s11",
               "A cell is an element; its number and colour show its bank. Frames: the first request along a row and "
               "down a column, orange if banks conflict.");
  double x = svg::kMargin, y = kTop, bottom = kTop;
  for (BankGrid const& grid : grids) {
    add_grid(picture, grid, elem_bytes, x, y, cell);
    bottom = std::max(bottom, y + kHeading + double(grid.rows) * cell.height);
    if (beside)
      x += double(grid.cols) * cell.width + kGap;
    else
      y = bottom + kGap;
  }
  return picture.document(bottom + svg::kMargin, title);
}

std::string draw_banks(std::vector<std::string> const& texts, std::optional<int> elem_bytes) {
  std::vector<Layout> layouts;
  std::vector<BankGrid> grids;
  for (std::string const& text : texts) {
    Layout const& layout = layouts.emplace_back(parse_layout(text));
    grids.push_back({text, layout.rows(), layout.cols(), layout});
  }
  return draw_banks(grids, elem_bytes_of(layouts, elem_bytes));
}

}  // namespace inlay::lab
