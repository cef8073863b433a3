// The pictures: that they show what the model and the replay say, all of it, in well-formed XML.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <set>

#include "draw/banks.h"
#include "draw/path.h"
#include "draw/request.h"
#include "draw/svg.h"
#include "draw/timeline.h"
#include "long_tests.h"
#include "problems/kernels.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

// Every tag that opens closes again in order, and no bare & or < stands in the text.
void expect_well_formed(std::string const& xml) {
  static std::regex const escaped_badly("&(?!amp;|lt;|gt;|quot;)|>"), good("[a-z]+( [a-zA-Z0-9-]+=\"[^\"<]*\")*/?");
  std::vector<std::string> open;
  std::size_t last = 0, elements = 0;
  for (std::size_t at; (at = xml.find('<', last)) != std::string::npos;) {
    std::string const text = xml.substr(last, at - last);
    EXPECT_FALSE(std::regex_search(text, escaped_badly)) << text;
    std::size_t const end = xml.find('>', at);
    ASSERT_NE(end, std::string::npos) << xml.substr(at, 60);
    std::string const tag = xml.substr(at + 1, end - at - 1);
    last = end + 1;
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(tag.substr(1), open.back());
      open.pop_back();
      continue;
    }
    EXPECT_TRUE(std::regex_match(tag, good)) << tag;
    ++elements;
    if (tag.back() != '/') open.push_back(tag.substr(0, tag.find(' ')));
  }
  EXPECT_TRUE(open.empty());
  EXPECT_GT(elements, 5u);
  EXPECT_EQ(xml.find("nan"), std::string::npos);
}

std::vector<std::string> texts(std::string const& xml) {
  std::vector<std::string> found;
  std::regex const text("<text[^>]*>([^<]*)</text>");
  for (std::sregex_iterator at(xml.begin(), xml.end(), text), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

// The numbers of each line of cells.
std::vector<std::vector<unsigned>> rows_of_numbers(std::string const& xml) {
  std::vector<std::vector<unsigned>> rows;
  std::regex const line("<text[^>]*>(<tspan.*</tspan>)</text>"), word("<tspan[^>]*>([0-9]+)</tspan>");
  for (std::sregex_iterator at(xml.begin(), xml.end(), line), end; at != end; ++at) {
    std::string const words = (*at)[1];
    rows.emplace_back();
    for (std::sregex_iterator w(words.begin(), words.end(), word); w != end; ++w)
      rows.back().push_back(unsigned(std::stoi((*w)[1])));
  }
  return rows;
}

BankGrid const kPlain{"(32,64):(64,1)", 32, 64, [](auto i, auto j) { return i * 64 + j; }};
BankGrid const kSwizzled{"Swizzle<5,0,6> o (32,64):(64,1)", 32, 64, [](std::int64_t i, std::int64_t j) {
                           std::int64_t const at = i * 64 + j;
                           return at ^ (at >> 6 & 31);
                         }};

TEST(Banks, ThePublishedGridsComeOut) {
  // Of 32 x 64 elements of 4 bytes, as Lei Mao printed them: the plain rows are all alike, the swizzled ones are these.
  // clang-format off
  std::map<std::size_t, std::vector<unsigned>> const published{
      {0, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
      {1, {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, 17, 16, 19, 18, 21, 20, 23, 22, 25, 24, 27, 26, 29, 28, 31, 30}},
      {10, {10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5, 26, 27, 24, 25, 30, 31, 28, 29, 18, 19, 16, 17, 22, 23, 20, 21}},
      {23, {23, 22, 21, 20, 19, 18, 17, 16, 31, 30, 29, 28, 27, 26, 25, 24, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}},
      {31, {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}};
  // clang-format on
  std::string const picture = draw_banks({kPlain, kSwizzled}, 4);
  expect_well_formed(picture);
  auto const rows = rows_of_numbers(picture);
  ASSERT_EQ(rows.size(), 64u);
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_EQ(rows[i].size(), 64u);
    ASSERT_EQ(rows[32 + i].size(), 64u);
    for (unsigned j = 0; j < 64; ++j) {
      EXPECT_EQ(rows[i][j], j % 32);
      EXPECT_EQ(rows[32 + i][j], j % 32 ^ i);
      if (published.count(i)) {
        EXPECT_EQ(rows[32 + i][j], published.at(i)[j % 32]);
      }
    }
  }
  EXPECT_EQ(kPlain.wavefronts_down(4), 32u);
  EXPECT_EQ(kSwizzled.wavefronts_down(4), 1u);
  EXPECT_EQ(kSwizzled.wavefronts_along(4), 1u);
}

TEST(Banks, PaddingAndOtherElements) {
  auto const pitch = [](std::int64_t n) { return [n](std::int64_t i, std::int64_t j) { return i * n + j; }; };
  BankGrid const tight{"tight", 32, 32, pitch(32)}, padded{"padded", 32, 32, pitch(33)};
  EXPECT_EQ(tight.wavefronts_down(4), 32u);
  EXPECT_EQ(padded.wavefronts_down(4), 1u);
  EXPECT_EQ(padded.wavefronts_down(8), 2u);  // a warp's 256 bytes take two passes at best
  EXPECT_EQ(padded.bank_ids(4)[33], 2u);     // (1,1)
  EXPECT_EQ(padded.bank_ids(2)[33], 17u);    // byte 68
  for (int e : {1, 2, 4, 8, 16}) expect_well_formed(draw_banks({tight, padded}, e));
  EXPECT_THROW(draw_banks({{"large", 129, 1, pitch(1)}}, 4), UsageError);
}

// What a printed layout of halves means is drawn of halves.
TEST(Banks, ElementsAreThoseOfAPrintedLayout) {
  std::vector<std::string> const printed{"Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"};
  std::string const picture = draw_banks(printed, {});
  EXPECT_NE(picture.find("elements of 2 bytes"), std::string::npos);
  EXPECT_EQ(picture, draw_banks(printed, 2));
  EXPECT_THROW(draw_banks(printed, 4), UsageError);
  EXPECT_EQ(rows_of_numbers(picture).at(1).at(1), 4u);  // 16 bytes on: 8 halves of 4 banks
  EXPECT_THROW(draw_banks(std::vector<std::string>{"(8,8)", printed[0], "smem_ptr[8b](unset) o (8,8)"}, {}),
               UsageError);
  EXPECT_NE(draw_banks(std::vector<std::string>{"(8,8)"}, {}).find("elements of 4 bytes"), std::string::npos);
}

banks::Request random_request(std::mt19937& random, unsigned bytes) {
  banks::Request q{{}, std::uint32_t(random() | random()), bytes};
  auto const span = 1 + random() % 300;
  for (auto& address : q.address) address = 4096 + random() % span * bytes;
  if (random() % 3 == 0)
    for (unsigned lane = 0; lane < 32; lane += 2) q.address[lane + 1] = q.address[lane];  // pairs
  return q;
}

TEST(Request, WavefrontsAreTheModels) {
  std::mt19937 random(1);
  for (int n = 0; n < 2000; ++n)
    for (unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
      banks::Request const q = random_request(random, bytes);
      for (auto access : {banks::Access::load, banks::Access::store}) {
        auto const wavefronts = wavefronts_of(q, access);
        ASSERT_EQ(wavefronts.size(), banks::wavefronts(q, access));
        std::uint32_t served = 0;
        for (Wavefront const& w : wavefronts)
          for (Lanes const& lanes : w.of_bank)
            for (unsigned lane : lanes) served |= 1u << lane;
        ASSERT_EQ(served, q.active);
        ASSERT_EQ(conflicting_lanes(q, access) == 0, wavefronts.size() == banks::passes(q, access));
      }
      std::uint32_t moved = 0;
      for (auto const& [sector, lanes] : sectors_of(q))
        for (unsigned lane : lanes) moved |= 1u << lane;
      ASSERT_EQ(sectors_of(q).size(), banks::sectors(q));
      ASSERT_EQ(moved, q.active);
    }
}

TEST(Request, EveryLaneIsThere) {
  CopyCase const c = transpose_case(64, 96);
  for (auto const& [kernel, site, space, conflicts] :
       {std::tuple{"transpose_03_smem_read_conflict", "shared A load", replay::Space::shared, true},
        std::tuple{"transpose_05_smem_padded", "A load", replay::Space::shared, false},
        std::tuple{"transpose_01_naive_read", "out", replay::Space::global, true}}) {
    WarpRequest const request = worst_request(kernel_named<CopyCase>(kernel), c, site);
    EXPECT_EQ(request.space, space) << kernel;
    std::string const picture = draw_request(request);
    expect_well_formed(picture);
    auto const words = texts(picture);
    for (unsigned lane = 0; lane < 32; ++lane)
      EXPECT_NE(std::find(words.begin(), words.end(), std::to_string(lane)), words.end()) << kernel << ", " << lane;
    EXPECT_EQ(words[1].find("would do") != std::string::npos, conflicts) << words[1];
    EXPECT_EQ(std::count(words.begin(), words.end(), "wavefront 32"),
              std::string(kernel).find("conflict") != std::string::npos)
        << kernel;
  }
}

TEST(Request, SitesAreFoundByTheirWords) {
  Entry<Gemm> const& entry = kernel_named<GemmCase>("sgemm_05_warp_tiled");
  GemmCase const c{128, 128, 16};
  EXPECT_EQ(worst_request(entry, c, "A load by").site, "A load by cp.async (4 B)");
  EXPECT_EQ(worst_request(entry, c, "shared B load").operand, "shared B");
  EXPECT_EQ(worst_request(entry, c, "B").operand, "B");           // no other name begins so
  EXPECT_THROW(worst_request(entry, c, "shared A"), UsageError);  // written and read
  EXPECT_THROW(worst_request(entry, c, "D load"), UsageError);
  EXPECT_THROW(worst_request(kernel_named<CopyCase>("copy_04_tma"), transpose_case(64, 64), ""), UsageError);
}

TEST(Trace, ChangesNothing) {
  Entry<Copy> const& entry = kernel_named<CopyCase>("transpose_14_tma");
  CopyCase const c = transpose_case(100, 72);
  Recorder alone, watched;
  std::size_t events = 0, outside = 0;
  watched.watch([&](replay::TraceEvent const& e) { ++events, outside += e.thread >= 256; });
  replay_sound(entry, c, alone);
  replay_sound(entry, c, watched);
  EXPECT_GT(events, 1000u);
  EXPECT_EQ(outside, 0u);
  ASSERT_EQ(alone.sites.size(), watched.sites.size());
  for (std::size_t i = 0; i < alone.sites.size(); ++i) EXPECT_EQ(alone.sites[i].traffic, watched.sites[i].traffic);
}

TEST(Path, TheTileArrivesWhole) {
  for (auto const& entry : copy_kernels()) {
    CopyCase c = transpose_case(128, 192);
    for (CopyCase const& possible :
         {transpose_case(128, 192), transpose_case(4096, 8), transpose_case(8, 4096), transpose_case(16, 16, 64),
          transpose_case(512, 3, 1, 1), transpose_case(3, 512, 1, 1)}) {
      c = possible;
      if (!entry.info().rejects(planned(c), Device{})) break;
    }
    if (is_copy(entry.info().name)) c = transpose_case(128, 192);
    SCOPED_TRACE(title_of(entry, c));
    std::vector<Hop> const hops = hops_of(entry, c);
    ASSERT_GE(hops.size(), 2u);
    EXPECT_EQ(hops.front().operand, "in");
    std::set<std::size_t> written;
    for (Hop const& hop : hops)
      for (auto const& a : hop.accesses)
        for (std::size_t b = 0; b < a.bytes && hop.operand == "out"; ++b)
          EXPECT_TRUE(written.insert(a.offset + b).second);
    EXPECT_GE(written.size(), 1024u);
    expect_well_formed(draw_path(entry, c));
  }
}

TEST(Path, TheNaiveStepsThreads) {
  GemmCase const c{16, 64, 24, 2, "nt"};
  BlockTiles const tiles = tiles_of(kernel_named<GemmCase>("sgemm_01_naive"), c);
  ASSERT_EQ(tiles.threads.size(), 256u);
  for (std::int64_t t = 0; t < 256; ++t) {
    EXPECT_EQ(tiles.threads[std::size_t(t)].m, std::vector{t / 32});
    EXPECT_EQ(tiles.threads[std::size_t(t)].n, std::vector{t % 32});
  }
  EXPECT_EQ(tiles.k_tile, 24);
  EXPECT_EQ(tiles.stored.size(), 8u);
  EXPECT_EQ(tiles.stored[3].m0, 8);
  EXPECT_EQ(tiles.stored[3].n0, 32);
  auto const words = texts(draw_path(kernel_named<GemmCase>("sgemm_01_naive"), c));
  for (int t = 0; t < 256; ++t) EXPECT_NE(std::find(words.begin(), words.end(), std::to_string(t)), words.end()) << t;
}

// Whatever way the operands take, every element of the block's tile is summed, by as many threads as share its k.
TEST(Path, EveryStepsTileIsSummed) {
  int number = 0;
  for (auto const& entry : gemm_kernels())
    for (char const* layout : {"nn", "nt", "tn", "tt"}) {
      GemmCase const c = gemm_case(256, 256, 32, layout);
      if (entry.info().rejects(planned(c), Device{})) continue;
      if (number++ % 3 && !test::runs_long_tests()) continue;
      SCOPED_TRACE(title_of(entry, c));
      std::string_view const name = entry.info().name;
      if (name == "sgemm_split_safe" || name == "sgemm_split_fast") {
        // Its first block slices, and tensor cores sum. Of a shorter K f16 slices are refused, and a block does both.
        EXPECT_THROW(tiles_of(entry, gemm_case(256, 256, 64, layout)), UsageError);
        continue;
      }
      BlockTiles const tiles = tiles_of(entry, c);
      std::map<std::pair<std::int64_t, std::int64_t>, int> times;
      for (auto const& t : tiles.threads)
        for (std::int64_t m : t.m)
          for (std::int64_t n : t.n) ++times[{m, n}];
      Box const& b = tiles.block;
      EXPECT_EQ(std::int64_t(times.size()), (b.m1 - b.m0) * (b.n1 - b.n0));
      for (auto const& [at, n] : times) ASSERT_EQ(n, times.begin()->second) << at.first << ", " << at.second;
      if (tiles.k0 == 0 && tiles.k1 == c.K && !tiles.stored.empty()) {
        EXPECT_LE(tiles.stored[0].m1 - tiles.stored[0].m0, b.m1 - b.m0);
        EXPECT_EQ(tiles.stored[0].n1 - tiles.stored[0].n0, b.n1 - b.n0);
      }
      expect_well_formed(draw_path(entry, c));
    }
}

// How many stages there are, how many of them are on their way at once, and how many k's each holds.
TEST(Timeline, OfThePipelines) {
  struct Wanted {
    char const *name, *layout;
    std::size_t stages, in_flight;
    std::int64_t k;
  };
  for (auto const& [name, layout, stages, in_flight, k] : {Wanted{"sgemm_04_pipelined", "nn", 3, 2, 8},
                                                           {"sgemm_10_tma", "tn", 4, 4, 32},
                                                           {"sgemm_tma_stream_k", "tn", 4, 4, 32},
                                                           {"sgemm_tma_transposing", "nn", 4, 3, 32}}) {
    SCOPED_TRACE(name);
    Entry<Gemm> const& entry = kernel_named<GemmCase>(name);
    GemmCase const c = gemm_case(128, 256, 256, layout);
    Timeline const t = timeline_of(entry, c);
    EXPECT_EQ(t.most_in_flight(), in_flight);
    std::map<std::string, std::vector<StageUse const*>> of;
    for (StageUse const& use : t.uses) of[use.stage].push_back(&use);
    EXPECT_EQ(of.size() - of.count("raw"), stages);
    auto const read = std::count_if(t.uses.begin(), t.uses.end(), [](StageUse const& use) {
      return use.stage != "raw" && use.first_read.is_known();
    });
    EXPECT_EQ(read * k, c.K);
    // Beyond K cp.async fills two stages more, with zeros that nobody reads.
    EXPECT_EQ(t.uses.size() - std::size_t(read) - (of.count("raw") ? of["raw"].size() : 0), stages == 3 ? 2u : 0u);
    for (auto const& [stage, uses] : of)
      for (std::size_t i = 0; i < uses.size(); ++i) {
        StageUse const& use = *uses[i];
        EXPECT_LT(use.asked.at, use.landed.at);
        if (!use.first_read.is_known()) continue;
        EXPECT_LT(use.landed.at, use.first_read.at);
        EXPECT_LT(use.first_read.at, use.last_read.at);
        if (i + 1 == uses.size()) break;
        EXPECT_LT(use.last_read.at, uses[i + 1]->asked.at);
        EXPECT_LT(use.freed.at, uses[i + 1]->asked.at);
        if (stages == 3 || stage == "raw") continue;  // no mbarrier that is named says so
        EXPECT_GT(use.freed.at, use.last_read.at);
      }
    expect_well_formed(draw_timeline(title_of(entry, c), t));
  }
}

TEST(Timeline, OfCopies) {
  for (char const* name : {"transpose_10_cp_async", "transpose_14_tma"}) {
    Entry<Copy> const& entry = kernel_named<CopyCase>(name);
    Timeline const t = timeline_of(entry, transpose_case(128, 128));
    ASSERT_EQ(t.uses.size(), 1u) << name;
    EXPECT_LT(t.uses[0].landed.at, t.uses[0].first_read.at);
    ASSERT_EQ(t.stores.size(), 1u) << name;
    EXPECT_LT(t.uses[0].first_read.at, t.stores[0].begin.at);
    expect_well_formed(draw_timeline(name, t));
  }
  EXPECT_THROW(timeline_of(kernel_named<CopyCase>("transpose_01_naive_read"), transpose_case(64, 64)), UsageError);
}

TEST(Svg, Words) {
  EXPECT_EQ(svg::ranges({0, 1, 2, 7, 9, 10}), "0-2,7,9,10");
  EXPECT_EQ(svg::ramp(0).size(), 7u);
  svg::Picture picture;
  picture.text(1, 2, "mono", "a < b & \"c\" > d");
  picture.rect(-0.001, 1.5, 2, 3, "good");
  std::string const document = picture.document(10, "Swizzle<5,0,5>");
  EXPECT_NE(document.find("a &lt; b &amp; &quot;c&quot; &gt; d"), std::string::npos);
  EXPECT_NE(document.find("<rect x=\"0\" y=\"1.5\""), std::string::npos);
  EXPECT_NE(document.find("<title>Swizzle&lt;5,0,5&gt;</title>"), std::string::npos);
  EXPECT_NE(document.find("prefers-color-scheme: dark"), std::string::npos);
}

}  // namespace
}  // namespace inlay::lab
