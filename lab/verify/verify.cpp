#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "measure/gpu.h"
#include "problems/kernels.h"
#include "results/colour.h"
#include "results/output.h"
#include "results/progress.h"
#include "verify/replay_check.h"

namespace inlay::lab {
namespace {

// The chosen kernels of one kind and their cases.
template <class C>
struct Chosen {
  std::vector<Entry<typename C::Canonical> const*> entries;
  std::vector<C> cases;

  Chosen(std::vector<std::string> const& names, std::vector<Problem> const& problems) {
    for (std::string const& name : names)
      if (auto const* entry = find_kernel<C>(name)) entries.push_back(entry);
    for (Problem const& problem : problems)
      if (C const* const c = std::get_if<C>(&problem)) cases.push_back(*c);
  }
  std::size_t runs() const { return entries.size() * cases.size(); }
  // ", 3 kernels of a copy x 5 cases"
  std::string sentence() const {
    auto const counted = [](std::size_t n, char const* what) {
      return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
    };
    if (!runs()) return "";
    return fmt::format(", {} of a {} x {}", counted(entries.size(), "kernel"), C::kind, counted(cases.size(), "case"));
  }
};

class Verification {
 public:
  Verification(bool on_gpu, std::size_t runs) : on_gpu_(on_gpu), progress_(runs) {}
  bool failed() const { return failed_; }
  bool verified_anything() const { return failed_ || right_; }

  template <class C>
  void run(Chosen<C> const& chosen) {
    for (auto const* entry : chosen.entries)
      for (C const& c : chosen.cases) {
        progress_.next(fmt::format("{}, {}", entry->info().name, c.sentence()));
        std::string const result = on_gpu_ ? check_on_gpu(*entry, c) : verify_on_cpu(*entry, c).check_result;
        bool const failed = result.starts_with("FAILED");
        failed_ |= failed, right_ += result == "ok";
        progress_.erase();
        fmt::print("{:<34} {}  {}\n", entry->info().name, c.short_name(),
                   failed ? coloured(result, Colour::red) : result);
        flush_stdout();
      }
  }

 private:
  bool const on_gpu_;
  Progress progress_;
  bool failed_ = false;
  std::size_t right_ = 0;
};

// Describes the comparisons.
std::string comparisons(bool on_gpu, bool copies, bool gemms) {
  if (!on_gpu)
    return std::string("every element is compared") +
           (gemms ? "; GEMMs once more on significands, which tell fp32 from TF32, against a bound" : "");
  std::string s = "poisoned outputs between guard bands";
  if (copies) s += "; of a copy every element is compared";
  if (gemms)
    s += "; of a GEMM every element up to 2e10 multiply-adds, beyond that a sample against fp64, and once more, on "
         "significands, which tell fp32 from TF32, a sample against a bound";
  return s;
}

}  // namespace

std::vector<std::string> chosen_kernels(std::vector<std::string> const& typed) {
  auto const known = all_kernel_names();
  std::set<std::string> chosen;
  for (std::string const& name : typed) {
    std::vector<std::string> begin;
    std::copy_if(known.begin(), known.end(), std::back_inserter(begin),
                 [&](std::string const& each) { return !name.empty() && each.starts_with(name); });
    if (begin.empty() || std::find(begin.begin(), begin.end(), name) != begin.end()) begin = {resolve(name, known)};
    chosen.insert(begin.begin(), begin.end());
  }
  return typed.empty() ? known : std::vector(chosen.begin(), chosen.end());
}

bool verify(std::vector<std::string> const& kernels, std::vector<Problem> const& problems, bool on_cpu) {
  Chosen<CopyCase> const copies(kernels, problems);
  Chosen<GemmCase> const gemms(kernels, problems);
  std::string const missing = on_cpu ? "as asked" : why_no_gpu();
  bool const on_gpu = missing.empty();
  auto const refuse_long = [&]<class C>(Chosen<C> const& chosen) {
    if (!on_gpu && chosen.runs())
      for (C const& c : chosen.cases) refuse_long_replay(c.operands(), c.replayed_fma());
  };
  refuse_long(copies);
  refuse_long(gemms);
  std::string const where = on_gpu ? "on the GPU" : fmt::format("replayed on the CPU, thread by thread ({})", missing);
  fmt::print("{}{}{}: {}\n", where, copies.sentence(), gemms.sentence(),
             comparisons(on_gpu, copies.runs(), gemms.runs()));
  flush_stdout();
  Verification verification(on_gpu, copies.runs() + gemms.runs());
  verification.run(copies);
  verification.run(gemms);
  if (!verification.verified_anything()) fmt::print("nothing was verified: these kernels reject these problems\n");
  return verification.verified_anything() && !verification.failed();
}

}  // namespace inlay::lab
