#include "measure/sharded_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "measure/stats.h"

namespace inlay::lab {
namespace {

// Where the elements of a side lie in memory and in the whole source.
template <class Void>
ShardedPart part_of(BasicSharded<Void> const& side, int rank, ShardedCase const& c) {
  std::vector<std::int64_t> steps(c.shape.size());
  std::int64_t step = 1;
  for (std::size_t k = c.shape.size(); k-- > 0; step *= c.shape[k]) steps[k] = step;
  ShardedPart p;
  p.elem_bytes = c.elem_bytes;
  for (int k = 0; k < side.part.rank; ++k) {
    p.extent[k] = side.part.extent[k], p.stride[k] = side.part.stride[k];
    p.step[k] = steps[std::size_t(c.axes[std::size_t(k)])];
  }
  p.begin[side.mode] = std::accumulate(side.extents.begin(), side.extents.begin() + rank, std::int64_t(0));
  return p;
}

auto* counter(DeviceMemory const& memory) { return reinterpret_cast<unsigned long long*>(memory.get()); }

}  // namespace

double RankTeam::largest(int rank, double value) {
  values_[std::size_t(rank)] = value;
  wait();
  double const most = *std::max_element(values_.begin(), values_.end());
  wait();  // all have read
  return most;
}
double RankTeam::sum(int rank, double value) {
  values_[std::size_t(rank)] = value;
  wait();
  double const all = std::accumulate(values_.begin(), values_.end(), 0.);
  wait();
  return all;
}

ShardedRank::ShardedRank(RankTeam& team, int rank, void* destination, std::size_t bytes)
    : team_(team),
      rank_(rank),
      destination_(destination),
      bytes_(bytes),
      source_(device_memory(bytes)),
      wrong_(device_memory(sizeof(unsigned long long))),
      stream_(make_stream()),
      begin_(make_event()),
      end_(make_event()) {}

void ShardedRank::take(ShardedCase const& c) {
  if (std::int64_t const needed = c.part_bytes(team_.ranks()); std::size_t(needed) > bytes_)
    throw Error(fmt::format("{} has parts of {} bytes, the memory {}", c.sentence(), needed, bytes_));
  case_ = c;
  views_ = views(c, team_.ranks(), rank_, destination_, source_.get());
  in_ = part_of(views_.src, rank_, c), out_ = part_of(views_.dst, rank_, c);
  check(cudaMemsetAsync(wrong_.get(), 0, sizeof(unsigned long long), stream()));
  poison();
  bytes_to_others_ = 0;
  std::vector<void*> const parts(std::size_t(team_.ranks()), destination_);  // only extents are used
  for (Transfer const& t : transfers(views_.dst, parts, views_.src, rank_))
    if (t.rank != rank_) bytes_to_others_ += t.dst.size() * c.elem_bytes;
  fill(in_, source_.get(), stream());
  check(cudaStreamSynchronize(stream()));
  team_.wait();
}

void ShardedRank::poison() { check(cudaMemsetAsync(destination_, 0xA5, bytes_, stream())); }

void ShardedRank::next_round() {
  ++in_.round, ++out_.round;
  fill(in_, source_.get(), stream());
}
void ShardedRank::compare() { count_wrong(out_, destination_, counter(wrong_), stream()); }

double ShardedRank::wrong() {
  unsigned long long own = 0;
  check(cudaMemcpyAsync(&own, wrong_.get(), sizeof own, cudaMemcpyDeviceToHost, stream()));
  check(cudaStreamSynchronize(stream()));
  return team_.sum(rank_, double(own));
}

double ShardedRank::us(int times, std::function<void()> const& f) {
  std::vector<double> all;
  for (int round = 0; round < 10; ++round) {
    check(cudaStreamSynchronize(stream()));
    team_.wait();
    check(cudaEventRecord(begin_.get(), stream()));
    for (int i = 0; i < times; ++i) f();
    check(cudaEventRecord(end_.get(), stream()));
    check(cudaEventSynchronize(end_.get()));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_.get(), end_.get()));
    double const slowest = team_.largest(rank_, ms);
    if (round) all.push_back(1e3 * slowest / times);
  }
  return spread(all).median;
}

double ShardedRank::captured_us(int n, std::function<void()> const& f) {
  cudaGraph_t captured;
  check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < n; ++i) f();
  check(cudaStreamEndCapture(stream(), &captured));
  Graph const graph(captured);
  cudaGraphExec_t instance;
  check(cudaGraphInstantiate(&instance, graph.get(), 0));
  GraphExec const executable(instance);
  return us(3, [&] { check(cudaGraphLaunch(executable.get(), stream())); }) / n;
}

}  // namespace inlay::lab
