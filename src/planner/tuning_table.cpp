#include <inlay/planner/tuning_table.h>

#include <inlay/error.h>
#include <inlay/version.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace inlay::planner {
namespace {

using nlohmann::json;

TuningKey key_of(PlanKey const& words, std::string gpu) {
  TuningKey key;
  key.gpu = std::move(gpu);
  key.problem.assign(words.words().begin(), words.words().end());
  return key;
}

nlohmann::ordered_json line_of(TuningKey const& key, Choice const& choice) {
  nlohmann::ordered_json line{{"inlay", version()},    {"gpu", key.gpu},  {"kernel", choice.kernel},
                              {"label", choice.label}, {"us", choice.us}, {"problem", key.problem}};
  if (choice.config.tile) line["tile"] = choice.config.tile;
  Tiling const& t = choice.config.tiling;
  if (t.modes == 0) return line;
  std::vector<int> modes, extents;
  for (int i = 0; i < t.modes; ++i) modes.push_back(t.tiled[i].mode), extents.push_back(t.tiled[i].extent);
  line["tiling"] = {{"modes", modes},           {"extents", extents},
                    {"run_modes", t.run_modes}, {"run_splits", t.run_splits},
                    {"lanes", t.lanes},         {"odd_pitch", t.padding == Tiling::Padding::odd_pitch}};
  return line;
}

// Throws json::exception, or Error without a place, for what is no choice. The planner checks configurations before it
// uses one.
std::pair<TuningKey, Choice> choice_in(json const& line) {
  TuningKey key;
  key.gpu = line.at("gpu");
  key.problem = line.at("problem").get<std::vector<std::int64_t>>();
  Choice choice{line.at("kernel"), line.at("label"), {}, line.at("us")};
  if (!(choice.us > 0 && std::isfinite(choice.us))) throw Error("'us' is no time");
  if (line.contains("tile")) choice.config.tile = line.at("tile");
  if (line.contains("tiling")) {
    json const& from = line.at("tiling");
    Tiling& t = choice.config.tiling;
    auto const modes = from.at("modes").get<std::vector<int>>(), extents = from.at("extents").get<std::vector<int>>();
    if (modes.size() != extents.size() || modes.size() > std::size_t(Tiling::kModes))
      throw Error("'tiling' has " + std::to_string(modes.size()) + " modes and " + std::to_string(extents.size()) +
                  " extents");
    for (; t.modes < int(modes.size()); ++t.modes)
      t.tiled[t.modes] = {modes[std::size_t(t.modes)], extents[std::size_t(t.modes)]};
    t.run_modes = from.at("run_modes"), t.run_splits = from.at("run_splits"), t.lanes = from.at("lanes");
    t.padding = from.at("odd_pitch").get<bool>() ? Tiling::Padding::odd_pitch : Tiling::Padding::none;
  }
  return {key, choice};
}

}  // namespace

TuningKey::TuningKey(Copy copy, Device device, bool) {
  copy.src_shift = copy.dst_shift = 0, device.id = 0;
  *this = key_of({copy, device}, device.name);
}
TuningKey::TuningKey(Gemm const& gemm, Device device, bool with_workspace) {
  device.id = 0;
  *this = key_of({gemm, device, with_workspace}, device.name);
}

std::optional<Choice> TuningTable::find(TuningKey const& key) const {
  std::lock_guard lock(mutex_);
  auto const found = choices_.find(key);
  return found == choices_.end() ? std::nullopt : std::optional(found->second);
}
void TuningTable::add(TuningKey const& key, Choice const& choice) {
  if (key.problem.empty()) return;  // too many modes for a key
  std::lock_guard lock(mutex_);
  choices_[key] = choice;
  empty_ = false;
}
void TuningTable::clear() {
  std::lock_guard lock(mutex_);
  choices_.clear();
  empty_ = true;
}
void TuningTable::save(std::string const& path) const {
  std::string const unfinished = path + ".part";  // renamed when it is whole
  std::ofstream file(unfinished);
  {
    std::lock_guard lock(mutex_);
    for (auto const& [key, choice] : choices_) file << line_of(key, choice).dump() << '\n';
  }
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(unfinished, path, failed);
  if (!file || failed) throw Error("tuned choices cannot be written to " + path);
}
std::size_t TuningTable::load(std::string const& path) {
  std::ifstream file(path);
  if (!file) throw Error("tuned choices cannot be read from " + path);
  std::vector<std::pair<TuningKey, Choice>> read;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    if (text.empty()) continue;
    try {
      json const line = json::parse(text);
      if (line.at("inlay") == version()) read.push_back(choice_in(line));
    } catch (std::exception const& e) {
      throw Error(path + ", line " + std::to_string(number) + " is no tuned choice: " + e.what());
    }
  }
  if (file.bad() || std::filesystem::is_directory(path)) throw Error("tuned choices cannot be read from " + path);
  for (auto const& [key, choice] : read) add(key, choice);
  return read.size();
}

}  // namespace inlay::planner
