#include "replay/recorder.h"

#include <cstring>

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

Recorder::Recorder() : executor_(std::make_unique<replay::Executor>(*this)) {}
Recorder::~Recorder() = default;

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
char* Recorder::real(void const* seen) const { return executor_->memory.real(seen); }

void Recorder::expect(Move const& move) {
  if (move.elements() == 0) return;
  auto const region = [&](void const* p) { return executor_->memory.find(reinterpret_cast<std::uint64_t>(p)); };
  replay::Region &in = *region(move.src), &out = *region(move.dst);
  in.readable.assign(in.bytes, 0);
  out.writable.assign(out.bytes, 0);
  over_elements(move, [&](char const* src, char* dst) {
    std::memset(&in.readable[std::size_t(src - in.seen)], replay::Region::kElement, std::size_t(move.elem_bytes));
    std::memset(&out.writable[std::size_t(dst - out.seen)], replay::Region::kElement, std::size_t(move.elem_bytes));
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
    for (std::size_t b = 0; b < e; ++b) written &= out.writable[std::size_t(at) + b] == replay::Region::kWritten;
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
  return sites.emplace_back(Site{operand, space, store, mechanism, bytes, {}});
}

Cost counted(Recorder const& recorder) {
  Cost c;
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
