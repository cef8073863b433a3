#include <inlay/version.h>

#define INLAY_TEXT(x) #x
#define INLAY_VERSION_TEXT(major, minor, patch) INLAY_TEXT(major) "." INLAY_TEXT(minor) "." INLAY_TEXT(patch)

namespace inlay {

char const* version() { return INLAY_VERSION_TEXT(INLAY_VERSION_MAJOR, INLAY_VERSION_MINOR, INLAY_VERSION_PATCH); }

}  // namespace inlay
