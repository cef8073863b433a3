// Redistribution over the ranks of an NCCL communicator, 2.28 or later. The only header that names NCCL: who includes it links NCCL.
// With a version before 2.29 it is compiled by nvcc, because only a kernel can ask there where memory of other ranks is mapped.
//
//   inlay::Ranks const ranks(comm);
//   inlay::Window const window(ranks, bytes);                   // memory that all ranks can store to
//   inlay::Sharded dst{...}; dst.part.data = window.data();     // cut along columns
//   inlay::redistribute(dst, window, src, stream);              // src: cut along rows, anywhere in this GPU's memory
#pragma once
#include <inlay/rank_barrier.h>
#include <inlay/redistribute.h>
#include <nccl.h>
#include <nccl_device.h>

#include <algorithm>
#include <source_location>
#include <string>
#include <vector>

#if NCCL_VERSION_CODE < NCCL_VERSION(2, 28, 0)
#error "inlay/nccl.h takes NCCL 2.28 or later"
#endif

namespace inlay {
namespace detail {

// Throws Error with NCCL's words, and those of the communicator's last error.
inline void check(ncclResult_t status, ncclComm_t comm = nullptr,
                  std::source_location at = std::source_location::current()) {
  if (status == ncclSuccess) return;
  char const* const last = comm ? ncclGetLastError(comm) : nullptr;
  throw Error(std::string("NCCL: ") + ncclGetErrorString(status) + (last && *last ? std::string(", ") + last : "") +
                  " (at " + at.file_name() + ":" + std::to_string(at.line()) + ")",
              ErrorCode::nccl);
}

#if NCCL_VERSION_CODE < NCCL_VERSION(2, 29, 0)
template <int = 0>
__global__ void ask_where(ncclWindow_t window, int ranks, void** where) {
  for (int i = 0; i < ranks; ++i) where[i] = ncclGetLsaPointer(window, 0, i);
}
#endif

}  // namespace detail

// The ranks of a blocking communicator: a GPU each, of one process or several. Holds the communicator, but does not own it.
class Ranks {
 public:
  explicit Ranks(ncclComm_t comm) : comm_(comm) {
    detail::check(ncclCommCount(comm, &count_), comm);
    detail::check(ncclCommUserRank(comm, &rank_), comm);
    near_ = ncclTeamLsa(comm);
  }
  ncclComm_t comm() const { return comm_; }
  int count() const { return count_; }
  int rank() const { return rank_; }
  // Whether this GPU can load from and store to windows of a rank: over NVLink, mostly within a host.
  bool reaches(int rank) const { return near_index(rank) >= 0; }

  // Throws Error if a call that was enqueued before has failed.
  void check_async() const {
    ncclResult_t status = ncclSuccess;
    detail::check(ncclCommGetAsyncError(comm_, &status), comm_);
    if (status != ncclInProgress) detail::check(status, comm_);
  }

  // Position of a rank among those that this one reaches; -1: it is not one of them.
  int near_index(int rank) const {
    int const steps = rank - rank_, stride = std::max(near_.stride, 1);
    int const index = near_.rank + steps / stride;
    return steps % stride == 0 && index >= 0 && index < near_.nRanks ? index : -1;
  }
  int near_count() const { return near_.nRanks; }

 private:
  ncclComm_t comm_;
  int count_ = 0, rank_ = 0;
  ncclTeam_t near_{};
};

// `bytes` of device memory on the GPU of each rank, which the GPUs of all ranks can store to. Every rank constructs it with the same
// size, and every rank destroys it: both calls wait for the other ranks, so each rank needs a thread or process of its own. Allocates
// (ncclMemAlloc, ncclCommWindowRegister) and synchronises the device. Throws Error where NCCL fails or cannot map the memory.
class Window {
 public:
  Window(Ranks const& ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {
    std::size_t const signals = (rank_barrier_bytes(ranks.count()) + kPage - 1) / kPage * kPage;
    detail::check(ncclMemAlloc(&memory_, signals + (bytes + kPage - 1) / kPage * kPage), ranks.comm());
    try {
      detail::check(cudaMemset(memory_, 0, signals));  // before any rank can be told by another
      detail::check(cudaDeviceSynchronize());
      detail::check(ncclCommWindowRegister(ranks.comm(), memory_, signals + (bytes + kPage - 1) / kPage * kPage,
                                           &window_, NCCL_WIN_COLL_SYMMETRIC),
                    ranks.comm());
      if (!window_ || !ranks.reaches(ranks.rank()))
        throw Error(
            "NCCL maps no windows between these GPUs: they have no peer access, or symmetric memory is switched off",
            ErrorCode::unsupported);
      std::vector<void*> const near = where();
      for (int r = 0; r < ranks.count(); ++r) {
        int const index = ranks.near_index(r);
        signals_.push_back(index < 0 ? nullptr : near[std::size_t(index)]);
        parts_.push_back(index < 0 ? nullptr : static_cast<char*>(near[std::size_t(index)]) + signals);
      }
    } catch (...) {
      release();
      throw;
    }
  }
  Window(Window const&) = delete;
  ~Window() { release(); }

  Ranks const& ranks() const { return ranks_; }
  std::size_t bytes() const { return bytes_; }
  // Where this GPU sees the memory of a rank; null if it does not reach it.
  void* of(int rank) const { return parts_[std::size_t(rank)]; }
  void* data() const { return of(ranks_.rank()); }  // this rank's own
  // Orders the streams of all ranks that reach each other (rank_barrier.h).
  void barrier(cudaStream_t stream) const { rank_barrier(signals_, ranks_.rank(), stream); }

 private:
  static constexpr std::size_t kPage = NCCL_WIN_REQUIRED_ALIGNMENT;

  // Where each near rank's window is mapped, by their positions.
  std::vector<void*> where() const {
    std::vector<void*> near(std::size_t(ranks_.near_count()), nullptr);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 29, 0)
    for (std::size_t i = 0; i < near.size(); ++i)
      detail::check(ncclGetLsaDevicePointer(window_, 0, int(i), &near[i]), ranks_.comm());
#else
    void** asked = nullptr;
    detail::check(cudaMallocHost(&asked, near.size() * sizeof(void*)));
    detail::ask_where<><<<1, 1>>>(window_, int(near.size()), asked);
    cudaError_t const status = cudaDeviceSynchronize();
    std::copy(asked, asked + near.size(), near.begin());
    cudaFreeHost(asked);
    detail::check(status);
#endif
    return near;
  }
  void release() {
    static_cast<void>(cudaDeviceSynchronize());  // what still stores to it, or waits in it
    if (window_) ncclCommWindowDeregister(ranks_.comm(), window_);
    if (memory_) ncclMemFree(memory_);
  }

  Ranks ranks_;
  std::size_t bytes_;
  void* memory_ = nullptr;
  ncclWindow_t window_ = nullptr;
  std::vector<void*> signals_, parts_;  // (rank)
};

struct RedistributeOptions {
  bool staged = false;              // to all ranks by send and receive, also to those that this one reaches
  void* workspace = nullptr;        // device memory, aligned to 256 bytes, for what is sent and received
  std::size_t workspace_bytes = 0;  // at least redistribute_workspace() for the same arguments
};

namespace detail {

// The transfers of one redistribution, seen from one rank.
struct Redistribution {
  static constexpr std::size_t kAlign = 256;
  struct Staged {
    int rank;
    std::size_t offset;  // in the workspace
    std::size_t bytes;
  };
  std::vector<void*> parts;        // (rank); null: it is sent to
  std::vector<Transfer> sent;      // of this rank, to all
  std::vector<Transfer> received;  // by this rank, from all; Transfer::rank is who sends, src is not set
  std::vector<Staged> out, in;     // beside those of `sent` and `received` that are staged
  std::size_t workspace_bytes = 0;

  Redistribution(Sharded const& dst, Window const& window, ConstSharded const& src, bool staged) {
    Ranks const& ranks = window.ranks();
    std::ptrdiff_t const offset = static_cast<char const*>(dst.part.data) - static_cast<char const*>(window.data());
    for (int r = 0; r < ranks.count(); ++r) {
      bool const far = !window.of(r) || (staged && r != ranks.rank());
      parts.push_back(far ? nullptr : static_cast<char*>(window.of(r)) + offset);
    }
    sent = transfers(dst, parts, src, ranks.rank());
    for (Transfer const& t : sent)
      if (!parts[std::size_t(t.rank)]) stage(out, t.rank, t.src.size() * bytes_of(t.src.dtype));
    for (int r = 0; r < ranks.count(); ++r) {
      if (parts[std::size_t(r)]) continue;
      Transfer const t = received_from(dst, src, r, ranks.rank());
      stage(in, r, t.dst.size() * bytes_of(t.dst.dtype));
      received.push_back(t);
    }
  }

  // Sends and receives all that is staged.
  void exchange(Ranks const& ranks, char* workspace, cudaStream_t stream) const {
    check(ncclGroupStart(), ranks.comm());
    ncclResult_t status = ncclSuccess;
    for (Staged const& s : out)
      if (s.bytes && status == ncclSuccess)
        status = ncclSend(workspace + s.offset, s.bytes, ncclInt8, s.rank, ranks.comm(), stream);
    for (Staged const& s : in)
      if (s.bytes && status == ncclSuccess)
        status = ncclRecv(workspace + s.offset, s.bytes, ncclInt8, s.rank, ranks.comm(), stream);
    ncclResult_t const ended = ncclGroupEnd();  // whatever happened, or later calls would wait for it
    check(status, ranks.comm());
    check(ended, ranks.comm());
  }

 private:
  void stage(std::vector<Staged>& list, int rank, std::int64_t bytes) {
    list.push_back({rank, workspace_bytes, std::size_t(bytes)});
    workspace_bytes += (std::size_t(bytes) + kAlign - 1) / kAlign * kAlign;
  }
  // What `from` sends to `to`, whose part dst.part is.
  static Transfer received_from(Sharded const& dst, ConstSharded const& src, int from, int to) {
    ConstSharded theirs = src;
    theirs.part.data = dst.part.data;  // only extents are used
    theirs.part.extent[src.mode] = src.extents[std::size_t(from)];
    Sharded as_theirs = dst;
    as_theirs.part.extent[dst.mode] = dst.extents[std::size_t(from)];
    std::vector<void*> own(src.extents.size(), nullptr);
    own[std::size_t(to)] = dst.part.data;
    for (Transfer t : transfers(as_theirs, own, theirs, from))
      if (t.rank == to) return t.rank = from, t;
    return {};
  }
};

// Throws on all ranks alike: for the largest of the parts.
inline void check_inside(Sharded const& dst, Window const& window) {
  if (!(dst.part.rank >= 1 && dst.part.rank <= Tensor::kMaxRank && dst.mode >= 0 && dst.mode < dst.part.rank &&
        !dst.extents.empty()))
    throw Error("the destination has rank " + std::to_string(dst.part.rank) + " and is cut along mode " +
                std::to_string(dst.mode) + " over " + std::to_string(dst.extents.size()) + " ranks");
  Tensor part = dst.part;
  part.extent[dst.mode] = *std::max_element(dst.extents.begin(), dst.extents.end());
  std::int64_t first = 0, last = bytes_of(part.dtype);
  for (int k = 0; k < part.rank; ++k)
    if (part.extent[k] > 1) (part.stride[k] < 0 ? first : last) += part.stride_bytes(k) * (part.extent[k] - 1);
  std::int64_t const begin = static_cast<char const*>(part.data) - static_cast<char const*>(window.data());
  if (!(begin + first >= 0 && begin + last <= std::int64_t(window.bytes())))
    throw Error("the destination takes bytes " + std::to_string(begin + first) + " to " + std::to_string(begin + last) +
                " of a window of " + std::to_string(window.bytes()));
}

// The row-major tensor of this shape at `at`.
inline Tensor packed(void* at, ConstTensor const& like) {
  return tensor(at, like.dtype, std::span<std::int64_t const>(like.extent, std::size_t(like.rank)));
}

}  // namespace detail

// Bytes of workspace that redistribute() needs on this rank: 0 if it reaches all others, and they are not staged.
inline std::size_t redistribute_workspace(Sharded const& dst, Window const& window, ConstSharded const& src,
                                          RedistributeOptions const& options = {}) {
  return detail::Redistribution(dst, window, src, options.staged).workspace_bytes;
}

// dst = src for two tensors of one shape, each cut over the ranks along a mode of its own. All ranks call it, in the same order.
// dst.part lies in the window, at the same offset on all ranks; src.part anywhere in this GPU's memory. Allocates no device memory,
// does not synchronise, and may be captured. Blocks for ranks that this one reaches are stored into their memory by one launch, between
// two barriers; blocks for others are packed, sent and received by NCCL, which allocates when two ranks first meet, and unpacked.
//
// Throws Error, before anything is launched, for what transfers() and copy() reject, parts beyond the window, a workspace that is too
// small or misaligned, and a communicator with an error. If one rank throws, the barrier kernels of the other ranks
// wait for it; after 60 seconds they trap, and CUDA reports a launch failure on those ranks.
inline void redistribute(Sharded const& dst, Window const& window, ConstSharded const& src,
                         cudaStream_t stream = nullptr, RedistributeOptions const& options = {}) {
  Ranks const& ranks = window.ranks();
  detail::check_inside(dst, window);
  detail::Redistribution const r(dst, window, src, options.staged);
  if (options.workspace_bytes < r.workspace_bytes || (r.workspace_bytes && !options.workspace))
    throw Error("the workspace has " + std::to_string(options.workspace ? options.workspace_bytes : 0) +
                    " bytes, the redistribution needs " + std::to_string(r.workspace_bytes),
                ErrorCode::workspace);
  if (reinterpret_cast<std::uintptr_t>(options.workspace) % detail::Redistribution::kAlign)
    throw Error("the workspace does not begin at a multiple of 256 bytes", ErrorCode::workspace);
  ranks.check_async();
  auto* const workspace = static_cast<char*>(options.workspace);
  std::vector<Tensor> to, unpacked;
  std::vector<ConstTensor> from, arrived;
  std::size_t staged = 0;
  for (Transfer const& t : r.sent) {
    bool const far = !r.parts[std::size_t(t.rank)];
    to.push_back(far ? detail::packed(workspace + r.out[staged++].offset, t.src) : t.dst);
    from.push_back(t.src);
  }
  for (std::size_t i = 0; i < r.received.size(); ++i) {
    unpacked.push_back(r.received[i].dst);
    arrived.push_back(detail::packed(workspace + r.in[i].offset, r.received[i].dst));
  }
  auto const push = detail::planned_pushes(to, from, stream),
             unpack = detail::planned_pushes(unpacked, arrived, stream);
  window.barrier(stream);
  push();
  if (!r.received.empty()) {
    r.exchange(ranks, workspace, stream);
    unpack();
  }
  window.barrier(stream);
}

// Which ranks get their blocks by stores and which by NCCL, and what why() of redistribute.h says of the stores.
inline std::string why(Sharded const& dst, Window const& window, ConstSharded const& src,
                       RedistributeOptions const& options = {}) {
  detail::Redistribution const r(dst, window, src, options.staged);
  std::string s;
  for (auto const& t : r.out)
    s += "rank " + std::to_string(t.rank) + " is sent " + std::to_string(t.bytes) + " bytes by NCCL\n";
  return s + why(dst, r.parts, src, window.ranks().rank());
}

}  // namespace inlay
