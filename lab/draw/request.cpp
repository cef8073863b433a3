#include "draw/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "draw/svg.h"

namespace inlay::lab {
namespace {

using svg::kMargin, svg::kWidth;
constexpr double kFirstRow = 96;

bool is_on(banks::Request const& q, unsigned lane) { return q.active >> lane & 1; }

// For each pass: the distinct words requested from each bank, in the order of their lanes, and those lanes.
struct Word {
  std::uint64_t number;
  Lanes lanes;
};
using Pass = std::array<std::vector<Word>, 32>;
std::vector<Pass> passes_of(banks::Request const& q, banks::Access access) {
  unsigned const lanes = banks::lanes_of_pass(q, access);
  std::vector<Pass> passes(32 / lanes);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!is_on(q, lane)) continue;
    for (auto w = q.address[lane] / 4; w <= (q.address[lane] + q.bytes - 1) / 4; ++w) {
      auto& words = passes[lane / lanes][w % 32];
      auto at = std::find_if(words.begin(), words.end(), [&](Word const& x) { return x.number == w; });
      if (at == words.end()) at = words.insert(at, {w, {}});
      at->lanes.push_back(lane);
    }
  }
  return passes;
}

std::string element(WarpRequest const& r, std::uint64_t address) {
  auto const at = std::int64_t(address - r.base) / r.elem_bytes;
  return std::to_string(at);
}

std::string many(unsigned n, char const* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

// "32 lanes of 4 bytes"
std::string lanes_in_words(banks::Request const& q) {
  unsigned on = 0;
  for (unsigned lane = 0; lane < 32; ++lane) on += is_on(q, lane);
  return fmt::format("{} of {}", many(on, "lane"), many(q.bytes, "byte"));
}

void add_head(svg::Picture& picture, WarpRequest const& r, std::string const& costs) {
  picture.text(kMargin, 36, "head", r.title);
  picture.text(kMargin, 58, "", fmt::format("{}: {}, {}.", r.site, lanes_in_words(r.lanes), costs));
}

template <class P, class C>
WarpRequest worst(Entry<P> const& entry, C const& c, std::string const& asked) {
  struct Place {
    std::uint64_t base;
    int elem_bytes;
  };
  std::map<std::string, Place> places;  // of operands; a later block's shared memory lies where the first one's did
  Recorder recorder;
  recorder.watch([&](replay::TraceEvent const& e) {
    if (e.what == replay::Happens::access)
      places.try_emplace(e.operand->name, Place{e.address - e.offset, e.operand->elem_bytes});
  });
  replay_sound(entry, c, recorder);
  Site const& site = site_named(recorder.sites, asked);
  auto const [base, elem_bytes] = places.at(site.operand);
  return {title_of(entry, c), name_of(site), site.operand, site.worst,        site.space,
          site.store,         base,          elem_bytes,   site.worst_excess, site.worst_by_halves};
}

// ---- shared memory
constexpr double kLabels = 78, kColumn = 22, kBanksLeft = kMargin + kLabels, kRow = 15;
double left_of(unsigned column) { return kBanksLeft + column * kColumn; }

// The lanes with the elements that they ask for, and a line from each to its bank.
double add_lanes(svg::Picture& picture, WarpRequest const& r, std::uint32_t conflicting, double y) {
  constexpr double kFall = 84;
  picture.text(kMargin, y + 13, "s11", "lane");
  picture.text(kMargin, y + 28, "pale s9", r.elem_bytes == 1 ? "its byte" : "its element");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!is_on(r.lanes, lane)) continue;
    auto const bank = unsigned(r.lanes.address[lane] / 4 % 32), width = std::max(1u, r.lanes.bytes / 4);
    picture.line(left_of(lane) + kColumn / 2, y + 34, left_of(bank) + width * kColumn / 2, y + 34 + kFall,
                 conflicting >> lane & 1 ? "bad-line" : "good-line");
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    bool const on = is_on(r.lanes, lane);
    picture.rect(left_of(lane) + 1, y, kColumn - 2, 18, !on ? "cell" : conflicting >> lane & 1 ? "bad" : "good");
    picture.text(left_of(lane) + kColumn / 2, y + 13, on ? "middle s10 on" : "middle s10 pale", std::to_string(lane));
    if (on) picture.text(left_of(lane) + kColumn / 2, y + 28, "middle s8 pale", element(r, r.lanes.address[lane]));
  }
  y += 34 + kFall;
  picture.text(kMargin, y + 12, "s11", "bank");
  for (unsigned bank = 0; bank < 32; ++bank) {
    picture.rect(left_of(bank) + 1, y, kColumn - 2, 16, "cell");
    picture.text(left_of(bank) + kColumn / 2, y + 12, "middle s10", std::to_string(bank));
  }
  return y + 24;
}

// A row for each wavefront: in which bank it serves which lanes.
double add_wavefronts(svg::Picture& picture, WarpRequest const& r, std::vector<Wavefront> const& wavefronts,
                      std::uint32_t conflicting, double y) {
  unsigned const width = std::max(1u, r.lanes.bytes / 4);
  for (std::size_t i = 0; i < wavefronts.size(); ++i, y += kRow) {
    bool const new_pass = i && wavefronts[i].pass != wavefronts[i - 1].pass;
    if (new_pass) picture.line(kMargin, y - .5, kWidth - kMargin, y - .5, "line");
    picture.text(kMargin, y + 11, "s10", fmt::format("wavefront {}", i + 1));
    picture.rect(left_of(0) + 1, y + 1, 32 * kColumn - 2, kRow - 2, "cell");
    for (unsigned bank = 0; bank < 32; bank += width) {
      Lanes const& lanes = wavefronts[i].of_bank[bank];
      double const x = left_of(bank), w = width * kColumn;
      if (lanes.empty()) continue;
      picture.rect(x + 1, y + 1, w - 2, kRow - 2, conflicting >> lanes.front() & 1 ? "bad" : "good");
      std::string const all = svg::ranges(lanes);
      bool const fits = svg::width_of(all, 9) <= w;
      picture.text(x + w / 2, y + 11, "middle s9 on", fits ? all : fmt::format("{}x", lanes.size()));
    }
  }
  return y;
}

std::string draw_shared(WarpRequest const& r) {
  auto const access = r.store ? banks::Access::store : banks::Access::load;
  std::vector<Wavefront> const wavefronts = wavefronts_of(r.lanes, access);
  std::uint32_t const conflicting = conflicting_lanes(r.lanes, access);
  unsigned const least = banks::passes(r.lanes, access);
  svg::Picture picture;
  std::string const cost = many(unsigned(wavefronts.size()), "wavefront");
  add_head(picture, r,
           wavefronts.size() > least ? fmt::format("{} where {} would do", cost, least) : cost + ", as few as can be");
  double x = picture.legend(kMargin, 80, "good", "gets its word with the others");
  x = picture.legend(x, 80, "bad", "waits in line: other words of its bank are wanted too");
  double y = add_lanes(picture, r, conflicting, kFirstRow);
  y = add_wavefronts(picture, r, wavefronts, conflicting, y);
  picture.text(
      kMargin, y + 22, "pale s11",
      "A wavefront serves each bank once; lanes that want the same word share it. The numbers in it are lanes.");
  return picture.document(y + 40, r.title);
}

// ---- global memory
constexpr double kLineLabels = 104, kSectorGap = 6;
constexpr double kSector = (kWidth - 2 * kMargin - kLineLabels - 3 * kSectorGap) / 4, kLineRow = 20;

// The bytes of a sector: those that lanes ask for, the lanes in them, and those that only come along.
void add_sector(svg::Picture& picture, WarpRequest const& r, std::uint64_t sector, Lanes const& lanes, double x,
                double y) {
  double const byte = kSector / 32;
  picture.rect(x, y, kSector, kLineRow - 4, "spare");
  std::map<std::uint64_t, Lanes> by_address;
  for (unsigned lane : lanes) by_address[r.lanes.address[lane]].push_back(lane);
  double const narrow = r.lanes.bytes * byte;
  Lanes run;  // of lanes whose bytes touch, where one has no space for its number
  for (auto at = by_address.begin(); at != by_address.end(); ++at) {
    auto const& [address, who] = *at;
    double const from = x + double(address - sector * 32) * byte;
    picture.rect(from, y, narrow, kLineRow - 4, "good");
    if (narrow >= 9) {
      picture.rect(from + narrow - 1, y, 1, kLineRow - 4, "page");
      std::string const all = svg::ranges(who);
      bool const fits = svg::width_of(all, 9) <= narrow;
      picture.text(from + narrow / 2, y + 11.5, narrow < 14 ? "middle s8 on" : "middle s9 on",
                   fits || who.size() == 1 ? all : fmt::format("{}x", who.size()));
      continue;
    }
    run.insert(run.end(), who.begin(), who.end());
    auto const next = std::next(at);
    if (next != by_address.end() && next->first == address + r.lanes.bytes) continue;
    std::sort(run.begin(), run.end());
    double const length = narrow * double(run.size());
    picture.text(from + narrow - length / 2, y + 11.5, "middle s9 on", svg::ranges(run));
    run.clear();
  }
}

std::string draw_global(WarpRequest const& r) {
  auto const sectors = sectors_of(r.lanes);
  std::uint64_t const asked = banks::distinct_bytes(r.lanes);
  auto const least = unsigned((asked + 31) / 32);
  svg::Picture picture;
  std::string cost = many(unsigned(sectors.size()), "sector");
  cost = sectors.size() > least
             ? fmt::format("{} where {} would do: {} bytes copy for {}", cost, least, sectors.size() * 32, asked)
         : r.by_halves ? cost + ", each asked for twice: shared memory lies half a sector beside them"
                       : cost + ", as few as can be";
  add_head(picture, r, cost);
  double x = picture.legend(kMargin, 80, "good", "bytes asked for, with the lane");
  x = picture.legend(x, 80, "spare", "moved along with them");
  picture.legend(x, 80, "cell", "not touched");
  double y = kFirstRow;
  for (auto at = sectors.begin(); at != sectors.end(); y += kLineRow) {
    std::uint64_t const line = at->first / 4;
    picture.text(kMargin, y + 12, "s10 mono",
                 fmt::format("{}[{}]", r.operand, element(r, std::max(line * 128, r.base))));
    for (unsigned s = 0; s < 4; ++s) {
      double const left = kMargin + kLineLabels + s * (kSector + kSectorGap);
      if (at != sectors.end() && at->first == line * 4 + s)
        add_sector(picture, r, at->first, at->second, left, y), ++at;
      else
        picture.rect(left, y, kSector, kLineRow - 4, "cell");
    }
  }
  picture.text(kMargin, y + 20, "pale s11",
               "A row is 128 bytes of global memory, a box a sector of 32: what moves whole or not at all.");
  return picture.document(y + 38, r.title);
}

}  // namespace

std::vector<Wavefront> wavefronts_of(banks::Request const& request, banks::Access access) {
  std::vector<Wavefront> wavefronts;
  auto const passes = passes_of(request, access);
  for (unsigned pass = 0; pass < passes.size(); ++pass) {
    std::size_t const first = wavefronts.size();
    for (unsigned bank = 0; bank < 32; ++bank)
      for (std::size_t i = 0; i < passes[pass][bank].size(); ++i) {
        if (wavefronts.size() == first + i) wavefronts.push_back({pass, {}});
        wavefronts[first + i].of_bank[bank] = passes[pass][bank][i].lanes;
      }
  }
  return wavefronts;
}

std::uint32_t conflicting_lanes(banks::Request const& request, banks::Access access) {
  std::uint32_t lanes = 0;
  for (Pass const& pass : passes_of(request, access))
    for (auto const& words : pass)
      for (Word const& word : words)
        for (unsigned lane : word.lanes) lanes |= std::uint32_t(words.size() > 1) << lane;
  return lanes;
}

std::map<std::uint64_t, Lanes> sectors_of(banks::Request const& request) {
  std::map<std::uint64_t, Lanes> sectors;
  for (unsigned lane = 0; lane < 32; ++lane)
    if (is_on(request, lane)) sectors[request.address[lane] / 32].push_back(lane);  // aligned: none straddles two
  return sectors;
}

WarpRequest worst_request(Entry<Copy> const& entry, TransposeCase const& c, std::string const& site) {
  return worst(entry, c, site);
}
WarpRequest worst_request(Entry<Gemm> const& entry, GemmCase const& c, std::string const& site) {
  return worst(entry, c, site);
}

std::string draw_request(WarpRequest const& request) {
  return request.space == replay::Space::shared ? draw_shared(request) : draw_global(request);
}

}  // namespace inlay::lab
