// A kind of problem: what the lab must know of it to verify, explain, measure, tabulate and file it. The lab has two, the
// copy (move_case.h) and the GEMM (gemm_case.h). A third is a case type C, a plain value with ==, and a specialisation of
// Kind<C> with what stands here; its work on a GPU is a second one, OnDevice<C> (measure/on_device.h).
//
//   Words     name, public_function, suites      "GEMM", "gemm", "suites/gemm": the folder of its suites
//             units                              what its rows are measured in
//             item_form, item_shape, item_example  one of --cases: a regular expression, "MxNxK:LAYOUT", "4096x4096x4096:nn"
//   Text      c.sentence(), c.name()             all that tells it from others; its extents, "4096x4096x4096"
//             short_name(c)                      what tells those apart that `verify` tries
//   Input     fields(c)                          its flags and keys
//             take_item(c, match)                takes over one of --cases
//             validate(c)                        throws UsageError
//   Files     write(c, kernel, json)           its fields of a row, and the kernel among them
//             wrote(row), read(row)              whether a row is of this kind, and its case
//   Size      bytes(c), flops(c)                 that it must move and compute
//             replayed_fma(c)                    what a replay computes: of whole tiles
//   Operands  operands(c)                        its buffers; the last is the result
//             Call, call(c, addresses)           what one launch is given
//             exact(call)                        the same with factors under which whole numbers stay whole
//   Kernels  Canonical                          what they take, such as problem::Gemm
//             kernels()                         its entries in the registry
//             canonical(c, call, info)           what this kernel takes; null: what the public function is asked
#pragma once
#include <inlay/registry/registry.h>

#include <concepts>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <regex>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "problems/modules.h"

namespace inlay::lab {

using Json = nlohmann::ordered_json;  // fields stay in the order they are written in

// What a row of this kind is measured in: its rate, and the share of another's rate that it is judged by.
struct Units {
  char const *rate, *rate_key, *share, *share_key;  // in a table; in a file
  char const* baseline;                             // what has the share 1
  int digits;                                       // of a rate, behind the point
  bool errors;                                      // its rows tell an error too
};

// A number or a word of a case, as the command line and the suites name it.
struct Field {
  char const *key, *flag;  // in a suite, null where suites have none; on the command line
  std::variant<std::int64_t*, int*, float*, std::string*, Compute*, std::vector<std::int64_t>*> value;
  char const* help;
  bool shows_default = true;
  bool needed = false;  // in a suite
};

struct OperandBuffer {
  char const* name;
  std::int64_t elements;
  int elem_bytes;
  bool numbers = false;  // floats, which a replay fills with whole numbers; else bits
  std::size_t bytes() const { return std::size_t(elements) * std::size_t(elem_bytes); }
};

template <class C>
struct Kind;

template <class C>
using CanonicalOf = typename Kind<C>::Canonical;
template <class C>
using CallOf = typename Kind<C>::Call;

template <class C>
concept KindOf = requires(C& c, std::smatch const& match, Json& json, std::span<void* const> addresses,
                          CallOf<C> const& call, Info<CanonicalOf<C>> const* info) {
  { Kind<C>::units } -> std::convertible_to<Units>;
  std::vector<std::string>{Kind<C>::name,      Kind<C>::public_function, Kind<C>::suites,
                           Kind<C>::item_form, Kind<C>::item_shape,      Kind<C>::item_example};
  std::vector<std::string>{c.sentence(), c.name(), Kind<C>::short_name(c)};
  { Kind<C>::fields(c) } -> std::same_as<std::vector<Field>>;
  Kind<C>::take_item(c, match);
  Kind<C>::validate(c);
  Kind<C>::write(c, "kernel", json);
  { Kind<C>::wrote(json) } -> std::same_as<bool>;
  { Kind<C>::read(json) } -> std::same_as<C>;
  std::vector<double>{Kind<C>::bytes(c), Kind<C>::flops(c), Kind<C>::replayed_fma(c)};
  { Kind<C>::operands(c) } -> std::same_as<std::vector<OperandBuffer>>;
  { Kind<C>::call(c, addresses) } -> std::same_as<CallOf<C>>;
  { Kind<C>::exact(call) } -> std::same_as<CallOf<C>>;
  { Kind<C>::kernels() } -> std::same_as<std::span<Entry<CanonicalOf<C>> const>>;
  { Kind<C>::canonical(c, call, info) } -> std::same_as<CanonicalOf<C>>;
}
&&std::equality_comparable<C>;

// What its kernels and its planner are asked, for who only plans: at addresses that nobody reads, any that are aligned and
// far enough apart.
template <KindOf C>
CanonicalOf<C> planned(C const& c, Info<CanonicalOf<C>> const* info = nullptr) {
  std::vector<void*> addresses;
  for (std::uintptr_t n = 0; n < Kind<C>::operands(c).size(); ++n)
    addresses.push_back(reinterpret_cast<void*>((n + 1) << 60));
  return Kind<C>::canonical(c, Kind<C>::call(c, addresses), info);
}

}  // namespace inlay::lab
