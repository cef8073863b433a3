// Where a request's conflicts are.
#pragma once
#include <inlay/banks.h>

namespace inlay::explain {

// The bank with the most words in one pass of a request, and their number.
struct BusiestBank {
  unsigned bank = 0, words = 0;
};
BusiestBank busiest_bank(banks::Request const& request, banks::Access access);

}  // namespace inlay::explain
