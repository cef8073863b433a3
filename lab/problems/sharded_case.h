// A redistribution: a tensor that is cut over ranks along one mode comes with its modes in another order, cut along
// another.
#pragma once
#include <inlay/redistribute.h>

#include "problems/case.h"

namespace inlay::lab {

struct ShardedCase {
  static constexpr char const* kind = "redistribution";
  std::string name;                               // empty: sentence() says all fields
  std::vector<std::int64_t> shape{16384, 16384};  // of the whole source, row-major
  std::vector<std::int64_t> axes{1, 0};           // mode k of the result is mode axes[k] of the source
  int from = 0, to = 0;                           // the cut modes of the source and of the result
  int elem_bytes = 4;

  std::string sentence() const;
  std::vector<Field> fields();
  // Throws UsageError for other than 1 to 5 modes, no permutation of them, cut modes that are not there, negative
  // extents, and elements of more than 16 bytes. Extents may be 0.
  void validate() const;
  std::int64_t bytes() const;
  // The memory of a rank's part of the source or of the result: that of the largest part.
  std::int64_t part_bytes(int ranks) const;
};

// Both sides on one rank, with the shape of the result, cut evenly. The part of the result has the strides of the
// largest part.
struct ShardedViews {
  Sharded dst;
  ConstSharded src;
};
ShardedViews views(ShardedCase const& c, int ranks, int rank, void* dst, void const* src);

}  // namespace inlay::lab
