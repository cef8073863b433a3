// Kernels of a few lines, each a lambda over a Block, and what their replay must say.
#pragma once
#include <gtest/gtest.h>

#include <inlay/replay/run.h>

namespace inlay::replay {
using namespace cute;
using block::copy_one, block::LaunchInfo, block::On;
using cute::Tensor;

// body(block, smem), with the kernel's facts.
template <LaunchInfo info, class Smem_, class Body>
struct Small {
  Body body;
  std::int64_t grid;
  static constexpr LaunchInfo launch_info = info;
  using Smem = Smem_;
  std::int64_t blocks() const { return grid; }
  template <class Block>
  void operator()(Block block, Smem& smem) const {
    body(block, smem);
  }
};

struct NoSmem {};
struct Tile {  // 512 bytes of data, then barriers
  alignas(128) float data[128];
  std::uint64_t full, empty;
  static void members(auto name) { name("data", &Tile::data), name("full", &Tile::full), name("empty", &Tile::empty); }
};

// ---- accesses of a thread
template <class Block, class T>
T load(Block, T const* p, bool on = true) {
  T x{};
  copy_one(Copy_Atom<On<Block, UniversalCopy<T>>, T>{}, on, make_gmem_ptr(p), &x);
  return x;
}
template <class Block, class T>
void store(Block, T* p, T x, bool on = true) {
  copy_one(Copy_Atom<On<Block, UniversalCopy<T>>, T>{}, on, &x, make_gmem_ptr(p));
}
template <class Block, class T>
T load_shared(Block, T const* p, bool on = true) {
  T x{};
  copy_one(Copy_Atom<On<Block, UniversalCopy<T>>, T>{}, on, make_smem_ptr(p), &x);
  return x;
}
template <class Block, class T>
void store_shared(Block, T* p, T x, bool on = true) {
  copy_one(Copy_Atom<On<Block, UniversalCopy<T>>, T>{}, on, &x, make_smem_ptr(p));
}
template <class Block>
auto& mbarrier(Block, std::uint64_t& place) {
  return reinterpret_cast<typename Block::Mbarrier&>(place);
}

class SmallKernels : public testing::Test {
 protected:
  static constexpr LaunchInfo kWarp{.threads = 32}, kTwoWarps{.threads = 64};

  SmallKernels() = default;
  explicit SmallKernels(std::function<std::unique_ptr<Executor>(Recorder&)> const& make) : recorder(make) {}

  Recorder recorder;
  // Of 128 numbers, which a kernel may read; which it must write; which it may read before it writes.
  float *in = recorder.allocate_integers("in", 128, 1), *out = recorder.allocate_integers("out", 128, 2),
        *both = recorder.allocate_integers("both", 128, 3);

  template <LaunchInfo info, class Smem = NoSmem, class Body>
  void replay(Body const& body, std::int64_t grid = 1) {
    Small<info, Smem, Body> const kernel{body, grid};
    recorder.kernel = "test";
    guarded(recorder, [&] { run(kernel, recorder); });
  }
  // Nothing but this was found, and it says so; no check: nothing was found.
  void expect(Check check, std::string const& sentence) {
    EXPECT_TRUE(recorder.found(check)) << "not found: " << name_of(check) << ", " << sentence;
    bool said = false;
    for (Finding const& f : recorder.findings) {
      EXPECT_EQ(f.check, check) << name_of(f.check) << ": " << f.sentence;
      said |= f.sentence.find(sentence) != std::string::npos;
    }
    EXPECT_TRUE(said) << (recorder.findings.empty() ? "nothing" : recorder.findings.front().sentence);
    recorder.findings.clear();
  }
  void expect_nothing() {
    for (Finding const& f : recorder.findings) ADD_FAILURE() << name_of(f.check) << ": " << f.sentence;
    recorder.findings.clear();
  }

  static CUtensorMap map_of(float* p) { return ReplayEncoder{}({p, 4, {128, 1, 1}, {512, 512}, {128, 1, 1}}); }
};

}  // namespace inlay::replay
