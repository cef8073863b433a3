// Prints what the replay of every variant accesses, for tests/ptx_accesses.py: shapes that between them reach the
// unpredicated and the predicated path of each kernel. Shapes that a kernel rejects are left out.
#include <cstdio>
#include <set>

#include "corpus.h"
#include "replay/registry.h"

namespace inlay::test {
constexpr Case kShapes[] = {
    {256, 256},                   // whole tiles
    {203, 144, 1, 0, 5},          // whole vectors of the input, ragged
    {144, 272},                   // whole vectors both ways, ragged
    {260, 290, 1, 3, 1, 1, 5},    // odd pitches and bases: a tile inside, and every edge
    {600, 5, 1, 0, 3, 1, 3},      // few columns, whole words of them and ends
    {5, 600, 1, 3, 0, 3, 1},      // few rows
    {3, 5, 200, 0, 0, 3, 1, 0},   // batches of small matrices, misaligned
    {16, 16, 70, 0, 0, 0, 0, 0},  // and of whole vectors
};
}

int main() {
  using namespace inlay;
  for (auto const& entry : move_variants())
    for (int e : test::kElementSizes) {
      std::set<std::string> lines;
      for (test::Case const& c : test::kShapes) {
        test::Views const v = test::views_of(c, test::is_transpose(entry.info().name));
        Recorder r;
        void* const in = r.allocate("in", std::size_t(v.in_elements * e), e, 1);
        void* const out = r.allocate("out", std::size_t(v.out_elements * e), e, 2);
        Move const move = test::move_of(c, v, in, out, e);
        if (entry.info().rejects(move, Device{})) continue;
        entry.replay(move, r);
        for (Site const& s : r.sites)
          lines.insert(std::string(entry.info().name) + " " + std::to_string(e) +
                       (s.space == replay::Space::global ? " global " : " shared ") + (s.store ? "store " : "load ") +
                       std::to_string(s.bytes));
      }
      for (auto const& line : lines) std::puts(line.c_str());
    }
}
