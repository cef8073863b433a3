// What goes on beside the threads: cp.async and TMA.
#include <inlay/replay/executor.h>

#include <algorithm>
#include <cstring>

namespace inlay::replay {
// ---- cp.async: data lands at the covering wait of its own thread
void Executor::land(std::vector<Group>& groups, int keep) {
  if (groups.size() <= std::size_t(keep)) return;
  auto const kept = groups.end() - keep;
  for (auto g = groups.begin(); g != kept; ++g) {
    for (Landing const& l : g->land)
      if (l.from)
        std::memcpy(l.to, l.from, l.bytes);
      else
        std::memset(l.to, 0, l.bytes);
    if (g->operation >= 0) ordering_.observe(g->operation, rank());
  }
  groups.erase(groups.begin(), kept);
}
int Executor::cp_async_operation() {
  Thread& x = thread();
  if (x.cp_operation < 0) x.cp_operation = ordering_.start("cp.async", Proxy::generic);
  return x.cp_operation;
}
void Executor::cp_async_fence() {
  Thread& x = thread();
  if (!x.cp_pending.empty())
    x.cp_groups.push_back({x.cp_operation, std::move(x.cp_pending)});
  else
    x.cp_groups.push_back({-1, {}});
  x.cp_pending.clear();
  x.cp_operation = -1;
  tell(Happens::commit);
}
void Executor::cp_async_wait(int keep) {
  std::size_t const before = thread().cp_groups.size();
  land(thread().cp_groups, keep);
  tell(Happens::landed, before - thread().cp_groups.size());
}

// ---- TMA
namespace {
// The end of a sentence on what the driver would refuse of a description; empty: it takes it.
std::string refusal(TmaTensor const& t) {
  auto const number = [](std::int64_t n) { return std::to_string(n); };
  auto const in_mode = [](int k) { return " in mode " + std::to_string(k); };
  int const e = t.elem_bytes;
  std::int64_t const row = std::int64_t(t.box[0]) * e;
  if (e != 1 && e != 2 && e != 4 && e != 8) return "its elements have " + number(e) + " bytes";
  if (auto const past = reinterpret_cast<std::uint64_t>(t.base) % 16)
    return "its base lies " + str(past) + " bytes past a multiple of 16";
  for (int k = 0; k < 3; ++k)
    if (t.extent[k] < 1 || t.extent[k] > std::int64_t(1) << 32)
      return "it has " + number(t.extent[k]) + " elements" + in_mode(k) + ", not 1 to 2^32";
  for (int k = 1; k < 3; ++k) {
    std::int64_t const stride = t.stride[k - 1];
    if (stride <= 0 || stride >> 40)
      return "its stride" + in_mode(k) + " is " + number(stride) + " bytes, not 16 to 2^40";
    if (stride % 16) return "its stride" + in_mode(k) + " is " + number(stride) + " bytes, no multiple of 16";
  }
  for (int k = 0; k < 3; ++k)
    if (t.box[k] < 1 || t.box[k] > 256)
      return "its box has " + number(t.box[k]) + " elements" + in_mode(k) + ", not 1 to 256";
  if (row % 16) return "a row of its box has " + number(row) + " bytes, no multiple of 16";
  if (t.swizzle_128b && row != 128)
    return "a row of its box has " + number(row) + " bytes, where the swizzle wants 128";
  return {};
}
}  // namespace

CUtensorMap ReplayEncoder::operator()(TmaTensor const& tensor) const {
  static_assert(sizeof(TmaTensor) <= sizeof(CUtensorMap));
  if (std::string const why = refusal(tensor); !why.empty())
    throw Fault(Check::misuse, "describes a tensor that the driver would refuse to TMA: " + why);
  CUtensorMap map{};
  std::memcpy(&map, &tensor, sizeof tensor);
  return map;
}
TmaTensor decode(CUtensorMap const& map) {
  TmaTensor t;
  std::memcpy(static_cast<void*>(&t), &map, sizeof t);
  return t;
}

template <class F>
void Executor::over_box(TmaTensor const& map, std::size_t shared_offset, std::int64_t const (&c)[3], F f) {
  std::size_t const row_bytes = std::size_t(map.box[0]) * std::size_t(map.elem_bytes);
  std::size_t offset = shared_offset;
  for (int k = 0; k < map.box[2]; ++k)
    for (int j = 0; j < map.box[1]; ++j, offset += row_bytes) {
      bool const in_rows = std::min(c[1] + j, c[2] + k) >= 0 && c[1] + j < map.extent[1] && c[2] + k < map.extent[2];
      bool const inside = in_rows && c[0] >= 0 && c[0] < map.extent[0];
      std::int64_t const n = inside ? std::min<std::int64_t>(map.box[0], map.extent[0] - c[0]) * map.elem_bytes : 0;
      char const* const row = static_cast<char const*>(map.base) + c[0] * map.elem_bytes + (c[1] + j) * map.stride[0] +
                              (c[2] + k) * map.stride[1];
      std::size_t const piece = map.swizzle_128b ? 16 : row_bytes;  // what stays together
      for (std::size_t at = 0; at < row_bytes; at += piece)
        f(row + at, map.swizzle_128b ? offset + (at ^ offset / 128 % 8 * 16) : offset + at,
          std::size_t(std::clamp<std::int64_t>(n - std::int64_t(at), 0, std::int64_t(piece))), piece, in_rows);
    }
}

void Executor::check_box_place(TmaTensor const& map, std::size_t offset, char const* what) {
  std::size_t const multiple = map.swizzle_128b ? 1024 : 128;
  if (offset % multiple)
    fault(Check::alignment, what + element(*shared_, offset) + ", no multiple of " + str(multiple) + " bytes");
}

namespace {
// Bytes of a box, piece by piece; `last` is the sector that the piece before ended in.
struct BoxCount {
  Site& site;
  std::uint64_t last = 0;

  void bytes(std::size_t inside) {
    site.traffic.transactions += std::int64_t(inside), site.useful += std::int64_t(inside);
    site.ideal += std::int64_t(inside);
  }
  void sectors(std::uint64_t address, std::size_t bytes) {
    if (bytes == 0) return;
    std::uint64_t const first = address / 32, end = (address + bytes - 1) / 32;
    site.sectors += std::int64_t(end - first + (first != last));
    last = end;
  }
};
}  // namespace

void Executor::tma_load(TmaTensor const& map, void const* bar, void const* smem, std::int64_t const (&c)[3]) {
  auto const to = std::size_t(static_cast<char const*>(smem) - shared_->seen);
  check_box_place(map, to, "TMA load to ");
  Mbarrier& m = mbarrier(bar);
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(map.base));
  if (!r) fault(Check::bounds, "TMA load from no buffer");
  int const operation = ordering_.start("TMA load", Proxy::async);
  Event const e = ordering_.in_operation(rank(), operation);
  Site& site = recorder_.site(r->operand(0).name, Space::global, false, Mechanism::tma, 0);
  ++site.traffic.requests;
  std::int64_t total = 0;
  BoxCount box{site};
  over_box(map, to, c, [&](char const* from, std::size_t offset, std::size_t inside, std::size_t row, bool in_rows) {
    if (offset + row > shared_->bytes) fault(Check::bounds, "TMA load past the end of shared memory");
    if (inside) check_global(*r, std::size_t(from - r->seen), inside, Direction::load, e, Proxy::async);
    check_shared(offset, row, Direction::store, e, Proxy::async);
    if (trace_ && inside) tell(*r, std::size_t(from - r->seen), inside, Direction::load, Mechanism::tma);
    if (trace_) tell(*shared_, offset, row, Direction::store, Mechanism::tma);
    box.bytes(inside);
    // The hardware brings whole rows though, and counts those beyond the matrix as if they were aligned.
    box.sectors(in_rows ? reinterpret_cast<std::uint64_t>(from) : offset, row);
    total += std::int64_t(row);
  });
  std::int64_t const at[3] = {c[0], c[1], c[2]};
  auto const mbarrier_at = std::size_t(static_cast<char const*>(bar) - shared_->seen);
  tell(Happens::box, mbarrier_at, std::size_t(total));
  if (!(m.fenced && ordering_.before(*m.fenced, rank())) && !ordering_.visible_to_async(m.init, rank()))
    report(Check::race, "TMA load completes at the mbarrier " + element(*shared_, mbarrier_at) +
                            ", initialised by thread " + str(m.init.thread) + " with no fence_barrier_init() since");
  in_flight_.push_back(
      [this, &m, mbarrier_at, map, to, r, total, operation, issuer = rank(), at0 = at[0], at1 = at[1], at2 = at[2]] {
        over_box(map, to, {at0, at1, at2},
                 [&](char const* from, std::size_t offset, std::size_t inside, std::size_t row, bool) {
                   std::memset(shared_->real + offset, 0, row);  // out of range reads zero
                   if (inside) std::memcpy(shared_->real + offset, r->real + (from - r->seen), inside);
                 });
        box_lands(m, mbarrier_at, total, operation, issuer);
      });
}

void Executor::tma_store(TmaTensor const& map, void const* smem, std::int64_t const (&c)[3]) {
  auto const from = std::size_t(static_cast<char const*>(smem) - shared_->seen);
  check_box_place(map, from, "TMA store from ");
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(map.base));
  if (!r) fault(Check::bounds, "TMA store to no buffer");
  Thread& x = thread();
  if (x.store_operation < 0) {  // two ends: shared memory has been read, global memory has been written
    x.store_operation = ordering_.start("TMA store", Proxy::async);
    x.store_writes = ordering_.start("TMA store", Proxy::async);
  }
  Event const e = ordering_.in_operation(rank(), x.store_operation);
  Event const writes = ordering_.in_operation(rank(), x.store_writes);
  Site& site = recorder_.site(r->operand(0).name, Space::global, true, Mechanism::tma, 0);
  ++site.traffic.requests;
  BoxCount box{site};
  over_box(map, from, c, [&](char const* to, std::size_t offset, std::size_t inside, std::size_t row, bool) {
    if (offset + row > shared_->bytes) fault(Check::bounds, "TMA store past the end of shared memory");
    if (!inside) return;
    check_shared(offset, inside, Direction::load, e, Proxy::async);
    check_global(*r, std::size_t(to - r->seen), inside, Direction::store, writes, Proxy::async);
    if (trace_) tell(*shared_, offset, inside, Direction::load, Mechanism::tma);
    if (trace_) tell(*r, std::size_t(to - r->seen), inside, Direction::store, Mechanism::tma);
    box.bytes(inside);
    box.sectors(reinterpret_cast<std::uint64_t>(to), inside);
    x.store_pending.push_back({r->real + (to - r->seen), shared_->real + offset, inside});
  });
  tell(Happens::store_box);
}
void Executor::tma_store_commit() {
  Thread& x = thread();
  x.store_groups.push_back({x.store_operation, std::move(x.store_pending)});
  if (x.store_writes >= 0) x.unwritten.push_back(x.store_writes);
  x.store_pending.clear();
  x.store_operation = x.store_writes = -1;
  tell(Happens::commit_stores);
}
void Executor::tma_store_wait_read(int keep) {
  std::size_t const before = thread().store_groups.size();
  land(thread().store_groups, keep);
  tell(Happens::stored, before - thread().store_groups.size());
}
void Executor::tma_store_wait(int keep) {
  tma_store_wait_read(keep);
  std::vector<int>& unwritten = thread().unwritten;
  if (unwritten.size() <= std::size_t(keep)) return;
  auto const kept = unwritten.end() - keep;
  for (auto i = unwritten.begin(); i != kept; ++i) ordering_.observe(*i, rank());
  unwritten.erase(unwritten.begin(), kept);
}

}  // namespace inlay::replay
