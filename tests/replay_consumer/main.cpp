// Replays a kernel on the CPU: is it right, and what does it ask of memory? No GPU, no nvcc.
#include "kernel.h"

#include <inlay/explain/explanation.h>
#include <inlay/replay/run.h>

#include <cstdio>
#include <string>

#if __has_include("race.h")  // kernel.h with one line changed each time, by mistakes.cmake
#include "conflict.h"
#include "deadlock.h"
#include "race.h"
#endif

template <class Kernel>
int replay() {
  int const M = 100, N = 200;  // ragged on purpose: 4 rows in the last block, 8 columns in the last tile
  inlay::replay::Recorder recorder;
  float* const in = recorder.allocate_integers("in", M * N, 1);
  float* const out = recorder.allocate_integers("out", M, 2);
  recorder.reads(in);
  recorder.writes(out);
  inlay::replay::replay_kernel("row_sums", Kernel{in, out, M, N}, recorder);

  for (int m = 0; m < M; ++m) {  // small integers: sums are exact in any order
    float sum = 0;
    for (int n = 0; n < N; ++n) sum += recorder.number(in + m * N + n);
    if (float const got = recorder.number(out + m); !(got == sum))
      recorder.report(inlay::replay::Check::result,
                      "row " + std::to_string(m) + ": " + std::to_string(got) + ", not " + std::to_string(sum));
  }
  inlay::explain::Work const work{"row_sums", "the rows of a 100 x 200 matrix", "100x200", 4. * (M * N + M)};
  auto const explanation = inlay::explain::explanation_of(recorder, work, *inlay::model::find_device("H200"));
  std::printf("%s%s", inlay::explain::findings_text(recorder).c_str(), inlay::explain::to_text(explanation).c_str());
  return recorder.finding_count > 0;
}

int main(int argc, char** argv) {
  std::string const which = argc > 1 ? argv[1] : "row_sums";
  if (which == "row_sums") return replay<row_sums::Kernel>();
#if __has_include("race.h")
  if (which == "race") return replay<race::Kernel>();
  if (which == "deadlock") return replay<deadlock::Kernel>();
  if (which == "conflict") return replay<conflict::Kernel>();
#endif
  std::fprintf(stderr, "there is no kernel '%s'; there are row_sums and the three mistakes race, deadlock, conflict\n",
               which.c_str());
  return 2;
}
