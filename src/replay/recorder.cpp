#include <inlay/replay/recorder.h>

#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <inlay/replay/executor.h>

namespace inlay::replay {

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

void Site::count(banks::Request const& q, std::uint32_t split_sector_lanes) {
  unsigned transactions, fewest;
  if (space == Space::global) {
    std::uint64_t const bytes = banks::distinct_bytes(q);
    banks::Request whole = q;
    whole.active &= ~split_sector_lanes;
    transactions = banks::sectors(whole) + unsigned(std::popcount(split_sector_lanes)),
    fewest = unsigned((bytes + 31) / 32);
    useful += std::int64_t(bytes), lines += banks::lines(q);
  } else {
    auto const access = store ? banks::Access::store : banks::Access::load;
    transactions = banks::wavefronts(q, access), fewest = banks::passes(q, access);
  }
  ++traffic.requests, traffic.transactions += transactions, ideal += fewest;
  if (worst.active && transactions - fewest <= worst_excess) return;
  worst = q, worst_excess = transactions - fewest, worst_by_halves = split_sector_lanes != 0;
}

void Site::add(Site const& s, std::int64_t times) {
  traffic.requests += times * s.traffic.requests, traffic.transactions += times * s.traffic.transactions;
  ideal += times * s.ideal, lines += times * s.lines, sectors += times * s.sectors, useful += times * s.useful;
  if (!worst.active || s.worst_excess > worst_excess)
    worst = s.worst, worst_excess = s.worst_excess, worst_by_halves = s.worst_by_halves;
}

Recorder::Recorder() : executor_(std::make_unique<Executor>(*this)) {}
Recorder::Recorder(std::function<std::unique_ptr<Executor>(Recorder&)> const& make) : executor_(make(*this)) {}
Recorder::~Recorder() = default;
void Recorder::watch(Trace trace) { executor_->watch(std::move(trace)); }

void* Recorder::reserve(std::string name, std::size_t bytes, int elem_bytes) {
  return executor_->memory.map(Space::global, bytes, {{std::move(name), 0, bytes, elem_bytes}}).seen;
}
void* Recorder::allocate(std::string name, std::size_t bytes, int elem_bytes, unsigned seed) {
  auto& r = executor_->memory.map(Space::global, bytes, {{std::move(name), 0, bytes, elem_bytes}});
  std::uint64_t x = seed;
  for (std::size_t i = 0; i < bytes; ++i) {  // splitmix64, one step per byte
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

void Recorder::reserve_workspace(std::size_t bytes) {
  workspace_ = nullptr;
  if (bytes == 0) return;
  auto& r = executor_->memory.map(Space::global, bytes, {{"workspace", 0, bytes, sizeof(float)}});
  r.workspace = true;
  workspace_ = r.seen;
  forget_accesses();
}
void Recorder::allocate_workspace(std::size_t bytes) {
  reserve_workspace(bytes);
  if (bytes) std::memset(real(workspace_), 0xFF, bytes);  // NaN
}

void Recorder::begin() {
  executor_->global.sampled = false;
  forget_accesses();
}
void Recorder::forget_accesses() {
  executor_->global.forget();
  for (Region& r : executor_->memory.regions())
    r.history = r.workspace ? std::make_shared<AccessHistory>(r.bytes, GlobalOrdering::kWord, false) : nullptr;
}
void Recorder::expect_samples() {
  begin();
  for (Region& r : executor_->memory.regions()) r.sampled = !r.workspace;
  executor_->global.sampled = true;
}
void Recorder::times(std::int64_t n, std::function<void()> const& f) {
  std::vector<Site> const before = std::exchange(sites, {});
  std::int64_t const fma_before = std::exchange(fma, 0), exposed_before = std::exchange(exposed_loads, 0);
  std::int64_t const mma_fma_before = std::exchange(mma_fma, 0), wgmma_fma_before = std::exchange(wgmma_fma, 0);
  std::int64_t const shuffles_before = std::exchange(shuffles, 0), votes_before = std::exchange(votes, 0);
  f();
  std::vector<Site> const counted = std::exchange(sites, before);
  for (Site const& s : counted) site(s.operand, s.space, s.store, s.mechanism, s.bytes).add(s, n);
  fma = fma_before + n * fma, exposed_loads = exposed_before + n * exposed_loads;
  mma_fma = mma_fma_before + n * mma_fma, wgmma_fma = wgmma_fma_before + n * wgmma_fma;
  shuffles = shuffles_before + n * shuffles, votes = votes_before + n * votes;
}

float Recorder::number(float const* seen) const {
  float x;
  std::memcpy(&x, real(seen), sizeof x);
  return x;
}

void Recorder::forget_expectations(void const* buffer) {
  Region& r = executor_->memory.of(buffer);
  r.sampled = r.stored = false;
  r.state.assign(r.bytes, 0);
  r.history.reset();
}
void Recorder::permit(void const* p, std::size_t bytes, std::uint8_t state) {
  Region& r = executor_->memory.of(p);
  std::size_t const offset = r.offset(p);
  if (offset + bytes > r.bytes) throw std::runtime_error("replay: bytes past the end of their buffer");
  if (r.state.empty()) r.state.resize(r.bytes);
  for (std::size_t i = offset; i < offset + bytes; ++i)
    r.state[i] = std::uint8_t((r.state[i] | state) & (Region::kReadable | Region::kWritable));
}
void Recorder::reads(void const* buffer) {
  Region const& r = executor_->memory.of(buffer);
  may_read(r.seen, r.bytes);
}
void Recorder::writes(void const* buffer) {
  Region const& r = executor_->memory.of(buffer);
  must_write(r.seen, r.bytes);
}
bool Recorder::written(void const* p, std::size_t bytes) const {
  Region const& r = executor_->memory.of(p);
  std::size_t const offset = r.offset(p);
  return offset + bytes <= r.state.size() && r.has_state(offset, bytes, Region::kWritten, Region::kWritten);
}
std::size_t Recorder::offset_of(void const* p) const { return executor_->memory.of(p).offset(p); }

void Recorder::conclude() {
  constexpr auto kWritable = Region::kWritable, kWritten = Region::kWritten;
  for (Region& r : executor_->memory.regions()) {
    Operand const& operand = r.operands.front();
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
    r.stored = false;
    if (!r.workspace) r.history.reset();
  }
}

bool Recorder::found(Check check) const {
  for (Finding const& f : findings)
    if (f.check == check) return true;
  return false;
}
void Recorder::report(Check check, std::string sentence) {
  ++finding_count;
  // Keeps the first findings of each check, so that many findings of one check do not hide another check.
  int same = 0;
  for (Finding const& f : findings) same += f.check == check;
  if (same < 4) findings.push_back({check, std::move(sentence)});
}

Site& Recorder::site(std::string const& operand, Space space, bool store, Mechanism mechanism, unsigned bytes) {
  for (Site& s : sites)
    if (s.operand == operand && s.space == space && s.store == store && s.mechanism == mechanism && s.bytes == bytes)
      return s;
  return sites.emplace_back(Site{operand, space, store, mechanism, bytes});
}

}  // namespace inlay::replay
