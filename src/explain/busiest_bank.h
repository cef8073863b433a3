// The bank with the most conflicts of a request.
#pragma once
#include <inlay/banks.h>

namespace inlay::explain {

// The bank with the most distinct words in one pass of a request, and the number of these words.
struct BusiestBank {
  unsigned bank = 0, words = 0;
};
BusiestBank busiest_bank(banks::Request const& request, banks::Access access);

}  // namespace inlay::explain
