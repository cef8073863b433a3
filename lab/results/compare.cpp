#include "results/compare.h"

#include <fmt/format.h>
#include <inlay/error.h>

#include "results/results.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

Results read_results(std::filesystem::path const& file) {
  try {
    if (auto results = load_results(file)) return *results;
  } catch (Error const& e) {
    throw UsageError(e.what());
  }
  throw UsageError(fmt::format("{} cannot be read", file.string()));
}

struct Counts {
  int better = 0, same = 0, worse = 0, only_before = 0, only_after = 0;
};

// Counts the row, and returns "0.900 -> 0.870 of copy" or "was ok -> FAILED: ..." if it became worse, else an empty
// string.
std::string compare_rows(Row const& before, Row const& after, double tolerance, Counts& counts) {
  Units const& in = units(before.measured);
  bool const by_share = before.share && after.share, by_rate = !by_share && before.rate && after.rate;
  double const was = by_share ? *before.share : by_rate ? *before.rate : 0;
  double const is = by_share ? *after.share : by_rate ? *after.rate : 0;
  bool const broken = before.ok() && !after.ok(), mended = !before.ok() && after.ok();
  bool const worse = broken || is < was * (1 - tolerance / 100);
  ++(worse ? counts.worse : mended || is > was * (1 + tolerance / 100) ? counts.better : counts.same);
  if (broken) return "was ok -> " + after.check_result;
  if (!worse) return "";
  return fmt::format("{1:.{3}f} -> {2:.{3}f} {0}", by_share ? in.share : in.rate, was, is, by_share ? 3 : in.digits);
}

// The row of the same case and kernel, of this suite if there is one, that was timed the same way. Null: there is none.
Row const* counterpart(Results const& results, Row const& row, std::string const& suite) {
  Row const* const found = results.find(row.measured, row.kernel, suite);
  return found && found->sustained == row.sustained ? found : nullptr;
}

}  // namespace

Comparison compare(std::filesystem::path const& before, std::filesystem::path const& after, double tolerance) {
  if (!(tolerance >= 0)) throw UsageError(fmt::format("--tolerance is {}; it must not be negative", tolerance));
  Results const old_results = read_results(before), new_results = read_results(after);
  Counts counts;
  std::string s;
  for (Row const& row : old_results.rows) {
    Row const* const now = counterpart(new_results, row, row.suite);
    if (!now)
      ++counts.only_before;
    else if (auto const change = compare_rows(row, *now, tolerance, counts); !change.empty())
      s += fmt::format("{}, {}: {}\n", sentence(row.measured), row.kernel, change);
  }
  if (counts.better + counts.same + counts.worse == 0)
    throw UsageError(
        fmt::format("{} and {} have no row in common: the same case and kernel, both sustained or both interleaved",
                    before.string(), after.string()));
  for (Row const& row : new_results.rows) counts.only_after += !counterpart(old_results, row, "");
  s += fmt::format("{} better, {} same, {} worse (by more than {} %), {} only in {}, {} only in {}\n", counts.better,
                   counts.same, counts.worse, tolerance, counts.only_before, before.string(), counts.only_after,
                   after.string());
  return {s, counts.worse > 0};
}

}  // namespace inlay::lab
