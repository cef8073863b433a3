// What no kernel of the ladders uses of the vocabulary compiles for a GPU too.
#include <inlay/block/launch.h>

namespace inlay::block {
using cute::Int;

struct Everything {
  float* out;
  int* counts;
  static constexpr LaunchInfo launch_info{.threads = 64, .follows = true};
  struct Smem {
    float sum;
    unsigned most;
    unsigned long long bits;
    double total;
    static void members(auto name) { name("sum", &Smem::sum); }
  };
  std::int64_t blocks() const { return 1; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem& smem) const {
    block.griddep_wait();
    int const t = int(block.thread_rank());
    float x = block.shfl(float(t), 3) + block.shfl_up(1.f, 1) + float(block.shfl_down(2., 1));
    x += float(block.shfl_xor(t, 16)) + float(block.shfl_xor(std::uint64_t(t), 16));
    if (block.any(t == 3) && !block.all(t < 7)) x += float(block.ballot(t % 2));
    block.atomic_add(&smem.sum, x), block.atomic_add(out, x, t < 5), block.atomic_add(&smem.total, double(x));
    block.atomic_min(counts, t), block.atomic_max(&smem.most, unsigned(t));
    int const place = block.atomic_fetch_add(counts + 1, 1);
    unsigned long long const bits = block.atomic_cas(&smem.bits, 0ull, 1ull);
    block.atomic_exchange(&smem.sum, 1.f), block.atomic_exchange(&smem.total, 1.);
    block.atomic_exchange(counts + 2, place + int(bits), t == 0);
    block.tma_store_commit(), block.tma_store_wait(Int<0>{});
  }
};
static_assert(Kernel<Everything>);

void launch_everything(float* out, int* counts, cudaStream_t stream) {
  launch(Everything{out, counts}, Target{}, stream);
}

}  // namespace inlay::block
