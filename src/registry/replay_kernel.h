// Replays a registered kernel on the CPU. A generated unit uses the macro for each line of a kernel list.
#pragma once
#include <inlay/kernels/common/instance.h>
#include <inlay/kernels/common/listed.h>
#include <inlay/kernels/common/sampling.h>
#include <inlay/registry/expected.h>
#include <inlay/registry/registry.h>
#include <inlay/replay/run.h>

#include <deque>
#include <span>
#include <vector>

namespace inlay::registry {

using ReplaySetting = kernels::Setting<replay::ReplayEncoder>;

// Replays all launches of dispatch type V in order, with all checks. accumulation_length: see Info.
template <class V, class P>
void replay_kernel(P const& problem, model::Device const& device, Recorder& recorder,
                   std::int64_t accumulation_length = 0, model::Config const& config = {}) {
  auto const wanted = expected(problem, recorder, accumulation_length);
  if constexpr (requires { V::reads_gaps; }) wanted.allow_gaps();
  replay::guarded(recorder, [&] {
    kernels::placed_launches<V>(problem, ReplaySetting{device, recorder.workspace(), {}, config},
                                [&](auto const& kernel) { replay::run(kernel, recorder); });
  });
  wanted.conclude();
}

// Replays a list of copies between these pairs of buffers in the kernel of dispatch type V, with all checks.
template <class V>
void replay_list(Copy const& copy, std::span<model::Pair const> pairs, model::Device const& device,
                 Recorder& recorder) {
  std::deque<Copy> each;
  std::vector<ExpectedCopy> wanted;
  for (model::Pair const& pair : pairs) {
    each.push_back(copy.between(pair.src, pair.dst));
    wanted.emplace_back(each.back(), recorder);
    if constexpr (requires { V::reads_gaps; }) wanted.back().allow_gaps();
  }
  replay::guarded(recorder, [&] {
    kernels::symbolic_launches<V, replay::ReplayEncoder>(copy, device, false, [&](auto const& kernel) {
      kernels::list_launches(kernel, pairs, [&](auto const& listed) { replay::run(listed, recorder); });
    });
  });
  for (ExpectedCopy const& w : wanted) w.conclude();
}

// Replays a few blocks instead of all: one block, or one cluster, of each kind that Kinds distinguishes. Its counts are
// multiplied by the number of blocks or clusters of that kind.
struct Sample {
  Recorder& recorder;

  template <block::Kernel K>
  void kinds(K const& kernel, std::int64_t times) const {
    if constexpr (kernels::Specialised<kernels::Kinds<K>>)
      kernels::Kinds<K>::each(kernel, [&](K const& k, std::int64_t block, std::int64_t alike) {
        recorder.times(times * alike, [&] { replay::run(k, recorder, block, block::cluster_of(k)); });
      });
    else
      all(kernel, times);
  }
  template <block::Kernel K>
  void all(K const& kernel, std::int64_t times) const {
    recorder.times(times, [&] { replay::run(kernel, recorder); });
  }
};

// The samples of a dispatch type without Samples: its launches by kinds; for a GEMM, with a few short K.
template <class V, class P>
void sample_launches(P const& problem, ReplaySetting const& setting, Sample const& sample) {
  kernels::launches<V>(problem, setting, [&](auto const& kernel) { sample.kinds(kernel, 1); });
}
template <class V>
void sample_launches(Gemm const& gemm, ReplaySetting const& setting, Sample const& sample) {
  std::int64_t period = 32;  // of a block's accesses along K
  if constexpr (requires { V::period; }) period = V::period;
  kernels::sample_lengths<V>(gemm, period, setting, sample);
}

// The configuration of a GEMM whose samples have a shorter K, for which the kernel might choose another one. A kernel
// that splits K chooses for the slices.
inline model::Config chosen(model::Info<Gemm> const& info, Gemm const& gemm, model::Device const& device,
                            model::Config const& config) {
  return info.choose && !info.split && gemm.elements() ? info.choose(gemm, device, config) : config;
}
template <class P>
model::Config chosen(model::Info<P> const&, P const&, model::Device const&, model::Config const& config) {
  return config;
}

// Counts the accesses of a kernel from samples of its blocks, so the time does not grow with the problem. Bounds, races
// and barriers are checked in these blocks; results are not.
template <class V, class P>
void sample_kernel(P const& problem, model::Device const& device, Recorder& recorder, model::Config const& config) {
  recorder.expect_samples();
  if (problem.elements() == 0) return;
  ReplaySetting const setting{device, recorder.workspace(), {}, config};
  Sample const sample{recorder};
  replay::guarded(recorder, [&] {
    kernels::launches<V>(problem, setting,
                         [&](auto const& kernel) { recorder.launches.push_back(replay::launch_of(kernel)); });
    if constexpr (kernels::Specialised<kernels::Samples<V>>)
      kernels::Samples<V>::of(problem, setting, sample);
    else
      sample_launches<V>(problem, setting, sample);
  });
}

// replay_list() of a dispatch type; null where its kernels take no lists.
template <class V, class P>
constexpr ReplayList<P> list_replay() {
  if constexpr (kernels::takes_lists<V>)
    return replay_list<V>;
  else
    return nullptr;
}

}  // namespace inlay::registry

#define INLAY_DEFINE_REPLAY(P, NAME)                                                                               \
  namespace inlay::kernels::NAME {                                                                                 \
  void replay(P const& problem, Device const& device, inlay::replay::Recorder& recorder, Config const& config) {   \
    recorder.kernel = #NAME;                                                                                       \
    registry::replay_kernel<Dispatch>(problem, device, recorder, info.accumulation_length, config);                \
  }                                                                                                                \
  void sample(P const& problem, Device const& device, inlay::replay::Recorder& recorder, Config const& config) {   \
    recorder.kernel = #NAME;                                                                                       \
    registry::sample_kernel<Dispatch>(problem, device, recorder, registry::chosen(info, problem, device, config)); \
  }                                                                                                                \
  extern registry::ReplayList<P> const replay_list;                                                                \
  registry::ReplayList<P> const replay_list = registry::list_replay<Dispatch, P>();                                \
  }
