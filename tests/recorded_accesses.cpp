// Prints what the planner chooses among and what the replay of every kernel accesses, for tests/ptx_accesses.py: shapes
// that between them reach the unpredicated and the predicated path of each kernel. Shapes that a kernel rejects are
// left out.
#include <cstdio>
#include <set>
#include <utility>

#include <inlay/planner/candidate.h>
#include <inlay/registry/registry.h>
#include <inlay/registry/rounding.h>
#include "corpus.h"
#include "gemm_corpus.h"

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

namespace inlay {
namespace {
using namespace registry;

using Lines = std::set<std::string>;

void add(Lines& lines, std::string const& kernel, int elem_bytes, Recorder const& recorder) {
  for (replay::Site const& s : recorder.sites)
    lines.insert(kernel + " " + std::to_string(elem_bytes) +
                 (s.space == replay::Space::global ? " global " : " shared ") + (s.store ? "store " : "load ") +
                 std::to_string(s.bytes));
}

Lines of(Entry<Copy> const& entry, int e) {
  Lines lines;
  for (test::Case const& c : test::kShapes) {
    test::Views const v = test::views_of(c, test::is_transpose(entry.info()));
    Recorder r;
    void* const in = r.allocate("in", std::size_t(v.in_elements * e), e, 1);
    void* const out = r.allocate("out", std::size_t(v.out_elements * e), e, 2);
    Copy const copy = test::copy_of(c, v, in, out, e);
    if (entry.info().rejects(copy, Device{})) continue;
    entry.replay(copy, Device{}, r);
    add(lines, entry.info().name, e, r);
  }
  return lines;
}

// The whole corpus: a kernel of Gemm is several kernels, and which of them runs depends on how the operands lie.
Lines of(Entry<Gemm> const& entry, DType type, DType type_of_D) {
  Lines lines;
  for (test::GemmCase const& c : test::gemm_corpus()) {
    Recorder r;
    auto const buffer = [&](char const* name, test::Stored const& stored, DType of) {
      return allocate_numbers(r, name, std::size_t(stored.elements(c.L)), of, 1);
    };
    void *const A = buffer("A", stored_a(c), type), *const B = buffer("B", stored_b(c), type),
                *const D = buffer("D", stored_c(c), type_of_D);
    Gemm const as_called = test::gemm_of(c, A, B, D, Compute::fp32, type, type_of_D);
    for (Gemm const& gemm : {as_called, as_called.transposed()}) {
      bool const is_transposed = gemm.D.rows != as_called.D.rows || gemm.D.row_stride != as_called.D.row_stride;
      // Sums that a cluster adds lie in shared memory as D does.
      if (is_transposed && !entry.info().adds_slices) continue;
      if (entry.info().rejects(gemm, Device{})) continue;
      r.allocate_workspace(entry.info().workspace(gemm, Device{}));
      entry.replay(gemm, Device{}, r);
      add(lines, entry.info().name, bytes_of(type), r);
    }
  }
  return lines;
}

}  // namespace
}  // namespace inlay

int main() {
  using namespace inlay;
  using namespace inlay::registry;
  // The kernels that have GPU code: all, or those of the library.
  auto copies = copy_kernels();
  auto gemms = gemm_kernels();
#ifndef INLAY_GPU_STEPS
  std::puts("no steps");
  copies = copies.subspan(copy_steps().size()), gemms = gemms.subspan(gemm_steps().size());
#endif
  for (auto const& entry : copies) {
    if (entry.info().ladder == model::Ladder::none) {  // compiled for access widths, which are wider than elements
      std::printf("not_recorded %s\n", entry.info().name);
      continue;
    }
    for (int e : test::kElementSizes)
      for (auto const& line : of(entry, e)) std::puts(line.c_str());
  }
  for (auto const& row : planner::candidates<Copy>()) std::printf("candidate %s\n", row.kernel->name);
  for (auto const& entry : gemms)
    for (auto const& [type, type_of_D] : {std::pair{f32, f32}, {bf16, bf16}, {bf16, f32}})
      for (auto const& line : of(entry, type, type_of_D)) std::puts(line.c_str());
}
