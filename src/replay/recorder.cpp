#include "replay/recorder.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "replay/executor.h"

namespace inlay {
namespace {

// Calls f(source address, destination address) for every element.
template <class F>
void over_elements(Move const& m, F f) {
  if (m.elements() == 0) return;
  std::int64_t at[Tensor::kMaxRank]{};
  auto src = static_cast<char const*>(m.src);
  auto dst = static_cast<char*>(m.dst);
  for (;;) {
    f(src, dst);
    int k = 0;
    for (; k < m.rank; ++k) {
      src += m.mode[k].src_stride, dst += m.mode[k].dst_stride;
      if (++at[k] < m.mode[k].extent) break;
      src -= m.mode[k].extent * m.mode[k].src_stride, dst -= m.mode[k].extent * m.mode[k].dst_stride;
      at[k] = 0;
    }
    if (k == m.rank) return;
  }
}

// Calls f(pointer) for element (i, j, l) of an operand of a Gemm, l slowest, j fastest.
template <class T, class F>
void over_matrices(T* base, std::int64_t I, std::int64_t J, std::int64_t L, std::int64_t i_stride,
                   std::int64_t j_stride, std::int64_t l_stride, F f) {
  for (std::int64_t l = 0; l < L; ++l)
    for (std::int64_t i = 0; i < I; ++i)
      for (std::int64_t j = 0; j < J; ++j) f(base + (l * l_stride + i * i_stride + j * j_stride));
}

}  // namespace

char const* name_of(Check check) {
  switch (check) {
    case Check::result:
      return "result";
    case Check::bounds:
      return "out of bounds";
    case Check::alignment:
      return "misalignment";
    case Check::race:
      return "race";
    case Check::divergence:
      return "divergence";
    case Check::deadlock:
      return "deadlock";
    case Check::coverage:
      return "coverage";
    case Check::unrecorded:
      return "unrecorded access";
    case Check::misuse:
      return "misuse";
  }
  return "";
}

void Site::count(banks::Request const& q, std::uint32_t halves) {
  unsigned transactions, least;
  if (space == replay::Space::global) {
    std::uint64_t const bytes = banks::distinct_bytes(q);
    banks::Request whole = q;
    whole.active &= ~halves;
    transactions = banks::sectors(whole) + unsigned(std::popcount(halves)), least = unsigned((bytes + 31) / 32);
    useful += std::int64_t(bytes), lines += banks::lines(q);
  } else {
    auto const access = store ? banks::Access::store : banks::Access::load;
    transactions = banks::wavefronts(q, access), least = banks::passes(q, access);
  }
  ++traffic.requests, traffic.transactions += transactions, ideal += least;
  if (worst.active && transactions - least <= worst_excess) return;
  worst = q, worst_excess = transactions - least, worst_by_halves = halves != 0;
}

void Site::add(Site const& s, std::int64_t times) {
  traffic.requests += times * s.traffic.requests, traffic.transactions += times * s.traffic.transactions;
  ideal += times * s.ideal, lines += times * s.lines, sectors += times * s.sectors, useful += times * s.useful;
  if (!worst.active || s.worst_excess > worst_excess)
    worst = s.worst, worst_excess = s.worst_excess, worst_by_halves = s.worst_by_halves;
}

Recorder::Recorder() : executor_(std::make_unique<replay::Executor>(*this)) {}
Recorder::~Recorder() = default;
void Recorder::watch(replay::Trace trace) { executor_->watch(std::move(trace)); }

void* Recorder::reserve(std::string name, std::size_t bytes, int elem_bytes) {
  return executor_->memory.map(replay::Space::global, bytes, {{std::move(name), 0, bytes, elem_bytes}}).seen;
}
void* Recorder::allocate(std::string name, std::size_t bytes, int elem_bytes, unsigned seed) {
  auto& r = executor_->memory.map(replay::Space::global, bytes, {{std::move(name), 0, bytes, elem_bytes}});
  std::uint64_t x = seed;
  for (std::size_t i = 0; i < bytes; ++i) {  // splitmix64, one step a byte
    std::uint64_t z = x += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    r.real[i] = char((z ^ z >> 27) >> 40);
  }
  return r.seen;
}
float* Recorder::allocate_integers(std::string name, std::size_t count, unsigned seed) {
  auto* const seen = static_cast<float*>(allocate(std::move(name), count * sizeof(float), sizeof(float), seed));
  char* const bytes = real(seen);
  for (std::size_t i = 0; i < count; ++i) {
    float const x = float(std::uint8_t(bytes[i * sizeof(float)]) % 7 - 3);
    std::memcpy(bytes + i * sizeof(float), &x, sizeof x);
  }
  return seen;
}
char* Recorder::real(void const* seen) const { return executor_->memory.real(seen); }

void Recorder::expect(Move const& move) {
  if (move.elements() == 0) return;
  auto const region = [&](void const* p) { return executor_->memory.find(reinterpret_cast<std::uint64_t>(p)); };
  replay::Region &in = *region(move.src), &out = *region(move.dst);
  in.state.assign(in.bytes, 0);
  out.state.assign(out.bytes, 0);
  over_elements(move, [&](char const* src, char* dst) {
    std::memset(&in.state[std::size_t(src - in.seen)], replay::Region::kReadable, std::size_t(move.elem_bytes));
    std::memset(&out.state[std::size_t(dst - out.seen)], replay::Region::kWritable, std::size_t(move.elem_bytes));
  });
}

void Recorder::conclude(Move const& move) {
  if (move.elements() == 0) return;
  replay::Region &in = *executor_->memory.find(reinterpret_cast<std::uint64_t>(move.src)),
                 &out = *executor_->memory.find(reinterpret_cast<std::uint64_t>(move.dst));
  std::int64_t wrong = 0, unwritten = 0, first_wrong = 0, first_unwritten = 0;
  auto const e = std::size_t(move.elem_bytes);
  over_elements(move, [&](char const* src, char* dst) {
    auto const at = dst - out.seen;
    bool written = true;
    for (std::size_t b = 0; b < e; ++b) written &= (out.state[std::size_t(at) + b] & replay::Region::kWritten) != 0;
    if (!written && unwritten++ == 0) first_unwritten = at / std::int64_t(e);
    if (written && std::memcmp(in.real + (src - in.seen), out.real + at, e) != 0 && wrong++ == 0)
      first_wrong = at / std::int64_t(e);
  });
  if (unwritten)
    report(Check::coverage, kernel + ": leaves " + std::to_string(unwritten) +
                                " elements unwritten, the first is out[" + std::to_string(first_unwritten) + "]");
  if (wrong)
    report(Check::result, kernel + ": " + std::to_string(wrong) +
                              " elements differ from the source, the first is out[" + std::to_string(first_wrong) +
                              "]");
}

void Recorder::reserve_workspace(std::size_t bytes) {
  if (bytes == 0) return;
  auto& r = executor_->memory.map(replay::Space::global, bytes, {{"workspace", 0, bytes, sizeof(float)}});
  r.workspace = true;
  workspace_ = r.seen;
  executor_->workspace.forget(bytes);
}
void Recorder::allocate_workspace(std::size_t bytes) {
  reserve_workspace(bytes);
  if (bytes) std::memset(real(workspace_), 0xFF, bytes);  // NaN
}

void Recorder::expect_samples() {
  for (replay::Region& r : executor_->memory.regions()) r.loose = !r.workspace;
  if (!workspace_) return;
  executor_->workspace.forget(executor_->memory.find(static_cast<void const*>(workspace_))->bytes);
  executor_->workspace.partly = true;
}
void Recorder::times(std::int64_t n, std::function<void()> const& f) {
  std::vector<Site> const before = std::exchange(sites, {});
  std::int64_t const fma_before = std::exchange(fma, 0), exposed_before = std::exchange(exposed_loads, 0);
  f();
  std::vector<Site> const counted = std::exchange(sites, before);
  for (Site const& s : counted) site(s.operand, s.space, s.store, s.mechanism, s.bytes).add(s, n);
  fma = fma_before + n * fma, exposed_loads = exposed_before + n * exposed_loads;
}

float Recorder::number(float const* seen) const {
  float x;
  std::memcpy(&x, real(seen), sizeof x);
  return x;
}

void Recorder::expect(Gemm const& g) {
  if (g.elements() == 0) return;
  using replay::Region;
  auto const region = [&](void const* p) -> Region& {
    return *executor_->memory.find(reinterpret_cast<std::uint64_t>(p));
  };
  auto const clear = [](Region& r) { r.state.assign(r.bytes, 0); };
  auto const mark = [](Region& r, std::uint8_t bits) {
    return [&r, bits](float const* p) {
      auto const at = std::size_t(reinterpret_cast<char const*>(p) - r.seen);
      for (std::size_t b = 0; b < sizeof(float); ++b) r.state[at + b] |= bits;
    };
  };
  if (workspace_) executor_->workspace.forget(region(workspace_).bytes);
  Region& c = region(g.C);
  clear(c);
  if (g.K > 0) {
    Region &a = region(g.A), &b = region(g.B);
    clear(a), clear(b);
    over_matrices(g.A, g.M, g.K, g.L, g.a_m, g.a_k, g.a_l, mark(a, Region::kReadable));
    over_matrices(g.B, g.N, g.K, g.L, g.b_n, g.b_k, g.b_l, mark(b, Region::kReadable));
  }
  std::uint8_t const may = g.beta != 0 ? Region::kReadable | Region::kWritable : Region::kWritable;
  over_matrices(g.C, g.M, g.N, g.L, g.c_m, g.c_n, g.c_l, mark(c, may));
  old_.clear();
  over_matrices(g.C, g.M, g.N, g.L, g.c_m, g.c_n, g.c_l, [&](float const* p) { old_.push_back(number(p)); });
}

void Recorder::conclude(Gemm const& g) {
  if (g.elements() == 0) return;
  std::vector<double> A, B;  // [l][m][k], [l][n][k]
  if (g.K > 0) {
    over_matrices(g.A, g.M, g.K, g.L, g.a_m, g.a_k, g.a_l, [&](float const* p) { A.push_back(number(p)); });
    over_matrices(g.B, g.N, g.K, g.L, g.b_n, g.b_k, g.b_l, [&](float const* p) { B.push_back(number(p)); });
  }
  replay::Region const& c = *executor_->memory.find(g.C);
  std::int64_t wrong = 0, unwritten = 0, i = 0;
  std::string first_wrong, first_unwritten;
  over_matrices(g.C, g.M, g.N, g.L, g.c_m, g.c_n, g.c_l, [&](float const* p) {
    std::int64_t const n = i % g.N, m = i / g.N % g.M, l = i / g.N / g.M;
    auto const name = [&] {
      return "C[" + std::to_string(m) + "," + std::to_string(n) + "," + std::to_string(l) + "]";
    };
    double sum = 0;
    for (std::int64_t k = 0; k < g.K; ++k)
      sum += A[std::size_t((l * g.M + m) * g.K + k)] * B[std::size_t((l * g.N + n) * g.K + k)];
    double const scaled = g.K > 0 ? g.alpha * sum : 0;
    float const want = float(g.beta != 0 ? scaled + g.beta * double(old_[std::size_t(i)]) : scaled), got = number(p);
    ++i;
    auto const at = std::size_t(reinterpret_cast<char const*>(p) - c.seen);
    if (!(c.state[at] & replay::Region::kWritten)) {
      if (unwritten++ == 0) first_unwritten = name();
    } else if (!(got == want || (std::isnan(got) && std::isnan(want)))) {  // the sign of a zero is free
      if (wrong++ == 0) first_wrong = name() + ": " + std::to_string(got) + ", not " + std::to_string(want);
    }
  });
  if (unwritten)
    report(Check::coverage,
           kernel + ": leaves " + std::to_string(unwritten) + " elements unwritten, the first is " + first_unwritten);
  if (wrong)
    report(Check::result, kernel + ": " + std::to_string(wrong) +
                              " elements differ from alpha A B + beta C, the first is " + first_wrong);
}

void Recorder::allow(void const* buffer, std::uint8_t what) {
  replay::Region* const r = executor_->memory.find(reinterpret_cast<std::uint64_t>(buffer));
  if (!r) throw std::runtime_error("replay: an address that belongs to no buffer");
  r->state.resize(r->bytes);
  for (std::uint8_t& s : r->state) s = std::uint8_t((s | what) & ~replay::Region::kWritten);
}
void Recorder::reads(void const* buffer) { allow(buffer, replay::Region::kReadable); }
void Recorder::writes(void const* buffer) { allow(buffer, replay::Region::kWritable); }

void Recorder::conclude() {
  constexpr auto kWritable = replay::Region::kWritable, kWritten = replay::Region::kWritten;
  for (replay::Region& r : executor_->memory.regions()) {
    replay::Operand const& operand = r.operands.front();
    auto const e = std::size_t(operand.elem_bytes);
    std::size_t unwritten = 0, first = 0;
    for (std::size_t i = 0; i < r.state.size(); ++i) {
      if ((r.state[i] & (kWritable | kWritten)) != kWritable) continue;
      if (unwritten++ == 0) first = i / e;
      i += e - 1 - i % e;  // on to the next element
    }
    if (unwritten)
      report(Check::coverage, kernel + ": leaves " + std::to_string(unwritten) + " elements unwritten, the first is " +
                                  operand.name + "[" + std::to_string(first) + "]");
    r.state.clear();
  }
}

bool Recorder::found(Check check) const {
  for (Finding const& f : findings)
    if (f.check == check) return true;
  return false;
}
void Recorder::report(Check check, std::string sentence) {
  ++finding_count;
  // The first sentences of every check are kept: a flood of one must not hide another.
  int same = 0;
  for (Finding const& f : findings) same += f.check == check;
  if (same < 4) findings.push_back({check, std::move(sentence)});
}

Site& Recorder::site(std::string const& operand, replay::Space space, bool store, Mechanism mechanism, unsigned bytes) {
  for (Site& s : sites)
    if (s.operand == operand && s.space == space && s.store == store && s.mechanism == mechanism && s.bytes == bytes)
      return s;
  return sites.emplace_back(Site{operand, space, store, mechanism, bytes});
}

Cost counted(Recorder const& recorder) {
  Cost c;
  c.fma = recorder.fma;
  for (Site const& s : recorder.sites) {
    bool const global = s.space == replay::Space::global;
    Traffic* to = nullptr;
    if (s.mechanism == Mechanism::tma)
      to = s.store ? &c.tma_store : &c.tma_load;
    else if (s.mechanism == Mechanism::cp_async)
      to = global ? &c.async_copy : nullptr;
    else if (global)
      to = s.store ? &c.global_store : &c.global_load;
    else
      to = s.store ? &c.shared_store : &c.shared_load;
    if (!to) continue;
    to->requests += s.traffic.requests;
    to->transactions += s.traffic.transactions;
  }
  return c;
}

}  // namespace inlay
