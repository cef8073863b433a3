// `inlay bench copy` with CCCL's copy in the same table. usage: copy_baselines copy [the same flags]
#include "copy_baselines.h"

#include <array>
#include <climits>
#include <utility>

#include "commands.h"

namespace inlay::baselines {
namespace {

struct Modes {
  int rank = 0;
  std::array<std::int64_t, Tensor::kMaxRank> extents, dst, src;  // strides in elements, the slowest mode first
};

Modes modes_of(Tensor const& dst, ConstTensor const& src) {
  Modes m;
  for (int k = 0; k < dst.rank; ++k)
    if (dst.extent[k] > 1)
      m.extents[m.rank] = dst.extent[k], m.dst[m.rank] = dst.stride[k], m.src[m.rank++] = src.stride[k];
  return m;
}

// Whether indices and offsets of both sides have 32 bits.
bool fits_int(Modes const& m) {
  std::int64_t elements = 1, dst = 0, src = 0;
  for (int k = 0; k < m.rank; ++k) {
    elements *= m.extents[k];
    dst += (m.extents[k] - 1) * std::abs(m.dst[k]), src += (m.extents[k] - 1) * std::abs(m.src[k]);
  }
  return std::max({elements, dst, src}) <= INT_MAX;
}

template <int Bytes>
void run(Modes const& m, void* dst, void const* src, cudaStream_t stream) {
  auto const copy = fits_int(m) ? cccl_copy<Bytes, int> : cccl_copy<Bytes, std::int64_t>;
  copy(dst, src, m.rank, m.extents.data(), m.dst.data(), m.src.data(), stream);
}

}  // namespace

lab::CopyCandidate cccl(lab::CopyCase const& c) {
  auto const launch = [c](lab::CopyCall const& call, cudaStream_t stream) {
    auto const [dst, src] = lab::views(c, call);
    Modes const m = modes_of(dst, c.is_transpose ? src.transposed() : src);
    if (m.rank > 8) throw lab::Rejection("is compiled for up to 8 modes");
    bool const known = [&]<int... Bytes>(std::integer_sequence<int, Bytes...>) {
      return ((c.elem_bytes == Bytes && (run<Bytes>(m, dst.data, src.data, stream), true)) || ...);
    }
    (std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 12, 16>{});
    if (!known) throw lab::Rejection(std::to_string(c.elem_bytes) + "-byte elements are not compiled");
  };
  lab::CopyCall const at{reinterpret_cast<void const*>(1ull << 60), reinterpret_cast<void*>(2ull << 60)};
  return {{"cccl_copy", launch}, lab::strided(c.canonical(at, nullptr), at), c.limit_bytes()};
}

}  // namespace inlay::baselines

int main(int argc, char** argv) {
  using namespace inlay;
  std::string typed = "copy_baselines";
  for (int i = 1; i < argc; ++i) typed += std::string(" ") + argv[i];
  int status = 0;
  CLI::App app("Copies between layouts: inlay's and other people's.", "copy_baselines");
  app.require_subcommand(1);
  lab::add_bench_of_copies(app, typed, [&status](lab::BenchOptions options) {
    options.copy_baselines = [](lab::CopyCase const& c) { return std::vector{baselines::cccl(c)}; };
    status = lab::run_bench(options) ? 0 : 1;
  });
  return lab::run_command(app, argc, argv, status);
}
