#include "problems/shown_case.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace inlay::lab {
namespace {
// Shapes at which kernels are shown: the given one; with a K of 16, for those that take a short one; a batch of 16 x 16
// x 16 with as many multiply-adds, for those that take small matrices; four columns, for those that take few.
std::vector<GemmCase> shapes(std::int64_t M, std::int64_t N, std::int64_t K) {
  GemmCase batch = gemm_case(16, 16, 16, "nn");
  batch.batch = std::clamp<std::int64_t>(M * N * K / 4096, 10, 100000);
  return {gemm_case(M, N, K, "nn"), gemm_case(M, N, 16, "nn"), batch, gemm_case(M, 4, K, "nn")};
}
// The first of these shapes that the kernel accepts with the type, at the first operand transposes; none: it does not
// accept the type. The ladder of the tensor cores is recorded at nt.
std::optional<GemmCase> accepted(Info<Gemm> const& info, std::string const& type, std::vector<GemmCase> const& all) {
  bool const is_half = type != "f32";
  for (GemmCase c : all)
    for (std::string const transposes : {is_half ? "nt" : "nn", is_half ? "nn" : "nt", "tn", "tt"}) {
      c.type = type, c.transa = transposes.substr(0, 1), c.transb = transposes.substr(1);
      if (!info.rejects(planned(c), Device{})) return c;
    }
  return std::nullopt;
}
}  // namespace

bool takes_type(Info<Gemm> const& info, DType type) {
  return accepted(info, name_of(type), shapes(256, 256, 32)).has_value();
}

GemmCase shown_case(Info<Gemm> const& info, std::int64_t M, std::int64_t N, std::int64_t K) {
  std::string const type = takes_type(info, f32) ? "f32" : "bf16";
  auto const small = shapes(256, 256, 288), all = shapes(M, N, K);  // 288 is no short K
  // The shape and the transposes are those that it accepts at a small size: at another one it may reject odd extents.
  GemmCase c = all[0];
  for (std::size_t i = small.size(); i-- > 0;)
    if (auto const takes = accepted(info, type, {small[i]}))
      c = all[i], c.transa = takes->transa, c.transb = takes->transb;
  if (std::string_view(info.name).ends_with("column_major_b")) c.transa = "n", c.transb = "t";
  c.type = type;
  return c;
}

}  // namespace inlay::lab
