// A GEMM of matrices on the device: buffers between guard bands, gaps poisoned, what is expected worked out on the
// host.
#pragma once
#include <inlay/gemm.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <inlay/problem/footprint.h>
#include <inlay/registry/number.h>
#include <inlay/registry/rounding.h>
#include "gemm_corpus.h"
#include "gpu.h"

namespace inlay::test {
using registry::read_number, registry::write_number;

// Calls f(row, offset of its first element, stride of the others) for the rows of a matrix, or of all matrices of a
// batch.
template <class F>
void over_rows(Tensor const& t, F f) {
  bool const batch = t.rank == 3;
  std::int64_t const base = reinterpret_cast<std::int64_t>(t.data) / bytes_of(t.dtype);
  for (std::int64_t l = 0; l < (batch ? t.extent[0] : 1); ++l)
    for (std::int64_t i = 0; i < t.extent[batch]; ++i)
      f(i, base + (batch ? l * t.stride[0] : 0) + i * t.stride[batch], t.stride[batch + 1]);
}

// A number in [0, 1) that depends on an index and a seed.
inline double chance(std::uint64_t index, std::uint64_t seed) {
  std::uint64_t x = (index + (seed << 40) + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u, x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return double((x ^ x >> 31) >> 11) * 0x1p-53;
}
using Data = float (*)(std::uint64_t index, std::uint64_t seed);
// Sums of GEMMs of these are exact, in every order.
inline float integers(std::uint64_t index, std::uint64_t seed) { return float(int(7 * chance(index, seed)) - 3); }
inline float uniform(std::uint64_t index, std::uint64_t seed) { return float(chance(index, seed)); }
inline float normal(std::uint64_t index, std::uint64_t seed) {
  double const radius = std::sqrt(-2 * std::log(1 - chance(index, seed)));
  return float(radius * std::cos(2 * 3.141592653589793 * chance(index, seed + 100)));
}
inline float significands(std::uint64_t index, std::uint64_t seed) {
  return registry::significand(index, unsigned(seed));
}
inline float wide_range(std::uint64_t index, std::uint64_t seed) {  // both signs, 2^-12 to 2^12
  double const magnitude = std::exp2(24 * chance(index, seed) - 12);
  return float(chance(index, seed + 100) < .5 ? -magnitude : magnitude);
}

// Views come as offsets from the starts of their buffers; those of A and B may have strides of 0.
class GemmOnDevice {
 public:
  static constexpr std::size_t kGuard = 512;
  float alpha, beta;

  GemmOnDevice(float alpha, Tensor const& A, Tensor const& B, float beta, Tensor const& C, Data data = integers)
      : alpha(alpha), beta(beta), data_(data), views_{A, B, C} {
    for (int i = 0; i < 3; ++i) {
      content_[i] = buffer_of(i);
      device_[i] = device_buffer(content_[i]);
    }
  }

  explicit GemmOnDevice(GemmCase const& c, Data data = integers, DType type = f32)
      : GemmOnDevice(c, data, type, type) {}
  GemmOnDevice(GemmCase const& c, Data data, DType type, DType type_of_C)
      : GemmOnDevice(c.alpha, stored_a(c).view(nullptr, c.L, type), stored_b(c).view(nullptr, c.L, type), c.beta,
                     stored_c(c).view(nullptr, c.L, type_of_C), data) {}

  Tensor A() const { return on_device(0); }
  Tensor B() const { return on_device(1); }
  Tensor C() const { return on_device(2); }
  Epilogue epilogue() const { return {.alpha = alpha, .beta = beta}; }
  Gemm problem(Compute compute = Compute::fp32) const { return make_gemm(A(), B(), C(), epilogue(), compute); }
  void multiply(cudaStream_t stream = nullptr, GemmOptions const& options = {}) const {
    gemm(A(), B(), C(), epilogue(), stream, options);
  }
  std::size_t workspace_bytes(Compute compute = Compute::fp32) const {
    return gemm_workspace(A(), B(), C(), epilogue(), {.compute = compute});
  }

  // One element of A (0), B (1) or C (2), all over the batch; before the GEMM.
  void set(int operand, std::int64_t row, std::int64_t col, float value) {
    over_rows(views_[operand], [&](std::int64_t i, std::int64_t offset, std::int64_t stride) {
      if (i == row) write_number(&content_[operand][byte(operand, offset + col * stride)], type(operand), value);
    });
    reset(operand);
  }
  // What was there before the GEMM.
  void reset(int operand = 2) const {
    check(
        cudaMemcpy(device_[operand].get(), content_[operand].data(), content_[operand].size(), cudaMemcpyHostToDevice));
    check(cudaStreamSynchronize(nullptr));
  }

  // After the device has finished: the bytes of C's buffer, gaps and guards included, and how many of them are wrong.
  std::vector<char> bytes() const {
    std::vector<char> got(content_[2].size());
    check(cudaMemcpy(got.data(), device_[2].get(), got.size(), cudaMemcpyDeviceToHost));
    return got;
  }
  std::size_t wrong_bytes() const {
    if (expected_.empty()) {
      expected_ = content_[2];
      scatter(reference(), expected_);
    }
    std::vector<char> const got = bytes();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += got[i] != expected_[i];
    return wrong;
  }
  // C's elements, row by row.
  std::vector<float> elements() const { return gather(2, bytes()); }

  // alpha A B + beta C in fp64, row by row.
  std::vector<double> const& reference() const {
    if (!reference_.empty()) return reference_;
    std::vector<float> const a = gather(0, content_[0]), b = gather(1, content_[1]), c = gather(2, content_[2]);
    Tensor const& view = views_[2];
    std::int64_t const M = view.extent[view.rank - 2], N = view.extent[view.rank - 1];
    std::int64_t const K = alpha == 0 ? 0 : views_[0].extent[view.rank - 1];
    std::vector<double>& sums = reference_;
    sums.resize(c.size());
    auto const rows = [&](std::int64_t row, std::int64_t last) {  // of all matrices
      for (; row < last; ++row) {
        double* const sum = &sums[std::size_t(row * N)];
        for (std::int64_t k = 0; k < K; ++k) {
          double const x = a[std::size_t(row * K + k)];
          float const* const y = &b[std::size_t((row / M * K + k) * N)];
          for (std::int64_t n = 0; n < N; ++n) sum[n] += x * double(y[n]);
        }
        for (std::int64_t n = 0; n < N; ++n) {
          sum[n] = K ? double(alpha) * sum[n] : 0;
          if (beta != 0) sum[n] += double(beta) * double(c[std::size_t(row * N + n)]);
        }
      }
    };
    std::int64_t const all = N ? std::int64_t(c.size()) / N : 0;
    if (all * N * K > 1 << 22)
      in_parallel(all, rows);
    else
      rows(0, all);
    return sums;
  }

  // The distance of C's elements from the reference, of each as the root of the mean square; and relative to its size.
  struct Error {
    double absolute, relative;
  };
  Error error() const {
    std::vector<float> const got = elements();
    std::vector<double> const& sums = reference();
    double off = 0, size = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      off += (got[i] - sums[i]) * (got[i] - sums[i]), size += sums[i] * sums[i];
    return {std::sqrt(off / double(got.size())), std::sqrt(off / size)};
  }

 private:
  DType type(int operand) const { return views_[operand].dtype; }
  std::size_t byte(int operand, std::int64_t offset) const {
    return kGuard + std::size_t(bytes_of(type(operand)) * offset);
  }

  // Poison, but for the view's elements; NaN is what the gaps of A and B hold, and C where it is not read.
  std::vector<char> buffer_of(int i) const {
    Tensor const& t = views_[i];
    std::size_t const used = t.size() ? std::size_t(Footprint(t).last) : 0;
    float const nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<char> buffer(used + 2 * kGuard, char(0xA5));
    if (i < 2)
      for (std::size_t at = 0; at < buffer.size(); at += std::size_t(bytes_of(type(i))))
        write_number(&buffer[at], type(i), nan);
    over_rows(t, [&](std::int64_t, std::int64_t offset, std::int64_t stride) {
      for (std::int64_t j = 0; j < t.extent[t.rank - 1]; ++j, offset += stride) {
        float const value = i == 2 && beta == 0 ? nan : data_(std::uint64_t(offset), std::uint64_t(i));
        write_number(&buffer[byte(i, offset)], type(i), value);
      }
    });
    return buffer;
  }
  Tensor on_device(int i) const {
    Tensor t = views_[i];
    t.data = device_[i].get() + kGuard + reinterpret_cast<std::size_t>(t.data);
    return t;
  }
  std::vector<float> gather(int i, std::vector<char> const& buffer) const {
    Tensor const& t = views_[i];
    std::vector<float> values(std::size_t(t.size()));
    auto to = values.begin();
    over_rows(t, [&](std::int64_t, std::int64_t offset, std::int64_t stride) {
      for (std::int64_t j = 0; j < t.extent[t.rank - 1]; ++j, ++to, offset += stride)
        *to = read_number(&buffer[byte(i, offset)], type(i));
    });
    return values;
  }
  void scatter(std::vector<double> const& values, std::vector<char>& buffer) const {
    Tensor const& t = views_[2];
    auto from = values.begin();
    over_rows(t, [&](std::int64_t, std::int64_t offset, std::int64_t stride) {
      for (std::int64_t j = 0; j < t.extent[t.rank - 1]; ++j, ++from, offset += stride) {
        write_number(&buffer[byte(2, offset)], type(2), float(*from));
      }
    });
  }

  Data data_;
  Tensor views_[3];
  std::vector<char> content_[3];
  mutable std::vector<double> reference_;  // worked out when it is asked for
  mutable std::vector<char> expected_;
  DeviceBuffer device_[3];
};

// A workspace for the options: null where the plan wants none. Nobody may write beside it: that is looked at when it
// goes.
struct Workspace {
  static constexpr std::size_t kGuard = 4096;
  static constexpr char kNan = char(0xFF);
  DeviceBuffer memory;
  GemmOptions options;

  explicit Workspace(std::size_t bytes, Compute compute = Compute::fp32) {
    if (bytes) memory = device_buffer(std::vector<char>(bytes + 2 * kGuard, kNan));
    options = {.compute = compute, .workspace = bytes ? memory.get() + kGuard : nullptr, .workspace_bytes = bytes};
  }
  Workspace(Workspace&&) = default;
  ~Workspace() {
    if (!memory) return;
    std::vector<char> bands(2 * kGuard);
    EXPECT_EQ(cudaMemcpy(bands.data(), memory.get(), kGuard, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(
        cudaMemcpy(&bands[kGuard], memory.get() + kGuard + options.workspace_bytes, kGuard, cudaMemcpyDeviceToHost),
        cudaSuccess);
    EXPECT_EQ(std::count(bands.begin(), bands.end(), kNan), std::ptrdiff_t(bands.size())) << "beside a workspace";
  }
  explicit Workspace(GemmOnDevice const& g, Compute compute = Compute::fp32)
      : Workspace(g.workspace_bytes(compute), compute) {}
};

inline constexpr char const* kTransposes[] = {"nn", "nt", "tn", "tt"};

}  // namespace inlay::test
