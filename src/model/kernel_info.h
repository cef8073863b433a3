// The description of a kernel for planner, lab and tests: name, idea, what it rejects, what it costs.
#pragma once
#include <cuda_runtime_api.h>
#include <inlay/model/config.h>
#include <inlay/model/device.h>
#include <inlay/model/made_launches.h>
#include <inlay/problem/copy.h>
#include <inlay/problem/gemm.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace inlay::model {
using namespace problem;

// Why a kernel cannot run a problem. Empty: it can. Making one allocates nothing.
struct [[nodiscard]] Reason {
  char const* format = nullptr;  // fmt syntax, with up to three numbers
  std::int64_t args[3]{};
  // > 0: the batch exceeds a grid, a counter or the bound on workspaces, but can run in this many chunks.
  std::int64_t chunks = 0;
  explicit operator bool() const { return format != nullptr; }
  std::string sentence() const;
};

// The most blocks of a grid, and the largest value of a 31-bit counter of a kernel.
inline constexpr std::int64_t kMostBlocks = INT32_MAX;
// Empty if each * matrices <= most. Otherwise the sentence with its numbers, and the number of chunks that stay within
// `most`.
inline Reason too_many(char const* format, __int128 each, std::int64_t matrices, std::int64_t const (&args)[3],
                       std::int64_t most = kMostBlocks) {
  __int128 const all = each * matrices, chunks = (all + most - 1) / most;
  if (all <= most) return {};
  return {format, {args[0], args[1], args[2]}, chunks < INT64_MAX ? std::int64_t(chunks) : INT64_MAX};
}

enum class Ladder : std::uint8_t { copy, transpose, sgemm, hgemm, sgemm_tc, none };
char const* name_of(Ladder ladder);  // "copy"
enum class Origin : std::uint8_t { tutorial, ours };

template <class P>
std::size_t no_workspace(P const&, Device const&) {
  return 0;
}

// The limits of an instance of copy_tiled.
struct TileLimits {
  int threads;  // of a block, a multiple of 32
  int bytes;    // of shared memory of a block: tables, and a tile of at most 7/8 of it
  int blocks;   // resident blocks per SM that the registers must allow, and that the predicted time assumes
};

template <class P>
using Run = OfConfig<void, P const&, Device const&, void*, cudaStream_t>;  // with the workspace
template <class P>
using Prepare = OfConfig<void, P const&, Device const&, void*>;
template <class P>
using Make = OfConfig<std::shared_ptr<MadeLaunches const>, P const&, Device const&, bool>;  // with a workspace?

// Filled by designated initialisers; a field without a default must be given.
template <class P>
struct Info {
  char const* name;    // also the name of its namespace, on the command line and in tests
  char const* idea;    // one sentence
  char const* source;  // the tutorial step that it reproduces, or "inlay"
  Ladder ladder;
  Origin origin;
  OfConfig<Reason, P const&, Device const&> rejects;
  // Predicted time in closed form. Null: there is none; a copy kernel of the library has one.
  OfConfig<double, P const&, Device const&> seconds = {};
  std::size_t (*workspace)(P const&, Device const&) = no_workspace<P>;  // bytes
  // The configuration with the shortest predicted time, where a kernel has several; of those with a tile that is given.
  // Null: it has one, or each of them is a candidate of its own.
  OfConfig<Config, P const&, Device const&> choose = {};
  // GEMM kernels: longest accumulation in a register, in FMAs, before it is added to another register. 0: all of K.
  std::int64_t accumulation_length = 0;
  // GEMM kernels in f32: adds all of K on tensor cores, which truncate, so that the error grows faster than that of
  // fp32.
  bool truncates = false;
  bool has_full_epilogue = false;  // a GEMM kernel that writes an f32 D too, adds any C and applies activations
  bool takes_groups = false;       // a GEMM kernel that multiplies groups of rows: Gemm::groups
  bool adds_slices = false;        // a GEMM kernel that adds the sums of Gemm::slice_K indices itself, in one launch
  // Split-K GEMM kernels: the problem whose `slices` partial sums go to the workspace. Null: no split.
  P (*split)(P const&, Device const&) = nullptr;
  int tiles = 0;  // configurations that Config::tile numbers, from 1 on; 0: there is one
  // GEMM kernels: the columns of a tile, of which Config::columns may have kFewerColumns fewer, in steps of
  // kColumnStep; 0: none fewer, as if it were null.
  int (*width)(int tile) = nullptr;
  TileLimits const* limits = nullptr;  // of a copy kernel whose tiling the planner chooses
  bool takes_lists = false;            // a copy kernel that copies many pairs in one launch
  bool takes_any_alignment = false;    // pairs of a list may begin at different addresses modulo 32

  // ---- host functions, of the unit that compiles the kernel (INLAY_DEFINE_KERNEL)
  Run<P> run = {};          // may launch several device kernels
  Prepare<P> prepare = {};  // throws what run would throw, and launches nothing; null: run never throws
  // What run launches, made once for many runs. Throws like prepare. Returns null for more kernels than are worth
  // keeping; a null function: the kernel can only be run.
  Make<P> make = {};
};

// Whether each required field is set, for a kernel that is listed under `name`.
template <class P>
constexpr bool is_complete(Info<P> const& info, std::string_view name) {
  return info.name == name && *info.idea && *info.source && info.rejects && info.workspace;
}

}  // namespace inlay::model
