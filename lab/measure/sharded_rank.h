// One rank of a redistribution that is checked and timed: a host thread with its GPU, its parts, and what the ranks
// tell each other.
#pragma once
#include <barrier>
#include <functional>

#include "measure/cuda_handles.h"
#include "measure/sharded_data.h"
#include "problems/sharded_case.h"

namespace inlay::lab {

// The threads of all ranks.
class RankTeam {
 public:
  explicit RankTeam(int ranks) : values_(std::size_t(ranks)), sync_(ranks) {}
  int ranks() const { return int(values_.size()); }
  void wait() { sync_.arrive_and_wait(); }
  // A rank that has failed is not waited for any more.
  void leave() { sync_.arrive_and_drop(); }
  // The largest, and the sum, of what all ranks give.
  double largest(int rank, double value);
  double sum(int rank, double value);

 private:
  std::vector<double> values_;  // (rank)
  std::barrier<> sync_;
};

class ShardedRank {
 public:
  // `destination`: `bytes` of memory of this rank, the current device, that all ranks can store to.
  ShardedRank(RankTeam& team, int rank, void* destination, std::size_t bytes);

  // Fills this rank's source and poisons its destination; all ranks take the same case. Throws Error if the parts are
  // too large.
  void take(ShardedCase const& c);
  // The next round's contents, without a synchronisation; the result of a round is compared on the stream.
  void next_round();
  void compare();
  // Elements that compare() found wrong since take(), on all ranks.
  double wrong();

  // Microseconds of one of `times` calls of f, which enqueues, on the slowest rank: the median of nine. Of a graph of n
  // calls.
  double us(int times, std::function<void()> const& f);
  double captured_us(int n, std::function<void()> const& f);

  Sharded const& dst() const { return views_.dst; }
  ConstSharded const& src() const { return views_.src; }
  void* source() const { return source_.get(); }
  std::int64_t bytes_to_others() const { return bytes_to_others_; }
  void poison();  // the destination
  int rank() const { return rank_; }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  RankTeam& team_;
  int rank_;
  void* destination_;
  std::size_t bytes_;
  DeviceMemory source_, wrong_;
  Stream stream_;
  Event begin_, end_;
  ShardedCase case_;
  ShardedViews views_;
  ShardedPart in_, out_;
  std::int64_t bytes_to_others_ = 0;
};

}  // namespace inlay::lab
