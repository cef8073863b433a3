// Broken tensor-core kernels on the GPU: what of it the hardware shows. The replay finds each of them
// (tests/test_hgemm_mutants.cpp).
// usage: hgemm_mutants  (prints a Markdown table; a process for each mutant, because one may hang)
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include <inlay/kernels/common/launch_kernel.h>
#include <inlay/tutorial/hgemm/hgemm_06_persistent.h>
#include <inlay/tutorial/hgemm/hgemm_08_tma_store.h>

namespace inlay::kernels {
namespace {

// What a Block leaves out.
enum class Flaw {
  none,
  no_wgmma_fence,
  no_wgmma_commit,
  a_group_too_few,
  no_wgmma_wait,
  empty_too_early,
  no_proxy_fence,
  no_store_wait,
  no_sync_before_store,
  no_remote_arrival,
  multicast_to_itself,
  no_sync_cluster,
};

template <Flaw flaw>
struct Flawed : block::DeviceBlock {
  using Base = block::DeviceBlock;
  struct Mbarrier : Base::Mbarrier {
    CUTE_DEVICE void arrive() { Base::Mbarrier::arrive(); }
    CUTE_DEVICE void arrive(unsigned rank) {
      Base::Mbarrier::arrive(flaw == Flaw::no_remote_arrival ? block_rank_in_cluster() : rank);
    }
  };
  CUTE_DEVICE static void wgmma_fence() {
    if constexpr (flaw != Flaw::no_wgmma_fence) Base::wgmma_fence();
  }
  CUTE_DEVICE static void wgmma_commit() {
    if constexpr (flaw != Flaw::no_wgmma_commit) Base::wgmma_commit();
  }
  template <int N>
  CUTE_DEVICE static void wgmma_wait(Int<N>) {
    if constexpr (flaw == Flaw::a_group_too_few || (flaw == Flaw::empty_too_early && N > 0))
      Base::wgmma_wait(Int<N + 1>{});
    else if constexpr (flaw != Flaw::no_wgmma_wait)
      Base::wgmma_wait(Int<N>{});
  }
  CUTE_DEVICE static void fence_proxy_async() {
    if constexpr (flaw != Flaw::no_proxy_fence) Base::fence_proxy_async();
  }
  template <class M>
  CUTE_DEVICE static void tma_load_multicast(CUtensorMap const& map, M& full, void* smem, int c0, int c1, int c2,
                                             unsigned ranks) {
    Base::tma_load_multicast(map, full, smem, c0, c1, c2,
                             flaw == Flaw::multicast_to_itself ? 1u << block_rank_in_cluster() : ranks);
  }
  template <int Threads>
  CUTE_DEVICE static void sync_cluster(Int<Threads> threads) {
    if constexpr (flaw != Flaw::no_sync_cluster) Base::sync_cluster(threads);
  }
  CUTE_DEVICE static void sync() { Base::sync(); }
  template <int Id, int Threads>
  CUTE_DEVICE static void sync(Int<Id> id, Int<Threads> threads) {
    if constexpr (flaw != Flaw::no_sync_before_store) Base::sync(id, threads);
  }
  template <int N>
  CUTE_DEVICE static void tma_store_wait_read(Int<N> n) {
    if constexpr (flaw != Flaw::no_store_wait) Base::tma_store_wait_read(n);
  }
};

// A kernel whose body meets a Flawed block.
template <class Kernel, Flaw flaw>
struct Mutant {
  Kernel kernel;
  using Smem = typename Kernel::Smem;
  static constexpr LaunchInfo launch_info = Kernel::launch_info;
  int64_t blocks() const { return kernel.blocks(); }
  int cluster() const requires(launch_info.clusters) { return kernel.cluster(); }
  template <class Block>
  CUTE_DEVICE void operator()(Block, Smem& smem) const {
    kernel(Flawed<flaw>{}, smem);
  }
};

template <class T>
T* on_device(std::vector<T> const& values) {
  void* p;
  detail::check(cudaMalloc(&p, values.size() * sizeof(T)));
  detail::check(cudaMemcpy(p, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return static_cast<T*>(p);
}

// Runs the kernel once and the mutant 20 times, and prints how often D differs.
template <class Kernel, Flaw flaw>
void compare(char const* name, char const* what) {
  using T = bfloat16_t;
  constexpr int M = 4096, N = 4096, K = 1024, runs = 20;  // four tiles of 128 x 256 for a block
  std::vector<T> a(std::size_t(M) * K), b(std::size_t(N) * K), wanted(std::size_t(M) * N), d = wanted;
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(float(int(i * 7919 % 13) - 6));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = T(float(int(i * 104729 % 11) - 5));
  T *const A = on_device(a), *const B = on_device(b), *const D = on_device(d);
  Gemm const gemm = make_gemm(matrix(static_cast<void const*>(A), bf16, M, K),
                              matrix(static_cast<void const*>(B), bf16, N, K).transposed(),
                              matrix(static_cast<void*>(D), bf16, M, N), {}, Compute::fp32);
  Device const device;
  auto const run = [&](auto const& kernel, std::vector<T>& to) {
    detail::check(cudaMemset(D, 255, to.size() * sizeof(T)));
    block::launch(kernel, {0, 90}, nullptr);
    detail::check(cudaMemcpy(to.data(), D, to.size() * sizeof(T), cudaMemcpyDeviceToHost));
  };
  auto const kernel = Kernel::make(gemm, Setting<block::DriverEncoder>{device, nullptr, {}});
  run(kernel, wanted);
  int wrong_runs = 0;
  std::size_t most = 0;
  for (int i = 0; i < runs; ++i) {
    run(Mutant<Kernel, flaw>{kernel}, d);
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < d.size(); ++j) wrong += std::memcmp(&d[j], &wanted[j], sizeof(T)) != 0;
    wrong_runs += wrong > 0, most = std::max(most, wrong);
  }
  std::printf("| %s | %s | %d of %d | %zu |\n", name, what, wrong_runs, runs, most);
}

template <class Kernel, Flaw flaw>
void in_a_process(char const* name, char const* what) {
  std::fflush(stdout);
  if (pid_t const child = fork()) {
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("| %s | %s | hangs | |\n", name, what);
    return;
  }
  alarm(12);
  try {
    compare<Kernel, flaw>(name, what);
  } catch (std::exception const& e) {
    std::printf("| %s | %s | %s | |\n", name, what, e.what());
  }
  std::fflush(stdout);
  _exit(0);
}

void table() {
  using Persistent = WgmmaRing<hgemm_06_persistent::Step, bfloat16_t>;
  using TmaStore = WgmmaRing<hgemm_08_tma_store::Step, bfloat16_t>;
  std::puts(
      "| kernel | what is left out or done wrong | wrong runs | wrong elements of 16777216, at most "
      "|\n|---|---|--:|--:|");
  in_a_process<Persistent, Flaw::none>("hgemm_06", "nothing");
  in_a_process<Persistent, Flaw::no_wgmma_fence>("hgemm_06", "wgmma_fence");
  in_a_process<Persistent, Flaw::no_wgmma_commit>("hgemm_06", "wgmma_commit");
  in_a_process<Persistent, Flaw::no_wgmma_wait>("hgemm_06", "wgmma_wait");
  in_a_process<Persistent, Flaw::a_group_too_few>("hgemm_06", "wgmma_wait for the last group");
  in_a_process<Persistent, Flaw::empty_too_early>("hgemm_06", "a stage is given back while wgmma reads it");
  in_a_process<TmaStore, Flaw::none>("hgemm_08", "nothing");
  in_a_process<TmaStore, Flaw::no_proxy_fence>("hgemm_08", "fence_proxy_async");
  in_a_process<TmaStore, Flaw::no_store_wait>("hgemm_08", "tma_store_wait_read");
  in_a_process<TmaStore, Flaw::no_sync_before_store>("hgemm_08", "the barrier of a warpgroup around its stores");
  in_a_process<TmaStore, Flaw::no_remote_arrival>("hgemm_08", "arrival at the other block of the cluster");
  in_a_process<TmaStore, Flaw::multicast_to_itself>("hgemm_08", "multicast to the other block");
  in_a_process<TmaStore, Flaw::no_sync_cluster>("hgemm_08", "sync_cluster");
}

}  // namespace
}  // namespace inlay::kernels

int main() {
  inlay::kernels::table();
  return 0;
}
