#include <fmt/format.h>
#include <inlay/model/kernel_info.h>

namespace inlay::model {

std::string Reason::sentence() const {
  return format ? fmt::format(fmt::runtime(format), args[0], args[1], args[2]) : std::string();
}

char const* name_of(Ladder ladder) {
  constexpr char const* names[] = {"copy", "transpose", "sgemm", "hgemm", "sgemm_tc", "none"};
  return names[int(ladder)];
}

}  // namespace inlay::model
