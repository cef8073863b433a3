// A case of any kind, for what treats all alike: rows, suites, tables, files, comparisons.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "problems/kind.h"

namespace inlay::lab {

class Problem;
using SetFields = std::function<void(std::vector<Field> const&)>;

// A kind that is chosen while the program runs: what of the trait such users need.
struct AnyKind {
  char const *public_function, *suites;
  Units units;
  bool (*wrote)(Json const& row);
  Problem (*read)(Json const& row);
  // A case whose fields `set` has filled in. Throws UsageError where it is not valid.
  Problem (*made)(SetFields const& set);
  std::string (*sentence)(void const* c);
  std::string (*name)(void const* c);
  bool (*equal)(void const* x, void const* y);
  void (*write)(void const* c, std::string const& kernel, Json& json);
};
using KindList = std::vector<AnyKind const*>;

class Problem {
 public:
  Problem() = default;  // of no kind: only compared
  template <KindOf C>
  Problem(C c);

  AnyKind const& kind() const { return *kind_; }
  void const* get() const { return case_.get(); }
  // Null where it is of another kind.
  template <KindOf C>
  C const* as() const;

  friend bool operator==(Problem const& x, Problem const& y) {
    return x.kind_ == y.kind_ && (!x.kind_ || x.kind_->equal(x.get(), y.get()));
  }

 private:
  AnyKind const* kind_ = nullptr;
  std::shared_ptr<void const> case_;
};

inline std::string sentence(Problem const& problem) { return problem.kind().sentence(problem.get()); }
inline std::string name_of(Problem const& problem) { return problem.kind().name(problem.get()); }
inline Units const& units(Problem const& problem) { return problem.kind().units; }
template <KindOf C>
bool is_a(Problem const& problem) {
  return problem.as<C>();
}

template <KindOf C>
inline constexpr AnyKind kAnyKind{
    Kind<C>::public_function,
    Kind<C>::suites,
    Kind<C>::units,
    Kind<C>::wrote,
    [](Json const& row) { return Problem(Kind<C>::read(row)); },
    [](SetFields const& set) {
      C c;
      set(Kind<C>::fields(c));
      Kind<C>::validate(c);
      return Problem(c);
    },
    [](void const* c) { return static_cast<C const*>(c)->sentence(); },
    [](void const* c) { return static_cast<C const*>(c)->name(); },
    [](void const* x, void const* y) { return *static_cast<C const*>(x) == *static_cast<C const*>(y); },
    [](void const* c, std::string const& kernel, Json& json) {
      Kind<C>::write(*static_cast<C const*>(c), kernel, json);
    },
};

template <KindOf C>
Problem::Problem(C c) : kind_(&kAnyKind<C>), case_(std::make_shared<C const>(std::move(c))) {}

template <KindOf C>
C const* Problem::as() const {
  return kind_ == &kAnyKind<C> ? static_cast<C const*>(case_.get()) : nullptr;
}

}  // namespace inlay::lab
