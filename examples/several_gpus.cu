// Transposes a matrix whose rows are spread over all GPUs of this host, a thread for each: needs two GPUs and NCCL.
// With MPI the threads are processes: rank and count come from MPI, and MPI_Bcast sends the id.
#include <inlay/nccl.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t kRows = 6000, kCols = 4000;

float value(std::int64_t row, std::int64_t col) { return float(row * kCols + col); }

void check(cudaError_t status) { inlay::detail::check(status); }

// Returns how many elements of this rank's part are wrong.
std::int64_t transpose_rows(ncclUniqueId id, int rank, int count) {
  check(cudaSetDevice(rank));
  ncclComm_t comm = nullptr;
  inlay::detail::check(ncclCommInitRank(&comm, count, id, rank));
  std::int64_t wrong = 0;
  {
    inlay::Ranks const ranks(comm);
    auto const rows = inlay::even_extents(kRows, count), cols = inlay::even_extents(kCols, count);
    auto const r = std::size_t(rank);
    std::vector<float> in(std::size_t(rows[r] * kCols)), out(std::size_t(cols[r] * kRows));
    std::int64_t first_row = 0, first_col = 0;  // of this rank
    for (std::size_t p = 0; p < r; ++p) first_row += rows[p], first_col += cols[p];
    for (std::int64_t i = 0; i < rows[r]; ++i)
      for (std::int64_t j = 0; j < kCols; ++j) in[std::size_t(i * kCols + j)] = value(first_row + i, j);

    void* source = nullptr;
    cudaStream_t stream = nullptr;
    check(cudaStreamCreate(&stream));
    check(cudaMalloc(&source, in.size() * sizeof(float)));
    check(cudaMemcpy(source, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));

    inlay::Window const window(ranks, std::size_t(cols[0] * kRows) * sizeof(float));  // of the largest part
    inlay::ConstSharded const src{inlay::matrix(static_cast<float const*>(source), rows[r], kCols), 0, rows};
    inlay::Sharded const dst{inlay::matrix(static_cast<float*>(window.data()), cols[r], kRows), 0, cols};
    inlay::redistribute(dst, window, src.permuted({1, 0}),
                        stream);  // the transpose of the source, cut along its own rows

    check(cudaMemcpyAsync(out.data(), window.data(), out.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
    for (std::int64_t j = 0; j < cols[r]; ++j)
      for (std::int64_t i = 0; i < kRows; ++i) wrong += out[std::size_t(j * kRows + i)] != value(i, first_col + j);
    check(cudaFree(source));
    check(cudaStreamDestroy(stream));
  }
  inlay::detail::check(ncclCommDestroy(comm));
  return wrong;
}

}  // namespace

int main() try {
  int count = 0;
  check(cudaGetDeviceCount(&count));
  if (count < 2) {
    std::printf("There are fewer than two GPUs.\n");
    return 2;
  }
  ncclUniqueId id;
  inlay::detail::check(ncclGetUniqueId(&id));
  std::vector<std::int64_t> wrong(std::size_t(count), -1);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      try {
        wrong[std::size_t(rank)] = transpose_rows(id, rank, count);
      } catch (std::exception const& e) {
        std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
        std::exit(1);  // the threads of the other ranks wait in a barrier for this one and cannot be joined
      }
    });
  for (std::thread& thread : threads) thread.join();
  bool right = true;
  for (std::int64_t w : wrong) right &= w == 0;
  std::printf("%d GPUs, %s\n", count, right ? "all elements are right" : "some elements are wrong");
  return right ? 0 : 1;
} catch (inlay::Error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
