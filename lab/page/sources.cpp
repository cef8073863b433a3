#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "page/parts.h"
#include "results/data_files.h"

namespace inlay::lab::page {
namespace {

// Paths in the source tree: of each header by its stem, and of the family's header for each instance of a list.
std::map<std::string, std::string> find_files() {
  static std::regex const instance("INLAY_INSTANCE\\((\\w+), (\\w+), \\w+\\)");
  std::map<std::string, std::string> found;
  std::error_code missing;  // ignored: an installed program may have no sources, and then the report shows none
  for (char const* folder : {"src/kernels", "tutorial"})
    for (auto const& entry : std::filesystem::recursive_directory_iterator(data_file(folder), missing)) {
      auto const path = folder / entry.path().lexically_relative(data_file(folder));
      if (path.extension() == ".h") found.emplace(path.stem(), path.string());
      if (path.extension() != ".def") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);)
        if (std::smatch m; std::regex_match(line, m, instance))
          found.emplace(m[1], (path.parent_path() / (m[2].str() + ".h")).string());
    }
  return found;
}
std::vector<std::string> includes_of(std::string const& stem) {
  static std::regex const include("#include <inlay/(?:kernels|tutorial)/(?:\\w+/)*(\\w+)\\.h>");
  std::string const text = source_of(stem);
  std::vector<std::string> found;
  for (std::sregex_iterator m(text.begin(), text.end(), include), end; m != end; ++m) found.push_back((*m)[1]);
  return found;
}

// The function operator()(Block, ...) without its indentation; empty if the file has none.
std::string body_in(std::string const& text) {
  auto const head = text.find("CUTE_DEVICE void operator()(Block");
  if (head == text.npos) return {};
  // From the line `template <class Block>` to the closing brace with the same indentation.
  auto const begin = text.rfind("template <class Block>", head), line = text.rfind('\n', begin) + 1;
  std::string const indent = text.substr(line, begin - line), brace = '\n' + indent + "}\n";
  std::string body = '\n' + text.substr(line, text.find(brace, head) + brace.size() - line);
  for (std::size_t at = 0; (at = body.find('\n' + indent, at)) != body.npos; ++at) body.erase(at + 1, indent.size());
  return body.substr(1);
}

}  // namespace

std::string path_of(std::string const& stem) {
  static auto const files = find_files();
  auto const at = files.find(stem);
  return at == files.end() ? std::string() : at->second;
}

std::string source_of(std::string const& stem) {
  std::string const file = path_of(stem);
  if (file.empty()) return {};
  std::ifstream in(data_file(file), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> family_of(std::string const& stem) {
  std::vector<std::string> found{stem};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::string& included : includes_of(found[i]))
      if (std::find(found.begin(), found.end(), included) == found.end()) found.push_back(std::move(included));
  found.erase(found.begin());
  return found;
}

// Searches the step's file, then its includes, then theirs. Of several bodies at the same distance, the longest is the
// main kernel; others add split-K slices.
Body body_of(std::string const& stem) {
  Body body;
  for (std::vector<std::string> files{stem}, next; !files.empty() && body.text.empty(); files.swap(next), next.clear())
    for (std::string const& file : files) {
      std::string text = body_in(source_of(file));
      if (text.size() > body.text.size()) body = {file, std::move(text)};
      for (std::string& included : includes_of(file)) next.push_back(std::move(included));
    }
  return body;
}

}  // namespace inlay::lab::page
