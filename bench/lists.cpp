// Measures lists of copies beside one copy of the same bytes: a batch of matrices.
// usage: lists  (prints JSON rows: medians, in microseconds)
#include <inlay/copy.h>

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "measure/buffers.h"
#include "measure/cuda_handles.h"
#include "measure/timing.h"

namespace inlay::lab {
namespace {

struct ListCase {
  char const* name;
  DType type;
  std::vector<std::int64_t> extents;  // of one copy's source
  std::vector<int> axes;              // of its destination
  std::int64_t pairs;
  bool aligned = true;  // each matrix begins at a multiple of 256 bytes; else they lie one after the other
};

// Bytes from one matrix of a batch to the next.
std::int64_t bytes_apart(ListCase const& c) {
  std::int64_t bytes = bytes_of(c.type);
  for (std::int64_t e : c.extents) bytes *= e;
  return c.aligned ? (bytes + 255) / 256 * 256 : bytes;
}

// A list with its two sides in memory, the pairs in a random order.
struct Lists {
  Tensor batch_dst;
  ConstTensor batch_src;
  std::vector<Tensor> dst;
  std::vector<ConstTensor> src;

  Lists(ListCase const& c, char* to, char const* from) {
    std::vector<std::int64_t> in{c.pairs}, out{c.pairs};
    std::vector<int> axes{0};
    for (std::int64_t e : c.extents) in.push_back(e);
    for (int a : c.axes) out.push_back(c.extents[std::size_t(a)]), axes.push_back(a + 1);
    batch_dst = tensor(static_cast<void*>(to), c.type, out);
    ConstTensor read = tensor(static_cast<void const*>(from), c.type, in);
    batch_dst.stride[0] = read.stride[0] = bytes_apart(c) / bytes_of(c.type);
    batch_src = read.permuted(axes);
    std::vector<std::int64_t> order(std::size_t(c.pairs), 0);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    std::vector<std::int64_t> const one(out.begin() + 1, out.end());
    for (std::int64_t i : order) {
      dst.push_back(tensor(batch_dst.slice(0, i, 1).data, c.type, one));
      ConstTensor s = batch_src.slice(0, i, 1);  // without its mode of extent 1
      ConstTensor view{s.data, c.type, s.rank - 1, {}, {}};
      for (int k = 1; k < s.rank; ++k) view.extent[k - 1] = s.extent[k], view.stride[k - 1] = s.stride[k];
      src.push_back(view);
    }
  }
};

void measure(ListCase const& c, cudaStream_t stream, bool first) {
  constexpr int kSets = 3;
  std::int64_t const bytes = c.pairs * bytes_apart(c);
  std::vector<char> host(static_cast<std::size_t>(bytes)), got[2];
  std::mt19937_64 random(7);
  for (char& x : host) x = char(random());
  std::vector<DeviceMemory> memory;
  std::vector<Lists> sets;
  for (int i = 0; i < kSets; ++i) {
    for (int side = 0; side < 2; ++side) memory.push_back(device_memory(std::size_t(bytes)));
    char* const from = static_cast<char*>(memory[memory.size() - 2].get());
    detail::check(cudaMemcpy(from, host.data(), host.size(), cudaMemcpyHostToDevice));
    sets.emplace_back(c, static_cast<char*>(memory.back().get()), from);
  }
  auto const list = [&](int set, cudaStream_t s) { copy(sets[std::size_t(set)].dst, sets[std::size_t(set)].src, s); };
  auto const one = [&](int set, cudaStream_t s) {
    copy(sets[std::size_t(set)].batch_dst, sets[std::size_t(set)].batch_src, s);
  };
  for (int i = 0; i < 2; ++i) {  // the same bytes from both
    detail::check(cudaMemset(sets[0].batch_dst.data, 0xA5, host.size()));
    detail::check(cudaDeviceSynchronize());
    i == 0 ? list(0, stream) : one(0, stream);
    detail::check(cudaDeviceSynchronize());
    got[i].resize(host.size());
    detail::check(cudaMemcpy(got[i].data(), sets[0].batch_dst.data, host.size(), cudaMemcpyDeviceToHost));
  }
  if (got[0] != got[1]) throw Error(std::string("list '") + c.name + "': not the bytes of one copy");
  auto const nothing = [](AllSets const&) {};
  Progress progress;
  auto const t = time_interleaved({{"list", list, nothing}, {"one", one, nothing}}, kSets, 50, stream, progress);
  nlohmann::ordered_json const row{{"case", c.name},
                                   {"pairs", c.pairs},
                                   {"mb", double(bytes) / (1 << 20)},
                                   {"list_us", 1e3 * t[0].median},
                                   {"one_us", 1e3 * t[1].median},
                                   {"share", t[1].median / t[0].median}};
  std::printf("%s%s", first ? "[\n" : ",\n", row.dump().c_str());
}

void run() {
  Stream const stream = make_stream();
  ListCase const cases[] = {
      {"rows of 1 MB", f32, {512, 512}, {0, 1}, 64},
      {"f32 transposes", f32, {512, 512}, {1, 0}, 64},
      {"bf16 transposes", bf16, {512, 1024}, {1, 0}, 64},
      {"u8 transposes, odd", u8, {1021, 1027}, {1, 0}, 64},
      {"f32 transposes, odd", f32, {511, 513}, {1, 0}, 64},
      {"u8 transposes, odd, at 32 residues", u8, {1021, 1027}, {1, 0}, 64, false},
      {"f32 transposes, odd, at 8 residues", f32, {511, 513}, {1, 0}, 64, false},
      {"bf16 heads", bf16, {64, 128, 64}, {1, 0, 2}, 64},
      {"f32 reversed modes", f32, {64, 64, 64}, {2, 1, 0}, 64},
      {"f32 transposes", f32, {2048, 1024}, {1, 0}, 8},
      {"f32 transposes", f32, {128, 128}, {1, 0}, 1024},
      {"rows of 16 KB", f32, {64, 64}, {0, 1}, 4096},
      {"rows of 1 MB", f32, {512, 512}, {0, 1}, 2},
  };
  bool first = true;
  for (ListCase const& c : cases) measure(c, stream.get(), std::exchange(first, false));
  std::printf("\n]\n");
}

}  // namespace
}  // namespace inlay::lab

int main() {
  try {
    inlay::lab::run();
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "lists: %s\n", e.what());
    return 1;
  }
}
