// Prints what the replay of every variant accesses, for tests/ptx_accesses.py: an aligned shape and a ragged one, so
// that both the unpredicated and the predicated path are seen.
#include <cstdio>
#include <set>

#include "corpus.h"
#include "replay/registry.h"

int main() {
  using namespace inlay;
  for (auto const& entry : move_variants())
    for (int e : test::kElementSizes) {
      std::set<std::string> lines;
      for (test::Case const c : {test::Case{256, 256}, test::Case{203, 144, 1, 0, 5}}) {
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
