// The C interface: DLPack's tensors become views, exceptions become codes.
#include <inlay/c.h>
#include <inlay/copy.h>
#include <inlay/gemm.h>
#include <inlay/tuning.h>
#include <inlay/version.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

struct inlay_plan {
  inlay::Plan plan;
};

namespace {
using namespace inlay;

struct LastError {
  std::string sentence;
  int cuda_status = 0;
};
LastError& last_error() {
  thread_local LastError last;
  return last;
}

inlay_status failed(inlay_status status, char const* sentence, int cuda_status = 0) noexcept {
  try {
    last_error() = {sentence, cuda_status};
  } catch (...) {  // no memory for the sentence
    last_error().sentence.clear();
    last_error().cuda_status = cuda_status;
  }
  return status;
}

// Calls f and returns what it threw as a code.
template <class F>
inlay_status guarded(F const& f) noexcept {
  try {
    f();
    return INLAY_OK;
  } catch (Error const& e) {
    return failed(inlay_status(int(e.code())), e.what(), int(e.cuda_status()));
  } catch (std::exception const& e) {
    return failed(INLAY_INTERNAL, e.what());
  } catch (...) {
    return failed(INLAY_INTERNAL, "an exception of an unknown type");
  }
}

template <class T>
T const& given(T const* p, char const* who) {
  if (!p) throw Error(std::string(who) + " is a null pointer");
  return *p;
}

DType type_of(DLDataType const& t, char const* who) {
  using enum DType;
  int const bits = t.bits * t.lanes;
  if (bits % 8 || bits == 0 || bits > 128)
    throw Error(std::string(who) + " has elements of " + std::to_string(bits) +
                " bits; whole bytes, 1 to 16, are supported");
  int const log2 = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
  bool const power = bits == 8 || bits == 16 || bits == 32 || bits == 64;
  if (t.lanes == 1 && power) {
    if (t.code == kDLInt) return DType(int(i8) + log2);
    if (t.code == kDLUInt) return DType(int(u8) + log2);
    if (t.code == kDLFloat && bits > 8) return bits == 64 ? f64 : bits == 32 ? f32 : f16;
    if (t.code == kDLBfloat && bits == 16) return bf16;
    if (t.code == kDLFloat8_e4m3fn && bits == 8) return e4m3;
    if (t.code == kDLFloat8_e5m2 && bits == 8) return e5m2;
  }
  return opaque(bits / 8);
}

// `who`: the operand's name in messages.
Tensor view(DLTensor const* pointer, char const* who) {
  DLTensor const& t = given(pointer, who);
  if (t.device.device_type != kDLCUDA && t.device.device_type != kDLCUDAManaged && t.device.device_type != kDLCUDAHost)
    throw Error(std::string(who) + " lies on " +
                (t.device.device_type == kDLCPU ? "the CPU"
                                                : "a device of DLPack's type " + std::to_string(t.device.device_type)) +
                "; tensors in CUDA's memory are taken");
  if (t.ndim < 0 || t.ndim > Tensor::kMaxRank)
    throw Error(std::string(who) + " has rank " + std::to_string(t.ndim) + ", which is not between 0 and 64");
  void* const data = t.data ? static_cast<char*>(t.data) + t.byte_offset : nullptr;
  if (t.ndim) given(t.shape, (std::string("the shape of ") + who).c_str());
  std::span<std::int64_t const> const extents(t.shape, std::size_t(t.ndim));
  DType const type = type_of(t.dtype, who);
  if (!t.strides) return tensor(data, type, extents);
  return tensor(data, type, extents, std::span<std::int64_t const>(t.strides, std::size_t(t.ndim)));
}
struct Copied {
  Tensor dst;
  ConstTensor src;
  Copied(DLTensor const* to, DLTensor const* from) : dst(view(to, "the destination")), src(view(from, "the source")) {}
};

Compute compute_of(int compute) {
  if (compute < INLAY_COMPUTE_FP32 || compute > INLAY_COMPUTE_SPLIT_FAST)
    throw Error("there is no compute mode " + std::to_string(compute));
  return Compute(compute);
}

struct Multiplied {
  ConstTensor A, B;
  Tensor D;
  Epilogue epilogue;
  PackedB packed_B;
  GemmOptions options;  // with the address of packed_B

  Multiplied(Multiplied const&) = delete;
  Multiplied(DLTensor const* a, DLTensor const* b, DLTensor const* d, inlay_gemm_options const* given_options)
      : A(view(a, "A")), B(view(b, "B")), D(view(d, "D")) {
    inlay_gemm_options o = INLAY_GEMM_OPTIONS;
    if (given_options) {
      if (given_options->size != sizeof o)
        throw Error("the options have " + std::to_string(given_options->size) + " bytes, this library's " +
                    std::to_string(sizeof o));
      o = *given_options;
    }
    if (o.activation < INLAY_ACTIVATION_NONE || o.activation > INLAY_ACTIVATION_SILU)
      throw Error("there is no activation " + std::to_string(o.activation));
    epilogue = {o.alpha, o.beta, Activation(o.activation)};
    if (o.C) options.C = view(o.C, "C");
    options.compute = compute_of(o.compute);
    if (auto const* p = o.packed_B)
      packed_B = {p->data, compute_of(p->compute), p->K, p->N}, options.packed_B = &packed_B;
    options.workspace = o.workspace, options.workspace_bytes = o.workspace_bytes;
  }
  PlanOptions of_plan() const { return {.most_workspace_bytes = options.workspace_bytes}; }
};

// Writes the text and a 0, cut off after `size` bytes.
void write_text(std::string const& text, char* buffer, std::size_t size, std::size_t* needed) {
  if (needed) *needed = text.size() + 1;
  if (size == 0) return;
  given(buffer, "buffer");
  std::size_t const n = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), n);
  buffer[n] = 0;
}

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

char const* inlay_version() { return inlay::version(); }
char const* inlay_last_error() { return last_error().sentence.c_str(); }
int inlay_last_cuda_status() { return last_error().cuda_status; }

inlay_status inlay_copy(DLTensor const* dst, DLTensor const* src, void* stream) {
  return guarded([&] {
    Copied const c(dst, src);
    copy(c.dst, c.src, stream_of(stream));
  });
}
inlay_status inlay_transpose(DLTensor const* dst, DLTensor const* src, void* stream) {
  return guarded([&] {
    Copied const c(dst, src);
    transpose(c.dst, c.src, stream_of(stream));
  });
}
inlay_status inlay_permute(DLTensor const* dst, DLTensor const* src, int const* axes, void* stream) {
  return guarded([&] {
    Copied const c(dst, src);
    if (c.src.rank) given(axes, "axes");
    permute(c.dst, c.src, std::span<int const>(axes, std::size_t(c.src.rank)), stream_of(stream));
  });
}
inlay_status inlay_copy_list(DLTensor const* const* dst, DLTensor const* const* src, size_t count, void* stream) {
  return guarded([&] {
    std::vector<Tensor> to;
    std::vector<ConstTensor> from;
    if (count) given(dst, "dst"), given(src, "src");
    for (size_t i = 0; i < count; ++i) {
      Copied const c(dst[i], src[i]);
      to.push_back(c.dst), from.push_back(c.src);
    }
    copy(to, from, stream_of(stream));
  });
}
inlay_status inlay_gemm(DLTensor const* A, DLTensor const* B, DLTensor const* D, inlay_gemm_options const* options,
                        void* stream) {
  return guarded([&] {
    Multiplied const m(A, B, D, options);
    gemm(m.A, m.B, m.D, m.epilogue, stream_of(stream), m.options);
  });
}
inlay_status inlay_grouped_gemm(DLTensor const* A, DLTensor const* B, DLTensor const* D, DLTensor const* group_ends,
                                inlay_gemm_options const* options, void* stream) {
  return guarded([&] {
    Multiplied const m(A, B, D, options);
    if (m.options.C || m.options.packed_B || m.options.compute != Compute::fp32)
      throw Error("a grouped GEMM takes no C, no packed B and no compute mode");
    ConstTensor const ends = view(group_ends, "group_ends");
    if (ends.dtype != DType::i32 || ends.rank != 1 || !ends.is_contiguous())
      throw Error(std::string("group_ends has elements of type ") + name_of(ends.dtype) + " and rank " +
                  std::to_string(ends.rank) + "; it is a contiguous vector of int32");
    auto const* const first = static_cast<std::int32_t const*>(ends.data);
    grouped_gemm(m.A, m.B, m.D, {first, std::size_t(ends.extent[0])}, m.epilogue, stream_of(stream));
  });
}
inlay_status inlay_gemm_workspace(DLTensor const* A, DLTensor const* B, DLTensor const* D,
                                  inlay_gemm_options const* options, size_t* bytes) {
  return guarded([&] {
    given(bytes, "bytes");
    Multiplied const m(A, B, D, options);
    *bytes = gemm_workspace(m.A, m.B, m.D, m.epilogue, m.options);
  });
}

inlay_status inlay_packed_b_bytes(DLTensor const* B, int compute, size_t* bytes) {
  return guarded([&] {
    given(bytes, "bytes");
    *bytes = packed_b_bytes(view(B, "B"), compute_of(compute));
  });
}
inlay_status inlay_pack_b(DLTensor const* B, int compute, void* packed, size_t bytes, void* stream,
                          inlay_packed_b* result) {
  return guarded([&] {
    given(result, "result");
    PackedB const p = pack_b(view(B, "B"), compute_of(compute), packed, bytes, stream_of(stream));
    *result = {p.data, compute, p.K, p.N};
  });
}

inlay_status inlay_plan_copy(DLTensor const* dst, DLTensor const* src, inlay_plan** out) {
  return guarded([&] {
    given(out, "plan");
    Copied const c(dst, src);
    *out = new inlay_plan{plan(c.dst, c.src)};
  });
}
inlay_status inlay_plan_gemm(DLTensor const* A, DLTensor const* B, DLTensor const* D, inlay_gemm_options const* options,
                             inlay_plan** out) {
  return guarded([&] {
    given(out, "plan");
    Multiplied const m(A, B, D, options);
    *out = new inlay_plan{plan(m.A, m.B, m.D, m.epilogue, m.options, m.of_plan())};
  });
}
inlay_status inlay_plan_run_copy(inlay_plan const* plan, void* dst, void const* src, void* stream) {
  return guarded([&] { given(plan, "plan").plan.run(dst, src, stream_of(stream)); });
}
inlay_status inlay_plan_run_gemm(inlay_plan const* plan, void const* A, void const* B, void* D, void const* C,
                                 void* workspace, size_t workspace_bytes, void* stream) {
  return guarded([&] { given(plan, "plan").plan.run(A, B, D, stream_of(stream), workspace, workspace_bytes, C); });
}
size_t inlay_plan_workspace(inlay_plan const* plan) { return plan ? plan->plan.workspace_bytes() : 0; }
inlay_status inlay_plan_why(inlay_plan const* plan, char* buffer, size_t size, size_t* needed) {
  return guarded([&] { write_text(given(plan, "plan").plan.why(), buffer, size, needed); });
}
inlay_status inlay_why_copy(DLTensor const* dst, DLTensor const* src, char* buffer, size_t size, size_t* needed) {
  return guarded([&] {
    Copied const c(dst, src);
    write_text(plan(c.dst, c.src).why(), buffer, size, needed);
  });
}
inlay_status inlay_why_gemm(DLTensor const* A, DLTensor const* B, DLTensor const* D, inlay_gemm_options const* options,
                            char* buffer, size_t size, size_t* needed) {
  return guarded([&] {
    Multiplied const m(A, B, D, options);
    write_text(plan(m.A, m.B, m.D, m.epilogue, m.options, m.of_plan()).why(), buffer, size, needed);
  });
}
inlay_status inlay_save_tuning(char const* path) {
  return guarded([&] { save_tuning(&given(path, "path")); });
}
inlay_status inlay_load_tuning(char const* path, size_t* count) {
  return guarded([&] {
    std::size_t const loaded = load_tuning(&given(path, "path"));
    if (count) *count = loaded;
  });
}
void inlay_plan_destroy(inlay_plan* plan) { delete plan; }
