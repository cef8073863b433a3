// What to change, said of an access or of a resource.
#pragma once
#include <string>

#include "explain/explanation.h"

namespace inlay {

// Of the request that costs most beyond its ideal. Empty: nothing to gain.
std::string advice_for(Site const& site);
std::string advice_for(Resource const& limit);

}  // namespace inlay
