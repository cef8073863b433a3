// Asynchronous copies: cp.async and TMA.
#include <inlay/replay/executor.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace inlay::replay {
// ---- cp.async: the bytes are written when the thread that copied them waits for their group
// Writes the bytes of all groups but the last `groups_in_flight`.
void Executor::complete_groups(std::vector<Group>& groups, int groups_in_flight) {
  if (groups.size() <= std::size_t(groups_in_flight)) return;
  auto const end = groups.end() - groups_in_flight;
  for (auto g = groups.begin(); g != end; ++g) {
    for (PendingCopy const& copy : g->copies)
      if (copy.from)
        std::memcpy(copy.to, copy.from, copy.bytes);
      else
        std::memset(copy.to, 0, copy.bytes);
    if (g->operation >= 0) ordering_.observe(g->operation, rank());
  }
  groups.erase(groups.begin(), end);
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
  emit(Happens::commit);
}
void Executor::cp_async_wait(int groups_in_flight) {
  std::size_t const before = thread().cp_groups.size();
  complete_groups(thread().cp_groups, groups_in_flight);
  emit(Happens::landed, before - thread().cp_groups.size());
}

// ---- TMA
namespace {
// Returns why the driver would reject the tensor, as the end of a sentence; empty if it accepts the tensor.
std::string rejection(TmaTensor const& t) {
  auto const number = [](std::int64_t n) { return std::to_string(n); };
  auto const in_mode = [](int k) { return " in mode " + std::to_string(k); };
  int const e = t.elem_bytes;
  std::int64_t const row = std::int64_t(t.box[0]) * e;
  if (e != 1 && e != 2 && e != 4 && e != 8) return "its elements have " + number(e) + " bytes";
  if (auto const misalignment = reinterpret_cast<std::uint64_t>(t.base) % 16)
    return "its base address is " + str(misalignment) + " bytes past a multiple of 16";
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
    return "a row of its box has " + number(row) + " bytes; the 128-byte swizzle needs 128";
  return {};
}
}  // namespace

CUtensorMap ReplayEncoder::operator()(TmaTensor const& tensor) const {
  static_assert(sizeof(TmaTensor) <= sizeof(CUtensorMap));
  if (std::string const why = rejection(tensor); !why.empty())
    throw Fault(Check::misuse, "describes a tensor that the driver would reject for TMA: " + why);
  CUtensorMap map{};
  std::memcpy(&map, &tensor, sizeof tensor);
  return map;
}
void ReplayEncoder::replace_address(CUtensorMap& map, void const* address) {
  TmaTensor tensor = decode(map);
  tensor.base = address;
  map = ReplayEncoder{}(tensor);
}
TmaTensor decode(CUtensorMap const& map) {
  TmaTensor t;
  std::memcpy(static_cast<void*>(&t), &map, sizeof t);
  return t;
}

template <class F>
void Executor::for_each_box_chunk(TmaTensor const& map, std::size_t shared_offset, std::int64_t const (&c)[3], F f) {
  std::size_t const row_bytes = std::size_t(map.box[0]) * std::size_t(map.elem_bytes);
  std::size_t offset = shared_offset;
  for (int k = 0; k < map.box[2]; ++k)
    for (int j = 0; j < map.box[1]; ++j, offset += row_bytes) {
      bool const in_rows = std::min(c[1] + j, c[2] + k) >= 0 && c[1] + j < map.extent[1] && c[2] + k < map.extent[2];
      bool const inside = in_rows && c[0] >= 0 && c[0] < map.extent[0];
      std::int64_t const n = inside ? std::min<std::int64_t>(map.box[0], map.extent[0] - c[0]) * map.elem_bytes : 0;
      char const* const row = static_cast<char const*>(map.base) + c[0] * map.elem_bytes + (c[1] + j) * map.stride[0] +
                              (c[2] + k) * map.stride[1];
      std::size_t const chunk = map.swizzle_128b ? 16 : row_bytes;  // contiguous in shared memory
      for (std::size_t at = 0; at < row_bytes; at += chunk)
        f(row + at, map.swizzle_128b ? offset + (at ^ offset / 128 % 8 * 16) : offset + at,
          std::size_t(std::clamp<std::int64_t>(n - std::int64_t(at), 0, std::int64_t(chunk))), chunk, in_rows);
    }
}

void Executor::check_box_alignment(TmaTensor const& map, std::size_t offset, std::int64_t const (&c)[3],
                                   char const* what) {
  std::size_t const multiple = map.swizzle_128b ? 1024 : 128;
  if (offset % multiple)
    fault(Check::alignment, what + element(*shared_, offset) + ", no multiple of " + str(multiple) + " bytes");
  // An H200 reports an illegal instruction.
  if (c[0] * map.elem_bytes % 16)
    fault(Check::alignment, what + element(*shared_, offset) + ", of a box whose rows begin at element " +
                                std::to_string(c[0]) + " of the tensor's: no multiple of 16 bytes");
}

namespace {
// Adds the chunks of a box to the counts of its site.
struct BoxCount {
  Site& site;
  std::uint64_t last_sector = 0;  // of the previous chunk

  void bytes(std::size_t inside) {
    site.traffic.transactions += std::int64_t(inside), site.useful += std::int64_t(inside);
    site.ideal += std::int64_t(inside);
  }
  void sectors(std::uint64_t address, std::size_t bytes) {
    if (bytes == 0) return;
    std::uint64_t const first = address / 32, end = (address + bytes - 1) / 32;
    site.sectors += std::int64_t(end - first + (first != last_sector));
    last_sector = end;
  }
};
}  // namespace

void Executor::tma_load(TmaTensor const& map, void const* bar, void const* smem, std::int64_t const (&c)[3],
                        unsigned ranks) {
  if (ranks >> num_blocks())
    fault(Check::misuse,
          "multicasts to the blocks " + str(ranks) + " (a bit each) of a cluster of " + str(num_blocks()));
  if (!ranks) return start_box(map, bar, smem, c, true);
  bool is_first = true;  // global memory is read once
  for (unsigned rank = 0; rank < num_blocks(); ++rank)
    if (ranks >> rank & 1)
      start_box(map, Executor::map_shared_rank(bar, rank), Executor::map_shared_rank(smem, rank), c,
                std::exchange(is_first, false));
}
// Starts the part of a TMA load that arrives in one block's shared memory.
void Executor::start_box(TmaTensor const& map, void const* bar, void const* smem, std::int64_t const (&c)[3],
                         bool reads_global) {
  std::size_t const to = shared_offset(smem);
  check_box_alignment(map, to, c, "TMA load to ");
  Mbarrier& m = mbarrier(bar);
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(map.base));
  if (!r) fault(Check::bounds, "TMA load from outside all buffers");
  int const operation = ordering_.start("TMA load", Proxy::async);
  Event const e = ordering_.in_operation(rank(), operation);
  Site& site = recorder_.site(r->operand(0).name, Space::global, false, Mechanism::tma, 0);
  site.traffic.requests += reads_global;
  std::int64_t total = 0;
  BoxCount box{site};
  for_each_box_chunk(map, to, c,
                     [&](char const* from, std::size_t offset, std::size_t inside, std::size_t row, bool in_rows) {
                       if (offset + row > shared_->bytes)
                         fault(Check::bounds, "TMA load past the end of shared memory");
                       if (inside && reads_global)
                         check_global(*r, std::size_t(from - r->seen), inside, Direction::load, e, Proxy::async);
                       check_shared(offset, row, Direction::store, e, Proxy::async);
                       if (trace_ && inside)
                         emit(*r, std::size_t(from - r->seen), inside, Direction::load, Mechanism::tma);
                       if (trace_) emit(*shared_, offset, row, Direction::store, Mechanism::tma);
                       total += std::int64_t(row);
                       if (!reads_global) return;
                       box.bytes(inside);
                       // The hardware reads whole rows of the box, and counts rows outside the tensor as aligned.
                       box.sectors(in_rows ? reinterpret_cast<std::uint64_t>(from) : offset, row);
                     });
  std::int64_t const at[3] = {c[0], c[1], c[2]};
  std::size_t const mbarrier_at = shared_offset(bar);
  emit(Happens::box, mbarrier_at, std::size_t(total));
  if (!(m.fence && ordering_.before(*m.fence, rank())) && !ordering_.visible_to_async(m.init, rank()))
    report(Check::race, "TMA load completes at the mbarrier " + element(*shared_, mbarrier_at) +
                            ", initialised by thread " + str(m.init.thread) + " with no fence_barrier_init() since");
  tma_loads_in_flight_.push_back(
      [this, &m, mbarrier_at, map, to, r, total, operation, issuer = rank(), at0 = at[0], at1 = at[1], at2 = at[2]] {
        for_each_box_chunk(map, to, {at0, at1, at2},
                           [&](char const* from, std::size_t offset, std::size_t inside, std::size_t row, bool) {
                             std::memset(shared_->real + offset, 0, row);  // bytes outside the tensor are zeros
                             if (inside) std::memcpy(shared_->real + offset, r->real + (from - r->seen), inside);
                           });
        complete_box(m, mbarrier_at, total, operation, issuer);
      });
}

void Executor::tma_store(TmaTensor const& map, void const* smem, std::int64_t const (&c)[3]) {
  std::size_t const from = shared_offset(smem);
  check_box_alignment(map, from, c, "TMA store from ");
  Region* const r = memory.find(reinterpret_cast<std::uint64_t>(map.base));
  if (!r) fault(Check::bounds, "TMA store outside all buffers");
  Thread& x = thread();
  if (x.store_operation < 0) {  // two operations, because reads of shared memory end before writes of global memory
    x.store_operation = ordering_.start("TMA store", Proxy::async);
    x.store_write_operation = ordering_.start("TMA store", Proxy::async);
  }
  Event const e = ordering_.in_operation(rank(), x.store_operation);
  Event const writes = ordering_.in_operation(rank(), x.store_write_operation);
  Site& site = recorder_.site(r->operand(0).name, Space::global, true, Mechanism::tma, 0);
  ++site.traffic.requests;
  BoxCount box{site};
  for_each_box_chunk(map, from, c, [&](char const* to, std::size_t offset, std::size_t inside, std::size_t row, bool) {
    if (offset + row > shared_->bytes) fault(Check::bounds, "TMA store past the end of shared memory");
    if (!inside) return;
    // The hardware writes 16 bytes at a time, past the tensor's end too (measured on an H200, with and without a
    // swizzle).
    std::size_t const written = (inside + 15) / 16 * 16;
    if (to < r->seen || std::size_t(to - r->seen) + written > r->bytes)
      fault(Check::bounds, "TMA store past the end of " + r->operand(0).name);
    check_shared(offset, written, Direction::load, e, Proxy::async);
    check_global(*r, std::size_t(to - r->seen), written, Direction::store, writes, Proxy::async);
    if (trace_) emit(*shared_, offset, written, Direction::load, Mechanism::tma);
    if (trace_) emit(*r, std::size_t(to - r->seen), written, Direction::store, Mechanism::tma);
    box.bytes(inside);
    box.sectors(reinterpret_cast<std::uint64_t>(to), written);
    x.store_pending.push_back({r->real + (to - r->seen), shared_->real + offset, written});
  });
  emit(Happens::store_box);
}
void Executor::tma_store_commit() {
  Thread& x = thread();
  x.store_groups.push_back({x.store_operation, std::move(x.store_pending)});
  if (x.store_write_operation >= 0) x.write_operations.push_back(x.store_write_operation);
  x.store_pending.clear();
  x.store_operation = x.store_write_operation = -1;
  emit(Happens::commit_stores);
}
void Executor::tma_store_wait_read(int groups_in_flight) {
  std::size_t const before = thread().store_groups.size();
  complete_groups(thread().store_groups, groups_in_flight);
  emit(Happens::stored, before - thread().store_groups.size());
}
void Executor::tma_store_wait(int groups_in_flight) {
  Executor::tma_store_wait_read(groups_in_flight);
  std::vector<int>& write_operations = thread().write_operations;
  if (write_operations.size() <= std::size_t(groups_in_flight)) return;
  auto const kept = write_operations.end() - groups_in_flight;
  for (auto i = write_operations.begin(); i != kept; ++i) ordering_.observe(*i, rank());
  write_operations.erase(write_operations.begin(), kept);
}

}  // namespace inlay::replay
