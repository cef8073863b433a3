// What the tests of broken kernels share. A mutant is a subclass of replay::Executor: the kernels are those of the
// registry, which the replay units compile.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <inlay/registry/expected.h>
#include <inlay/registry/registry.h>
#include <inlay/replay/executor.h>

namespace inlay::test {

// A recorder that replays with Mutant(recorder, args...).
template <class Mutant, class... Args>
std::unique_ptr<replay::Recorder> recorder_with(Args const&... args) {
  return std::make_unique<replay::Recorder>(
      [&](replay::Recorder& recorder) { return std::make_unique<Mutant>(recorder, args...); });
}

// Changes a kernel before it is replayed; false: leaves it out.
using Change = std::function<bool(replay::Launch const&)>;
// Base of mutants whose kernels are changed too.
struct Changed : replay::Executor {
  Change change;
  Changed(replay::Recorder& recorder, Change c) : Executor(recorder), change(std::move(c)) {}
  void launch(replay::Launch const& x) override {
    if (!change || change(x)) Executor::launch(x);
  }
};

// What a mutant remembers of each thread of each block.
template <class T>
class PerThread {
 public:
  T& of(replay::Executor const& running) { return all_[{running.block_index(), running.rank()}]; }

 private:
  std::map<std::pair<unsigned, unsigned>, T> all_;
};

template <class P>
registry::Entry<P> const& entry_named(std::span<registry::Entry<P> const> entries, std::string_view name) {
  auto const at = std::ranges::find_if(entries, [&](auto const& entry) { return entry.info().name == name; });
  if (at == entries.end()) throw std::runtime_error("no kernel is named " + std::string(name));
  return *at;
}

// Replays a GEMM of fp32 with an A that is rounded to fewer bits, 11 of TF32 or 8 of bf16, and checks it as the GEMM of
// the A it has.
inline void replay_rounded(registry::Entry<problem::Gemm> const& kernel, problem::Gemm const& gemm,
                           model::Device const& device, replay::Recorder& recorder, int bits) {
  auto const wanted = registry::expected(gemm, recorder, kernel.info().accumulation_length);
  replay::Region const& A = recorder.executor().memory.of(gemm.A.base);
  auto* const rounded = static_cast<char*>(recorder.reserve("A", A.bytes, sizeof(float)));
  auto const lost = std::uint32_t(1) << (24 - bits);
  for (std::size_t i = 0; i + sizeof(float) <= A.bytes; i += sizeof(float)) {
    std::uint32_t x;
    std::memcpy(&x, A.real + i, sizeof x);
    x = (x + lost / 2) & ~(lost - 1);
    std::memcpy(recorder.real(rounded) + i, &x, sizeof x);
  }
  problem::Gemm of_rounded = gemm;
  of_rounded.A.base = rounded + A.offset(gemm.A.base);
  kernel.replay(of_rounded, device, recorder);
  wanted.conclude();
}

// Each of these checks has found something, and no other has.
inline void expect_only(replay::Recorder const& r, std::vector<replay::Check> const& checks) {
  for (replay::Check c : checks) EXPECT_TRUE(r.found(c)) << "not found: " << name_of(c);
  for (replay::Finding const& f : r.findings)
    EXPECT_TRUE(std::count(checks.begin(), checks.end(), f.check)) << name_of(f.check) << ": " << f.sentence;
}

}  // namespace inlay::test
