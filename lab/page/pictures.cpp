#include "page/pictures.h"

#include "draw/path.h"
#include "draw/request.h"
#include "draw/svg.h"
#include "draw/timeline.h"
#include "draw/watch.h"
#include "problems/kernels.h"
#include "usage_error.h"

namespace inlay::lab::page {
namespace {

constexpr std::string_view kBegin = "<style>\n", kEnd = "</style>\n";

std::string without_style(std::string svg) {
  if (auto const begin = svg.find(kBegin); begin != svg.npos) svg.erase(begin, svg.find(kEnd) + kEnd.size() - begin);
  return svg;
}

// A GEMM's worst request shows in a smaller one; its pipeline only in a longer one.
TransposeCase const& of_requests(TransposeCase const& c) { return c; }
GemmCase of_requests(GemmCase const& c) { return gemm_case(128, 128, 32, c.transposes()); }
TransposeCase const& of_stages(TransposeCase const& c) { return c; }
GemmCase of_stages(GemmCase const& c) { return gemm_case(128, 256, 256, c.transposes()); }

// Adds what `draw` returns; nothing where there is nothing to see.
template <class Draw>
void add(std::vector<Picture>& pictures, char const* caption, Draw const& draw) {
  try {
    if (std::string svg = draw(); !svg.empty()) pictures.push_back({caption, without_style(std::move(svg))});
  } catch (UsageError const&) {
  }
}

// `of_path` is a small problem that the kernel takes.
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
    Timeline const timeline = timeline_of(entry, c);
    return timeline.uses.size() > 1 ? draw_timeline(title_of(entry, c), timeline)
                                    : std::string();  // one is no pipeline
  });
  return pictures;
}

}  // namespace

std::optional<TransposeCase> small_case(Entry<Copy> const& entry) {
  for (TransposeCase const& c : {TransposeCase{256, 256}, TransposeCase{4096, 8}, TransposeCase{8, 4096},
                                 TransposeCase{16, 16, 64}, TransposeCase{512, 3, 1, 1}, TransposeCase{3, 512, 1, 1}})
    if (!entry.info().rejects(planned(c, &entry.info()), Device{})) return c;
  return std::nullopt;
}
std::optional<GemmCase> small_case(Entry<Gemm> const& entry) {
  return gemm_case(256, 256, 32, shown_transposes(entry.info()));
}

std::vector<Picture> pictures_of(Entry<Copy> const& entry, TransposeCase const& small) { return drawn(entry, small); }
std::vector<Picture> pictures_of(Entry<Gemm> const& entry, GemmCase const& small) { return drawn(entry, small); }

std::string picture_style() {
  std::string const svg = svg::Picture().document(1, "");
  auto const begin = svg.find(kBegin) + kBegin.size();
  return svg.substr(begin, svg.find(kEnd) - begin);
}

}  // namespace inlay::lab::page
