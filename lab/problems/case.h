// What a problem case of the lab has: CopyCase (copy_case.h), GemmCase (gemm_case.h). A case is a plain value with ==.
// The commands are templates over the type C of the case and use these members:
//
//   C::kind                              "copy", "GEMM"
//   notation()                           how the command line and files name it, and the units of its rows
//   sentence(), name(), short_name()     all fields; the extents; what differs between the cases of `verify`
//   fields(), take_item(match)           its flags and keys; sets the fields of an item of --cases
//   validate()                           throws UsageError
//   write(kernel, json), C::wrote(row), C::read(row)   writes its fields to a row; whether a row has them; reads them
//   bytes(), flops(), replayed_fma()     bytes read plus written, operations, FMAs of a replay, which has whole tiles
//   operands(), C::Call, call(addresses) its buffers, the result last; the arguments of one launch
//   C::exact(call)                       the call with whole factors, so that whole numbers stay exact
//   C::Canonical, C::kernels(), canonical(call, info)   the problem type of its kernels; their entries in the registry;
//                                        the problem for a kernel, or, if info is null, for the public function
#pragma once
#include <inlay/registry/registry.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <regex>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace inlay::lab {

using model::Device, model::Info, model::Origin, model::Reason;
using problem::Copy, problem::Gemm, problem::make_copy, problem::make_gemm;
using registry::copy_kernels, registry::Entry, registry::gemm_kernels;
using enum DType;
using replay::Recorder;

using Json = nlohmann::ordered_json;  // keeps the order in which fields are written

// The units of a row's rate, and of its share of the baseline's rate.
struct Units {
  char const *rate, *rate_key, *share, *share_key;  // headings in tables, keys in files
  char const* baseline;                             // the baseline, whose share is 1
  int digits;                                       // decimal places of a rate
  bool errors;                                      // whether rows have a rounding error
};

// How the command line and files name the cases of one kind.
struct Notation {
  char const* public_function;  // "gemm"
  char const* suites;           // the folder of its suites: "suites/gemm"
  char const *item_form, *item_shape,
      *item_example;  // of --cases: a regular expression, "MxNxK:TRANSPOSES", "4096x4096x4096:nn"
  Units units;
};

// A field of a case, as the command line and the suites name it.
struct Field {
  char const *key, *flag;  // of a suite, null: none; of the command line
  std::variant<std::int64_t*, int*, float*, std::string*, Compute*, std::vector<std::int64_t>*> value;
  char const* help;
  bool shows_default = true;
  bool needed = false;  // whether a suite must have it
};

struct OperandBuffer {
  char const* name;
  std::int64_t elements;
  int elem_bytes;
  DType numbers{};  // the type of its numbers; none: a replay fills the buffer with random bits
  std::size_t bytes() const { return std::size_t(elements) * std::size_t(elem_bytes); }
};

// The problem of a case for the planner alone: its operands have aligned addresses that are never accessed.
template <class C>
typename C::Canonical planned(C const& c, Info<typename C::Canonical> const* info = nullptr) {
  std::vector<void*> addresses;
  for (std::uintptr_t n = 0; n < c.operands().size(); ++n) addresses.push_back(reinterpret_cast<void*>((n + 1) << 60));
  return c.canonical(c.call(addresses), info);
}

}  // namespace inlay::lab
