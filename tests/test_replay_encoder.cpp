// What the driver would refuse of a TMA descriptor is a finding, and fails that replay alone. What a problem expects of
// buffers is said byte by byte.
#include <gtest/gtest.h>

#include <inlay/replay/run.h>

namespace inlay::replay {
namespace {

constexpr TmaTensor kGood{nullptr, 4, {64, 64, 1}, {256, 16}, {32, 32, 1}};

// What is said of a description after an edit; empty: it is taken.
template <class Edit>
std::string refused(Edit const& edit) {
  TmaTensor t = kGood;
  edit(t);
  try {
    ReplayEncoder{}(t);
  } catch (Fault const& f) {
    EXPECT_EQ(f.check, Check::misuse);
    return f.what();
  }
  return {};
}
#define EXPECT_REFUSED(edit, why) \
  EXPECT_EQ(refused([](TmaTensor& t) { edit; }), "describes a tensor that the driver would reject for TMA: " why)

TEST(ReplayEncoder, TakesWhatTheDriverTakes) {
  EXPECT_EQ(refused([](TmaTensor&) {}), "");
  EXPECT_EQ(refused([](TmaTensor& t) { t.swizzle_128b = true; }), "");
  EXPECT_EQ(refused([](TmaTensor& t) { t.extent[2] = std::int64_t(1) << 32, t.box[1] = 256; }), "");
  EXPECT_EQ(refused([](TmaTensor& t) { t.stride[1] = (std::int64_t(1) << 40) - 16; }), "");
}
TEST(ReplayEncoder, SaysWhatTheDriverWouldRefuse) {
  EXPECT_REFUSED(t.elem_bytes = 16, "its elements have 16 bytes");
  EXPECT_REFUSED(t.base = reinterpret_cast<void*>(24), "its base address is 8 bytes past a multiple of 16");
  EXPECT_REFUSED(t.extent[1] = 0, "it has 0 elements in mode 1, not 1 to 2^32");
  EXPECT_REFUSED(t.extent[0] = (std::int64_t(1) << 32) + 1, "it has 4294967297 elements in mode 0, not 1 to 2^32");
  EXPECT_REFUSED(t.stride[0] = 260, "its stride in mode 1 is 260 bytes, no multiple of 16");
  EXPECT_REFUSED(t.stride[1] = -16, "its stride in mode 2 is -16 bytes, not 16 to 2^40");
  EXPECT_REFUSED(t.stride[1] = 0, "its stride in mode 2 is 0 bytes, not 16 to 2^40");
  EXPECT_REFUSED(t.stride[1] = std::int64_t(1) << 40, "its stride in mode 2 is 1099511627776 bytes, not 16 to 2^40");
  EXPECT_REFUSED(t.box[1] = 257, "its box has 257 elements in mode 1, not 1 to 256");
  EXPECT_REFUSED(t.box[2] = 0, "its box has 0 elements in mode 2, not 1 to 256");
  EXPECT_REFUSED(t.box[0] = 3, "a row of its box has 12 bytes, no multiple of 16");
  EXPECT_REFUSED((t.swizzle_128b = true, t.box[0] = 16),
                 "a row of its box has 64 bytes; the 128-byte swizzle needs 128");
}

// A kernel whose make() describes a tensor; the first thread of each block writes an element.
struct Described {
  float* out;
  CUtensorMap map;

  static constexpr LaunchInfo launch_info{.threads = 32};
  struct Smem {
    alignas(128) float tile[2][32];
    int flag;
    static void members(auto name) { name("tile", &Smem::tile); }
  };
  std::int64_t blocks() const { return 2; }
  static Described make(float* out, std::int64_t row_bytes) {
    return {out, ReplayEncoder{}({out, 4, {32, 1, 1}, {row_bytes, row_bytes}, {32, 1, 1}})};
  }
  static Described make_from_data(float* out) { return make(out, std::int64_t(*const_cast<float volatile*>(out))); }

  template <class Block>
  CUTE_DEVICE void operator()(Block block, Smem&) const {
    cute::Copy_Atom<On<Block, cute::UniversalCopy<float>>, float> atom;
    float const x = 7;
    copy_one(atom, block.thread_rank() == 0, &x, cute::make_gmem_ptr(out + block.block_index()));
  }
};
static_assert(Kernel<Described>);

TEST(Guarded, AFaultOutsideAllBlocksIsAFinding) {
  Recorder recorder;
  auto* const out = recorder.allocate_integers("out", 32, 1);
  recorder.kernel = "described";
  guarded(recorder, [&] {
    run(Described::make(out, 100), recorder);
    ADD_FAILURE();
  });
  guarded(recorder, [&] {  // make() may not look at the data
    run(Described::make_from_data(out), recorder);
    ADD_FAILURE();
  });
  ASSERT_EQ(recorder.findings.size(), 2u);
  EXPECT_EQ(recorder.findings[0].check, Check::misuse);
  EXPECT_EQ(recorder.findings[0].sentence,
            "described: describes a tensor that the driver would reject for TMA: its stride in mode 1 is 100 bytes, no "
            "multiple of 16");
  EXPECT_EQ(recorder.findings[1].check, Check::unrecorded);
  EXPECT_EQ(recorder.findings[1].sentence,
            "described: accesses out[0] (byte 0) directly, not through a copy operation");

  recorder.findings.clear();  // the next replay is a new one
  recorder.forget_expectations(out);
  recorder.must_write(out, 8);
  guarded(recorder, [&] { run(Described::make(out, 128), recorder); });
  EXPECT_TRUE(recorder.findings.empty());
  EXPECT_EQ(recorder.number(out + 1), 7);
  EXPECT_THROW(guarded(recorder, [] { throw std::logic_error("the host's own"); }), std::logic_error);
}

TEST(Expectations, AreSaidByteByByte) {
  Recorder recorder;
  recorder.kernel = "described";
  auto* const out = recorder.allocate_integers("out", 32, 1);
  Described const kernel = Described::make(out, 128);
  EXPECT_EQ(recorder.offset_of(out + 3), 12u);
  EXPECT_FALSE(recorder.written(out, 4));
  recorder.forget_expectations(out);
  recorder.must_write(out, 4);
  run(kernel, recorder);  // writes one element more
  ASSERT_TRUE(recorder.found(Check::bounds));
  EXPECT_EQ(recorder.findings[0].sentence,
            "described, block 1, thread 0: writes out[1] (byte 4), which is no element of the destination");
  EXPECT_TRUE(recorder.written(out, 4));
  EXPECT_FALSE(recorder.written(out, 8));

  recorder.findings.clear();
  recorder.must_write(out, 12);  // anew
  EXPECT_FALSE(recorder.written(out, 4));
  run(kernel, recorder);
  EXPECT_TRUE(recorder.written(out, 8));
  recorder.conclude();
  ASSERT_EQ(recorder.findings.size(), 1u);
  EXPECT_EQ(recorder.findings[0].sentence, "described: leaves 1 elements unwritten, the first is out[2]");
  EXPECT_THROW(recorder.must_write(out + 31, 8), std::runtime_error);
  EXPECT_THROW(recorder.may_read(&recorder, 4), std::runtime_error);
}

TEST(Launches, FactsAndMembersComeFromTheKernel) {
  Recorder recorder;
  Described const kernel = Described::make(recorder.allocate_integers("out", 32, 1), 128);
  RecordedLaunch const x = launch_of(kernel);
  EXPECT_EQ(x.blocks, 2);
  EXPECT_EQ(x.threads, 32u);
  EXPECT_EQ(x.cluster, 1u);
  EXPECT_EQ(x.shared_bytes, 384u);
  auto const operands = operands_of<Described::Smem>();
  ASSERT_EQ(operands.size(), 2u);
  EXPECT_EQ(operands[0].name, "shared tile");
  EXPECT_EQ(operands[0].elem_bytes, 4);
  EXPECT_EQ(operands[1].name, "shared");
}

}  // namespace
}  // namespace inlay::replay
