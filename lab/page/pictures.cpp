#include "draw/path.h"
#include "draw/request.h"
#include "draw/svg.h"
#include "draw/timeline.h"
#include "draw/watch.h"
#include "page/parts.h"
#include "problems/kernels.h"
#include "problems/shown_case.h"
#include "usage_error.h"

namespace inlay::lab::page {
namespace {

constexpr std::string_view kBegin = "<style>\n", kEnd = "</style>\n";

std::string without_style(std::string svg) {
  if (auto const begin = svg.find(kBegin); begin != svg.npos) svg.erase(begin, svg.find(kEnd) + kEnd.size() - begin);
  return svg;
}

// The cases of the worst request and of the timeline. A GEMM's requests are the same in a smaller case; its pipeline
// needs a larger K.
CopyCase const& request_case(CopyCase const& c) { return c; }
GemmCase resized(GemmCase c, std::int64_t M, std::int64_t N, std::int64_t K) {
  c.M = M, c.N = N, c.K = K;
  return c;
}
GemmCase request_case(GemmCase const& c) { return resized(c, 128, 128, 32); }
CopyCase const& timeline_case(CopyCase const& c) { return c; }
GemmCase timeline_case(GemmCase const& c) { return resized(c, 128, 256, 256); }

// Adds the picture that `draw` returns, unless it is empty or `draw` throws UsageError.
template <class Draw>
void add(std::vector<Picture>& pictures, char const* caption, Draw const& draw) {
  try {
    if (std::string svg = draw(); !svg.empty()) pictures.push_back({caption, without_style(std::move(svg))});
  } catch (UsageError const&) {
  }
}

template <class P, class C>
std::vector<Picture> draw_pictures(Entry<P> const& entry, C const& small) {
  std::vector<Picture> pictures;
  add(pictures, "The path of a tile", [&] { return draw_path(entry, small); });
  add(pictures, "The request farthest above its ideal", [&] {
    WarpRequest const request = worst_request(entry, request_case(small), "");
    return request.excess ? draw_request(request) : std::string();
  });
  add(pictures, "The stages of the pipeline", [&] {
    C const c = timeline_case(small);
    Timeline const timeline = timeline_of(entry, c);
    bool const is_pipeline = timeline.uses.size() > 1;
    return is_pipeline ? draw_timeline(title_of(entry, c), timeline) : std::string();
  });
  return pictures;
}

}  // namespace

std::optional<CopyCase> small_case(Entry<Copy> const& entry) {
  for (CopyCase const& c : {transpose_case(256, 256), transpose_case(4096, 8), transpose_case(8, 4096),
                            transpose_case(16, 16, 64), transpose_case(512, 3, 1, 1), transpose_case(3, 512, 1, 1)})
    if (!entry.info().rejects(planned(c, &entry.info()), Device{})) return c;
  return std::nullopt;
}
std::optional<GemmCase> small_case(Entry<Gemm> const& entry) { return shown_case(entry.info(), 256, 256, 32); }

std::vector<Picture> pictures_of(Entry<Copy> const& entry, CopyCase const& small) {
  return draw_pictures(entry, small);
}
std::vector<Picture> pictures_of(Entry<Gemm> const& entry, GemmCase const& small) {
  return draw_pictures(entry, small);
}

std::string picture_style() {
  std::string const svg = svg::Picture().document(1, "");
  auto const begin = svg.find(kBegin) + kBegin.size();
  return svg.substr(begin, svg.find(kEnd) - begin);
}

}  // namespace inlay::lab::page
