// Replays kernels: a few of a kernel's blocks, all of them, or a whole kernel with its checks.
#pragma once
#include <inlay/block/kernel.h>
#include <inlay/replay/host_block.h>

namespace inlay::replay {

// The arrays of a kernel's shared memory by the names that Smem::members gives; anything else is plain "shared".
template <class Smem>
std::vector<Operand> operands_of() {
  std::vector<Operand> v;
  if constexpr (!std::is_empty_v<Smem>) {
    alignas(Smem) static char const place[sizeof(Smem)]{};  // nothing is read: a member's address alone
    auto const& smem = *reinterpret_cast<Smem const*>(place);
    Smem::members([&]<class Holder, class Member>(char const* name, Member Holder::*member) {
      auto const offset = std::size_t(reinterpret_cast<char const*>(&(smem.*member)) - place);
      v.push_back(
          {std::string("shared ") + name, offset, sizeof(Member), int(sizeof(std::remove_all_extents_t<Member>))});
    });
  }
  v.push_back({"shared", 0, sizeof(Smem), 1});
  return v;
}

// Runs `count` blocks of a kernel on the host, from block `first` on; clusters are whole.
template <class Block = HostBlock, Kernel K>
void run(K const& kernel, Recorder& recorder, std::int64_t first, std::int64_t count) {
  using Smem = typename K::Smem;
  recorder.executor().run(first, count, K::launch_info, cluster_of(kernel), smem_bytes<K>, operands_of<Smem>(),
                          [&](unsigned group, unsigned rank, void* shared) {
                            Block block;
                            block.rank = rank, block.group = group;
                            if constexpr (std::is_empty_v<Smem>) {
                              Smem none;
                              kernel(block, none);
                            } else {
                              kernel(block, *static_cast<Smem*>(shared));
                            }
                          });
}
template <class Block = HostBlock, Kernel K>
void run(K const& kernel, Recorder& recorder) {
  run<Block>(kernel, recorder, 0, kernel.blocks());
}

template <Kernel K>
RecordedLaunch launch_of(K const& kernel) {
  constexpr LaunchInfo const& facts = K::launch_info;
  return {.blocks = kernel.blocks(),
          .threads = unsigned(facts.threads),
          .cluster = cluster_of(kernel),
          .shared_bytes = smem_bytes<K>,
          .min_blocks = facts.min_blocks,
          .blocks_per_sm = facts.blocks_per_sm};
}

// Runs f, which makes kernels and runs them. Outside all blocks a Fault, such as the encoder's, or a touch of a buffer
// ends f and is a finding of the recorder's kernel: this replay fails alone.
template <class F>
void guarded(Recorder& recorder, F&& f) {
  recorder.executor().guarded([&] { std::forward<F>(f)(); });
}

// Replays a kernel of any kind, of which reads() and writes() have said what it may touch, with all checks but the
// result's: that is the caller's, who finds the bytes at Recorder::real.
template <class Block = HostBlock, Kernel K>
void replay_kernel(std::string name, K const& kernel, Recorder& recorder) {
  recorder.kernel = std::move(name);
  recorder.launches.push_back(launch_of(kernel));
  run<Block>(kernel, recorder);
  recorder.conclude();
}

}  // namespace inlay::replay
