#include "results/compare.h"

#include <fmt/format.h>
#include <inlay/error.h>

#include "results/results.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

Results readable(std::filesystem::path const& file) {
  try {
    if (auto results = load_results(file)) return *results;
  } catch (Error const& e) {
    throw UsageError(e.what());
  }
  throw UsageError(fmt::format("{} cannot be read", file.string()));
}

// The figure by which a row is compared, before and after.
struct Figures {
  char const* unit;
  int digits;
  double before, after;

  bool better(double tolerance) const { return after > before * (1 + tolerance / 100); }
  bool worse(double tolerance) const { return after < before * (1 - tolerance / 100); }
  std::string sentence() const { return fmt::format("{1:.{3}f} -> {2:.{3}f} {0}", unit, before, after, digits); }
};

std::optional<Figures> figures(Row const& before, Row const& after) {
  Units const& in = units(before.measured);
  if (before.share && after.share) return Figures{in.share, 3, *before.share, *after.share};
  if (before.rate && after.rate) return Figures{in.rate, in.digits, *before.rate, *after.rate};
  return std::nullopt;
}

struct Counts {
  int better = 0, same = 0, worse = 0, only_before = 0, only_after = 0;
};

// Counts the row; a sentence when it became worse.
std::string checker(Row const& before, Row const& after, double tolerance, Counts& counts) {
  auto const x = figures(before, after);
  bool const lost = before.ok() && !after.ok(), won = !before.ok() && after.ok();
  bool const worse = lost || (x && x->worse(tolerance)), better = won || (x && x->better(tolerance));
  ++(worse ? counts.worse : better ? counts.better : counts.same);
  if (lost) return "was ok -> " + after.check_result;
  return worse ? x->sentence() : "";
}

}  // namespace

Comparison compare(std::filesystem::path const& before, std::filesystem::path const& after, double tolerance) {
  if (!(tolerance >= 0)) throw UsageError(fmt::format("--tolerance is {}; it must not be negative", tolerance));
  Results const old_results = readable(before), new_results = readable(after);
  Counts counts;
  std::string s;
  for (Row const& row : old_results.rows) {
    Row const* const now = new_results.find(row.measured, row.kernel, row.suite);
    if (!now)
      ++counts.only_before;
    else if (auto const became = checker(row, *now, tolerance, counts); !became.empty())
      s += fmt::format("{}, {}: {}\n", sentence(row.measured), row.kernel, became);
  }
  if (counts.better + counts.same + counts.worse == 0)
    throw UsageError(
        fmt::format("{} and {} have no row in common: the same case and kernel", before.string(), after.string()));
  for (Row const& row : new_results.rows) counts.only_after += !old_results.find(row.measured, row.kernel);
  s += fmt::format("{} better, {} same, {} worse (by more than {} %), {} only in {}, {} only in {}\n", counts.better,
                   counts.same, counts.worse, tolerance, counts.only_before, before.string(), counts.only_after,
                   after.string());
  return {s, counts.worse > 0};
}

}  // namespace inlay::lab
