#include <inlay/problem/batched_gemm.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include <inlay/problem/footprint.h>
#include <inlay/problem/integers.h>

namespace inlay::problem {
namespace {

void check_operand(ConstTensor const& t, char const* who) {
  if (t.rank < 2)
    throw Error(std::string(who) + " has rank " + std::to_string(t.rank) +
                "; gemm takes matrices, of rank 2, and batches of a higher rank");
  if (t.dtype != f32 && !is_half(t.dtype))
    throw Error(std::string(who) + " has elements of type " + name_of(t.dtype) + "; gemm takes f32, bf16 and f16");
  check_extents(t, who);
}

void check_types(ConstTensor const& A, ConstTensor const& B, ConstTensor const& D) {
  if (A.dtype != B.dtype || (D.dtype != A.dtype && D.dtype != f32))
    throw Error("A has elements of type " + std::string(name_of(A.dtype)) + ", B of type " + name_of(B.dtype) +
                " and D of type " + name_of(D.dtype) + "; gemm takes A and B of one type, and D of that type or f32");
}

void check_shapes(ConstTensor const& A, ConstTensor const& B, ConstTensor const& D) {
  if (A.rank != B.rank || A.rank != D.rank)
    throw Error("A has rank " + std::to_string(A.rank) + ", B " + std::to_string(B.rank) + " and D " +
                std::to_string(D.rank) + "; gemm takes three matrices or three batches");
  int const r = A.rank;
  auto const sentence = [&] { return "A of shape " + shape(A) + " and B of shape " + shape(B); };
  for (int k = 0; k < r - 2; ++k)
    if (A.extent[k] != B.extent[k])
      throw Error(sentence() + " are batches of " + std::to_string(A.extent[k]) + " and " +
                  std::to_string(B.extent[k]) + " matrices" + (r > 3 ? " along mode " + std::to_string(k) : ""));
  if (A.extent[r - 1] != B.extent[r - 2])
    throw Error(sentence() + " do not match: K is " + std::to_string(A.extent[r - 1]) + " in A and " +
                std::to_string(B.extent[r - 2]) + " in B");
  ConstTensor result = A;
  result.extent[r - 1] = B.extent[r - 1];
  for (int k = 0; k < r; ++k)
    if (D.extent[k] != result.extent[k])
      throw Error("D has shape " + shape(D) + " where " + sentence() + " give " + shape(result));
}

// Sets the strides of extents of 1 as the canonical form of a Gemm demands.
void set_unused_strides(std::int64_t rows, std::int64_t cols, DType type, std::int64_t& row_stride,
                        std::int64_t& col_stride) {
  std::int64_t const vector = 16 / bytes_of(type);
  if (rows == 1) row_stride = cols > 1 && col_stride != 1 ? 1 : round_up(cols, vector);
  if (cols == 1) col_stride = row_stride != 1 ? 1 : round_up(rows, vector);
}

// The operand whose rows and columns are these modes of the view, over a batch with this stride. The const_cast is safe
// because no kernel writes to A or B.
Operand operand(ConstTensor const& t, int rows, int cols, std::int64_t matrices, std::int64_t batch_stride) {
  std::int64_t const batch = matrices > 1 ? batch_stride : 0;
  return {const_cast<void*>(t.data), t.dtype,        t.extent[rows], t.extent[cols],
          batch ? matrices : 1,      t.stride[rows], t.stride[cols], batch};
}

// The batch modes of a call, in elements. An array, because planning a matrix or a batch that merges to one mode
// allocates nothing.
struct BatchModes {
  BatchedGemm::Mode mode[Tensor::kMaxRank];
  int count = 0;

  // Those with more than one matrix, outermost in D first, merged where all operands allow it.
  BatchModes(ConstTensor const& A, ConstTensor const& B, ConstTensor const& D, ConstTensor const* C, bool reads) {
    for (int k = 0; k < D.rank - 2; ++k)
      if (D.extent[k] > 1)
        mode[count++] = {D.extent[k],
                         {reads ? A.stride[k] : 0, reads ? B.stride[k] : 0, D.stride[k], C ? C->stride[k] : 0}};
    std::sort(mode, mode + count,
              [](auto const& a, auto const& b) { return std::abs(a.stride[2]) > std::abs(b.stride[2]); });
    for (int i = count; i-- > 1;) {
      bool merges = true;
      for (std::size_t k = 0; k < mode[i].stride.size(); ++k)
        merges &= __int128(mode[i].stride[k]) * mode[i].extent == mode[i - 1].stride[k];
      if (!merges) continue;
      mode[i - 1] = {mode[i].extent * mode[i - 1].extent, mode[i].stride};
      erase(i);
    }
  }
  // Removes the longest mode, of equally long ones the innermost, and returns it; a mode of one matrix if there is
  // none.
  BatchedGemm::Mode take_longest() {
    if (count == 0) return {1, {}};
    int longest = 0;
    for (int i = 1; i < count; ++i)
      if (mode[i].extent >= mode[longest].extent) longest = i;
    BatchedGemm::Mode const taken = mode[longest];
    erase(longest);
    return taken;
  }

 private:
  void erase(int i) { std::move(mode + i + 1, mode + count--, mode + i); }
};

void check_C(ConstTensor const& C, ConstTensor const& D, Footprint const& written) {
  if (C.dtype != D.dtype)
    throw Error("C has elements of type " + std::string(name_of(C.dtype)) + " and D of type " + name_of(D.dtype) +
                "; gemm adds a C of D's type");
  check_memory(C, "C");
  if (overlap(written, Footprint(C)))
    throw Error("D of shape " + shape(D) +
                " overlaps C, which is repeated to that shape, in memory; C is D or lies apart");
}
bool is_same_view(ConstTensor const& a, ConstTensor const& b) {
  bool same = a.data == b.data;
  for (int k = 0; k < a.rank; ++k) same &= a.extent[k] == 1 || a.stride[k] == b.stride[k];
  return same;
}

}  // namespace

ConstTensor broadcast_to(ConstTensor const& C, ConstTensor const& D) {
  check_extents(C, "C");
  auto const fail = [&] {
    return Error("C of shape " + shape(C) + " cannot be repeated to the shape " + shape(D) + " of D");
  };
  if (C.rank > D.rank) throw fail();
  ConstTensor all = D;
  all.data = C.data, all.dtype = C.dtype;
  for (int k = 0; k < D.rank; ++k) {
    int const from = k - (D.rank - C.rank);
    std::int64_t const extent = from < 0 ? 1 : C.extent[from];
    if (extent != 1 && extent != D.extent[k]) throw fail();
    all.stride[k] = extent == 1 ? 0 : C.stride[from];
  }
  return all;
}

void check_workspace(void const* workspace, std::size_t size, Gemm const& gemm, ConstTensor const& A,
                     ConstTensor const& B, ConstTensor const& D, ConstTensor const* C) {
  std::string const bytes = std::to_string(size);
  if (!workspace) {
    if (size) throw Error("the workspace of " + bytes + " bytes is a null pointer", ErrorCode::workspace);
    return;
  }
  if (auto const past = misalignment(workspace, 256))
    throw Error("the workspace begins " + std::to_string(past) + " bytes past a multiple of 256", ErrorCode::workspace);
  if (size >> 63 || size > ~reinterpret_cast<std::uint64_t>(workspace))
    throw Error("the workspace of " + bytes + " bytes leaves the address space", ErrorCode::workspace);
  if (size == 0 || gemm.elements() == 0) return;
  Footprint const footprint(workspace, std::int64_t(size));
  for (auto [t, who] : {std::pair{&D, "D"}, std::pair{&A, "A"}, std::pair{&B, "B"}})
    if ((t == &D || gemm.K()) && overlap(footprint, Footprint(*t)))
      throw Error("the workspace of " + bytes + " bytes overlaps " + who + " of shape " + shape(*t) + " in memory",
                  ErrorCode::workspace);
  if (gemm.C.base && overlap(footprint, Footprint(broadcast_to(*C, D))))
    throw Error("the workspace of " + bytes + " bytes overlaps C of shape " + shape(*C) + " in memory",
                ErrorCode::workspace);
}

BatchedGemm make_batched_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& written_to,
                              Epilogue const& epilogue, Compute compute, ConstTensor const* added) {
  ConstTensor const D = written_to;
  check_operand(A, "A");
  check_operand(B, "B");
  check_operand(D, "D");
  check_types(A, B, D);
  check_shapes(A, B, D);

  int const m = A.rank - 2, n = A.rank - 1;  // the modes of rows and columns
  BatchedGemm batched;
  Gemm& g = batched.gemm;
  g.epilogue = epilogue, g.compute = compute;
  if (is_split(compute) && A.dtype != f32)
    throw Error(std::string("split_safe and split_fast slice operands of f32, and A and B are of ") + name_of(A.dtype));
  g.A.type = g.B.type = A.dtype, g.D.type = D.dtype;
  for (int k = 0; k < D.rank; ++k)
    if (D.extent[k] == 0) return batched;  // pointers and strides do not matter
  check_memory(D, "D");
  Footprint const written(D);
  if (overlaps_itself(written)) throw Error("D of shape " + shape(D) + " has strides with which its elements overlap");
  bool const reads = epilogue.alpha != 0 && A.extent[n] != 0;

  if (reads)
    for (auto [t, who] : {std::pair{&A, "A"}, std::pair{&B, "B"}}) {
      check_memory(*t, who);
      if (overlap(written, Footprint(*t)))
        throw Error("D of shape " + shape(D) + " overlaps " + who + " of shape " + shape(*t) + " in memory");
    }

  bool reads_C = epilogue.beta != 0 && added;
  ConstTensor C;
  if (reads_C) {
    C = broadcast_to(*added, D);
    reads_C = !(C.dtype == D.dtype && is_same_view(C, D));
    if (reads_C) check_C(C, D, written);
  }

  BatchModes modes(A, B, D, reads_C ? &C : nullptr, reads);
  BatchedGemm::Mode const batch = modes.take_longest();  // the kernels'
  for (int i = 0; i < modes.count; ++i) {
    auto& stride = modes.mode[i].stride;
    stride[0] *= bytes_of(A.dtype), stride[1] *= bytes_of(B.dtype), stride[2] *= bytes_of(D.dtype),
        stride[3] *= bytes_of(D.dtype);
    batched.outer.push_back(modes.mode[i]);
  }

  g.D = operand(D, m, n, batch.extent, batch.stride[2]);
  g.D.matrices = batch.extent;
  set_unused_strides(g.D.rows, g.D.cols, D.dtype, g.D.row_stride, g.D.col_stride);
  g.A.rows = g.M(), g.B.rows = g.N();
  g.A.matrices = g.B.matrices = 1;
  if (!reads) {
    g.epilogue.alpha = 0;  // A and B are not read, so their NaNs do not propagate
  } else {
    g.A = operand(A, m, n, batch.extent, batch.stride[0]), g.B = operand(B, n, m, batch.extent, batch.stride[1]);
    for (Operand* o : {&g.A, &g.B}) set_unused_strides(o->cols, o->rows, A.dtype, o->col_stride, o->row_stride);
  }
  if (reads_C) {
    g.C = operand(C, m, n, batch.extent, batch.stride[3]);
    g.C.matrices = batch.extent;
  }
  if (g.D.col_stride != 1 && g.D.row_stride == 1) g = g.transposed(), g.exchanged = true;
  return batched;
}

Gemm make_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D, Epilogue const& epilogue, Compute compute) {
  BatchedGemm const batched = make_batched_gemm(A, B, D, epilogue, compute);
  detail::require(batched.outer.empty(), "the batch modes do not merge to one, which is what one Gemm has");
  return batched.gemm;
}

Gemm make_grouped_gemm(ConstTensor const& A, ConstTensor const& B, Tensor const& D,
                       std::span<std::int32_t const> group_ends, Epilogue const& epilogue) {
  if (A.rank != 2 || B.rank != 3 || D.rank != 2)
    throw Error("A has rank " + std::to_string(A.rank) + ", B " + std::to_string(B.rank) + " and D " +
                std::to_string(D.rank) + "; grouped_gemm takes A and D of rank 2, and B of rank 3");
  check_operand(B, "B");
  if (!is_half(B.dtype))
    throw Error(std::string("B has elements of type ") + name_of(B.dtype) + "; grouped_gemm takes bf16 and f16");
  if (B.extent[0] != std::int64_t(group_ends.size()))
    throw Error("B of shape " + shape(B) + " has matrices for " + std::to_string(B.extent[0]) + " groups, and " +
                std::to_string(group_ends.size()) + " ends are given");
  ConstTensor first = B;
  first.rank = 2;
  for (int k : {0, 1}) first.extent[k] = B.extent[k + 1], first.stride[k] = B.stride[k + 1];
  Gemm g = make_gemm(A, first, D, epilogue, Compute::fp32);
  if (g.elements() == 0 || group_ends.empty()) return Gemm{};
  if (g.exchanged) g = g.transposed(), g.exchanged = false;
  g.groups = B.extent[0], g.group_ends = group_ends.data();
  Footprint const written{ConstTensor(D)};
  auto const bytes = std::int64_t(group_ends.size_bytes());
  if (!group_ends.data()) throw Error("the ends of the groups are a null pointer");
  if (reinterpret_cast<std::uint64_t>(group_ends.data()) % sizeof(std::int32_t))
    throw Error("the ends of the groups begin within a number of 4 bytes");
  if (overlap(written, Footprint(group_ends.data(), bytes)))
    throw Error("D of shape " + shape(D) + " overlaps the ends of the groups in memory");
  if (g.K() == 0) return g;  // B is not read
  check_memory(B, "B");
  if (overlap(written, Footprint(B)))
    throw Error("D of shape " + shape(D) + " overlaps B of shape " + shape(B) + " in memory");
  g.B.batch_stride = g.groups > 1 ? B.stride[0] : 0;
  g.B.matrices = g.B.batch_stride ? g.groups : 1;
  return g;
}

}  // namespace inlay::problem
