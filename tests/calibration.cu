// Single requests of one warp, and what inlay/banks.h says that each costs. bench/counters.py runs this under Nsight
// Compute and compares. usage: calibration [--list]  (--list: says what it would run; needs no GPU)
//
// Prints a JSON list: {"name", "predicted": {counter: count}} of each launch, in order. A kernel makes its one
// request and no other.
#include <inlay/banks.h>
#include <inlay/error.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

using inlay::banks::Access;
using inlay::banks::Request;
using inlay::detail::check;

enum class Op {
  shared_load,
  shared_store,
  global_load,
  global_store,
  async_copy,
  async_copy_cg,
  bulk_load,
  bulk_store
};

// Byte offsets of the lanes. What is loaded decides whether it is written: a load whose result nobody needs is dropped,
// one that only a condition needs is made under the condition.
struct Lanes {
  unsigned offset[32];
  unsigned active;
};
constexpr unsigned kNever = 0x5a;  // memory is zero; a byte can be so

constexpr unsigned kAll = ~0u, kBulk = 1024;
constexpr unsigned kShared = 32 * 1024, kGlobal = 64 * 1024;  // bytes that offsets stay in

// SPACE: "shared" or "global". The widths are written out: the compiler can neither merge nor split them.
#define LOAD(SPACE)                                                                         \
  if constexpr (bytes == 16)                                                                \
    asm volatile("ld." SPACE ".v4.u32 {%0, %1, %2, %3}, [%4];"                              \
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])                           \
                 : "l"(at));                                                                \
  else if constexpr (bytes == 8)                                                            \
    asm volatile("ld." SPACE ".v2.u32 {%0, %1}, [%2];" : "=r"(x[0]), "=r"(x[1]) : "l"(at)); \
  else if constexpr (bytes == 4)                                                            \
    asm volatile("ld." SPACE ".u32 %0, [%1];" : "=r"(x[0]) : "l"(at));                      \
  else if constexpr (bytes == 2)                                                            \
    asm volatile("ld." SPACE ".u16 %0, [%1];" : "=r"(x[0]) : "l"(at));                      \
  else                                                                                      \
    asm volatile("ld." SPACE ".u8 %0, [%1];" : "=r"(x[0]) : "l"(at))
#define STORE(SPACE)                                                                             \
  if constexpr (bytes == 16)                                                                     \
    asm volatile("st." SPACE ".v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(x[0]) : "memory"); \
  else if constexpr (bytes == 8)                                                                 \
    asm volatile("st." SPACE ".v2.u32 [%0], {%1, %1};" ::"l"(at), "r"(x[0]) : "memory");         \
  else if constexpr (bytes == 4)                                                                 \
    asm volatile("st." SPACE ".u32 [%0], %1;" ::"l"(at), "r"(x[0]) : "memory");                  \
  else if constexpr (bytes == 2)                                                                 \
    asm volatile("st." SPACE ".u16 [%0], %1;" ::"l"(at), "r"(x[0]) : "memory");                  \
  else                                                                                           \
    asm volatile("st." SPACE ".u8 [%0], %1;" ::"l"(at), "r"(x[0]) : "memory")

// One TMA copy without a tensor map. Its barrier is an atomic of shared memory.
template <Op op>
__device__ void bulk(unsigned smem, char* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (op == Op::bulk_load) {
    unsigned const barrier = smem + kBulk;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(kBulk) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem),
                 "l"(global), "r"(kBulk), "r"(barrier)
                 : "memory");
    asm volatile(
        "{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra WAIT;\n}" ::"r"(barrier)
        : "memory");
  } else {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(smem), "r"(kBulk)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
#endif
}

template <Op op, int bytes>
__global__ void request(__grid_constant__ Lanes const lanes, char* global) {
  extern __shared__ __align__(1024) char smem[];
  unsigned const lane = threadIdx.x;
  if (!(lanes.active >> lane & 1)) return;
  constexpr bool in_shared = op == Op::shared_load || op == Op::shared_store;
  std::size_t const at =
      (in_shared ? __cvta_generic_to_shared(smem) : __cvta_generic_to_global(global)) + lanes.offset[lane];
  unsigned x[4] = {lane};
  if constexpr (op == Op::shared_load) {
    LOAD("shared");
  } else if constexpr (op == Op::shared_store) {
    STORE("shared");
  } else if constexpr (op == Op::global_load) {
    LOAD("global");
  } else if constexpr (op == Op::global_store) {
    STORE("global");
  } else if constexpr (op == Op::bulk_load || op == Op::bulk_store) {
    bulk<op>(unsigned(__cvta_generic_to_shared(smem)), global);
  } else {  // lanes side by side in shared memory
    unsigned const to = unsigned(__cvta_generic_to_shared(smem)) + lane * bytes;
    if constexpr (op == Op::async_copy_cg)
      asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(to), "l"(at), "n"(bytes) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(at), "n"(bytes) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  if ((x[0] ^ x[1] ^ x[2] ^ x[3]) == kNever) global[lane] = 1;
}
#undef LOAD
#undef STORE

struct Pattern {
  char const* name;
  Op op;
  unsigned bytes;
  unsigned (*offset)(unsigned lane);
  unsigned active = kAll;
};

// Where lanes go. Named by what a 16-byte request does with them.
constexpr auto kSame = [](unsigned) { return 0u; };
template <unsigned stride>
constexpr auto kEvery = [](unsigned l) { return l * stride; };
template <unsigned stride, unsigned first>
constexpr auto kFrom = [](unsigned l) { return first + l * stride; };
template <unsigned lanes, unsigned stride>
constexpr auto kTogether = [](unsigned l) { return l / lanes * stride; };
template <unsigned lanes, unsigned stride>
constexpr auto kAgain = [](unsigned l) { return l % lanes * stride; };
// Lanes that differ only in this bit ask for the same.
template <unsigned bit, unsigned stride>
constexpr auto kPairs = [](unsigned l) { return ((l & (bit - 1)) | l / (2 * bit) * bit) * stride; };
// Pairs of lanes: of eight lanes two pairs meet in a bank, in another one for every other eight.
constexpr auto kClashingPairs = [](unsigned l) {
  constexpr unsigned in_eight[] = {0, 128, 16, 32};
  return (l / 8 & 1) * 64 + l / 16 * 1024 + in_eight[l / 2 % 4];
};

// The first 17 are those that the model was first held against.
constexpr Pattern kPatterns[] = {
    {"side by side", Op::shared_load, 4, kEvery<4>},
    {"down a column", Op::shared_load, 4, kEvery<128>},
    {"side by side", Op::shared_load, 8, kEvery<8>},
    {"one address", Op::shared_load, 8, kSame},
    {"pairs", Op::shared_load, 8, kTogether<2, 8>},
    {"halves alike", Op::shared_load, 8, kAgain<16, 8>},
    {"side by side", Op::shared_load, 16, kEvery<16>},
    {"pairs", Op::shared_load, 16, kTogether<2, 16>},
    {"pairs across one", Op::shared_load, 16, kPairs<2, 16>},
    {"halves alike", Op::shared_load, 16, kAgain<16, 16>},
    {"quarters alike", Op::shared_load, 16, kAgain<8, 16>},
    {"one address", Op::shared_load, 16, kSame},
    {"lanes 0 to 7", Op::shared_load, 16, kEvery<16>, 0xff},
    {"down a column", Op::shared_load, 16, kEvery<512>},
    {"side by side", Op::shared_store, 16, kEvery<16>},
    {"pairs", Op::shared_store, 16, kTogether<2, 16>},
    {"down a column of 128 bytes", Op::shared_store, 16, kEvery<128>},

    // 16 bytes, part of the lanes off
    {"lanes 0 to 3", Op::shared_load, 16, kEvery<16>, 0xf},
    {"lane 5", Op::shared_load, 16, kEvery<16>, 1u << 5},
    {"lanes 4 to 11", Op::shared_load, 16, kEvery<16>, 0xff0},
    {"every other lane", Op::shared_load, 16, kEvery<16>, 0x55555555},
    {"one lane of each quarter", Op::shared_load, 16, kEvery<16>, 0x01010101},
    {"a lane or two of each quarter", Op::shared_load, 16, kEvery<16>, 0x21108402},
    {"quarters 1 and 3", Op::shared_load, 16, kEvery<16>, 0xff00ff00},
    {"quarters 0 to 2", Op::shared_load, 16, kEvery<16>, 0x00ffffff},
    {"some lanes", Op::shared_load, 16, kEvery<16>, 0x6b3d91e4},
    {"some lanes of a column", Op::shared_load, 16, kEvery<512>, 0x6b3d91e4},
    {"every other lane of a column", Op::shared_load, 16, kEvery<512>, 0x55555555},
    {"pairs, the last lane off", Op::shared_load, 16, kTogether<2, 16>, 0x7fffffff},
    {"pairs, one of each off", Op::shared_load, 16, kTogether<2, 16>, 0x55555555},
    {"pairs, one of some off", Op::shared_load, 16, kTogether<2, 16>, 0xe7fdb9bf},
    {"pairs, half of the warp off", Op::shared_load, 16, kTogether<2, 16>, 0x0000ffff},
    {"lanes 0 to 3", Op::shared_store, 16, kEvery<16>, 0xf},
    {"lane 5", Op::shared_store, 16, kEvery<16>, 1u << 5},
    {"lanes 4 to 11", Op::shared_store, 16, kEvery<16>, 0xff0},
    {"every other lane", Op::shared_store, 16, kEvery<16>, 0x55555555},
    {"one lane of each quarter", Op::shared_store, 16, kEvery<16>, 0x01010101},
    {"quarters 1 and 3", Op::shared_store, 16, kEvery<16>, 0xff00ff00},
    {"some lanes", Op::shared_store, 16, kEvery<16>, 0x6b3d91e4},
    {"some lanes of a column", Op::shared_store, 16, kEvery<512>, 0x6b3d91e4},
    {"pairs, one of each off", Op::shared_store, 16, kTogether<2, 16>, 0x55555555},

    // 16 bytes, other ways to share
    {"fours", Op::shared_load, 16, kTogether<4, 16>},
    {"eights", Op::shared_load, 16, kTogether<8, 16>},
    {"pairs across three", Op::shared_load, 16, kPairs<4, 16>},
    {"pairs of a column", Op::shared_load, 16, kTogether<2, 512>},
    {"pairs that clash", Op::shared_load, 16, kClashingPairs},
    {"pairs that clash", Op::shared_store, 16, kClashingPairs},
    {"one address", Op::shared_store, 16, kSame},

    // 8 bytes
    {"lanes 0 to 15", Op::shared_load, 8, kEvery<8>, 0xffff},
    {"every other lane", Op::shared_load, 8, kEvery<8>, 0x55555555},
    {"one lane of each half", Op::shared_load, 8, kEvery<8>, 0x00100001},
    {"some lanes of a column", Op::shared_load, 8, kEvery<256>, 0x6b3d91e4},
    {"pairs across one", Op::shared_load, 8, kPairs<2, 8>},
    {"pairs across three", Op::shared_load, 8, kPairs<4, 8>},
    {"fours", Op::shared_load, 8, kTogether<4, 8>},
    {"side by side", Op::shared_store, 8, kEvery<8>},
    {"pairs", Op::shared_store, 8, kTogether<2, 8>},
    {"down a column", Op::shared_store, 8, kEvery<256>},
    {"some lanes", Op::shared_store, 8, kEvery<8>, 0x6b3d91e4},

    // up to 4 bytes
    {"two to a bank", Op::shared_load, 4, kEvery<8>},
    {"one address", Op::shared_load, 4, kSame},
    {"a padded column", Op::shared_load, 4, kEvery<132>},
    {"some lanes of a column", Op::shared_load, 4, kEvery<128>, 0x6b3d91e4},
    {"side by side", Op::shared_store, 4, kEvery<4>},
    {"down a column", Op::shared_store, 4, kEvery<128>},
    {"side by side", Op::shared_load, 2, kEvery<2>},
    {"down a column", Op::shared_load, 2, kEvery<128>},
    {"side by side", Op::shared_store, 2, kEvery<2>},
    {"side by side", Op::shared_load, 1, kEvery<1>},
    {"down a column", Op::shared_load, 1, kEvery<128>},
    {"side by side", Op::shared_store, 1, kEvery<1>},
    {"down a column", Op::shared_store, 1, kEvery<128>},

    // global memory
    {"side by side", Op::global_load, 16, kEvery<16>},
    {"from 16 on", Op::global_load, 16, kFrom<16, 16>},
    {"every other lane", Op::global_load, 16, kEvery<16>, 0x55555555},
    {"down a column", Op::global_load, 16, kEvery<1024>},
    {"side by side", Op::global_load, 8, kEvery<8>},
    {"side by side", Op::global_load, 4, kEvery<4>},
    {"from 4 on", Op::global_load, 4, kFrom<4, 4>},
    {"down a column", Op::global_load, 4, kEvery<1024>},
    {"one address", Op::global_load, 4, kSame},
    {"some lanes", Op::global_load, 4, kEvery<4>, 0x6b3d91e4},
    {"from 2 on", Op::global_load, 2, kFrom<2, 2>},
    {"from 31 on", Op::global_load, 1, kFrom<1, 31>},
    {"side by side", Op::global_store, 16, kEvery<16>},
    {"every other lane", Op::global_store, 16, kEvery<16>, 0x55555555},
    {"side by side", Op::global_store, 8, kEvery<8>},
    {"from 4 on", Op::global_store, 4, kFrom<4, 4>},
    {"down a column", Op::global_store, 4, kEvery<1024>},
    {"some lanes", Op::global_store, 4, kEvery<4>, 0x6b3d91e4},
    {"from 31 on", Op::global_store, 1, kFrom<1, 31>},

    // not by way of registers
    {"side by side", Op::async_copy, 4, kEvery<4>},
    {"from 4 on", Op::async_copy, 4, kFrom<4, 4>},
    {"some lanes", Op::async_copy, 4, kEvery<4>, 0x6b3d91e4},
    {"side by side", Op::async_copy, 8, kEvery<8>},
    {"side by side", Op::async_copy, 16, kEvery<16>},
    {"side by side", Op::async_copy_cg, 16, kEvery<16>},
    // Beginning in the middle of a sector past the L1 is left out: ncu says 20 sectors of 17, or 32 by another counter.
    {"down a column", Op::async_copy_cg, 16, kEvery<512>},
    {"some lanes", Op::async_copy_cg, 16, kEvery<16>, 0x6b3d91e4},
    {"1024 bytes", Op::bulk_load, 16, kSame, 1},
    {"1024 bytes", Op::bulk_store, 16, kSame, 1},
};

char const* name_of(Op op) {
  constexpr char const* names[] = {"shared load",           "shared store",       "global load", "global store",
                                   "async copy through L1", "async copy past L1", "bulk load",   "bulk store"};
  return names[int(op)];
}

// {counter: count}. What an operation should not count is said where it matters.
std::string predicted(Pattern const& p) {
  Request r;
  r.active = p.active, r.bytes = p.bytes;
  for (unsigned lane = 0; lane < 32; ++lane) r.address[lane] = p.offset(lane);
  auto const said = [](std::string const& counter, unsigned n) { return "\"" + counter + "\": " + std::to_string(n); };
  auto const wavefronts = [&](char const* counter, Access access) {
    return said(counter, inlay::banks::wavefronts(r, access));
  };
  auto const sectors = [&](std::string const& of) {
    return said(of + "_requests", 1) + ", " + said(of + "_sectors", inlay::banks::sectors(r));
  };
  auto const boxes = [&](std::string const& of) {
    return said(of + "_bytes", kBulk) + ", " + said(of + "_sectors", kBulk / 32);
  };
  switch (p.op) {
    case Op::shared_load:
      return wavefronts("shared_load_wavefronts", Access::load);
    case Op::shared_store:
      return wavefronts("shared_store_wavefronts", Access::store);
    case Op::global_load:
      return sectors("global_load");
    case Op::global_store:
      return sectors("global_store");
    case Op::bulk_load:
      return boxes("tma_load") + ", " + said("global_load_sectors", 0);
    case Op::bulk_store:
      return boxes("tma_store") + ", " + said("global_store_sectors", 0);
    default:
      return sectors("async_copy") + ", " + sectors("global_load") + ", " + said("shared_store_wavefronts", 0) + ", " +
             said("shared_load_wavefronts", 0);
  }
}

// Calls f(kernel) for the kernel of a pattern.
template <class F>
void with_kernel(Pattern const& p, F const& f) {
  auto const of_width = [&]<Op op>() {
    switch (p.bytes) {
      case 16:
        return f(request<op, 16>);
      case 8:
        return f(request<op, 8>);
      case 4:
        return f(request<op, 4>);
      case 2:
        return f(request<op, 2>);
      default:
        return f(request<op, 1>);
    }
  };
  switch (p.op) {
    case Op::shared_load:
      return of_width.template operator()<Op::shared_load>();
    case Op::shared_store:
      return of_width.template operator()<Op::shared_store>();
    case Op::global_load:
      return of_width.template operator()<Op::global_load>();
    case Op::global_store:
      return of_width.template operator()<Op::global_store>();
    case Op::async_copy:
      return p.bytes == 16  ? f(request<Op::async_copy, 16>)
             : p.bytes == 8 ? f(request<Op::async_copy, 8>)
                            : f(request<Op::async_copy, 4>);
    case Op::async_copy_cg:
      return f(request<Op::async_copy_cg, 16>);
    case Op::bulk_load:
      return f(request<Op::bulk_load, 16>);
    default:
      return f(request<Op::bulk_store, 16>);
  }
}

void launch(Pattern const& p, char* global) {
  Lanes lanes{{}, p.active};
  for (unsigned lane = 0; lane < 32; ++lane) lanes.offset[lane] = p.offset(lane);
  with_kernel(p, [&](auto const kernel) { kernel<<<1, 32, kShared>>>(lanes, global); });
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

int run(bool list) {
  cudaDeviceProp device{};
  device.major = 9;
  char* global = nullptr;
  if (!list) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      std::fprintf(stderr, "calibration: no GPU\n");
      return 77;
    }
    check(cudaGetDeviceProperties(&device, 0));
    check(cudaMalloc(&global, kGlobal));
    check(cudaMemset(global, 0, kGlobal));
  }
  char const* separator = "[";
  for (Pattern const& p : kPatterns) {
    if ((p.op == Op::bulk_load || p.op == Op::bulk_store) && device.major < 9) continue;
    if (!list) launch(p, global);
    std::printf("%s\n {\"name\": \"%s of %u bytes, %s\", \"predicted\": {%s}}", separator, name_of(p.op), p.bytes,
                p.name, predicted(p).c_str());
    separator = ",";
  }
  std::printf("\n]\n");
  if (!list) check(cudaFree(global));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 && std::strcmp(argv[1], "--list") == 0);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "calibration: %s\n", e.what());
    return 1;
  }
}
