// A command that cannot be carried out as it was given: one sentence, exit code 2.
#pragma once
#include <stdexcept>

namespace inlay::lab {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace inlay::lab
