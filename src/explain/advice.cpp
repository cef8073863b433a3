#include <inlay/explain/advice.h>

#include <algorithm>
#include <iterator>
#include <set>

#include <inlay/explain/cure.h>
#include <inlay/model/format.h>

namespace inlay::explain {
using model::format;
using replay::Mechanism;

namespace {

// The difference of successive numbers; 0 if it varies, or there are fewer than two.
std::int64_t step_of(std::set<std::uint64_t> const& numbers) {
  std::int64_t step = 0;
  for (auto at = numbers.begin(); at != numbers.end() && std::next(at) != numbers.end(); ++at) {
    auto const here = std::int64_t(*std::next(at) - *at);
    if (step && here != step) return 0;
    step = here;
  }
  return step;
}

}  // namespace

BusiestBank busiest_bank(banks::Request const& r, banks::Access access) {
  BusiestBank busiest;
  unsigned const lanes = banks::lanes_of_pass(r, access);
  for (unsigned first = 0; first < 32; first += lanes) {
    std::set<std::uint64_t> words[32];
    for (unsigned t = first; t < first + lanes; ++t)
      for (std::uint64_t w = r.address[t] / 4; (r.active >> t & 1) && w <= (r.address[t] + r.bytes - 1) / 4; ++w)
        words[w % 32].insert(w);
    for (unsigned bank = 0; bank < 32; ++bank)
      if (words[bank].size() > busiest.words) busiest = {bank, unsigned(words[bank].size()), 4 * step_of(words[bank])};
  }
  return busiest;
}

namespace {

Advice advice_for_shared(Site const& s, std::vector<Site> const& all) {
  banks::Request const& r = s.worst;
  auto const access = s.store ? banks::Access::store : banks::Access::load;
  BusiestBank const b = busiest_bank(r, access);
  unsigned const now = banks::wavefronts(r, access), least = banks::passes(r, access);
  Advice advice{format("%u wavefronts where %u would do, %u words in bank %u", now, least, b.words, b.bank), s};
  if (b.apart) advice.sentence += format(", %lld bytes apart", static_cast<long long>(b.apart));
  std::int64_t& after = advice.after.traffic.transactions;
  auto const cure = cure_of(s, all);
  if (!cure) {
    after = s.ideal;
    return advice;
  }
  advice.sentence += ": " + (cure->layouts.empty() ? cure->why_not : cure->layouts);
  if (!cure->layouts.empty() && cure->wavefronts > least) advice.sentence += format("; then %u", cure->wavefronts);
  if (!cure->layouts.empty())
    after = std::max(s.ideal, std::min(after, s.traffic.requests * std::int64_t(cure->wavefronts)));
  return advice;
}

std::string advice_for_global(Site const& s) {
  banks::Request const& r = s.worst;
  if (s.worst_by_halves)
    return "global and shared addresses lie half a sector apart, each sector is requested twice: pad rows by whole "
           "sectors";
  unsigned const sectors = banks::sectors(r), least = unsigned((banks::distinct_bytes(r) + 31) / 32);
  std::string const text = format("%u sectors where %u would do", sectors, least);
  auto const stride = stride_of(r);
  if (stride && *stride >= 32)
    return text + format(", lanes %lld bytes apart: let them run along what is contiguous, by way of shared memory",
                         static_cast<long long>(*stride));
  if (sectors == least + 1) return text + ": it begins in the middle of a sector, align its first byte to 32";
  return text;
}

}  // namespace

Advice advice_for(Site const& s, std::vector<Site> const& all) {
  if (s.mechanism == Mechanism::tma || s.traffic.transactions <= s.ideal || s.worst_excess == 0) return {"", s};
  if (s.space == replay::Space::shared) return advice_for_shared(s, all);
  Advice advice{advice_for_global(s), s};
  advice.after.traffic.transactions = s.ideal;
  advice.after.lines = std::min(s.lines, (s.ideal + 3) / 4);
  return advice;
}

std::string advice_for(Resource const& limit) {
  if (limit.name == "DRAM") return "every byte moves once and the DRAM is busy: only moving fewer bytes would help";
  if (limit.name == "tensor cores")
    return "the tensor cores are busy: only an instruction that multiplies faster would help, wgmma instead of "
           "mma.sync";
  if (limit.name == "FMA") return "the multiply-add units are busy: what is left is in the instructions between them";
  if (limit.name == "FMA waits")
    return "multiply-adds wait for shared memory and for loads: more multiply-adds for each shared load, loads further "
           "ahead";
  if (limit.name == "L1") return "load more per wavefront: wider accesses, larger tiles of a thread";
  if (limit.name == "issue") return "fewer, wider accesses: each brings its instructions with it";
  if (limit.name == "latency") return "more bytes on their way at once: more blocks, or more loads of a thread";
  if (limit.name == "launch") return "the work is small: what a launch costs counts most";
  return "let more of what is loaded be used again before it leaves the multiprocessor";
}

}  // namespace inlay::explain
