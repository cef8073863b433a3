// What to change, said of an access or of a resource.
#pragma once
#include <string>

#include <inlay/explain/explanation.h>

namespace inlay::explain {

// Of the request that costs most beyond its ideal. Empty: nothing to gain.
std::string advice_for(Site const& site);
std::string advice_for(Resource const& limit);

}  // namespace inlay::explain
