// `inlay verify`
#pragma once
#include <string>
#include <vector>

#include "cases.h"

namespace inlay::lab {

struct VerifyOptions {
  std::vector<std::string> variants;
  Case shape{1003, 517, 1, 4};
  std::vector<int> elem_bytes{1, 2, 4, 8, 16};  // one case each
  bool cpu = false;
};

// One line per variant and element size; false when something failed.
bool verify(VerifyOptions const& options);

}  // namespace inlay::lab
