// What is moved: a batch of row-major matrices, and how it becomes a Move.
#pragma once
#include "problems/kind.h"

namespace inlay::lab {

struct MoveCase {
  std::int64_t rows = 32768, cols = 32768;  // of the source
  std::int64_t batch = 1;
  int elem_bytes = 4;
  std::int64_t pitch = 0, pitch_dst = 0;    // elements from row to row; 0: cols in the source, rows in the destination
  std::int64_t base_src = 0, base_dst = 0;  // elements between a buffer's aligned start and the first matrix

  std::int64_t source_pitch() const { return pitch ? pitch : cols; }
  std::int64_t destination_pitch() const { return pitch_dst ? pitch_dst : rows; }
  std::int64_t elements() const { return batch * rows * cols; }
  // Of the buffers that hold the matrices: the base before them and the gaps between rows included.
  std::int64_t source_elements() const { return base_src + batch * rows * source_pitch(); }
  std::int64_t destination_elements() const { return base_dst + batch * cols * destination_pitch(); }
  // "32768 x 32768, 4 B, source pitch 32769, source base 1": all that tells it from other cases.
  std::string sentence() const;
  std::string name() const { return std::to_string(rows) + "x" + std::to_string(cols); }

  // A pitch that is given and one that follows from the extents are the same.
  friend bool operator==(MoveCase const& a, MoveCase const& b);
};

// The buffers' aligned starts.
struct MoveCall {
  void const* src;
  void* dst;
};

// Rank 3: (batch, rows, cols) and (batch, cols, rows). `buffer` is the aligned start, the view begins at its base.
Tensor source_view(MoveCase const& c, void const* buffer);
Tensor transposed_view(MoveCase const& c, void* buffer);

Move transpose_move(MoveCase const& c, MoveCall const& call);
// The same elements in the same order, the pitches taken out.
Move copy_move(MoveCase const& c, MoveCall const& call);

template <>
struct Kind<MoveCase> {
  static constexpr char const *name = "move", *public_function = "transpose", *suites = "suites";
  static constexpr Units units{"GB/s", "gbps", "of copy", "of_copy", "the faster of cudaMemcpyAsync and copy_03_vector",
                               1,      false};
  static constexpr char const *item_form = "(\\d+)x(\\d+):(\\d{1,2})", *item_shape = "ROWSxCOLS:ELEM",
                              *item_example = "32768x32768:4";
  static std::string short_name(MoveCase const& c);
  static std::vector<Field> fields(MoveCase& c);
  static void take_item(MoveCase& c, std::smatch const& match);
  // Extents below 1, other element sizes, pitches below the row, negative bases, more than 2^62 bytes.
  static void validate(MoveCase const& c);
  static void write(MoveCase const& c, std::string const& variant, Json& json);
  static bool wrote(Json const& row);
  static MoveCase read(Json const& row);

  static double bytes(MoveCase const& c) { return 2 * double(c.elements()) * c.elem_bytes; }
  static double flops(MoveCase const&) { return 0; }
  static double replayed_fma(MoveCase const&) { return 0; }
  static std::vector<OperandBuffer> operands(MoveCase const& c);
  using Call = MoveCall;
  static MoveCall call(MoveCase const&, std::span<void* const> at) { return {at[0], at[1]}; }
  static MoveCall exact(MoveCall const& call) { return call; }

  using Canonical = Move;
  static std::span<Entry<Move> const> variants() { return move_variants(); }
  // Copies pack the rows.
  static Move canonical(MoveCase const& c, MoveCall const& call, Info<Move> const* info);
};
static_assert(KindOf<MoveCase>);

}  // namespace inlay::lab
