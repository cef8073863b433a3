#include <inlay/registry/expected.h>

#include <inlay/registry/number.h>
#include <inlay/registry/rounding.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

namespace inlay::registry {
namespace {
using replay::Check;

// Calls f(source address, destination address) for every element.
template <class F>
void over_elements(Copy const& copy, F f) {
  if (copy.elements() == 0) return;
  std::int64_t at[Tensor::kMaxRank]{};
  auto src = static_cast<char const*>(copy.src);
  auto dst = static_cast<char*>(copy.dst);
  for (;;) {
    f(src, dst);
    int k = 0;
    for (; k < copy.rank; ++k) {
      src += copy.mode[k].src_stride, dst += copy.mode[k].dst_stride;
      if (++at[k] < copy.mode[k].extent) break;
      src -= copy.mode[k].extent * copy.mode[k].src_stride, dst -= copy.mode[k].extent * copy.mode[k].dst_stride;
      at[k] = 0;
    }
    if (k == copy.rank) return;
  }
}

// Calls f(pointer) for each element (i, j, l) of an operand of a GEMM, l slowest, j fastest.
template <class F>
void over_matrices(Operand const& o, std::int64_t matrices, F f) {
  for (std::int64_t l = 0; l < matrices; ++l)
    for (std::int64_t i = 0; i < o.rows; ++i)
      for (std::int64_t j = 0; j < o.cols; ++j)
        f(o.as<char>() + (l * o.batch_stride + i * o.row_stride + j * o.col_stride) * bytes_of(o.type));
}

auto may_read(Recorder& recorder, DType type) {
  return [&recorder, bytes = std::size_t(bytes_of(type))](char const* p) { recorder.may_read(p, bytes); };
}
auto must_write(Recorder& recorder, DType type) {
  return [&recorder, bytes = std::size_t(bytes_of(type))](char const* p) { recorder.must_write(p, bytes); };
}

// Counts elements with one kind of error and keeps the name of the first.
struct Wrong {
  std::int64_t count = 0;
  std::string first;

  template <class Name>
  void add(Name const& name) {
    if (count++ == 0) first = name();
  }
  void report(Recorder& recorder, Check check, std::string const& before, std::string const& after) const {
    if (count) recorder.report(check, recorder.kernel + ": " + before + std::to_string(count) + after + first);
  }
};

std::string scientific(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

}  // namespace

ExpectedCopy::ExpectedCopy(Copy const& copy, Recorder& recorder) : copy_(copy), recorder_(recorder) {
  if (copy.elements() == 0) return;
  recorder.forget_expectations(copy.src);
  recorder.forget_expectations(copy.dst);
  auto const bytes = std::size_t(copy.elem_bytes);
  over_elements(copy, [&](char const* src, char* dst) {
    recorder.may_read(src, bytes);
    recorder.must_write(dst, bytes);
  });
}

void ExpectedCopy::allow_gaps() const {
  if (copy_.elements() == 0) return;
  auto first = static_cast<char const*>(copy_.src), last = first + copy_.elem_bytes;
  for (int k = 0; k < copy_.rank; ++k)
    (copy_.mode[k].src_stride < 0 ? first : last) += copy_.mode[k].src_stride * (copy_.mode[k].extent - 1);
  recorder_.may_read(first, std::size_t(last - first));
}

void ExpectedCopy::conclude() const {
  Wrong unwritten, different;
  auto const bytes = std::size_t(copy_.elem_bytes);
  over_elements(copy_, [&](char const* src, char* dst) {
    auto const name = [&] { return "out[" + std::to_string(recorder_.offset_of(dst) / bytes) + "]"; };
    if (!recorder_.written(dst, bytes))
      unwritten.add(name);
    else if (std::memcmp(recorder_.real(src), recorder_.real(dst), bytes) != 0)
      different.add(name);
  });
  unwritten.report(recorder_, Check::coverage, "leaves ", " elements unwritten, the first is ");
  different.report(recorder_, Check::result, "", " elements differ from the source, the first is ");
}

ExpectedGemm::ExpectedGemm(Gemm const& g, Recorder& recorder, std::int64_t accumulation_length)
    : gemm_(g), recorder_(recorder), accumulation_length_(accumulation_length) {
  if (g.elements() == 0) return;
  recorder.begin();
  // Operands may share a buffer: packed ones do.
  for (Operand const* o : {&g.A, &g.B, &g.C, &g.D})
    if (o->base && (g.K() > 0 || o == &g.C || o == &g.D)) recorder.forget_expectations(o->base);
  if (g.groups) recorder.may_read(g.group_ends, std::size_t(g.groups) * sizeof *g.group_ends);
  for (std::int64_t i = 0; i < g.groups; ++i) {
    std::int32_t end;
    std::memcpy(&end, recorder.real(g.group_ends + i), sizeof end);
    ends_.push_back(std::clamp<std::int64_t>(end, ends_.empty() ? 0 : ends_.back(), g.M()));
  }
  if (g.K() > 0) {
    over_matrices(g.A, g.L(), may_read(recorder, g.A.type));
    over_matrices(g.B, matrices_of_B(), may_read(recorder, g.B.type));
  }
  over_matrices(with_rows(g.D), g.L() * g.slices, must_write(recorder, g.D.type));
  Operand const addend = with_rows(g.addend());
  if (g.epilogue.beta != 0) over_matrices(addend, g.L(), may_read(recorder, g.D.type));
  over_matrices(addend, g.L(), [&](char const* p) { addend_.push_back(number(p, g.D.type)); });
}

std::int64_t ExpectedGemm::matrix_of_B(std::int64_t m, std::int64_t l) const {
  return gemm_.groups ? std::upper_bound(ends_.begin(), ends_.end(), m) - ends_.begin() : l;
}
Operand ExpectedGemm::with_rows(Operand o) const {
  if (gemm_.groups) o.rows = ends_.back();
  return o;
}

std::size_t ExpectedGemm::bytes_of_D() const { return std::size_t(bytes_of(gemm_.D.type)); }
float ExpectedGemm::number(char const* p, DType type) const { return read_number(recorder_.real(p), type); }

void ExpectedGemm::conclude() const {
  Gemm const& g = gemm_;
  if (g.elements() == 0) return;
  std::vector<double> A, B;  // [l][m][k], [l][n][k]
  if (g.K() > 0) {
    over_matrices(g.A, g.L(), [&](char const* p) { A.push_back(number(p, g.A.type)); });
    over_matrices(g.B, matrices_of_B(), [&](char const* p) { B.push_back(number(p, g.B.type)); });
  }
  auto const whole = [](float x) { return !(x != std::trunc(x)); };  // NaN and infinities too
  bool const exact = std::all_of(A.begin(), A.end(), whole) && std::all_of(B.begin(), B.end(), whole) &&
                     (g.epilogue.beta == 0 || std::all_of(addend_.begin(), addend_.end(), whole));
  Wrong unwritten, different;
  double squares = 0, arguments = 0;  // sums of squares: of the errors, and of what is activated
  std::int64_t i = 0;
  Operand const D = with_rows(g.D);
  std::int64_t const elements = D.rows * D.cols * g.L();
  if (elements == 0) return;
  over_matrices(D, g.L() * g.slices, [&](char const* p) {
    std::int64_t const n = i % D.cols, m = i / D.cols % D.rows, l = i / D.cols / D.rows % g.L(), slice = i / elements,
                       of_B = matrix_of_B(m, l);
    std::int64_t const first = g.slices > 1 ? slice * g.slice_K : 0,
                       end = g.slices > 1 ? std::min(g.K(), first + g.slice_K) : g.K();
    auto const name = [&] {
      return "D[" + std::to_string(m) + "," + std::to_string(n) + "," + std::to_string(l) + "]" +
             (g.slices > 1 ? " of slice " + std::to_string(slice) : "");
    };
    double sum = 0;
    for (std::int64_t k = first; k < end; ++k)
      sum += A[std::size_t((l * g.M() + m) * g.K() + k)] * B[std::size_t((of_B * g.N() + n) * g.K() + k)];
    double const scaled = g.K() > 0 ? g.epilogue.alpha * sum : 0;
    double const x = g.epilogue.beta != 0 ? scaled + g.epilogue.beta * double(addend_[std::size_t(i % elements)])
                                          : scaled,
                 value = activated(g.epilogue.activation, x);
    arguments += x * x;
    float const got = number(p, g.D.type);
    squares += (got - value) * (got - value);
    ++i;
    if (!recorder_.written(p, bytes_of_D()))
      unwritten.add(name);
    else if (exact && !is_activated(got, g.epilogue.activation, x, g.D.type))
      different.add([&] { return name() + ": " + std::to_string(got) + ", not " + std::to_string(value); });
  });
  unwritten.report(recorder_, Check::coverage, "leaves ", " elements unwritten, the first is ");
  different.report(recorder_, Check::result, "", " elements differ from alpha A B + beta C, the first is ");
  double const error = std::sqrt(squares / double(elements * g.slices));
  double bound = error_bound({g.K(), accumulation_length_, g.epilogue.alpha, g.epilogue.beta, g.D.type}, elements);
  // inlay/types.h: the activation is off by up to 1e-6 of its argument; its slope is at most 1.13.
  if (g.epilogue.activation > Activation::relu) bound = 1.13 * bound + 1e-6 * std::sqrt(arguments / double(elements));
  if (!exact && unwritten.count == 0 && !(error <= bound))
    recorder_.report(Check::result, recorder_.kernel + ": the root mean square error is " + scientific(error) +
                                        ", more than the bound " + scientific(bound) +
                                        " for accumulations of this length");
}

ExpectedReduction::ExpectedReduction(Reduction const& r, Recorder& recorder) : reduction_(r), recorder_(recorder) {
  recorder.begin();
  for (Operand const* o : {&r.partial, &r.C, &r.D})
    if (o->base) recorder.forget_expectations(o->base);
  for (int s = 0; s < r.slices; ++s) {
    Operand slice = r.partial;
    slice.base = r.partial.as<float>() + s * r.elements();
    over_matrices(slice, r.D.matrices, may_read(recorder, f32));
  }
  if (r.slices == 0) over_matrices(r.D, r.D.matrices, may_read(recorder, f32));
  if (r.epilogue.beta != 0) over_matrices(r.addend(), r.D.matrices, may_read(recorder, r.D.type));
  over_matrices(r.D, r.D.matrices, must_write(recorder, r.D.type));
}

void ExpectedReduction::conclude() const {
  Wrong unwritten;
  Operand const& D = reduction_.D;
  over_matrices(D, D.matrices, [&](char const* p) {
    if (!recorder_.written(p, std::size_t(bytes_of(D.type))))
      unwritten.add([&] { return "the one at byte " + std::to_string(recorder_.offset_of(p)); });
  });
  unwritten.report(recorder_, Check::coverage, "leaves ", " elements unwritten, the first is ");
}

}  // namespace inlay::registry
