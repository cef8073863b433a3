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

Body body_of(std::string const& stem) {
  std::vector<std::string> files = family_of(stem);
  files.insert(files.begin(), stem);
  for (std::string const& file : files) {
    std::string const text = source_of(file);
    auto const head = text.find("CUTE_DEVICE void operator()(Block");
    if (head == text.npos) continue;
    // From the line of its template's head to the brace that is indented as that is.
    auto const begin = text.rfind("template <class Block>", head), line = text.rfind('\n', begin) + 1;
    std::string const indent = text.substr(line, begin - line), brace = '\n' + indent + "}\n";
    std::string body = '\n' + text.substr(line, text.find(brace, head) + brace.size() - line);
    for (std::size_t at = 0; (at = body.find('\n' + indent, at)) != body.npos; ++at) body.erase(at + 1, indent.size());
    return {file, body.substr(1)};
  }
  return {};
}

}  // namespace inlay::lab::page
