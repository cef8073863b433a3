// A fault that is not a replay's goes to whoever handled faults before; one in a replay is a finding.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <thread>

#include <inlay/replay/run.h>

namespace inlay::replay {
namespace {

using Hook = void (*)();
void nothing() {}

// Each thread copies one float; the first calls `hook` before.
struct CopyOne {
  float const* in;
  float* out;
  Hook hook = nothing;
  bool past_the_recorder = false;

  static constexpr LaunchInfo launch_info{.threads = 32};
  struct Smem {};
  std::int64_t blocks() const { return 1; }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    unsigned const i = block.thread_rank();
    if (i == 0) hook();
    if (past_the_recorder) *const_cast<float volatile*>(out + i) = 0;
    cute::Copy_Atom<On<Block, cute::UniversalCopy<float>>, float> atom;
    float x;
    copy_one(atom, true, cute::make_gmem_ptr(in + i), &x);
    copy_one(atom, true, &x, cute::make_gmem_ptr(out + i));
  }
};

// The host's own handler, of either kind: it counts, and leaves by a jump or mends the page.
thread_local sigjmp_buf back;
volatile std::sig_atomic_t seen = 0;
char* page = nullptr;

void jump(int) {
  seen = seen + 1;
  siglongjmp(back, 1);
}
void mend(int, siginfo_t* info, void*) {
  seen = seen + 1;
  if (info->si_addr != page || mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0) _exit(3);
}
void touch_page() { *static_cast<char volatile*>(page) = 1; }

class Signal : public testing::Test {
 protected:
  Signal() {
    page = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    seen = 0;
    sigaction(SIGSEGV, nullptr, &before_);
  }
  ~Signal() override {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(page, 4096);
  }
  static void handle(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigaction(SIGSEGV, &action, nullptr);
  }
  static void handle(void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    action.sa_sigaction = handler, action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
  }
  void replay(Hook hook = nothing, bool past_the_recorder = false) {
    recorder.reads(in), recorder.writes(out);
    replay_kernel("copy_one", CopyOne{in, out, hook, past_the_recorder}, recorder);
  }
  Recorder recorder;
  float* const in = recorder.allocate_integers("in", 32, 1);
  float* const out = recorder.allocate_integers("out", 32, 2);

 private:
  struct sigaction before_ {};
};

TEST_F(Signal, AFaultAfterAReplayIsNotItsOwn) {
  handle(jump);
  replay();
  EXPECT_EQ(recorder.finding_count, 0);
  if (sigsetjmp(back, 1) == 0) touch_page();
  EXPECT_EQ(seen, 1);
  replay();  // and once more, with a handler that saw a fault
  if (sigsetjmp(back, 1) == 0) touch_page();
  EXPECT_EQ(seen, 2);
}
TEST_F(Signal, AnotherThreadsFaultDuringAReplayIsNotItsOwn) {
  handle(jump);
  replay([] {
    std::thread([] {
      if (sigsetjmp(back, 1) == 0) touch_page();
    }).join();
  });
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(recorder.finding_count, 0);
}
TEST_F(Signal, AFaultInABlockBeyondItsBuffersIsNotItsOwn) {
  handle(mend);
  replay(touch_page);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(recorder.finding_count, 0);
  EXPECT_EQ(*page, 1);
}
TEST_F(Signal, NobodyElseHandlesIt) {
  handle(SIG_DFL);
  EXPECT_EXIT(replay(touch_page), testing::KilledBySignal(SIGSEGV), "");
  handle(SIG_IGN);
  EXPECT_EXIT(replay(touch_page), testing::KilledBySignal(SIGSEGV), "");
}
TEST_F(Signal, AFaultInAReplayIsAFinding) {
  handle(jump);
  for (int time = 1; time <= 2; ++time) {
    replay(nothing, true);
    EXPECT_EQ(seen, 0);
    EXPECT_TRUE(recorder.found(Check::unrecorded));
    EXPECT_EQ(recorder.findings[0].sentence,
              "copy_one, block 0, thread 0: accesses out[0] (byte 0) directly, not through a copy operation");
  }
}
TEST_F(Signal, TheHandlerThatWasThereComesBack) {
  auto const now = [] {
    struct sigaction action {};
    sigaction(SIGSEGV, nullptr, &action);
    return action;
  };
  handle(mend);
  replay([] { handle(jump); });  // somebody else takes over: that is theirs to keep
  EXPECT_EQ(now().sa_handler, jump);
  replay();
  EXPECT_EQ(now().sa_handler, jump);
}

}  // namespace
}  // namespace inlay::replay
