// Advice: what to change about an access or about the use of a resource.
#pragma once
#include <string>

#include <inlay/explain/explanation.h>

namespace inlay::explain {

// Advice on the request of a site that exceeds its ideal cost most.
struct Advice {
  std::string sentence;  // empty: nothing to gain
  Site after;            // the site if the advice is followed; unchanged if there is none
};
// all: the sites of the kernel. Advice about shared memory considers all sites of the array.
Advice advice_for(Site const& site, std::vector<Site> const& all);
std::string advice_for(Resource const& limit);

// The bank with the most distinct words in one pass of a request, and the number of these words.
struct BusiestBank {
  unsigned bank = 0, words = 0;
  std::int64_t apart = 0;  // bytes between neighbouring words; 0: they are not evenly apart
};
BusiestBank busiest_bank(banks::Request const& request, banks::Access access);

}  // namespace inlay::explain
