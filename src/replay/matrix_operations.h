// mma, ldmatrix and stmatrix on the CPU: the lanes of a warp meet, and the last one executes the instruction for all.
#pragma once
#include <inlay/block/matrix_ops.h>
#include <inlay/replay/executor.h>

#include <span>

namespace inlay::replay {

// What a lane brings to ldmatrix or stmatrix.
struct MatrixRow {
  char* row;                   // host address of the 16 bytes of its row; null: no matrix has the row
  std::uint32_t registers[4];  // one for each matrix
};

// Executes ldmatrix or stmatrix. Lane l has the elements (l / 4, l % 4 * 2) and (l / 4, l % 4 * 2 + 1) of each matrix;
// with `transposes`, of its transpose.
template <MatrixCopy kind>
void copy_matrices(std::span<MatrixRow* const> lanes) {
  for (int i = 0; i < kind.matrices; ++i)
    for (int l = 0; l < 32; ++l)
      for (int half = 0; half < 2; ++half) {
        int const major = l / 4, minor = l % 4 * 2 + half;
        int const row = kind.transposes ? minor : major, column = kind.transposes ? major : minor;
        char* const in_memory = lanes[std::size_t(8 * i + row)]->row + 2 * column;
        char* const in_register = reinterpret_cast<char*>(&lanes[std::size_t(l)]->registers[i]) + 2 * half;
        std::memcpy(kind.is_store ? in_memory : in_register, kind.is_store ? in_register : in_memory, 2);
      }
}

// A lane's part of ldmatrix or stmatrix: records the access to its row, then meets the other lanes.
template <MatrixCopy kind>
void execute_matrix_copy(int call_site, void const* row, bool active, std::uint32_t (&registers)[4]) {
  constexpr char const* name = kind.is_store ? "stmatrix" : "ldmatrix";
  Executor& x = running();
  if (!active) x.misuse(std::string("calls ") + name + " with a predicate that is false");
  MatrixRow mine{nullptr, {registers[0], registers[1], registers[2], registers[3]}};
  auto const pass = x.begin_pass(call_site);
  if (int(x.lane()) < 8 * kind.matrices)
    mine.row = x.access(pass, row, 16, kind.is_store ? Executor::Direction::store : Executor::Direction::load,
                        Mechanism::plain);
  else
    x.end_pass(pass);
  x.collective(name, {}, 32, true, mine, &copy_matrices<kind>);
  for (int i = 0; i < kind.matrices; ++i) registers[i] = mine.registers[i];
}

// The registers of a lane for D = A B + C of one mma, and the instruction. Traits: those of CuTe's atom.
template <class Traits>
struct MmaLane {
  static constexpr int M = cute::get<0>(typename Traits::Shape_MNK{}), N = cute::get<1>(typename Traits::Shape_MNK{}),
                       K = cute::get<2>(typename Traits::Shape_MNK{});
  typename Traits::ValTypeA A[M * K / 32];
  typename Traits::ValTypeB B[N * K / 32];
  typename Traits::ValTypeD D[M * N / 32];  // C before the instruction

  // The sum, with C, is rounded once. A tensor core truncates what its internal format does not hold, so the
  // last bit may differ where a sum is not exact.
  static void execute(std::span<MmaLane* const> lanes) {
    static auto const a = indices(typename Traits::ALayout{});
    static auto const b = indices(typename Traits::BLayout{});
    static auto const d = indices(typename Traits::CLayout{});
    double A[M * K], B[N * K];  // column-major, as CuTe numbers the elements of a tile
    each(lanes, a, [&](MmaLane& x, int v, int i) { A[i] = double(float(x.A[v])); });
    each(lanes, b, [&](MmaLane& x, int v, int i) { B[i] = double(float(x.B[v])); });
    each(lanes, d, [&](MmaLane& x, int v, int i) {
      double sum = double(x.D[v]);
      for (int k = 0; k < K; ++k) sum += A[i % M + k * M] * B[i / M + k * N];
      x.D[v] = typename Traits::ValTypeD(float(sum));
    });
    running().count_mma_fma(std::int64_t(M) * N * K);
  }

 private:
  // The index in the tile of each value of each lane, lane by lane.
  static std::vector<int> indices(auto const& layout) {
    std::vector<int> index;
    for (int lane = 0; lane < 32; ++lane)
      for (int v = 0; v < int(cute::size<1>(layout)); ++v) index.push_back(int(layout(lane, v)));
    return index;
  }
  template <class F>
  static void each(std::span<MmaLane* const> lanes, std::vector<int> const& index, F const& f) {
    std::size_t const values = index.size() / 32;
    for (std::size_t i = 0; i < index.size(); ++i) f(*lanes[i / values], int(i % values), index[i]);
  }
};

}  // namespace inlay::replay
