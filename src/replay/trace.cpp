// How the executor emits the events of a trace.
#include <inlay/replay/trace.h>

#include <inlay/replay/executor.h>

namespace inlay::replay {
namespace {

TraceEvent event(Happens what, unsigned block, unsigned thread) {
  return {.what = what, .block = block, .thread = thread};
}

}  // namespace

void Executor::emit(Happens what, std::size_t count) const {
  if (!trace_) return;
  TraceEvent e = event(what, first_block_ + block_rank(), rank() % block_threads_);
  e.count = count;
  trace_(e);
}

void Executor::emit(Happens what, std::size_t mbarrier, std::size_t bytes) const {
  if (!trace_) return;
  TraceEvent e = event(what, first_block_ + block_rank(), rank() % block_threads_);
  e.operand = &shared_->operand(mbarrier);
  e.offset = mbarrier - e.operand->offset, e.bytes = bytes;
  trace_(e);
}

void Executor::emit(Region const& r, std::size_t offset, std::size_t bytes, Direction direction,
                    Mechanism mechanism) const {
  TraceEvent e = event(Happens::access, first_block_ + block_rank(), rank() % block_threads_);
  e.operand = &r.operand(offset);
  e.offset = offset - e.operand->offset, e.bytes = bytes;
  e.address = reinterpret_cast<std::uint64_t>(r.seen + offset), e.data = r.real + offset;
  e.space = r.space, e.store = direction == Direction::store, e.mechanism = mechanism;
  trace_(e);
}

}  // namespace inlay::replay
