// Measures copy_03, transpose_06 and transpose_09 with other tiles, and without their unpredicated path.
// usage: tiles [ROWS COLS [SAMPLES]]  (4-byte elements; prints Markdown tables)
#include "tiles.h"

#include <cstdio>
#include <cstdlib>

#include "measure/cuda_handles.h"
#include "measure/measure.h"

namespace {

template <class Tiles>
void print(inlay::lab::CopyCase const& c, Tiles const& tiles, int samples) {
  auto const with_limit = [&](inlay::lab::CopyCall const& call, cudaStream_t) {
    auto all = inlay::lab::copy_limit(c);
    for (auto& tile : tiles(c, call)) all.push_back(std::move(tile));
    return all;
  };
  inlay::lab::Progress progress;
  inlay::lab::Stream const stream = inlay::lab::make_stream();
  std::printf("\n| %s, 4 bytes | ms | IQR | of copy | check result |\n|---|---|---|---|---|\n", c.name().c_str());
  for (inlay::lab::Row const& row : inlay::lab::measure(c, with_limit, {samples}, stream.get(), progress))
    std::printf("| %s | %.4f | %.4f | %.3f | %s |\n", row.kernel.c_str(), row.ms_median.value_or(0),
                row.ms_iqr.value_or(0), row.share.value_or(0), row.check_result.c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  // The rows are whole vectors.
  inlay::lab::CopyCase const c =
      argc > 2 ? inlay::lab::transpose_case(std::atoll(argv[1]), std::atoll(argv[2])) : inlay::lab::transpose_case();
  int const samples = argc > 3 ? std::atoi(argv[3]) : 15;
  for (auto tiles :
       {inlay::kernels::copy_03_tiles, inlay::kernels::transpose_06_tiles, inlay::kernels::transpose_09_tiles})
    print(c, tiles, samples);
} catch (std::exception const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
