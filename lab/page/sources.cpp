#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "page/parts.h"

namespace inlay::lab::page {

std::string source_of(std::string const& stem) {
  std::ifstream in(std::filesystem::path(INLAY_KERNELS_DIR) / (stem + ".h"), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> family_of(std::string const& stem) {
  static std::regex const include("#include \"kernels/(\\w+)\\.h\"");
  std::vector<std::string> found{stem};
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::string const text = source_of(found[i]);
    for (std::sregex_iterator m(text.begin(), text.end(), include), end; m != end; ++m)
      if (std::find(found.begin(), found.end(), (*m)[1]) == found.end()) found.push_back((*m)[1]);
  }
  found.erase(found.begin());
  return found;
}

}  // namespace inlay::lab::page
