#include <inlay/redistribute.h>

#include <algorithm>
#include <numeric>

namespace inlay {
namespace {

template <class Void>
std::int64_t whole_extent(BasicSharded<Void> const& s, int k) {
  return k == s.mode ? std::accumulate(s.extents.begin(), s.extents.end(), std::int64_t(0)) : s.part.extent[k];
}
template <class Void>
std::string whole_shape(BasicSharded<Void> const& s) {
  std::string text = "(";
  for (int k = 0; k < s.part.rank; ++k) text.append(k ? "," : "").append(std::to_string(whole_extent(s, k)));
  return text + ")";
}

template <class Void>
void check_sharded(BasicSharded<Void> const& s, char const* who, std::size_t ranks, int rank) {
  std::string const name = who;
  if (!(s.part.rank >= 1 && s.part.rank <= Tensor::kMaxRank))
    throw Error(name + " has rank " + std::to_string(s.part.rank) + ", which is not between 1 and 64");
  if (!(s.mode >= 0 && s.mode < s.part.rank))
    throw Error(name + " is cut along mode " + std::to_string(s.mode) + ", but has rank " +
                std::to_string(s.part.rank));
  if (s.extents.size() != ranks)
    throw Error(name + " is cut over " + std::to_string(s.extents.size()) + " ranks, not over " +
                std::to_string(ranks));
  for (std::size_t r = 0; r < ranks; ++r)
    if (s.extents[r] < 0)
      throw Error(name + " has an extent of " + std::to_string(s.extents[r]) + " on rank " + std::to_string(r));
  if (std::int64_t const has = s.part.extent[s.mode], wants = s.extents[std::size_t(rank)]; has != wants)
    throw Error(name + " has a part with an extent of " + std::to_string(has) + " along its cut mode " +
                std::to_string(s.mode) + ", where rank " + std::to_string(rank) + " has " + std::to_string(wants));
}

// Where the part of a rank begins along the cut mode.
std::int64_t begin_of(std::vector<std::int64_t> const& extents, std::size_t rank) {
  return std::accumulate(extents.begin(), extents.begin() + std::ptrdiff_t(rank), std::int64_t(0));
}

// The part that a rank gets from another.
Transfer transfer_of(Sharded const& dst, void* part, ConstSharded const& src, std::size_t from, std::size_t to) {
  Transfer t{int(to), dst.part, src.part};
  t.dst.data = part;
  t.dst.extent[dst.mode] = dst.extents[to];
  std::int64_t const dst_begin = begin_of(dst.extents, to), src_begin = begin_of(src.extents, from);
  std::int64_t const dst_end = dst_begin + dst.extents[to], src_end = src_begin + src.extents[from];
  if (dst.mode != src.mode) {
    t.src = t.src.slice(dst.mode, dst_begin, dst.extents[to]);
    t.dst = t.dst.slice(src.mode, src_begin, src.extents[from]);
  } else {
    std::int64_t const begin = std::max(dst_begin, src_begin),
                       count = std::max<std::int64_t>(std::min(dst_end, src_end) - begin, 0);
    t.src = t.src.slice(dst.mode, count ? begin - src_begin : 0, count);
    t.dst = t.dst.slice(dst.mode, count ? begin - dst_begin : 0, count);
  }
  if (!part) t.dst.data = nullptr;
  return t;
}

}  // namespace

std::vector<std::int64_t> even_extents(std::int64_t extent, int ranks) {
  if (extent < 0 || ranks < 1)
    throw Error("even_extents: an extent of " + std::to_string(extent) + " over " + std::to_string(ranks) + " ranks");
  std::int64_t const each = extent / ranks + (extent % ranks != 0);
  std::vector<std::int64_t> extents;
  for (int r = 0; r < ranks; ++r) extents.push_back(std::clamp<std::int64_t>(extent - r * each, 0, each));
  return extents;
}

std::vector<Transfer> transfers(Sharded const& dst, std::span<void* const> parts, ConstSharded const& src, int rank) {
  if (!(rank >= 0 && std::size_t(rank) < parts.size()))
    throw Error("there is no rank " + std::to_string(rank) + " among " + std::to_string(parts.size()));
  check_sharded(dst, "the destination", parts.size(), rank);
  check_sharded(src, "the source", parts.size(), rank);
  if (bytes_of(dst.part.dtype) != bytes_of(src.part.dtype))
    throw Error("the destination has elements of " + std::to_string(bytes_of(dst.part.dtype)) +
                " bytes, the source of " + std::to_string(bytes_of(src.part.dtype)));
  bool same = dst.part.rank == src.part.rank;
  for (int k = 0; same && k < dst.part.rank; ++k) same = whole_extent(dst, k) == whole_extent(src, k);
  if (!same)
    throw Error("the destination has shape " + whole_shape(dst) + " over all ranks where the source gives " +
                whole_shape(src));
  std::vector<Transfer> all;
  for (std::size_t i = 1; i <= parts.size(); ++i) {
    std::size_t const to = (std::size_t(rank) + i) % parts.size();
    all.push_back(transfer_of(dst, parts[to], src, std::size_t(rank), to));
  }
  return all;
}

}  // namespace inlay
