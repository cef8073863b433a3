// The version of these headers, and of the library that is linked.
#pragma once
#include <inlay/export.h>

#define INLAY_VERSION_MAJOR 0
#define INLAY_VERSION_MINOR 1
#define INLAY_VERSION_PATCH 0

namespace inlay {

INLAY_API char const* version();  ///< "0.1.0"

}  // namespace inlay
