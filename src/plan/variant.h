// The one idea every room shares: a variant is a kernel, or several, with a name, an idea, what it rejects and what it asks of
// memory.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/plan/device.h>
#include <inlay/plan/traffic.h>
#include <inlay/problem/gemm.h>
#include <inlay/problem/move.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace inlay::planning {
using namespace problem;

// Why a variant cannot run: empty, or a format with up to three numbers. Making one allocates nothing.
struct [[nodiscard]] Reason {
  char const* format = nullptr;  // fmt syntax
  std::int64_t args[3]{};
  std::int64_t pieces = 0;  // it could run the problem cut into so many, along a batch: a grid or a count is too small
  explicit operator bool() const { return format != nullptr; }
  std::string sentence() const;
};

// What a grid holds, and what a kernel may count in 31 bits.
inline constexpr std::int64_t kMostBlocks = INT32_MAX;
// Empty where `each` times `matrices` is no more than `most`; else the sentence, of up to three numbers, and in how many
// pieces they would be no more.
inline Reason too_many(char const* format, __int128 each, std::int64_t matrices, std::int64_t const (&args)[3],
                       std::int64_t most = kMostBlocks) {
  __int128 const all = each * matrices, pieces = (all + most - 1) / most;
  if (all <= most) return {};
  return {format, {args[0], args[1], args[2]}, pieces < INT64_MAX ? std::int64_t(pieces) : INT64_MAX};
}

enum class Ladder : std::uint8_t { copy, transpose, sgemm, none };
char const* name_of(Ladder ladder);  // "copy"
enum class Origin : std::uint8_t { tutorial, ours };

template <class P>
std::size_t no_workspace(P const&, Device const&) {
  return 0;
}

// What an instance of the tile kernel has: threads of a block, bytes of shared memory, blocks of a multiprocessor at least.
struct TileLimits {
  int threads, bytes, blocks;
};

// What there is to say of a variant. Filled by designated initialisers; what has no default must be given.
template <class P>
struct Info {
  char const* name;    // == file stem == namespace == CLI name == test name
  char const* idea;    // one sentence
  char const* source;  // the tutorial step it reproduces, or "inlay"
  Ladder ladder;
  Origin origin;
  Reason (*rejects)(P const&, Device const&);
  Counts (*counts)(P const&, Device const&) = nullptr;  // in closed form; null: only a replay counts
  // How long it takes, in closed form: for moves, whose planner takes the fastest. Null: it is no candidate.
  double (*seconds)(P const&, Device const&) = nullptr;
  std::size_t (*workspace)(P const&, Device const&) = no_workspace<P>;  // bytes
  // Of a product: so many fused multiply-adds follow one another at most, then their sum is added to others. 0: all of K.
  std::int64_t chain = 0;
  // The part of the problem that the variant answers where a workspace takes its partial results: `parts` of it say how
  // many there are. Null: it answers alone.
  P (*cut)(P const&, Device const&) = nullptr;
  TileLimits const* limits = nullptr;  // of a copy kernel whose tiles the planner chooses
};

// Whether all that must be given has been, for a variant that stands in a file of this name.
template <class P>
constexpr bool is_complete(Info<P> const& info, std::string_view file_stem) {
  return info.name == file_stem && *info.idea && *info.source && info.rejects && info.workspace;
}

// Whether the planner of copies can compare a kernel.
template <class P>
constexpr bool has_predicted_time(Info<P> const& info) {
  return info.seconds != nullptr;
}

template <class P>
using Run = void (*)(P const&, Device const&, void* workspace, cudaStream_t);
template <class P>
using Prepare = void (*)(P const&, Device const&, void* workspace);

// What a product links: the facts and the launch. A variant launches several kernels only where it has a workspace.
template <class P>
struct Variant {
  Info<P> const* info;
  Run<P> run;
  Prepare<P> prepare = nullptr;  // throws whatever run would throw at one of its launches; null: it throws nothing
};

}  // namespace inlay::planning
