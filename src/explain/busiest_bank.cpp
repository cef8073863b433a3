#include <inlay/explain/busiest_bank.h>

#include <set>

namespace inlay::explain {

BusiestBank busiest_bank(banks::Request const& r, banks::Access access) {
  BusiestBank busiest;
  unsigned const lanes = banks::lanes_of_pass(r, access);
  for (unsigned first = 0; first < 32; first += lanes) {
    std::set<std::uint64_t> words[32];
    for (unsigned t = first; t < first + lanes; ++t)
      for (std::uint64_t w = r.address[t] / 4; (r.active >> t & 1) && w <= (r.address[t] + r.bytes - 1) / 4; ++w)
        words[w % 32].insert(w);
    for (unsigned bank = 0; bank < 32; ++bank)
      if (words[bank].size() > busiest.words) busiest = {bank, unsigned(words[bank].size())};
  }
  return busiest;
}

}  // namespace inlay::explain
