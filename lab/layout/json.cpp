#include <nlohmann/json.hpp>

#include "layout/print.h"
#include "problems/case.h"

namespace inlay::lab {
namespace {

using banks::Access;
using Walk = WarpAccess::Walk;

template <class Cell>
Json matrix(TileOffsets const& tile, Cell cell) {
  Json rows = Json::array();
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    Json row = Json::array();
    for (std::int64_t j = 0; j < tile.cols; ++j) row.push_back(cell(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json to_json(Wavefronts const& w) { return {{"worst", w.worst}, {"least", w.least}, {"mean", w.mean}}; }

Json to_json(TileOffsets const& tile, WarpAccess const& a, int elem_bytes) {
  char const* const lanes = a.walk == Walk::row ? "row" : a.walk == Walk::column ? "column" : "threads";
  auto const vectors = vectors_of(tile, a, elem_bytes);
  Json json{{"lanes", lanes}, {"bytes", a.bytes}, {"contiguous", vectors.has_value()}};
  if (!vectors) return json;
  json["load"] = to_json(wavefronts_of(tile, a, *vectors, elem_bytes, Access::load));
  json["store"] = to_json(wavefronts_of(tile, a, *vectors, elem_bytes, Access::store));
  return json;
}

Json to_json(std::vector<Suggestion> const& suggestions) {
  Json list = Json::array();
  for (Suggestion const& one : suggestions)
    list.push_back({{"layout", to_string(one.layout)}, {"more_bytes", one.more_bytes}, {"excess", one.excess}});
  return list;
}

}  // namespace

std::string layout_json(Layout const& layout, TileOffsets const& tile, int elem_bytes,
                        std::vector<WarpAccess> const& accesses, std::optional<WarpAccess> const& partition,
                        std::optional<Suggestions> const& suggestions) {
  Json json{{"layout", to_string(layout)}, {"elem_bytes", elem_bytes}, {"rows", tile.rows},
            {"cols", tile.cols},           {"size", layout.size()},    {"cosize", layout.cosize()}};
  json["offsets"] = matrix(tile, tile);
  json["banks"] = matrix(tile, [&](auto i, auto j) { return tile(i, j) * elem_bytes / 4 % 32; });
  for (WarpAccess const& a : accesses) json["accesses"].push_back(to_json(tile, a, elem_bytes));
  if (partition) {
    auto const vectors = vectors_of(tile, *partition, elem_bytes).value();
    Json& threads = json["threads"] = {{"layout", to_string(*partition->threads)}, {"bytes", partition->bytes}};
    threads["load"] = wavefronts_by_warp(tile, *partition, vectors, elem_bytes, Access::load);
    threads["store"] = wavefronts_by_warp(tile, *partition, vectors, elem_bytes, Access::store);
  }
  if (suggestions) {
    json["plain_is_free"] = suggestions->plain_is_free;
    json["free"] = to_json(suggestions->free);
    json["nearest"] = to_json(suggestions->nearest);
  }
  return json.dump();
}

}  // namespace inlay::lab
