#include "page/pictures.h"

#include "draw/path.h"
#include "draw/request.h"
#include "draw/svg.h"
#include "draw/timeline.h"
#include "draw/watch.h"
#include "usage_error.h"
#include "variants.h"

namespace inlay::lab::page {
namespace {

constexpr std::string_view kBegin = "<style>\n", kEnd = "</style>\n";

std::string without_style(std::string svg) {
  if (auto const begin = svg.find(kBegin); begin != svg.npos) svg.erase(begin, svg.find(kEnd) + kEnd.size() - begin);
  return svg;
}

// A product's worst request shows in a smaller one; its pipeline only in a longer one.
Case const& of_requests(Case const& c) { return c; }
GemmCase of_requests(GemmCase const& c) { return product_of(128, 128, 32, c.layout); }
Case const& of_stages(Case const& c) { return c; }
GemmCase of_stages(GemmCase const& c) { return product_of(128, 256, 256, c.layout); }

// Adds what `draw` returns; nothing where there is nothing to see.
template <class Draw>
void add(std::vector<Picture>& pictures, char const* caption, Draw const& draw) {
  try {
    if (std::string svg = draw(); !svg.empty()) pictures.push_back({caption, without_style(std::move(svg))});
  } catch (UsageError const&) {
  }
}

// `of_path` is a small problem that the variant takes.
template <class P, class C>
std::vector<Picture> drawn(Entry<P> const& entry, C const& of_path) {
  std::vector<Picture> pictures;
  add(pictures, "The way of a tile", [&] { return draw_path(entry, of_path); });
  add(pictures, "The request that costs most beyond its ideal", [&] {
    WarpRequest const request = worst_request(entry, of_requests(of_path), "");
    return request.excess ? draw_request(request) : std::string();
  });
  add(pictures, "The stages of the pipeline", [&] {
    C const c = of_stages(of_path);
    return draw_timeline(title_of(entry, c), timeline_of(entry, c));
  });
  return pictures;
}

}  // namespace

std::optional<Case> small_case(Entry<Move> const& entry) {
  auto const at = [](int bit) { return reinterpret_cast<void*>(std::uintptr_t(1) << bit); };  // nobody reads there
  for (Case const& c : {Case{256, 256}, Case{4096, 8}, Case{8, 4096}, Case{16, 16, 64}}) {
    bool const copy = is_copy(entry.info());
    if (!entry.info().rejects((copy ? copy_move : transpose_move)(c, at(62), at(40)), Device{})) return c;
  }
  return std::nullopt;
}
GemmCase small_case(Entry<Gemm> const& entry) { return product_of(256, 256, 32, shown_layout(entry.info())); }

std::vector<Picture> pictures_of(Entry<Move> const& entry) {
  auto const c = small_case(entry);
  return c ? drawn(entry, *c) : std::vector<Picture>();
}
std::vector<Picture> pictures_of(Entry<Gemm> const& entry) { return drawn(entry, small_case(entry)); }

std::string picture_style() {
  std::string const svg = svg::Picture().document(1, "");
  auto const begin = svg.find(kBegin) + kBegin.size();
  return svg.substr(begin, svg.find(kEnd) - begin);
}

}  // namespace inlay::lab::page
