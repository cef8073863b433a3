// What `--threads` adds: who holds what, and what the requests of each warp cost.
#include <fmt/format.h>

#include "layout/grid.h"
#include "layout/print.h"

namespace inlay::lab {

using banks::Access;

std::string partition(TileOffsets const& tile, WarpAccess const& access, int elem_bytes, bool whole) {
  Layout const& threads = *access.threads;
  std::vector<std::int64_t> owner(tile.offsets.size(), -1);
  std::int64_t shared = 0, unowned = 0;
  for (std::int64_t value = 0; value < threads.cols(); ++value)
    for (std::int64_t thread = 0; thread < threads.rows(); ++thread) {
      std::int64_t& o = owner[std::size_t(threads(thread, value))];
      shared += o >= 0;
      if (o < 0) o = thread;
    }
  for (std::int64_t const o : owner) unowned += o < 0;

  std::string s = fmt::format("{}: {}, {} each", to_string(threads), counted(threads.rows(), "thread"),
                              counted(threads.cols(), "value"));
  if (shared) s += fmt::format("; {} of elements that have a holder", counted(shared, "value"));
  if (unowned) s += fmt::format("; {} without a holder", counted(unowned, "element"));
  s += "\n\n" + grid("The thread that holds each element", {"row", tile.rows, 1}, {"column", tile.cols, 1}, whole,
                     [&](auto i, auto j) { return owner[std::size_t(i + j * tile.rows)]; });

  auto const vectors = vectors_of(tile, access, elem_bytes).value();
  auto const loads = wavefronts_by_warp(tile, access, vectors, elem_bytes, Access::load);
  auto const stores = wavefronts_by_warp(tile, access, vectors, elem_bytes, Access::store);
  for (auto const* of : {&loads, &stores}) {
    if (of == &stores && loads == stores) break;
    std::string const title =
        fmt::format("Wavefronts of each request{}, {} bytes a lane: warps down, their first values across",
                    loads == stores ? ""
                    : of == &loads  ? " to load"
                                    : " to store",
                    access.bytes);
    s += '\n' + grid(title, {"warp", std::int64_t(of->size()), 1},
                     {"value", std::int64_t((*of)[0].size()), vectors.length}, whole,
                     [&](auto i, auto j) { return std::int64_t((*of)[std::size_t(i)][std::size_t(j)]); });
  }
  return s;
}

}  // namespace inlay::lab
