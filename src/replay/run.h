// Replays kernels: some blocks of a kernel, all blocks, or all blocks with all checks.
#pragma once
#include <inlay/block/kernel.h>
#include <inlay/replay/host_block.h>

namespace inlay::replay {

// Returns the arrays of a kernel's shared memory with the names that Smem::members gives. Other bytes are named
// "shared".
template <class Smem>
std::vector<Operand> operands_of() {
  std::vector<Operand> v;
  if constexpr (!std::is_empty_v<Smem>) {
    alignas(Smem) static char const bytes[sizeof(Smem)]{};  // never read: only addresses of members are taken
    auto const& smem = *reinterpret_cast<Smem const*>(bytes);
    Smem::members([&]<class Holder, class Member>(char const* name, Member Holder::*member) {
      auto const offset = std::size_t(reinterpret_cast<char const*>(&(smem.*member)) - bytes);
      v.push_back(
          {std::string("shared ") + name, offset, sizeof(Member), int(sizeof(std::remove_all_extents_t<Member>))});
    });
  }
  v.push_back({"shared", 0, sizeof(Smem), 1});
  return v;
}

template <Kernel K>
void run_launch(Launch const& launch, Executor& executor) {
  using Smem = typename K::Smem;
  K const& kernel = *static_cast<K const*>(launch.kernel);
  executor.run(launch.first, launch.count == Launch::kAllBlocks ? kernel.blocks() : launch.count, K::launch_info,
               cluster_of(kernel), smem_bytes<K>, operands_of<Smem>(),
               [&](unsigned block_index, unsigned thread_rank, void* shared) {
                 HostBlock const block{thread_rank, block_index};
                 if constexpr (std::is_empty_v<Smem>) {
                   Smem none;
                   kernel(block, none);
                 } else {
                   kernel(block, *static_cast<Smem*>(shared));
                 }
               });
}

// Replays blocks first .. first+count-1 of a kernel. With clusters, both are multiples of the cluster size.
template <Kernel K>
void run(K kernel, Recorder& recorder, std::int64_t first, std::int64_t count) {
  recorder.executor().launch({typeid(K), &kernel, sizeof kernel, first, count, run_launch<K>});
}
template <Kernel K>
void run(K const& kernel, Recorder& recorder) {
  run(kernel, recorder, 0, Launch::kAllBlocks);
}

template <Kernel K>
RecordedLaunch launch_of(K const& kernel) {
  constexpr LaunchInfo const& info = K::launch_info;
  return {.blocks = kernel.blocks(),
          .threads = unsigned(info.threads),
          .cluster = cluster_of(kernel),
          .shared_bytes = smem_bytes<K>,
          .min_blocks = info.min_blocks,
          .blocks_per_sm = info.blocks_per_sm};
}

// Calls f, which makes kernels and replays them. A Fault outside all blocks, such as that of ReplayEncoder or of a
// direct access to a buffer, ends f and becomes a finding of the recorder's kernel.
template <class F>
void guarded(Recorder& recorder, F&& f) {
  recorder.executor().guarded([&] { std::forward<F>(f)(); });
}

// Replays all blocks of a kernel. Recorder::reads() and writes() must have named the buffers that it may access.
// Performs all checks but that of the result: the caller compares the bytes at Recorder::real().
template <Kernel K>
void replay_kernel(std::string name, K const& kernel, Recorder& recorder) {
  recorder.kernel = std::move(name);
  recorder.launches.push_back(launch_of(kernel));
  run(kernel, recorder);
  recorder.conclude();
}

}  // namespace inlay::replay
