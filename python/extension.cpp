// The extension module inlay._inlay: tensors of Python become DLTensors, calls of inlay/c.h run without the
// interpreter's lock, and their error codes become exceptions. CMake defines Py_LIMITED_API: one binary for Python 3.10
// and later.
//
// A tensor is taken, in this order, by DLPack's exchange API (torch 2.10 and later: no Python code runs), by
// __dlpack__(), or by __cuda_array_interface__. The stream is the argument, or the current one of the framework: by the
// exchange API, or by what set_stream_of() has been given; for a framework that neither knows, the legacy default
// stream. Producers by the other two protocols are told of it, or waited for on it.
#include <Python.h>

#include <cuda_runtime_api.h>
#include <inlay/c.h>
#include <inlay/dlpack.h>
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

// Thrown after a Python exception has been set. It takes the exception along until guarded() sets it again: views that
// end meanwhile may run a producer's Python code, which would clear it.
struct Raised {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  Raised() { PyErr_Fetch(&type, &value, &traceback); }
};
[[noreturn]] void raise(PyObject* type, std::string const& sentence) {
  PyErr_SetString(type, sentence.c_str());
  throw Raised{};
}

struct Unref {
  void operator()(PyObject* o) const { Py_XDECREF(o); }
};
using Ref = std::unique_ptr<PyObject, Unref>;  // owns a reference
Ref owned(PyObject* o) {
  if (!o) throw Raised{};
  return Ref(o);
}
// An attribute; null if there is none. Other errors are raised.
Ref attribute(PyObject* o, char const* name) {
  if (PyObject* const found = PyObject_GetAttrString(o, name)) return Ref(found);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw Raised{};
  PyErr_Clear();
  return {};
}
std::string text(PyObject* o) {
  Ref const s = owned(PyObject_Str(o));
  Ref const bytes = owned(PyUnicode_AsUTF8String(s.get()));
  char const* const begin = PyBytes_AsString(bytes.get());
  if (!begin) throw Raised{};
  return begin;
}
std::int64_t number(PyObject* o) {
  long long const n = PyLong_AsLongLong(o);
  if (n == -1 && PyErr_Occurred()) throw Raised{};
  return n;
}

// ---- the state of CUDA

bool used_cuda = false, forked = false;  // in this process; in a parent of it

void check_fork() {
  if (forked)
    raise(PyExc_RuntimeError,
          "this process was forked after inlay had used CUDA, which does not survive a fork: start it with 'spawn'");
}
void check_cuda(cudaError_t status, char const* what) {
  if (status != cudaSuccess)
    raise(PyExc_RuntimeError, std::string(what) + ": " + cudaGetErrorName(status) + ", " + cudaGetErrorString(status));
}
void check(inlay_status status) {
  if (status == INLAY_OK) return;
  bool const wrong_input = status == INLAY_INVALID_ARGUMENT || status == INLAY_UNSUPPORTED || status == INLAY_WORKSPACE;
  raise(wrong_input ? PyExc_ValueError : PyExc_RuntimeError, inlay_last_error());
}
// Calls f without the interpreter's lock.
template <class F>
inlay_status unlocked(F const& f) {
  PyThreadState* const state = PyEval_SaveThread();
  inlay_status const status = f();
  PyEval_RestoreThread(state);
  return status;
}

// Makes a device current as long as it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    if (device < 0) return;
    check_cuda(cudaGetDevice(&before_), "the current device is unknown");
    if (before_ == device) return;
    check_cuda(cudaSetDevice(device), "the tensor's device cannot be made current");
    changed_ = true;
  }
  DeviceGuard(DeviceGuard const&) = delete;
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(before_);
  }

 private:
  int before_ = -1;
  bool changed_ = false;
};

cudaStream_t stream_at(std::int64_t number) { return reinterpret_cast<cudaStream_t>(std::uintptr_t(number)); }
// What `stream` is given next waits for what `theirs` has; both are streams of the device.
void wait_for(cudaStream_t theirs, cudaStream_t stream, int device) {
  auto const is_legacy = [](cudaStream_t s) { return !s || s == cudaStreamLegacy; };
  if (theirs == stream || (is_legacy(theirs) && is_legacy(stream))) return;
  DeviceGuard const guard(device);
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event cannot be made");
  cudaError_t status = cudaEventRecord(event, theirs);
  if (status == cudaSuccess) status = cudaStreamWaitEvent(stream, event, 0);
  cudaEventDestroy(event);
  check_cuda(status, "the producer's stream cannot be waited for");
}

// ---- tensors

// The exchange API of a type; null if it has none. The last type is remembered.
DLPackExchangeAPI const* exchange_api(PyObject* o) {
  static PyTypeObject* last_type = nullptr;
  static DLPackExchangeAPI const* last_api = nullptr;
  PyTypeObject* const type = Py_TYPE(o);
  if (type == last_type) return last_api;
  void* found = nullptr;
  if (Ref const capsule = attribute(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__"))
    if (PyCapsule_IsValid(capsule.get(), "dlpack_exchange_api"))
      found = PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api");
  auto const* api = static_cast<DLPackExchangeAPI const*>(found);
  while (api && api->header.version.major != DLPACK_MAJOR_VERSION)
    api = reinterpret_cast<DLPackExchangeAPI const*>(api->header.prev_api);
  if (api && !api->dltensor_from_py_object_no_sync) api = nullptr;
  Py_INCREF(type);  // so that no other type gets its address
  PyTypeObject* const before = last_type;
  last_type = type, last_api = api;
  Py_XDECREF(reinterpret_cast<PyObject*>(before));  // last: it may run code
  return api;
}

// Whether it lies on a GPU. What has no memory lies nowhere.
bool on_cuda(DLTensor const& t) {
  return t.data && (t.device.device_type == kDLCUDA || t.device.device_type == kDLCUDAManaged);
}

// A tensor argument. Its DLTensor is valid as long as this and the Python object live.
struct View {
  PyObject* object;
  char const* who;  // in sentences
  bool is_written;
  DLTensor t{};
  DLPackExchangeAPI const* api = nullptr;
  Ref capsule;
  std::vector<std::int64_t> shape, strides;  // of __cuda_array_interface__, or of what was broadcast

  View(PyObject* object, char const* who, bool is_written) : object(object), who(who), is_written(is_written) {}

  // By the exchange API. False: the type has none.
  bool take_at_once() {
    api = exchange_api(object);
    if (!api) return false;
    if (api->dltensor_from_py_object_no_sync(object, &t)) throw Raised{};
    refuse_lazy_bits();
    return true;
  }
  void take(void* stream) {
    if (Ref const method = attribute(object, "__dlpack__")) return take_capsule(method.get(), stream);
    if (Ref const interface = attribute(object, "__cuda_array_interface__"))
      return take_interface(interface.get(), stream);
    Ref const type = owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
    raise(PyExc_TypeError, std::string(who) + " is of type " + text(type.get()) +
                               ", which has neither __dlpack__ nor __cuda_array_interface__");
  }

 private:
  // torch's conjugation and negation are bits that no DLTensor has.
  void refuse_lazy_bits() const {
    if (t.dtype.code != kDLFloat && t.dtype.code != kDLBfloat && t.dtype.code != kDLComplex) return;
    static PyObject* const names[] = {PyUnicode_InternFromString("is_neg"), PyUnicode_InternFromString("is_conj")};
    for (int i = 0; i < (t.dtype.code == kDLComplex ? 2 : 1); ++i) {
      Ref const answer(PyObject_CallMethodObjArgs(object, names[i], nullptr));
      if (!answer && !PyErr_ExceptionMatches(PyExc_AttributeError)) throw Raised{};
      PyErr_Clear();  // a framework without such views
      if (answer && answer.get() != Py_False)
        raise(PyExc_ValueError, std::string(who) + " is a lazy view, " + text(names[i]) + "(): resolve it first");
    }
  }

  void take_capsule(PyObject* method, void* stream) {
    Ref const kwargs = owned(PyDict_New()), none = owned(PyTuple_New(0)),
              to = owned(PyLong_FromLongLong(stream ? reinterpret_cast<std::intptr_t>(stream) : 1));
    Ref const device = owned(PyObject_CallMethod(object, "__dlpack_device__", nullptr)),
              device_type = owned(PySequence_GetItem(device.get(), 0));
    bool const is_cuda = number(device_type.get()) == kDLCUDA || number(device_type.get()) == kDLCUDAManaged;
    if (is_cuda && PyDict_SetItemString(kwargs.get(), "stream", to.get())) throw Raised{};
    Ref const version = owned(Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION));
    if (PyDict_SetItemString(kwargs.get(), "max_version", version.get())) throw Raised{};
    capsule.reset(PyObject_Call(method, none.get(), kwargs.get()));
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {  // a producer from before DLPack 1.0
      PyErr_Clear();
      if (PyDict_DelItemString(kwargs.get(), "max_version")) throw Raised{};
      capsule.reset(PyObject_Call(method, none.get(), kwargs.get()));
    }
    if (!capsule) throw Raised{};
    // The capsule keeps its name, so that it frees the tensor when this view ends.
    if (PyCapsule_IsValid(capsule.get(), "dltensor_versioned")) {
      auto const* m =
          static_cast<DLManagedTensorVersioned const*>(PyCapsule_GetPointer(capsule.get(), "dltensor_versioned"));
      if (m->version.major != DLPACK_MAJOR_VERSION)
        raise(PyExc_ValueError, std::string(who) + " comes in version " + std::to_string(m->version.major) +
                                    " of DLPack; version 1 is understood");
      t = m->dl_tensor;
      if (is_written && m->flags & DLPACK_FLAG_BITMASK_READ_ONLY)
        raise(PyExc_ValueError, std::string(who) + " is read-only");
    } else {
      auto const* m = static_cast<DLManagedTensor const*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
      if (!m) throw Raised{};
      t = m->dl_tensor;
    }
  }

  void take_interface(PyObject* interface, void* stream) {
    auto const item = [&](char const* key) { return PyDict_GetItemString(interface, key); };  // borrowed
    if (!PyDict_Check(interface) || !item("shape") || !item("typestr") || !item("data"))
      raise(PyExc_TypeError, std::string(who) + " has a __cuda_array_interface__ without shape, typestr or data");
    std::string const type = text(item("typestr"));
    int const bytes = type.size() > 2 ? std::atoi(type.c_str() + 2) : 0;
    char const kind = type.size() > 1 ? type[1] : ' ';
    if (bytes < 1 || bytes > 16 || type[0] == '>')
      raise(PyExc_ValueError, std::string(who) + " has elements of type '" + type + "'");
    if (PyObject* const mask = item("mask"); mask && mask != Py_None)
      raise(PyExc_ValueError, std::string(who) + " has a mask");
    t.dtype = {std::uint8_t(kind == 'f'   ? kDLFloat
                            : kind == 'i' ? kDLInt
                            : kind == 'c' ? kDLComplex
                                          : kDLUInt),
               std::uint8_t(bytes * 8), 1};
    Ref const address = owned(PySequence_GetItem(item("data"), 0)),
              read_only = owned(PySequence_GetItem(item("data"), 1));
    t.data = address.get() == Py_None ? nullptr : PyLong_AsVoidPtr(address.get());  // None: of an empty array
    if (!t.data && PyErr_Occurred()) throw Raised{};
    if (is_written && PyObject_IsTrue(read_only.get())) raise(PyExc_ValueError, std::string(who) + " is read-only");
    over_items(item("shape"), [&](Py_ssize_t, PyObject* extent) { shape.push_back(number(extent)); });
    bool const is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (PyObject* const in_bytes = item("strides"); in_bytes && in_bytes != Py_None) {
      over_items(in_bytes, [&](Py_ssize_t k, PyObject* stride) {
        // The stride of an extent of 1 may be any number.
        bool const matters = !is_empty && (std::size_t(k) >= shape.size() || shape[std::size_t(k)] != 1);
        std::int64_t const s = matters ? number(stride) : 0;
        if (s % bytes) raise(PyExc_ValueError, std::string(who) + " has a stride of " + std::to_string(s) + " bytes");
        strides.push_back(s / bytes);
      });
      if (strides.size() != shape.size())
        raise(PyExc_ValueError, std::string(who) + " has " + std::to_string(shape.size()) + " modes and " +
                                    std::to_string(strides.size()) + " strides");
    }
    t.ndim = int(shape.size()), t.shape = shape.data(), t.strides = strides.empty() ? nullptr : strides.data();
    t.device = {kDLCUDA, 0};
    if (t.data) {
      cudaPointerAttributes found{};
      check_cuda(cudaPointerGetAttributes(&found, t.data), "the tensor's memory is unknown");
      t.device.device_id = found.device;
    }
    PyObject* const theirs = item("stream");
    if (!theirs || theirs == Py_None) return;
    wait_for(stream_at(number(theirs)), static_cast<cudaStream_t>(stream), t.device.device_id);
  }
  // Calls f(index, item).
  template <class F>
  static void over_items(PyObject* sequence, F const& f) {
    Py_ssize_t const n = PySequence_Size(sequence);
    if (n < 0) throw Raised{};
    for (Py_ssize_t i = 0; i < n; ++i) f(i, owned(PySequence_GetItem(sequence, i)).get());
  }
};

PyObject* stream_of = nullptr;  // a function from a tensor to the current stream of its framework, or None

// The tensors of a call, its stream, and its device.
class Call {
 public:
  // stream: an integer, or None.
  Call(std::vector<View>& views, PyObject* stream) : device_(take(views, stream)) {}
  void* stream() const { return stream_; }

 private:
  int take(std::vector<View>& views, PyObject* stream) {
    check_fork();
    int device = -1;
    DLPackExchangeAPI const* api = nullptr;
    auto const found = [&](View const& v) {
      if (device < 0 && on_cuda(v.t)) device = v.t.device.device_id;
    };
    std::vector<View*> later;
    for (View& v : views)
      if (v.take_at_once())
        found(v), api = v.api;
      else
        later.push_back(&v);
    if (stream != Py_None)
      stream_ = stream_at(number(stream));
    else if (api && device >= 0) {
      if (api->current_work_stream(kDLCUDA, device, &stream_)) throw Raised{};
    } else if (stream_of) {
      std::stable_partition(later.begin(), later.end(), [](View const* v) { return v->is_written; });
      for (View const* v : later) {  // what is written decides
        Ref const known = owned(PyObject_CallFunctionObjArgs(stream_of, v->object, nullptr));
        if (known.get() == Py_None) continue;
        stream_ = stream_at(number(known.get()));
        break;
      }
    }
    for (View* v : later) v->take(stream_), found(*v);
    used_cuda = true;
    return device;
  }
  void* stream_ = nullptr;
  DeviceGuard device_;
};

// ---- functions. Each returns a new reference, or throws.

void count(Py_ssize_t given, Py_ssize_t expected, char const* function) {
  if (given != expected)
    raise(PyExc_TypeError,
          std::string(function) + " takes " + std::to_string(expected) + " arguments, not " + std::to_string(given));
}
PyObject* same(PyObject* o) {
  Py_INCREF(o);
  return o;
}
std::vector<View> pair(PyObject* dst, PyObject* src) {
  std::vector<View> views;
  views.reserve(3);
  views.emplace_back(dst, "the destination", true), views.emplace_back(src, "the source", false);
  return views;
}

// copy(dst, src, stream)
PyObject* copy(PyObject* const* args, Py_ssize_t n) {
  count(n, 3, "copy");
  std::vector<View> v = pair(args[0], args[1]);
  Call const call(v, args[2]);
  check(unlocked([&] { return inlay_copy(&v[0].t, &v[1].t, call.stream()); }));
  return same(args[0]);
}

// permute(dst, src, axes, stream)
PyObject* permute(PyObject* const* args, Py_ssize_t n) {
  count(n, 4, "permute");
  std::vector<View> v = pair(args[0], args[1]);
  Call const call(v, args[3]);
  Py_ssize_t const rank = PySequence_Size(args[2]);
  if (rank < 0) throw Raised{};
  if (rank != v[1].t.ndim)
    raise(PyExc_ValueError,
          "axes has " + std::to_string(rank) + " entries, and the source " + std::to_string(v[1].t.ndim) + " modes");
  int axes[64]{};
  for (Py_ssize_t i = 0; i < rank && i < 64; ++i) {
    std::int64_t const axis = number(owned(PySequence_GetItem(args[2], i)).get());
    if (axis < -rank || axis >= rank)
      raise(PyExc_ValueError, "axes has an entry " + std::to_string(axis) + " for " + std::to_string(rank) + " modes");
    axes[i] = int(axis < 0 ? axis + rank : axis);
  }
  check(unlocked([&] { return inlay_permute(&v[0].t, &v[1].t, axes, call.stream()); }));
  return same(args[0]);
}

// copy_list(dsts, srcs, stream)
PyObject* copy_list(PyObject* const* args, Py_ssize_t n) {
  count(n, 3, "copy_list");
  Py_ssize_t const size = PySequence_Size(args[0]), sources = PySequence_Size(args[1]);
  if (size < 0 || sources < 0) throw Raised{};
  if (size != sources)
    raise(PyExc_ValueError,
          "there are " + std::to_string(size) + " destinations and " + std::to_string(sources) + " sources");
  std::vector<Ref> kept;
  std::vector<View> views;
  views.reserve(std::size_t(2 * size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    kept.push_back(owned(PySequence_GetItem(args[0], i))), kept.push_back(owned(PySequence_GetItem(args[1], i)));
    views.emplace_back(kept[std::size_t(2 * i)].get(), "a destination", true);
    views.emplace_back(kept[std::size_t(2 * i + 1)].get(), "a source", false);
  }
  Call const call(views, args[2]);
  std::vector<DLTensor const*> dst, src;
  for (std::size_t i = 0; i < views.size(); i += 2) dst.push_back(&views[i].t), src.push_back(&views[i + 1].t);
  check(unlocked([&] { return inlay_copy_list(dst.data(), src.data(), dst.size(), call.stream()); }));
  return same(args[0]);
}

// Batch modes of A or B with the extents of D's: modes of one matrix, and those that are missing, get the stride 0.
void broadcast(View& v, DLTensor const& d) {
  DLTensor& t = v.t;
  if (t.ndim < 2 || d.ndim < t.ndim) return;  // the library has the sentence
  std::vector<std::int64_t> shape(d.shape, d.shape + d.ndim), strides(std::size_t(d.ndim), 0);
  std::int64_t packed = 1;
  int const more = d.ndim - t.ndim;
  for (int k = t.ndim; k-- > 0;) {
    std::int64_t const extent = t.shape[k], stride = t.strides ? t.strides[k] : packed;
    packed *= extent;
    auto const to = std::size_t(k + more);
    bool const repeats = k < t.ndim - 2 && extent == 1;
    if (!repeats) shape[to] = extent;
    strides[to] = repeats ? 0 : stride;
  }
  v.shape = std::move(shape), v.strides = std::move(strides);
  t.ndim = d.ndim, t.shape = v.shape.data(), t.strides = v.strides.data();
}
// A and B with the batch modes of D, which are those of the product.
void broadcast(std::vector<View>& v) {
  DLTensor const& d = v[2].t;
  auto const extent = [&](DLTensor const& t, int k) {
    int const own = k - (d.ndim - t.ndim);
    return own < 0 || own >= t.ndim ? 1 : t.shape[own];
  };
  for (int k = 0; k < d.ndim - 2; ++k)
    if (d.shape[k] != 1 && extent(v[0].t, k) == 1 && extent(v[1].t, k) == 1)
      raise(PyExc_ValueError, "D has " + std::to_string(d.shape[k]) + " matrices along mode " + std::to_string(k) +
                                  ", where A and B have one");
  broadcast(v[0], d), broadcast(v[1], d);
}
// C: None, or what beta scales.
std::vector<View> operands(PyObject* const* args, PyObject* C) {
  std::vector<View> views;
  views.reserve(5);
  views.emplace_back(args[0], "A", false), views.emplace_back(args[1], "B", false),
      views.emplace_back(args[2], "D", true);
  if (C != Py_None) views.emplace_back(C, "C", false);
  return views;
}

// Device memory for the time of a call, from the framework of the output, by a function of bytes, or else of the
// stream's pool.
class Workspace {
 public:
  Workspace(std::size_t bytes, PyObject* allocate, void* stream) : stream_(static_cast<cudaStream_t>(stream)) {
    if (!bytes) return;
    if (allocate == Py_None) {
      check_cuda(cudaMallocAsync(&pool_, bytes, stream_), "there is no memory for the workspace");
      data = pool_;
      return;
    }
    tensor_ = owned(PyObject_CallFunction(allocate, "n", Py_ssize_t(bytes)));
    View view(tensor_.get(), "the workspace", true);
    if (!view.take_at_once()) view.take(stream);
    data = view.t.data;
  }
  Workspace(Workspace const&) = delete;
  ~Workspace() {
    if (pool_) cudaFreeAsync(pool_, stream_);
  }
  void* data = nullptr;

 private:
  cudaStream_t stream_;
  void* pool_ = nullptr;
  Ref tensor_;
};

// From alpha, beta, compute, C, which is v[3] unless it is None, and activation.
inlay_gemm_options gemm_options(PyObject* const* args, std::vector<View> const& v) {
  inlay_gemm_options options = INLAY_GEMM_OPTIONS;
  options.alpha = float(PyFloat_AsDouble(args[0])), options.beta = float(PyFloat_AsDouble(args[1]));
  if (PyErr_Occurred()) throw Raised{};
  options.compute = int(number(args[2]));
  options.C = args[3] != Py_None ? &v[3].t : nullptr, options.activation = int(number(args[4]));
  return options;
}

// pack_b(B, packed, compute, stream). packed: a tensor for the bytes
PyObject* pack_b(PyObject* const* args, Py_ssize_t n) {
  count(n, 4, "pack_b");
  std::vector<View> v;
  v.reserve(2);
  v.emplace_back(args[0], "B", false), v.emplace_back(args[1], "the packed B", true);
  Call const call(v, args[3]);
  int const compute = int(number(args[2]));
  DLTensor const& to = v[1].t;
  std::int64_t bytes = to.dtype.bits * to.dtype.lanes / 8;
  for (int k = 0; k < to.ndim; ++k) bytes *= to.shape[k];
  inlay_packed_b packed;
  void* const data = static_cast<char*>(to.data) + to.byte_offset;
  check(unlocked([&] { return inlay_pack_b(&v[0].t, compute, data, std::size_t(bytes), call.stream(), &packed); }));
  return same(args[1]);
}
// packed_b_bytes(B, compute)
PyObject* packed_b_bytes(PyObject* const* args, Py_ssize_t n) {
  count(n, 2, "packed_b_bytes");
  std::vector<View> v;
  v.emplace_back(args[0], "B", false);
  Call const call(v, Py_None);
  std::size_t bytes = 0;
  check(inlay_packed_b_bytes(&v[0].t, int(number(args[1])), &bytes));
  return PyLong_FromSize_t(bytes);
}
// What pack_b packed: the tensor, its compute mode, K and N.
inlay_packed_b packed_b(PyObject* tuple, View const& tensor) {
  auto const at = [&](int i) { return number(owned(PySequence_GetItem(tuple, i)).get()); };
  return {static_cast<char*>(tensor.t.data) + tensor.t.byte_offset, int(at(1)), at(2), at(3)};
}

// gemm(A, B, D, alpha, beta, compute, C, activation, packed, allocate, stream). packed: (tensor, compute, K, N), or
// None; allocate: a function from bytes to a tensor, or None.
PyObject* gemm(PyObject* const* args, Py_ssize_t n) {
  count(n, 11, "gemm");
  std::vector<View> v = operands(args, args[6]);
  Ref const kept = args[8] == Py_None ? Ref() : owned(PySequence_GetItem(args[8], 0));
  if (kept) v.emplace_back(kept.get(), "the packed B", false);
  Call const call(v, args[10]);
  broadcast(v);
  inlay_gemm_options options = gemm_options(args + 3, v);
  inlay_packed_b packed;
  if (kept) packed = packed_b(args[8], v.back()), options.packed_B = &packed;
  check(inlay_gemm_workspace(&v[0].t, &v[1].t, &v[2].t, &options, &options.workspace_bytes));
  Workspace const workspace(options.workspace_bytes, args[9], call.stream());
  options.workspace = workspace.data;
  check(unlocked([&] { return inlay_gemm(&v[0].t, &v[1].t, &v[2].t, &options, call.stream()); }));
  return same(args[2]);
}

// grouped_gemm(A, B, D, group_ends, alpha, beta, activation, stream)
PyObject* grouped_gemm(PyObject* const* args, Py_ssize_t n) {
  count(n, 8, "grouped_gemm");
  std::vector<View> v = operands(args, Py_None);
  v.emplace_back(args[3], "group_ends", false);
  Call const call(v, args[7]);
  inlay_gemm_options options = INLAY_GEMM_OPTIONS;
  options.alpha = float(PyFloat_AsDouble(args[4])), options.beta = float(PyFloat_AsDouble(args[5]));
  if (PyErr_Occurred()) throw Raised{};
  options.activation = int(number(args[6]));
  check(unlocked([&] { return inlay_grouped_gemm(&v[0].t, &v[1].t, &v[2].t, &v[3].t, &options, call.stream()); }));
  return same(args[2]);
}

// ---- memory of the stream's pool, for results whose framework is not known

struct Memory {
  void* data;
  int device;
  cudaStream_t stream;  // that writes it
};
constexpr char const* kMemory = "inlay.memory";
// Consumers may still read it, on streams that are not known here: so the device is waited for.
void free_memory(PyObject* capsule) {
  auto* const memory = static_cast<Memory*>(PyCapsule_GetPointer(capsule, kMemory));
  int before = 0;
  if (memory->data && !forked && cudaGetDevice(&before) == cudaSuccess &&
      cudaSetDevice(memory->device) == cudaSuccess) {
    PyThreadState* const state = PyEval_SaveThread();  // the device may wait for a host function that wants the lock
    cudaDeviceSynchronize();
    cudaFree(memory->data);
    cudaSetDevice(before);
    cudaGetLastError();  // of a device that is gone at the interpreter's end
    PyEval_RestoreThread(state);
  }
  delete memory;
}

// allocate(like, shape, stream) -> memory, address, DLPack's type code, bits of an element, device
PyObject* allocate(PyObject* const* args, Py_ssize_t n) {
  count(n, 3, "allocate");
  std::vector<View> views;
  views.emplace_back(args[0], "the source", false);
  Call const call(views, args[2]);
  DLTensor const& like = views[0].t;
  std::int64_t bytes = like.dtype.bits * like.dtype.lanes / 8;
  Py_ssize_t const rank = PySequence_Size(args[1]);
  if (rank < 0) throw Raised{};
  for (Py_ssize_t i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(bytes, number(owned(PySequence_GetItem(args[1], i)).get()), &bytes))
      raise(PyExc_ValueError, "the result has more bytes than 63 bits count");
  auto memory =
      std::make_unique<Memory>(Memory{nullptr, like.device.device_id, static_cast<cudaStream_t>(call.stream())});
  if (bytes)
    check_cuda(cudaMallocAsync(&memory->data, std::size_t(bytes), memory->stream), "there is no memory for the result");
  void* const data = memory->data;
  Ref const capsule = owned(PyCapsule_New(memory.get(), kMemory, free_memory));
  memory.release();
  return Py_BuildValue("OKiii", capsule.get(), (unsigned long long)(std::uintptr_t(data)), int(like.dtype.code),
                       int(like.dtype.bits * like.dtype.lanes), int(like.device.device_id));
}

// dlpack(memory, shape, code, bits, device, stream) -> a capsule with a row-major tensor in it, for a consumer on this
// stream: a number, None for the legacy default stream, or -1, which waits for nothing
PyObject* dlpack(PyObject* const* args, Py_ssize_t n) {
  count(n, 6, "dlpack");
  struct Exported {
    DLManagedTensor managed{};
    std::vector<std::int64_t> shape;
    PyObject* memory;
  };
  auto* const memory = static_cast<Memory*>(PyCapsule_GetPointer(args[0], kMemory));
  if (!memory) throw Raised{};
  std::int64_t const consumer = args[5] == Py_None ? 1 : number(args[5]);
  if (consumer != -1) wait_for(memory->stream, stream_at(consumer), memory->device);
  auto exported = std::make_unique<Exported>();
  Py_ssize_t const rank = PySequence_Size(args[1]);
  if (rank < 0) throw Raised{};
  for (Py_ssize_t i = 0; i < rank; ++i) exported->shape.push_back(number(owned(PySequence_GetItem(args[1], i)).get()));
  DLTensor& t = exported->managed.dl_tensor;
  t.data = memory->data, t.device = {kDLCUDA, std::int32_t(number(args[4]))};
  t.ndim = int(rank), t.shape = exported->shape.data();
  t.dtype = {std::uint8_t(number(args[2])), std::uint8_t(number(args[3])), 1};
  exported->memory = same(args[0]);
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* m) {
    PyGILState_STATE const state = PyGILState_Ensure();
    auto* const it = static_cast<Exported*>(m->manager_ctx);
    Py_DECREF(it->memory);
    delete it;
    PyGILState_Release(state);
  };
  PyObject* const capsule = PyCapsule_New(&exported->managed, "dltensor", [](PyObject* unused) {
    if (!PyCapsule_IsValid(unused, "dltensor")) return;  // a consumer has taken the tensor
    auto* const m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(unused, "dltensor"));
    m->deleter(m);
  });
  if (!capsule) {
    Py_DECREF(exported->memory);
    throw Raised{};
  }
  exported.release();
  return capsule;
}

// is_row_major(x)
PyObject* is_row_major(PyObject* const* args, Py_ssize_t n) {
  count(n, 1, "is_row_major");
  std::vector<View> views;
  views.emplace_back(args[0], "the source", false);
  Call const call(views, Py_None);
  DLTensor const& t = views[0].t;
  std::int64_t packed = 1;
  bool is = true;
  for (int k = t.ndim; k-- > 0; packed *= t.shape[k]) is &= !t.strides || t.shape[k] == 1 || t.strides[k] == packed;
  return PyBool_FromLong(is || std::find(t.shape, t.shape + t.ndim, 0) != t.shape + t.ndim);
}

// set_stream_of(function)
PyObject* set_stream_of(PyObject* const* args, Py_ssize_t n) {
  count(n, 1, "set_stream_of");
  Py_XDECREF(stream_of);
  stream_of = same(args[0]);
  return same(Py_None);
}

// Calls f(buffer, size, needed) with a buffer for the whole text.
template <class F>
PyObject* whole_text(F const& f) {
  std::size_t needed = 0;
  check(f(nullptr, 0, &needed));
  std::string s(needed, ' ');
  check(f(s.data(), s.size(), nullptr));
  return PyUnicode_FromStringAndSize(s.data(), Py_ssize_t(needed - 1));
}
// why_copy(dst, src)
PyObject* why_copy(PyObject* const* args, Py_ssize_t n) {
  count(n, 2, "why_copy");
  std::vector<View> v = pair(args[0], args[1]);
  Call const call(v, Py_None);
  return whole_text([&](char* s, std::size_t size, std::size_t* needed) {
    return inlay_why_copy(&v[0].t, &v[1].t, s, size, needed);
  });
}
// why_gemm(A, B, D, alpha, beta, compute, C, activation)
PyObject* why_gemm(PyObject* const* args, Py_ssize_t n) {
  count(n, 8, "why_gemm");
  std::vector<View> v = operands(args, args[6]);
  Call const call(v, Py_None);
  broadcast(v);
  inlay_gemm_options options = gemm_options(args + 3, v);
  options.workspace_bytes = SIZE_MAX;
  return whole_text([&](char* s, std::size_t size, std::size_t* needed) {
    return inlay_why_gemm(&v[0].t, &v[1].t, &v[2].t, &options, s, size, needed);
  });
}

// Calls f; what it threw becomes the Python exception.
template <PyObject* (*f)(PyObject* const*, Py_ssize_t)>
PyObject* guarded(PyObject*, PyObject* const* args, Py_ssize_t n) noexcept {
  try {
    return f(args, n);
  } catch (Raised const& raised) {
    PyErr_Restore(raised.type, raised.value, raised.traceback);
  } catch (std::bad_alloc const&) {
    PyErr_NoMemory();
  } catch (std::exception const& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}
template <PyObject* (*f)(PyObject* const*, Py_ssize_t)>
PyMethodDef method(char const* name, char const* arguments) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(guarded<f>)), METH_FASTCALL, arguments};
}

PyMethodDef methods[] = {
    method<copy>("copy", "copy(dst, src, stream)"),
    method<permute>("permute", "permute(dst, src, axes, stream)"),
    method<copy_list>("copy_list", "copy_list(dsts, srcs, stream)"),
    method<gemm>("gemm", "gemm(A, B, D, alpha, beta, compute, C, activation, packed, allocate, stream)"),
    method<pack_b>("pack_b", "pack_b(B, packed, compute, stream)"),
    method<packed_b_bytes>("packed_b_bytes", "packed_b_bytes(B, compute)"),
    method<allocate>("allocate", "allocate(like, shape, stream)"),
    method<dlpack>("dlpack", "dlpack(memory, shape, code, bits, device, stream)"),
    method<is_row_major>("is_row_major", "is_row_major(x)"),
    method<set_stream_of>("set_stream_of", "set_stream_of(function)"),
    method<why_copy>("why_copy", "why_copy(dst, src)"),
    method<grouped_gemm>("grouped_gemm", "grouped_gemm(A, B, D, group_ends, alpha, beta, activation, stream)"),
    method<why_gemm>("why_gemm", "why_gemm(A, B, D, alpha, beta, compute, C, activation)"),
    {}};
PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "inlay._inlay", "The calls of inlay/c.h.", -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__inlay() {
  pthread_atfork(nullptr, nullptr, [] { forked = used_cuda; });
  PyObject* const m = PyModule_Create(&module);
  if (m && PyModule_AddStringConstant(m, "version", inlay_version())) return nullptr;
  return m;
}
