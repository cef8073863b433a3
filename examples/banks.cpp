// Proves at compile time that a tile in shared memory is free of bank conflicts. A layout is anything callable as
// layout(i, j) -> offset in elements: this one, a lambda, a CuTe layout.
#include <inlay/banks.h>

#include <cstdio>

namespace banks = inlay::banks;

// A row-major tile of 64 x 64 floats under CuTe's Swizzle<5,0,S>: offset bits S to S+4 are xored onto the lowest five.
template <int S>
struct Tile {
  constexpr int operator()(int i, int j) const {
    int const offset = 64 * i + j;
    return offset ^ (offset >> S & 31);
  }
  // The most wavefronts of a warp that reads 32 rows of a column, or writes 32 neighbours of a row.
  static constexpr unsigned read = banks::worst_column_wavefronts(Tile{}, 64, 64, sizeof(float), banks::Access::load);
  static constexpr unsigned write = banks::worst_row_wavefronts(Tile{}, 64, 64, sizeof(float), 1, banks::Access::store);
};
static_assert(Tile<6>::read == 1 && Tile<6>::write == 1, "the tile has bank conflicts");

#ifdef REFUSED  // a tutorial's: the row number begins at bit 6, so bit 5 is still a column's, and rows i and i + 16
                // collide
static_assert(Tile<5>::read == 1 && Tile<5>::write == 1, "the tile has bank conflicts");
#endif

int main() {
  std::printf("a column of Swizzle<5,0,5>: %u wavefronts; of Swizzle<5,0,6>: %u\n", Tile<5>::read, Tile<6>::read);
}
