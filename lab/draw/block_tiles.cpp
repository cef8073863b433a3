#include <fmt/format.h>
#include <inlay/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

#include "draw/path.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

constexpr std::int64_t kMost = std::int64_t(1) << 22;  // elements of an operand: floats count them, pictures show them
constexpr double kMostGemms = 1 << 28;

// An element of A or B; outer: m of A, n of B.
struct At {
  std::int64_t outer, k;
};
struct Seen {
  std::set<std::int64_t> outer, k;
};
struct Reader {
  std::int64_t fma = 0;
  bool begun = false, asked = false;  // to ask for its part of the first k tile; and waited, or gone on
  Seen from[2][2];                    // [of global, shared memory][A, B]: what it has multiplied
  std::vector<At> read[2][2];         // and not yet
  Seen const& operand(int which) const { return from[1][which].k.empty() ? from[0][which] : from[1][which]; }
};

// Follows what the threads read. A and B hold their own positions, so that a value tells where it comes from, whatever
// way it came: element i of A is i + 1, of B -(i + 1).
class Watcher {
 public:
  Watcher(GemmCase const& c, Recorder const& recorder) : c_(c), recorder_(recorder) {}

  void operator()(replay::TraceEvent const& e) {
    using replay::Happens;
    std::int64_t const multiplied = recorder_.fma - fma_;  // by this thread, since the last report
    fma_ = recorder_.fma;
    bool const access = e.what == Happens::access;
    if (access && e.store && e.operand->name == "C") note_stored(e);
    if (e.block != 0) return;
    if (readers.size() <= e.thread) readers.resize(e.thread + 1);
    Reader& reader = readers[e.thread];
    if (multiplied) note_multiplied(reader, multiplied);
    if (access) note_site(e);
    if (access && !e.store) note_read(e, reader);
    if (e.what == Happens::commit || e.what == Happens::wait || e.what == Happens::box) reader.asked = reader.begun;
  }

  std::vector<Reader> readers;
  std::set<std::int64_t> first_k;  // of A, asked for before a thread waits
  std::vector<Box> stored;         // by block
  std::vector<std::string> sites;

 private:
  At at(Stored const& x, bool outer_is_row, std::int64_t i) const {
    auto const [row, col] = x.at(i);
    return outer_is_row ? At{row, col} : At{col, row};
  }
  At of_A(std::int64_t i) const { return at(c_.a(), !c_.a_transposed(), i); }
  At of_B(std::int64_t i) const { return at(c_.b(), c_.b_transposed(), i); }

  void note_stored(replay::TraceEvent const& e) {
    if (stored.size() <= e.block) stored.resize(e.block + 1);
    Stored const c = c_.c();
    for (std::size_t b = 0; b < e.bytes; b += sizeof(float)) {
      auto const [row, col] = c.at(std::int64_t((e.offset + b) / sizeof(float)));
      stored[e.block].add(row, col);
    }
  }
  void note_multiplied(Reader& reader, std::int64_t fma) {
    reader.fma += fma;
    for (int space = 0; space < 2; ++space)
      for (int which = 0; which < 2; ++which) {
        for (auto const& [outer, k] : reader.read[space][which])
          reader.from[space][which].outer.insert(outer), reader.from[space][which].k.insert(k);
        reader.read[space][which].clear();
      }
  }
  void note_site(replay::TraceEvent const& e) {
    Site const site{e.operand->name, e.space, e.store, e.mechanism,
                    e.mechanism == Mechanism::tma ? 0 : unsigned(e.bytes)};
    if (known_.insert({e.operand->name, e.store, int(e.mechanism), site.bytes}).second) sites.push_back(name_of(site));
  }
  void note_read(replay::TraceEvent const& e, Reader& reader) {
    bool const shared = e.space == replay::Space::shared;
    if (!shared && e.operand->name == "A" && !reader.asked) {
      reader.begun = true;
      for (std::size_t b = 0; b < e.bytes; b += sizeof(float))
        first_k.insert(of_A(std::int64_t((e.offset + b) / sizeof(float))).k);
    }
    if (e.mechanism != Mechanism::plain || e.operand->name.ends_with("C")) return;  // no sums
    for (std::size_t b = 0; b + sizeof(float) <= e.bytes; b += sizeof(float)) {
      float x;
      std::memcpy(&x, e.data + b, sizeof x);
      bool const is_A = x > 0;
      if (x == 0 || std::abs(x) > float((is_A ? c_.a() : c_.b()).elements())) continue;  // beyond an edge
      std::int64_t const i = std::int64_t(std::abs(x)) - 1;
      reader.read[shared][!is_A].push_back(is_A ? of_A(i) : of_B(i));
    }
  }

  GemmCase const& c_;
  Recorder const& recorder_;
  std::int64_t fma_ = 0;
  std::set<std::tuple<std::string, bool, int, unsigned>> known_;
};

// The operands, which hold their positions, and a GEMM of them that is no number's business.
GemmCall numbered(GemmCase const& c, Recorder& recorder) {
  auto const operand = [&](char const* name, Stored const& x, float sign) {
    auto const n = std::size_t(x.elements());
    if (std::int64_t(n) > kMost)
      throw UsageError(fmt::format("{} has {} elements; a picture takes at most {}", name, n, kMost));
    auto* const seen = static_cast<float*>(recorder.allocate(name, n * sizeof(float), sizeof(float), 0));
    for (std::size_t i = 0; i < n; ++i) {
      float const x = sign * float(i + 1);
      std::memcpy(recorder.real(seen) + i * sizeof x, &x, sizeof x);
    }
    return seen;
  };
  return {1, 0, operand("A", c.a(), 1), operand("B", c.b(), -1), operand("C", c.c(), 1)};
}

}  // namespace

void Box::add(std::int64_t m, std::int64_t n) {
  m0 = std::min(m0, m), n0 = std::min(n0, n);
  m1 = std::max(m1, m + 1), n1 = std::max(n1, n + 1);
}

BlockTiles tiles_of(Entry<Gemm> const& entry, GemmCase const& c) {
  if (double const n = c.flops() / 2; n > kMostGemms)
    throw UsageError(fmt::format("a replay for a picture takes at most {} multiplications, not {}", kMostGemms, n));
  Recorder recorder;
  Gemm const gemm = c.canonical(numbered(c, recorder), nullptr);
  Device const device;
  if (Reason const reason = entry.info().rejects(gemm, device))
    throw UsageError(fmt::format("{}: rejected: {}", title_of(entry, c), reason.sentence()));
  recorder.allocate_workspace(entry.info().workspace(gemm, device));
  Watcher watcher(c, recorder);
  recorder.watch([&](replay::TraceEvent const& e) { watcher(e); });
  entry.replay(gemm, device, recorder);
  for (Finding const& f : recorder.findings)  // such sums are not exact, so they are not judged
    if (f.check != Check::result) throw Error(f.sentence);

  BlockTiles tiles;
  tiles.stored = watcher.stored, tiles.sites = watcher.sites;
  tiles.k0 = c.K, tiles.k_tile = std::int64_t(watcher.first_k.size());
  for (Reader const& r : watcher.readers) {
    Seen const &a = r.operand(0), &b = r.operand(1);
    tiles.threads.push_back({{a.outer.begin(), a.outer.end()}, {b.outer.begin(), b.outer.end()}});
    if (a.k.empty()) continue;
    if (r.fma < std::int64_t(a.outer.size() * b.outer.size() * a.k.size()))
      throw UsageError(
          fmt::format("{}: its first block has more than one tile of C: ask for a smaller GEMM", title_of(entry, c)));
    tiles.k0 = std::min(tiles.k0, *a.k.begin()), tiles.k1 = std::max(tiles.k1, *a.k.rbegin() + 1);
    tiles.block.add(*a.outer.begin(), *b.outer.begin());
    tiles.block.add(*a.outer.rbegin(), *b.outer.rbegin());
  }
  return tiles;
}

}  // namespace inlay::lab
