// Redistributions without a GPU: the transfers of all ranks, carried out on the host, against a gathered reference; and
// replayed, all ranks' kernels into the same buffers.
#include <gtest/gtest.h>

#include <inlay/kernels/copy/copy_direct.h>
#include <inlay/redistribute.h>
#include <inlay/registry/replay_kernel.h>

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace inlay::test {
namespace {
using namespace model;
using Extents = std::vector<std::int64_t>;

std::int64_t begin_of(Extents const& extents, int rank) {
  return std::accumulate(extents.begin(), extents.begin() + rank, std::int64_t(0));
}
// Calls f(index) for each index of a shape.
template <class F>
void over(Extents const& shape, F const& f) {
  if (std::ranges::find(shape, 0) != shape.end()) return;
  Extents at(shape.size(), 0);
  for (;;) {
    f(at);
    std::size_t k = shape.size();
    while (k > 0 && ++at[k - 1] == shape[k - 1]) at[--k] = 0;
    if (k == 0) return;
  }
}

// A tensor of ints cut over ranks along one mode, with a part for each rank in host memory, row-major with the largest
// part's strides.
struct Parts {
  Extents shape;
  int mode;
  Extents extents;
  std::vector<std::vector<int>> memory;  // (rank)

  Parts(Extents const& shape, int mode, Extents const& extents) : shape(shape), mode(mode), extents(extents) {
    memory.assign(extents.size(), std::vector<int>(std::size_t(most().size() + 1), -1));
  }
  Tensor most() const {
    Extents largest = shape;
    largest[std::size_t(mode)] = *std::ranges::max_element(extents);
    return tensor(static_cast<void*>(nullptr), DType::i32, largest);
  }
  Sharded of(int rank) {
    Tensor part = most();
    part.data = memory[std::size_t(rank)].data();
    part.extent[mode] = extents[std::size_t(rank)];
    return {part, mode, extents};
  }
  std::vector<void*> pointers() {
    std::vector<void*> p;
    for (auto& m : memory) p.push_back(m.data());
    return p;
  }
  int& at(Extents index) {  // of the whole tensor
    int rank = 0;
    while (index[std::size_t(mode)] >= begin_of(extents, rank + 1)) ++rank;
    index[std::size_t(mode)] -= begin_of(extents, rank);
    Tensor const layout = most();
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < index.size(); ++k) offset += index[k] * layout.stride[k];
    return memory[std::size_t(rank)][std::size_t(offset)];
  }
};

Extents cut(std::int64_t extent, int ranks, std::mt19937& random) {
  if (random() % 2) return even_extents(extent, ranks);
  Extents ends{extent};
  for (int r = 1; r < ranks; ++r) ends.push_back(std::int64_t(random() % unsigned(extent + 1)));
  std::ranges::sort(ends);
  for (int r = ranks - 1; r > 0; --r) ends[std::size_t(r)] -= ends[std::size_t(r - 1)];
  return ends;
}

TEST(Redistribute, EvenExtents) {
  EXPECT_EQ(even_extents(10, 4), (Extents{3, 3, 3, 1}));
  EXPECT_EQ(even_extents(8, 4), (Extents{2, 2, 2, 2}));
  EXPECT_EQ(even_extents(2, 4), (Extents{1, 1, 0, 0}));
  EXPECT_EQ(even_extents(0, 2), (Extents{0, 0}));
  EXPECT_THROW(even_extents(4, 0), Error);
}

// Random shapes, permutations, cuts and numbers of ranks: every element of the destination is written once, by whom it
// may come from.
TEST(Redistribute, MovesWhatAGatheredReferenceMoves) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    int const ranks = 1 + int(random() % 5), modes = 1 + int(random() % 4);
    Extents shape, permuted;
    std::vector<int> axes(static_cast<std::size_t>(modes), 0);
    for (int k = 0; k < modes; ++k) shape.push_back(1 + std::int64_t(random() % 7));
    std::iota(axes.begin(), axes.end(), 0);
    std::ranges::shuffle(axes, random);
    for (int a : axes) permuted.push_back(shape[std::size_t(a)]);
    int const from = int(random() % unsigned(modes)), to = int(random() % unsigned(modes));
    Parts src(shape, from, cut(shape[std::size_t(from)], ranks, random));
    Parts dst(permuted, to, cut(permuted[std::size_t(to)], ranks, random));
    int next = 0;
    over(shape, [&](Extents const& i) { src.at(i) = next++; });
    int written = 0;
    for (int r = 0; r < ranks; ++r) {
      auto const all = transfers(dst.of(r), dst.pointers(), ConstSharded(src.of(r)).permuted(axes), r);
      ASSERT_EQ(int(all.size()), ranks);
      EXPECT_EQ(all.front().rank, (r + 1) % ranks);
      EXPECT_EQ(all.back().rank, r);
      for (Transfer const& t : all) {
        Extents const block(t.dst.extent, t.dst.extent + t.dst.rank);
        EXPECT_EQ(block, Extents(t.src.extent, t.src.extent + t.src.rank));
        over(block, [&](Extents const& i) {
          std::int64_t to_offset = 0, from_offset = 0;
          for (int k = 0; k < modes; ++k)
            to_offset += i[std::size_t(k)] * t.dst.stride[k], from_offset += i[std::size_t(k)] * t.src.stride[k];
          int& element = static_cast<int*>(t.dst.data)[to_offset];
          EXPECT_EQ(element, -1);
          element = static_cast<int const*>(t.src.data)[from_offset];
          ++written;
        });
      }
    }
    EXPECT_EQ(written, next);
    over(shape, [&](Extents const& i) {
      Extents j;
      for (int a : axes) j.push_back(i[std::size_t(a)]);
      EXPECT_EQ(dst.at(j), src.at(i));
    });
  }
}

TEST(Redistribute, WhatDoesNotFitIsSaid) {
  Parts src({6, 8}, 0, {3, 3}), dst({8, 6}, 0, {4, 4});
  auto const said = [&](Sharded const& to, ConstSharded const& from, int rank = 0) -> std::string {
    try {
      transfers(to, dst.pointers(), from, rank);
    } catch (Error const& e) {
      return e.what();
    }
    return "none";
  };
  ConstSharded const from = ConstSharded(src.of(0)).permuted({1, 0});
  EXPECT_EQ(said(dst.of(0), from), "none");
  EXPECT_EQ(said(dst.of(0), src.of(0)), "the destination has shape (8,6) over all ranks where the source gives (6,8)");
  EXPECT_EQ(said(dst.of(0), from, 2), "there is no rank 2 among 2");
  Sharded changed = dst.of(0);
  changed.mode = 2;
  EXPECT_EQ(said(changed, from), "the destination is cut along mode 2, but has rank 2");
  changed = dst.of(0), changed.extents = {4, 2, 2};
  EXPECT_EQ(said(changed, from), "the destination is cut over 3 ranks, not over 2");
  changed = dst.of(0), changed.extents = {5, 3};
  EXPECT_EQ(said(changed, from),
            "the destination has a part with an extent of 4 along its cut mode 0, where rank 0 has 5");
  changed = dst.of(0), changed.extents = {4, -4};
  EXPECT_EQ(said(changed, from), "the destination has an extent of -4 on rank 1");
  changed = dst.of(0), changed.part.dtype = DType::i64;
  EXPECT_EQ(said(changed, from), "the destination has elements of 8 bytes, the source of 4");
}

// All ranks' kernels write to the same buffers: each element must be written exactly once, by all ranks together.
struct Replayed {
  replay::Recorder recorder;
  std::int64_t findings = 0;
  std::string first;

  explicit Replayed(std::int64_t overlap) {
    constexpr std::int64_t kRanks = 3, kRows = 12, kCols = 15;
    recorder.kernel = "rank";
    std::vector<void*> parts;
    for (int r = 0; r < kRanks; ++r) {
      parts.push_back(recorder.allocate("out", 1 << 12, 4, unsigned(r)));
      recorder.forget_expectations(parts.back());
      recorder.must_write(parts.back(), std::size_t(kRows * kCols / kRanks * 4));
    }
    for (int r = 0; r < kRanks; ++r) {
      void* const in = recorder.allocate("in", 1 << 12, 4, unsigned(10 + r));
      recorder.reads(in);
      Sharded const dst{tensor(parts[std::size_t(r)], DType::f32, {kCols / kRanks, kRows}), 0,
                        even_extents(kCols, kRanks)};
      ConstSharded const src{tensor(static_cast<void const*>(in), DType::f32, {kRows / kRanks, kCols}), 0,
                             even_extents(kRows, kRanks)};
      std::vector<Pair> pairs;
      auto all = transfers(dst, parts, src.permuted({1, 0}), r);
      for (Transfer& t : all)
        pairs.push_back({static_cast<char*>(t.dst.data) - (r == 2 ? overlap * 4 : 0), t.src.data});
      Copy copy = make_copy(all[0].dst, all[0].src);
      copy.pairs = kRanks;
      replay::guarded(recorder, [&] {
        kernels::symbolic_launches<kernels::copy_direct::Kernel<std::uint32_t>, replay::ReplayEncoder>(
            copy, Device{}, false, [&](auto const& kernel) {
              kernels::list_launches(kernel, pairs, [&](auto const& listed) { replay::run(listed, recorder); });
            });
      });
    }
    recorder.conclude();
    findings = recorder.finding_count;
    if (findings) first = recorder.findings[0].sentence;
  }
};
TEST(Redistribute, RanksDoNotWriteOneElementTwice) {
  Replayed const right(0);
  EXPECT_EQ(right.findings, 0) << right.first;
  Replayed const wrong(8);  // rank 2 stores into the share of rank 0
  EXPECT_GT(wrong.findings, 0);
  EXPECT_NE(wrong.first.find("once more"), std::string::npos) << wrong.first;
}

}  // namespace
}  // namespace inlay::test
