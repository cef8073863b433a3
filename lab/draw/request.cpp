#include "draw/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "draw/svg.h"
#include "results/text.h"

namespace inlay::lab {
namespace {

using svg::kMargin, svg::kWidth;
constexpr double kFirstRow = 96;

bool is_on(banks::Request const& q, unsigned lane) { return q.active >> lane & 1; }

// The distinct words that a pass requests from each bank, in the order of their first lanes, with all lanes of each
// word.
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
      auto word = std::ranges::find(words, w, &Word::number);
      if (word == words.end()) word = words.insert(word, {w, {}});
      word->lanes.push_back(lane);
    }
  }
  return passes;
}

// The index of an element in the operand.
std::string element(WarpRequest const& r, std::uint64_t address) {
  return std::to_string(std::int64_t(address - r.base) / r.elem_bytes);
}

// The lanes' numbers, or, where these are wider than `width`, how many lanes there are.
std::string fitting_ranges(Lanes const& lanes, double width) {
  std::string const all = svg::ranges(lanes);
  return svg::width_of(all, 9) <= width ? all : fmt::format("{}x", lanes.size());
}

void add_head(svg::Picture& picture, WarpRequest const& r, std::string const& cost) {
  picture.text(kMargin, 36, "head", r.title);
  picture.text(kMargin, 58, "",
               fmt::format("{}: {} of {}, {}.", r.site, counted(std::popcount(r.lanes.active), "lane"),
                           counted(r.lanes.bytes, "byte"), cost));
}

template <class P, class C>
WarpRequest find_worst_request(Entry<P> const& entry, C const& c, std::string const& typed) {
  struct OperandStart {
    std::uint64_t address;
    int elem_bytes;
  };
  std::map<std::string, OperandStart> operands;  // shared memory has the same addresses in every block
  Recorder recorder;
  recorder.watch([&](replay::TraceEvent const& e) {
    if (e.what == replay::Happens::access)
      operands.try_emplace(e.operand->name, OperandStart{e.address - e.offset, e.operand->elem_bytes});
  });
  replay_sound(entry, c, recorder);
  Site const& site = site_named(recorder.sites, typed);
  auto const [base, elem_bytes] = operands.at(site.operand);
  return {.title = title_of(entry, c),
          .site = name_of(site),
          .operand = site.operand,
          .lanes = site.worst,
          .space = site.space,
          .store = site.store,
          .base = base,
          .elem_bytes = elem_bytes,
          .excess = site.worst_excess,
          .by_halves = site.worst_by_halves};
}

// ---- shared memory
constexpr double kLabels = 78, kColumn = 22, kBanksLeft = kMargin + kLabels, kRow = 15;
double left_of(unsigned column) { return kBanksLeft + column * kColumn; }

// The lanes with their elements, the banks, and a line from each lane to its bank. Returns the lower edge.
double add_lanes(svg::Picture& picture, WarpRequest const& r, std::uint32_t conflicting, double y) {
  constexpr double kLineHeight = 84;
  picture.text(kMargin, y + 13, "s11", "lane");
  picture.text(kMargin, y + 28, "pale s9", r.elem_bytes == 1 ? "its byte" : "its element");
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!is_on(r.lanes, lane)) continue;
    auto const bank = unsigned(r.lanes.address[lane] / 4 % 32), width = std::max(1u, r.lanes.bytes / 4);
    picture.line(left_of(lane) + kColumn / 2, y + 34, left_of(bank) + width * kColumn / 2, y + 34 + kLineHeight,
                 conflicting >> lane & 1 ? "bad-line" : "good-line");
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    bool const on = is_on(r.lanes, lane);
    picture.rect(left_of(lane) + 1, y, kColumn - 2, 18, !on ? "cell" : conflicting >> lane & 1 ? "bad" : "good");
    picture.text(left_of(lane) + kColumn / 2, y + 13, on ? "middle s10 on" : "middle s10 pale", std::to_string(lane));
    if (on) picture.text(left_of(lane) + kColumn / 2, y + 28, "middle s8 pale", element(r, r.lanes.address[lane]));
  }
  y += 34 + kLineHeight;
  picture.text(kMargin, y + 12, "s11", "bank");
  for (unsigned bank = 0; bank < 32; ++bank) {
    picture.rect(left_of(bank) + 1, y, kColumn - 2, 16, "cell");
    picture.text(left_of(bank) + kColumn / 2, y + 12, "middle s10", std::to_string(bank));
  }
  return y + 24;
}

// A row for each wavefront, with the lanes that it serves at the bank that serves them. Returns the lower edge.
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
      picture.text(x + w / 2, y + 11, "middle s9 on", fitting_ranges(lanes, w));
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
  std::string const cost = counted(std::int64_t(wavefronts.size()), "wavefront");
  add_head(
      picture, r,
      wavefronts.size() > least ? fmt::format("{} where {} would do", cost, least) : cost + ", the fewest possible");
  double const x = picture.legend(kMargin, 80, "good", "lane without a conflict");
  picture.legend(x, 80, "bad", "lane in conflict: other lanes request another word of its bank");
  double y = add_lanes(picture, r, conflicting, kFirstRow);
  y = add_wavefronts(picture, r, wavefronts, conflicting, y);
  picture.text(kMargin, y + 22, "pale s11",
               "In a wavefront each bank serves one word, to all lanes that request that word. The numbers are lanes.");
  return picture.document(y + 40, r.title);
}

// ---- global memory
constexpr double kLineLabels = 104, kSectorGap = 6;
constexpr double kSector = (kWidth - 2 * kMargin - kLineLabels - 3 * kSectorGap) / 4, kLineRow = 20;
constexpr double kLabelledAccess = 9;  // the narrowest bytes of a lane that have the lane's number written in them

// A sector, with the bytes that lanes request marked and labelled with the lanes' numbers.
void add_sector(svg::Picture& picture, WarpRequest const& r, std::uint64_t sector, Lanes const& lanes, double x,
                double y) {
  double const byte = kSector / 32;
  picture.rect(x, y, kSector, kLineRow - 4, "spare");
  std::map<std::uint64_t, Lanes> by_address;
  for (unsigned lane : lanes) by_address[r.lanes.address[lane]].push_back(lane);
  double const width = r.lanes.bytes * byte;
  Lanes run;  // the lanes of contiguous narrow accesses, which share a label
  for (auto at = by_address.begin(); at != by_address.end(); ++at) {
    auto const& [address, sharing] = *at;
    double const from = x + double(address - sector * 32) * byte;
    picture.rect(from, y, width, kLineRow - 4, "good");
    if (width >= kLabelledAccess) {
      picture.rect(from + width - 1, y, 1, kLineRow - 4, "page");
      picture.text(from + width / 2, y + 11.5, width < 14 ? "middle s8 on" : "middle s9 on",
                   sharing.size() == 1 ? svg::ranges(sharing) : fitting_ranges(sharing, width));
      continue;
    }
    run.insert(run.end(), sharing.begin(), sharing.end());
    auto const next = std::next(at);
    if (next != by_address.end() && next->first == address + r.lanes.bytes) continue;
    std::ranges::sort(run);
    double const length = width * double(run.size());
    picture.text(from + width - length / 2, y + 11.5, "middle s9 on", svg::ranges(run));
    run.clear();
  }
}

std::string draw_global(WarpRequest const& r) {
  auto const sectors = sectors_of(r.lanes);
  std::uint64_t const requested_bytes = banks::distinct_bytes(r.lanes);
  auto const least = unsigned((requested_bytes + 31) / 32);
  svg::Picture picture;
  std::string cost = counted(std::int64_t(sectors.size()), "sector");
  cost += sectors.size() > least ? fmt::format(" where {} would do: {} bytes are transferred for {} requested", least,
                                               sectors.size() * 32, requested_bytes)
          : r.by_halves          ? ", each requested twice: the addresses in global and shared memory differ modulo 32"
                                 : ", the fewest possible";
  add_head(picture, r, cost);
  double x = picture.legend(kMargin, 80, "good", "requested bytes, with the lane");
  x = picture.legend(x, 80, "spare", "transferred, but not requested");
  picture.legend(x, 80, "cell", "not transferred");
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
               "A row is 128 bytes of global memory, a box a sector of 32 bytes: the smallest transfer.");
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
    if (is_on(request, lane))
      sectors[request.address[lane] / 32].push_back(lane);  // accesses are aligned to their size
  return sectors;
}

WarpRequest worst_request(Entry<Copy> const& entry, CopyCase const& c, std::string const& site) {
  return find_worst_request(entry, c, site);
}
WarpRequest worst_request(Entry<Gemm> const& entry, GemmCase const& c, std::string const& site) {
  return find_worst_request(entry, c, site);
}

std::string draw_request(WarpRequest const& request) {
  return request.space == replay::Space::shared ? draw_shared(request) : draw_global(request);
}

}  // namespace inlay::lab
