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

// The most elements of an operand: a float counts that many exactly, and a picture can show them.
constexpr std::int64_t kMostElements = std::int64_t(1) << 22;
constexpr double kMostFma = 1 << 28;

// An element of A (outer is m) or of B (outer is n).
struct Index {
  std::int64_t outer, k;
};
struct IndexSets {
  std::set<std::int64_t> outer, k;
};
// What one thread has read. Arrays are indexed by [0: global, 1: shared memory][0: A, 1: B].
struct Reader {
  std::int64_t fma = 0;
  bool has_begun = false;                     // has loaded from A in global memory
  bool has_first_tile = false;                // has issued its loads of the first k tile
  IndexSets multiplied[2][2];                 // elements that were read before an FMA
  std::vector<Index> unused[2][2];            // elements that were read since the last FMA
  std::set<std::int64_t> stored_m, stored_n;  // rows and columns of C that the thread stores
  // Shared memory counts where the thread reads the operand from there: it may also have filled it from global memory.
  IndexSets const& operand(int which) const {
    return multiplied[1][which].k.empty() ? multiplied[0][which] : multiplied[1][which];
  }
};

// Records which elements the threads read. Operands hold positions instead of numbers, so that each value tells which
// element it is, even after copies through shared memory: element i of A is i + 1, element i of B is -(i + 1).
class Watcher {
 public:
  Watcher(GemmCase const& c, Recorder const& recorder) : c_(c), recorder_(recorder) {}

  void operator()(replay::TraceEvent const& e) {
    using replay::Happens;
    std::int64_t const new_fma = recorder_.fma - fma_;  // of this thread, since the last event
    fma_ = recorder_.fma;
    bool const access = e.what == Happens::access;
    if (access && e.store && e.operand->name == "D") note_stored(e);
    if (e.block != 0) return;
    if (readers.size() <= e.thread) readers.resize(e.thread + 1);
    Reader& reader = readers[e.thread];
    if (access && e.store && e.operand->name == "D") note_stored(e, reader);
    if (new_fma) note_multiplied(reader, new_fma);
    if (access) note_site(e);
    if (access && !e.store) note_read(e, reader);
    if (e.what == Happens::commit || e.what == Happens::wait || e.what == Happens::box)
      reader.has_first_tile = reader.has_begun;
  }

  std::vector<Reader> readers;
  std::set<std::int64_t> first_k;  // the k of A's elements in the first k tile
  IndexSets read[2];               // elements of A and of B that the first block reads in global memory
  std::vector<Box> stored;         // for each block
  std::vector<std::string> sites;

 private:
  Index index_in_A(std::int64_t i) const {
    auto const [row, col] = c_.a().at(i);
    return c_.a_transposed() ? Index{col, row} : Index{row, col};
  }
  Index index_in_B(std::int64_t i) const {
    auto const [row, col] = c_.b().at(i);
    return c_.b_transposed() ? Index{row, col} : Index{col, row};
  }

  void note_stored(replay::TraceEvent const& e) {
    if (stored.size() <= e.block) stored.resize(e.block + 1);
    Stored const c = c_.d();
    for (std::size_t b = 0; b < e.bytes; b += sizeof(float)) {
      auto const [row, col] = c.at(std::int64_t((e.offset + b) / sizeof(float)));
      stored[e.block].add(row, col);
    }
  }
  void note_stored(replay::TraceEvent const& e, Reader& reader) const {
    for (std::size_t b = 0; b < e.bytes; b += sizeof(float)) {
      auto const [row, col] = c_.d().at(std::int64_t((e.offset + b) / sizeof(float)));
      reader.stored_m.insert(row), reader.stored_n.insert(col);
    }
  }
  void note_multiplied(Reader& reader, std::int64_t fma) {
    reader.fma += fma;
    for (int space = 0; space < 2; ++space)
      for (int which = 0; which < 2; ++which) {
        IndexSets& multiplied = reader.multiplied[space][which];
        for (auto const& [outer, k] : reader.unused[space][which])
          multiplied.outer.insert(outer), multiplied.k.insert(k);
        reader.unused[space][which].clear();
      }
  }
  void note_site(replay::TraceEvent const& e) {
    Site const site{e.operand->name, e.space, e.store, e.mechanism,
                    e.mechanism == Mechanism::tma ? 0 : unsigned(e.bytes)};
    if (known_.insert({e.operand->name, e.store, int(e.mechanism), site.bytes}).second) sites.push_back(name_of(site));
  }
  void note_operand(replay::TraceEvent const& e) {
    bool const is_A = e.operand->name == "A";
    for (std::size_t b = 0; b < e.bytes; b += sizeof(float)) {
      auto const i = std::int64_t((e.offset + b) / sizeof(float));
      auto const [outer, k] = is_A ? index_in_A(i) : index_in_B(i);
      read[!is_A].outer.insert(outer), read[!is_A].k.insert(k);
    }
  }
  void note_read(replay::TraceEvent const& e, Reader& reader) {
    bool const shared = e.space == replay::Space::shared;
    if (!shared && e.operand->name == "A" && !reader.has_first_tile) {
      reader.has_begun = true;
      for (std::size_t b = 0; b < e.bytes; b += sizeof(float))
        first_k.insert(index_in_A(std::int64_t((e.offset + b) / sizeof(float))).k);
    }
    if (!shared && (e.operand->name == "A" || e.operand->name == "B")) note_operand(e);
    if (e.mechanism != Mechanism::plain || e.operand->name.ends_with("C") || e.operand->name == "D")
      return;  // reads no factor into registers
    for (std::size_t b = 0; b + sizeof(float) <= e.bytes; b += sizeof(float)) {
      float x;
      std::memcpy(&x, e.data + b, sizeof x);
      bool const is_A = x > 0;
      if (x == 0 || std::abs(x) > float((is_A ? c_.a() : c_.b()).elements())) continue;  // padding, or not initialised
      std::int64_t const i = std::int64_t(std::abs(x)) - 1;
      reader.unused[shared][!is_A].push_back(is_A ? index_in_A(i) : index_in_B(i));
    }
  }

  GemmCase const& c_;
  Recorder const& recorder_;
  std::int64_t fma_ = 0;
  std::set<std::tuple<std::string, bool, int, unsigned>> known_;
};

// Operands that hold their positions, as Watcher expects.
GemmCall allocate_numbered(GemmCase const& c, Recorder& recorder) {
  auto const operand = [&](char const* name, Stored const& x, float sign) {
    auto const n = std::size_t(x.elements());
    if (std::int64_t(n) > kMostElements)
      throw UsageError(fmt::format("{} has {} elements; a picture takes at most {}", name, n, kMostElements));
    auto* const address = static_cast<float*>(recorder.allocate(name, n * sizeof(float), sizeof(float), 0));
    for (std::size_t i = 0; i < n; ++i) {
      float const x = sign * float(i + 1);
      std::memcpy(recorder.real(address) + i * sizeof x, &x, sizeof x);
    }
    return address;
  };
  return {1, 0, operand("A", c.a(), 1), operand("B", c.b(), -1), operand("D", c.d(), 1)};
}

// The tiles of a kernel whose first block reads elements of A and B, multiplies them on tensor cores, and stores their
// sums: a thread sums the elements that it stores.
void add_stored(BlockTiles& tiles, Watcher const& watcher) {
  auto const& [of_A, of_B] = watcher.read;
  if (of_A.k.empty() || of_B.k.empty()) return;
  tiles.k0 = *of_A.k.begin(), tiles.k1 = *of_A.k.rbegin() + 1;
  for (std::size_t t = 0; t < watcher.readers.size(); ++t) {
    Reader const& r = watcher.readers[t];
    tiles.threads[t] = {{r.stored_m.begin(), r.stored_m.end()}, {r.stored_n.begin(), r.stored_n.end()}};
    if (r.stored_m.empty()) continue;
    tiles.block.add(*r.stored_m.begin(), *r.stored_n.begin());
    tiles.block.add(*r.stored_m.rbegin(), *r.stored_n.rbegin());
  }
}

}  // namespace

void Box::add(std::int64_t m, std::int64_t n) {
  m0 = std::min(m0, m), n0 = std::min(n0, n);
  m1 = std::max(m1, m + 1), n1 = std::max(n1, n + 1);
}

BlockTiles tiles_of(Entry<Gemm> const& entry, GemmCase const& c) {
  if (c.dtype() != f32) throw UsageError("a picture of a GEMM's path shows operands of f32, not " + c.type);
  if (double const n = c.flops() / 2; n > kMostFma)
    throw UsageError(fmt::format("a replay for a picture takes at most {} multiplications, not {}", kMostFma, n));
  Recorder recorder;
  Gemm const gemm = c.canonical(allocate_numbered(c, recorder), nullptr);
  Device const device;
  if (Reason const reason = entry.info().rejects(gemm, device))
    throw UsageError(fmt::format("{}: rejected: {}", title_of(entry, c), reason.sentence()));
  recorder.allocate_workspace(entry.info().workspace(gemm, device));
  Watcher watcher(c, recorder);
  recorder.watch([&](replay::TraceEvent const& e) { watcher(e); });
  entry.replay(gemm, device, recorder);
  // Sums of positions are not exact, so the results are expected to differ.
  for (replay::Finding const& f : recorder.findings)
    if (f.check != replay::Check::result) throw Error(f.sentence);

  BlockTiles tiles;
  tiles.stored = watcher.stored, tiles.sites = watcher.sites;
  tiles.k0 = c.K, tiles.k_tile = std::int64_t(watcher.first_k.size());
  for (Reader const& r : watcher.readers) {
    IndexSets const &a = r.operand(0), &b = r.operand(1);
    tiles.threads.push_back({{a.outer.begin(), a.outer.end()}, {b.outer.begin(), b.outer.end()}});
    if (a.k.empty()) continue;
    if (r.fma < std::int64_t(a.outer.size() * b.outer.size() * a.k.size()))
      throw UsageError(
          fmt::format("{}: its first block has more than one tile of C: ask for a smaller GEMM", title_of(entry, c)));
    tiles.k0 = std::min(tiles.k0, *a.k.begin()), tiles.k1 = std::max(tiles.k1, *a.k.rbegin() + 1);
    tiles.block.add(*a.outer.begin(), *b.outer.begin());
    tiles.block.add(*a.outer.rbegin(), *b.outer.rbegin());
  }
  if (tiles.k1 == 0 && recorder.wgmma_fma > 0) add_stored(tiles, watcher);
  if (tiles.k1 == 0)
    throw UsageError(
        fmt::format("{}: no thread of its first block multiplies elements of A and B", title_of(entry, c)));
  return tiles;
}

}  // namespace inlay::lab
