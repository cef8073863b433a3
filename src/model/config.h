// The configuration of a kernel for a problem: what the planner chooses, and what a launch needs besides the problem.
#pragma once
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace inlay::model {

// How a copy that goes through shared memory is tiled: the extent of each tiled mode. A tile has one index of every
// other mode. src/kernels/copy/copy_tile.h describes the resulting tile.
struct Tiling {
  static constexpr int kModes = 14;
  struct TiledMode {
    int mode;  // of the widened copy
    std::int32_t extent;
    friend bool operator==(TiledMode const&, TiledMode const&) = default;
  };
  int modes = 0;                // 0: no tiling has been chosen
  TiledMode tiled[kModes];      // in the order of the modes
  int run_modes = 0;            // the first ones, together contiguous in the destination: they form a destination run
  std::int32_t run_splits = 1;  // the last mode of a run is divided by this number: shorter runs, more of them
  int lanes = 8;                // of a warp, along a run; the other lanes gather other runs
  // Row pitch in shared memory. odd_pitch: an odd number of 16-byte vectors, so that columns fall in different banks.
  enum class Padding : std::uint8_t { none, odd_pitch };
  Padding padding = Padding::none;
};

// A kernel chooses by predicted time what its configuration leaves open.
struct Config {
  Tiling tiling = {};  // of a copy
  int tile = 0;        // of a kernel that has a list of several: 1 + its place there; 0: open
  int columns = 0;     // of a tile that may have some fewer than its kernel's width; 0: open
};

// A function of a kernel. Its last argument is a configuration, which may be left out; many kernels have none.
template <class R, class... Args>
class OfConfig {
 public:
  using Plain = R (*)(Args...);
  using Full = R (*)(Args..., Config const&);
  constexpr OfConfig(decltype(nullptr) = nullptr) {}
  constexpr OfConfig(Plain f) : plain_(f) {}
  constexpr OfConfig(Full f) : full_(f) {}
  template <class Lambda>
  requires std::is_class_v<Lambda> && std::convertible_to<Lambda, Plain>
  constexpr OfConfig(Lambda const& f) : plain_(f) {}
  R operator()(Args... args, Config const& config = {}) const {
    return full_ ? full_(args..., config) : plain_(args...);
  }
  constexpr explicit operator bool() const { return plain_ || full_; }

 private:
  Plain plain_ = nullptr;
  Full full_ = nullptr;
};

}  // namespace inlay::model
