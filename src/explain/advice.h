// What to change, said of an access or of a resource.
#pragma once
#include <string>

#include <inlay/explain/explanation.h>

namespace inlay::explain {

// Advice on the request that costs most beyond its ideal.
struct Advice {
  std::string sentence;  // empty: nothing to gain
  Site after;            // the site's requests with the advice followed; unchanged if nothing helps
};
// In shared memory it holds for all sites of the array.
Advice advice_for(Site const& site, std::vector<Site> const& all);
std::string advice_for(Resource const& limit);

}  // namespace inlay::explain
