// What a problem case of the lab has: CopyCase (copy_case.h), GemmCase (gemm_case.h). A case is a plain value with ==. The commands
// are templates over the type C of the case and use these members:
//
//   C::kind                              "copy", "GEMM"
//   notation()                           how the command line and files name it, and the units of its rows
//   sentence(), name(), short_name()     everything that distinguishes it from other cases; its extents; what distinguishes the
//                                        cases of `verify`
//   fields(), take_item(match)           its flags and keys; reads an item of --cases
//   validate()                           throws UsageError
//   write(kernel, json), C::wrote(row), C::read(row)   its fields of a row; whether a row has them; the case of a row
//   bytes(), flops(), replayed_fma()     the bytes that it must read and write, its operations, the FMAs of a replay (whole tiles)
//   operands(), C::Call, call(addresses) its buffers, the last is the result; the arguments of one launch
//   C::exact(call)                       the call with factors that keep whole numbers whole
//   C::Canonical, C::kernels(), canonical(call, info)   the type of problem that its kernels take; their entries in the registry;
//                                        the problem for one kernel, or with a null info for the public function
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

using planner::Device, planner::Info, planner::Origin, planner::Reason;
using problem::Copy, problem::Gemm, problem::make_copy, problem::make_gemm;
using registry::copy_kernels, registry::Entry, registry::gemm_kernels;
using replay::Recorder;

using Json = nlohmann::ordered_json;  // keeps the order in which fields are written

// The unit of a row's rate, and of the share of a baseline's rate.
struct Units {
  char const *rate, *rate_key, *share, *share_key;  // in a table; in a file
  char const* baseline;                             // what has the share 1
  int digits;                                       // decimal places of a rate
  bool errors;                                      // rows have a rounding error
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
  char const *key, *flag;  // in a suite (null: suites do not have it); on the command line
  std::variant<std::int64_t*, int*, float*, std::string*, Compute*, std::vector<std::int64_t>*> value;
  char const* help;
  bool shows_default = true;
  bool needed = false;  // in a suite
};

struct OperandBuffer {
  char const* name;
  std::int64_t elements;
  int elem_bytes;
  DType numbers{};  // their type: a replay fills the buffer with numbers; none: with bits
  std::size_t bytes() const { return std::size_t(elements) * std::size_t(elem_bytes); }
};

// The problem of a case for the planner alone: its operands lie at aligned addresses, far from each other, that nothing reads.
template <class C>
typename C::Canonical planned(C const& c, Info<typename C::Canonical> const* info = nullptr) {
  std::vector<void*> addresses;
  for (std::uintptr_t n = 0; n < c.operands().size(); ++n) addresses.push_back(reinterpret_cast<void*>((n + 1) << 60));
  return c.canonical(c.call(addresses), info);
}

}  // namespace inlay::lab
