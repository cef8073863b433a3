// A command that cannot run as typed: one sentence, exit code 2.
#pragma once
#include <stdexcept>

namespace inlay::lab {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace inlay::lab
