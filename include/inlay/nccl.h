// Redistribution over the ranks of an NCCL communicator, 2.28 or later. The only header that names NCCL: who includes
// it links NCCL. With a version before 2.29 it is compiled by nvcc, because only a kernel can ask there where memory of
// other ranks is mapped.
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
#include <cstdint>
#include <functional>
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

/// The ranks of a blocking communicator: a GPU each, of one process or several. Holds the communicator, but does not
/// own it.
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
  /// Whether this GPU can load from and store to windows of a rank: over NVLink, mostly within a host.
  bool reaches(int rank) const { return near_index(rank) >= 0; }

  /// @throws Error  If a call that was enqueued before has failed.
  void check_async() const {
    ncclResult_t status = ncclSuccess;
    detail::check(ncclCommGetAsyncError(comm_, &status), comm_);
    if (status != ncclInProgress) detail::check(status, comm_);
  }

  /// Position of a rank among those that this one reaches; -1: it is not one of them.
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

/// `bytes` of device memory on the GPU of each rank, which the GPUs of all ranks can store to. Every rank constructs it
/// with the same size, and every rank destroys it: both calls wait for the other ranks, so each rank needs a thread or
/// process of its own. Allocates (ncclMemAlloc, ncclCommWindowRegister) and synchronises the device.
/// @throws Error  Where NCCL fails or cannot map the memory.
class Window {
 public:
  Window(Ranks const& ranks, std::size_t bytes) : ranks_(ranks), bytes_(bytes) {
    hashes_at_ = (rank_barrier_bytes(ranks.count()) + 15) / 16 * 16;
    std::size_t const signals = (hashes_at_ + std::size_t(ranks.count()) * 8 + kPage - 1) / kPage * kPage;
    detail::check(ncclMemAlloc(&memory_, signals + (bytes + kPage - 1) / kPage * kPage), ranks.comm());
    try {
      int least = 0, greatest = 0;
      detail::check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
      detail::check(cudaStreamCreateWithPriority(&side_, cudaStreamNonBlocking, greatest));
      for (cudaEvent_t* event : {&begin_, &end_})
        detail::check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
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
  /// Where this GPU sees the memory of a rank; null if it does not reach it.
  void* of(int rank) const { return parts_[std::size_t(rank)]; }
  void* data() const { return of(ranks_.rank()); }  // this rank's own
  /// Orders the streams of all ranks that reach each other (rank_barrier.h).
  void barrier(cudaStream_t stream) const { rank_barrier(signals_, ranks_.rank(), stream); }

  /// Calls `enqueue` with a stream of the window's own, after all that `stream` has; join() lets `stream` wait for
  /// that.
  void beside(cudaStream_t stream, std::function<void(cudaStream_t)> const& enqueue) const {
    detail::check(cudaEventRecord(begin_, stream));
    detail::check(cudaStreamWaitEvent(side_, begin_, 0));
    enqueue(side_);
    detail::check(cudaEventRecord(end_, side_));
  }
  void join(cudaStream_t stream) const { detail::check(cudaStreamWaitEvent(stream, end_, 0)); }

  /// What all ranks give, by rank; all call this. Waits for the stream.
  std::vector<std::uint64_t> gathered(std::uint64_t own, cudaStream_t stream) const {
    auto const count = std::size_t(ranks_.count());
    auto* const all = reinterpret_cast<std::uint64_t*>(static_cast<char*>(memory_) + hashes_at_);
    std::uint64_t* const mine = all + ranks_.rank();
    std::vector<std::uint64_t> values(count);
    detail::check(cudaMemcpyAsync(mine, &own, sizeof own, cudaMemcpyHostToDevice, stream));
    detail::check(ncclAllGather(mine, all, 1, ncclUint64, ranks_.comm(), stream), ranks_.comm());
    detail::check(cudaMemcpyAsync(values.data(), all, count * sizeof own, cudaMemcpyDeviceToHost, stream));
    detail::check(cudaStreamSynchronize(stream));
    return values;
  }

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
    for (cudaEvent_t event : {begin_, end_})
      if (event) cudaEventDestroy(event);
    if (side_) cudaStreamDestroy(side_);
    if (window_) ncclCommWindowDeregister(ranks_.comm(), window_);
    if (memory_) ncclMemFree(memory_);
  }

  Ranks ranks_;
  std::size_t bytes_;
  std::size_t hashes_at_ = 0;  // bytes
  cudaStream_t side_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;  // of what is beside
  void* memory_ = nullptr;
  ncclWindow_t window_ = nullptr;
  std::vector<void*> signals_, parts_;  // (rank)
};

struct RedistributeOptions {
  bool staged = false;              ///< To all ranks by send and receive, also to those that this one reaches.
  void* workspace = nullptr;        ///< Device memory, aligned to 256 bytes, for what is sent and received.
  std::size_t workspace_bytes = 0;  ///< At least redistribute_workspace() for the same arguments.
  /// For debugging: first compares what the ranks pass, and throws Error on all of them if it differs. Waits for the
  /// stream, and cannot be captured.
  bool compare_arguments = false;
};

namespace detail {

// The transfers of one redistribution, seen from one rank.
struct Redistribution {
  static constexpr std::size_t kAlign = 256;
  // What is sent to a rank or received from it; the side that lies on another rank has a null address.
  struct Staged {
    int rank;
    Tensor dst;
    ConstTensor src;
    std::size_t offset, bytes;  // in the workspace
  };
  std::vector<void*> parts;  // (rank); null: it is sent to
  std::vector<Transfer> direct;
  std::vector<Staged> out, in;
  std::size_t workspace_bytes = 0;

  Redistribution(Sharded const& dst, Window const& window, ConstSharded const& src, bool staged) {
    Ranks const& ranks = window.ranks();
    std::ptrdiff_t const offset = static_cast<char const*>(dst.part.data) - static_cast<char const*>(window.data());
    for (int r = 0; r < ranks.count(); ++r) {
      bool const far = !window.of(r) || (staged && r != ranks.rank());
      parts.push_back(far ? nullptr : static_cast<char*>(window.of(r)) + offset);
    }
    for (Transfer const& t : transfers(dst, parts, src, ranks.rank()))
      if (parts[std::size_t(t.rank)])
        direct.push_back(t);
      else
        stage(out, t);
    for (int r = 0; r < ranks.count(); ++r)
      if (!parts[std::size_t(r)]) stage(in, received_from(dst, src, r, ranks.rank()));
  }

  // Each launches what it returns. Packs what is sent, and copies what goes directly; unpacks what was received.
  std::function<void()> pack(char* workspace, cudaStream_t stream) const {
    std::vector<Tensor> to;
    std::vector<ConstTensor> from;
    for (Staged const& s : out) to.push_back(packed(s, workspace)), from.push_back(s.src);
    return planned_pushes(to, from, stream);
  }
  std::function<void()> push(cudaStream_t stream) const {
    std::vector<Tensor> to;
    std::vector<ConstTensor> from;
    for (Transfer const& t : direct) to.push_back(t.dst), from.push_back(t.src);
    return planned_pushes(to, from, stream);
  }
  std::function<void()> unpack(char* workspace, cudaStream_t stream) const {
    std::vector<Tensor> to;
    std::vector<ConstTensor> from;
    for (Staged const& s : in) to.push_back(s.dst), from.push_back(packed(s, workspace));
    return planned_pushes(to, from, stream);
  }
  void exchange(Ranks const& ranks, char* workspace, cudaStream_t stream) const {
    check(ncclGroupStart(), ranks.comm());
    ncclResult_t status = ncclSuccess;
    for (Staged const& s : out)
      if (status == ncclSuccess)
        status = ncclSend(workspace + s.offset, s.bytes, ncclInt8, s.rank, ranks.comm(), stream);
    for (Staged const& s : in)
      if (status == ncclSuccess)
        status = ncclRecv(workspace + s.offset, s.bytes, ncclInt8, s.rank, ranks.comm(), stream);
    ncclResult_t const ended = ncclGroupEnd();  // whatever happened, or later calls would wait for it
    check(status, ranks.comm());
    check(ended, ranks.comm());
  }

 private:
  void stage(std::vector<Staged>& list, Transfer const& t) {
    std::size_t const bytes = std::size_t(t.dst.size() * bytes_of(t.dst.dtype));
    if (!bytes) return;
    list.push_back({t.rank, t.dst, t.src, workspace_bytes, bytes});
    workspace_bytes += (bytes + kAlign - 1) / kAlign * kAlign;
  }
  static Tensor packed(Staged const& s, char* workspace) {
    return tensor(static_cast<void*>(workspace + s.offset), s.dst.dtype,
                  std::span<std::int64_t const>(s.dst.extent, std::size_t(s.dst.rank)));
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

// A number that is the same on all ranks if their arguments belong together.
inline std::uint64_t hash_of(Sharded const& dst, ConstSharded const& src, std::ptrdiff_t offset, bool staged,
                             int rank) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  auto const add = [&](std::int64_t value) {
    hash = (hash ^ std::uint64_t(value)) * 0x100000001b3u, hash ^= hash >> 29;
  };
  auto const add_side = [&](auto const& side, bool strides) {
    add(side.part.rank), add(side.mode), add(bytes_of(side.part.dtype));
    for (int k = 0; k < std::min(side.part.rank, int(Tensor::kMaxRank)); ++k) {
      if (k != side.mode) add(side.part.extent[k]);
      if (strides) add(side.part.stride[k]);
    }
    for (std::int64_t extent : side.extents) add(extent);
    bool const fits = side.mode >= 0 && side.mode < side.part.rank && std::size_t(rank) < side.extents.size() &&
                      side.part.extent[side.mode] == side.extents[std::size_t(rank)];
    add(fits);
  };
  add_side(dst, true), add_side(src, false), add(offset), add(staged);
  return hash;
}
inline void check_equal(Sharded const& dst, Window const& window, ConstSharded const& src, bool staged,
                        cudaStream_t stream) {
  auto const all = window.gathered(
      hash_of(dst, src, static_cast<char const*>(dst.part.data) - static_cast<char const*>(window.data()), staged,
              window.ranks().rank()),
      stream);
  std::string others;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r] != all[0]) others += (others.empty() ? "" : ", ") + std::to_string(r);
  if (!others.empty())
    throw Error("redistribute: ranks pass other shapes, cuts, strides, places in the window or options than rank 0: " +
                others);
}

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

}  // namespace detail

/// Bytes of workspace that redistribute() needs on this rank: 0 if it reaches all others, and they are not staged.
inline std::size_t redistribute_workspace(Sharded const& dst, Window const& window, ConstSharded const& src,
                                          RedistributeOptions const& options = {}) {
  return detail::Redistribution(dst, window, src, options.staged).workspace_bytes;
}

/// dst = src for two tensors of one shape, each cut over the ranks along a mode of its own. All ranks call it, in the
/// same order. Allocates no device memory, does not synchronise, and may be captured.
///
/// Blocks for ranks that this one reaches are stored into their memory by one launch, between two barriers; blocks for
/// others are packed, sent and received by NCCL, which allocates when two ranks first meet, and unpacked; the exchange
/// runs beside the stores.
///
/// @param dst     dst.part lies in the window, at the same offset on all ranks.
/// @param src     src.part lies anywhere in this GPU's memory.
/// @throws Error  Before anything is launched, for what transfers() and copy() reject, parts beyond the window, a
///                workspace that is too small or misaligned, and a communicator with an error. If one rank throws, the
///                barrier kernels of the other ranks wait for it; after 60 seconds they trap, and CUDA reports a launch
///                failure on those ranks.
inline void redistribute(Sharded const& dst, Window const& window, ConstSharded const& src,
                         cudaStream_t stream = nullptr, RedistributeOptions const& options = {}) {
  Ranks const& ranks = window.ranks();
  if (options.compare_arguments) detail::check_equal(dst, window, src, options.staged, stream);
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
  auto const pack = r.pack(workspace, stream), push = r.push(stream), unpack = r.unpack(workspace, stream);
  bool const staged = !r.out.empty() || !r.in.empty();
  window.barrier(stream);
  if (staged) {
    pack();
    window.beside(stream, [&](cudaStream_t side) { r.exchange(ranks, workspace, side); });
  }
  push();
  if (staged) {
    window.join(stream);
    unpack();
  }
  window.barrier(stream);
}

/// Which ranks get their blocks by stores and which by NCCL, and what why() of redistribute.h says of the stores.
inline std::string why(Sharded const& dst, Window const& window, ConstSharded const& src,
                       RedistributeOptions const& options = {}) {
  detail::Redistribution const r(dst, window, src, options.staged);
  std::string s;
  for (auto const& t : r.out)
    s += "rank " + std::to_string(t.rank) + " is sent " + std::to_string(t.bytes) + " bytes by NCCL\n";
  return s + why(dst, r.parts, src, window.ranks().rank());
}

}  // namespace inlay
