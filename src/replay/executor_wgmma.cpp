// wgmma: accumulators and operands in flight.
#include <inlay/replay/executor.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace inlay::replay {
void Executor::wgmma_fence() {
  Wgmma& w = thread().wgmma;
  w.is_fenced = true;
  w.read_since_fence.clear();
}
void Executor::wgmma_reads_registers(void const* registers, std::size_t bytes, int operation) {
  Wgmma& w = thread().wgmma;
  std::string const now(static_cast<char const*>(registers), bytes);
  auto const [at, added] = w.read_since_fence.try_emplace(registers, Wgmma::Registers{now, operation});
  if (!added && at->second.bytes != now)
    report(Check::race, "issues a wgmma with registers of A that changed since wgmma_fence()");
  w.read.insert_or_assign(registers, Wgmma::Registers{now, operation});
}
float* Executor::wgmma_accumulators(float* registers, std::size_t count) {
  Wgmma& w = thread().wgmma;
  auto const [at, added] = w.in_flight.try_emplace(registers);
  Wgmma::Accumulators& x = at->second;
  if (!added) {
    if (x.values.size() != count) fault(Check::misuse, "issues a wgmma of another shape on accumulators in flight");
    return x.values.data();
  }
  if (!w.is_fenced) report(Check::race, "issues a wgmma with no wgmma_fence() since its registers were accessible");
  x.values.assign(registers, registers + count);
  std::fill_n(registers, count, std::numeric_limits<float>::quiet_NaN());
  return x.values.data();
}
char const* Executor::wgmma_read(void const* address, int operation) {
  constexpr std::size_t kVector = 16;
  std::size_t const offset = shared_offset(address);
  if (!shared_ || offset + kVector > shared_->bytes) fault(Check::bounds, "wgmma reads outside shared memory");
  check_shared(offset, kVector, Direction::load, ordering_.in_operation(rank(), operation), Proxy::async);
  // The other warps of the warpgroup issue the instruction too: each must know of what was written.
  for (unsigned t = first_of(128); t < first_of(128) + 128; t += 32)
    if (std::string const how = ordering_.would_read(offset, kVector, t, Proxy::async); t != rank() && !how.empty())
      recorder_.report(Check::race, thread_name(t) + "reads " + element(*shared_, offset) + " by wgmma, " + how);
  return shared_->real + offset;
}
void Executor::count_wgmma(void const* operand, std::int64_t bytes) {
  Site& site =
      recorder_.site(shared_->operand(shared_offset(operand)).name, Space::shared, false, Mechanism::wgmma, 16);
  ++site.traffic.requests;
  site.traffic.transactions += bytes / 128, site.ideal += bytes / 128;
}
void Executor::wgmma_issued(float* registers, int operation) {
  Wgmma& w = thread().wgmma;
  w.in_flight.at(registers).last_operation = operation;
  w.pending.push_back(operation);
}
void Executor::wgmma_commit() {
  Wgmma& w = thread().wgmma;
  w.groups.push_back(std::move(w.pending));
  w.pending.clear();
}
void Executor::wgmma_wait(int groups_in_flight) {
  Wgmma& w = thread().wgmma;
  while (w.groups.size() > std::size_t(groups_in_flight)) {
    for (int operation : w.groups.front()) {
      ordering_.observe(operation, rank());
      std::erase_if(w.read, [&](auto const& x) {
        if (x.second.operation != operation) return false;
        if (std::memcmp(x.first, x.second.bytes.data(), x.second.bytes.size()) != 0)
          report(Check::race, "changes registers of A before the wait for the wgmma that reads them");
        return true;
      });
      std::erase_if(w.in_flight, [&](auto const& x) {
        if (x.second.last_operation != operation) return false;
        std::copy(x.second.values.begin(), x.second.values.end(), x.first);
        w.is_fenced = false;
        return true;
      });
    }
    w.groups.pop_front();
  }
}

}  // namespace inlay::replay
