#include "layout/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "layout/print.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

using Walk = WarpAccess::Walk;

struct LayoutOptions {
  std::string expression, threads, access;
  std::optional<int> elem_bytes;
  std::vector<int> vector;  // bytes of a lane: one number, or one along rows and one down columns
  bool bytes = false, suggest = false, whole = false, json = false;
};

// The bytes of an element. Throws UsageError if options contradict each other or the expression.
int checked_elem_bytes(LayoutOptions const& o, Layout const& layout) {
  int const elem = elem_bytes_of({layout}, o.elem_bytes);
  if (o.bytes && layout.front().elem_bytes)
    throw UsageError("--bytes was given with an smem_ptr, whose swizzle acts on bytes anyway");
  if (!o.vector.empty() && !o.suggest && o.threads.empty())
    throw UsageError("--vector was given without --suggest or --threads");
  for (int const v : o.vector)
    if (!std::has_single_bit(unsigned(v)) || v > 16 || v < elem)
      throw UsageError(
          fmt::format("--vector is {}; a lane asks for 1, 2, 4, 8 or 16 bytes, at least an element's {}", v, elem));
  return elem;
}

std::vector<Walk> walks(LayoutOptions const& o) {
  if (o.access == "row") return {Walk::row};
  if (o.access == "col") return {Walk::column};
  return {Walk::row, Walk::column};
}

// Accesses of one element per lane, and of 4, 8 and 16 bytes per lane if these are wider.
std::vector<WarpAccess> accesses_of_every_width(LayoutOptions const& o, int elem_bytes, Layout const* threads) {
  std::vector<WarpAccess> all;
  auto lanes = walks(o);
  if (threads) lanes.push_back(Walk::threads);
  for (Walk const walk : lanes)
    for (int bytes = elem_bytes; bytes <= 16; bytes *= 2)
      if (bytes == elem_bytes || bytes >= 4) all.push_back({walk, bytes, walk == Walk::threads ? threads : nullptr});
  return all;
}

// The access of --threads, with the bytes of a lane that --vector says, or else the widest that the thread's values
// allow.
WarpAccess partition_access(LayoutOptions const& o, TileOffsets const& tile, Layout const& threads, int elem_bytes) {
  check_partition(tile, threads);
  WarpAccess access{Walk::threads, o.vector.empty() ? 16 : o.vector[0], &threads};
  if (o.vector.empty())
    while (access.bytes > elem_bytes && !vectors_of(tile, access, elem_bytes)) access.bytes /= 2;
  else if (!vectors_of(tile, access, elem_bytes))
    throw UsageError(fmt::format("--vector is {}, but {} values of a thread are not contiguous in the tile",
                                 access.bytes, access.bytes / elem_bytes));
  return access;
}

// The accesses that suggestions make free of conflicts: those of --threads and those that --access names; without
// --access, those of --threads, or else both along rows and down columns.
std::vector<WarpAccess> accesses_to_free(LayoutOptions const& o, std::optional<WarpAccess> const& of_threads,
                                         int elem_bytes) {
  std::vector<WarpAccess> all;
  if (of_threads) all.push_back(*of_threads);
  if (of_threads && o.access.empty()) return all;
  for (Walk const walk : walks(o)) {
    int const bytes = o.vector.empty() ? elem_bytes : walk == Walk::row ? o.vector.front() : o.vector.back();
    all.push_back({walk, bytes});
  }
  return all;
}

std::string output(LayoutOptions const& o) {
  Layout layout = parse_layout(o.expression);
  int const elem = checked_elem_bytes(o, layout);
  if (o.bytes) layout = layout.with(in_elements(layout.front().swizzle, elem));
  TileOffsets const tile = tile_of(layout);
  std::optional<Layout> threads;
  std::optional<WarpAccess> of_threads;
  if (!o.threads.empty()) of_threads = partition_access(o, tile, threads.emplace(parse_layout(o.threads)), elem);
  auto const accesses = accesses_of_every_width(o, elem, threads ? &*threads : nullptr);
  std::vector<WarpAccess> to_free;
  std::optional<Suggestions> suggestions;
  if (o.suggest) {
    if (std::int64_t const bytes = std::max(layout.size(), layout.cosize()) * elem; bytes > kSharedBytes)
      throw UsageError(fmt::format("--suggest: {} bytes are more than the {} of shared memory that a block can have",
                                   bytes, kSharedBytes));
    to_free = accesses_to_free(o, of_threads, elem);
    suggestions = suggest(layout, to_free, elem);
  }
  if (o.json) return layout_json(layout, tile, elem, accesses, of_threads, suggestions) + '\n';

  std::string s = summary(layout, tile, elem) + '\n' + access_table(tile, accesses, elem);
  if (suggestions) s += '\n' + table(*suggestions, layout, to_free, elem);
  if (of_threads) s += '\n' + partition(tile, *of_threads, elem, o.whole);
  return s + '\n' + offset_grid(tile, o.whole) + '\n' + bank_grid(tile, elem, o.whole);
}

}  // namespace

void add_layout_command(CLI::App& app) {
  auto* const command =
      app.add_subcommand("layout", "offsets, banks and bank conflicts of a layout in CuTe's notation");
  auto const o = std::make_shared<LayoutOptions>();
  command->add_option("expression", o->expression, "such as 'Swizzle<3,3,3> o (8,64):(64,1)'")->required();
  command->add_option("--elem", o->elem_bytes, "bytes of an element (default: 4, or what an smem_ptr names)");
  command->add_flag("--bytes", o->bytes, "the swizzle acts on byte offsets, not on elements");
  command->add_option("--access", o->access, "lanes along a row, down a column, or both (default)")
      ->check(CLI::IsMember({"row", "col", "both"}));
  command->add_option("--threads", o->threads,
                      "a layout from (thread, value) to the tile's elements, counted down its columns");
  command->add_option("--vector", o->vector, "bytes of a lane, for --suggest and --threads; ROW,COLUMN if they differ")
      ->delimiter(',')
      ->expected(1, 2);
  command->add_flag("--suggest", o->suggest, "swizzles and paddings without conflicts, cheapest first");
  command->add_flag("--whole", o->whole, "whole grids, however large");
  command->add_flag("--json", o->json, "as JSON");
  command->callback([o] { fmt::print("{}", output(*o)); });
}

}  // namespace inlay::lab
