#include "plan/variant.h"

#include <fmt/format.h>

namespace inlay {

std::string Reason::sentence() const {
  return format ? fmt::format(fmt::runtime(format), args[0], args[1], args[2]) : std::string();
}

}  // namespace inlay
