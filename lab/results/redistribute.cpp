#include "results/redistribute.h"

#include <fmt/format.h>
#include <inlay/planner/pushes.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "measure/gpu.h"
#include "measure/redistribute.h"
#include "problems/suites.h"
#include "results/output.h"
#include "results/provenance.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

Json to_json(Redistributed const& row) {
  ShardedCase const& c = row.problem;
  Json j;
  j["case"] = c.sentence();
  j["shape"] = c.shape, j["axes"] = c.axes, j["from"] = c.from, j["to"] = c.to, j["elem_bytes"] = c.elem_bytes;
  j["ranks"] = row.ranks, j["wrong"] = row.wrong, j["bytes_to_others"] = row.bytes_to_others;
  j["us"] = row.us, j["captured_us"] = row.captured_us, j["copy_engine_us"] = row.engine_us;
  j["of_copy_engine"] = row.engine_us / row.us, j["predicted_us"] = row.predicted_us;
  return j;
}

struct AskedSharded {
  ShardedCase shape;
  std::vector<std::string> suites;
  std::string json;

  std::vector<ShardedCase> all() const {
    if (suites.empty()) return shape.validate(), std::vector{shape};
    std::vector<ShardedCase> cases;
    for (std::string const& suite : suites)
      for (ShardedCase const& c : load_redistributions(suite)) cases.push_back(c);
    return cases;
  }
};

// Whether all are right.
bool bench_redistributions(AskedSharded const& asked, std::string const& typed) {
  auto const cases = asked.all();
  if (!asked.json.empty()) check_writable(asked.json);
  if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("bench redistribute needs a GPU: " + why);
  fmt::print("{}; us of the slowest rank with both barriers, launched and in a graph\n", redistribution_devices());
  fmt::print("{:<48} {:>10} {:>9} {:>9} {:>12} {:>8} {:>9}\n", "", "MB sent", "us", "in graph", "copy engine",
             "its share", "predicted");
  Json file;
  Provenance const from = provenance(typed);
  file["device"] = from.device, file["driver"] = from.driver, file["cuda"] = from.cuda, file["commit"] = from.commit;
  file["date"] = from.date, file["command"] = typed, file["devices"] = redistribution_devices();
  file["rows"] = Json::array();
  bool right = true;
  redistribute_on_gpus(cases, [&](Redistributed const& row) {
    fmt::print("{:<48} {:>10.2f} {:>9.2f} {:>9.2f} {:>12.2f} {:>8.3f} {:>9.2f}{}\n", row.problem.sentence(),
               row.bytes_to_others * 0x1p-20, row.us, row.captured_us, row.engine_us, row.engine_us / row.us,
               row.predicted_us, row.wrong ? fmt::format("  FAILED: {:.0f} wrong elements", row.wrong) : "");
    flush_stdout();
    file["rows"].push_back(to_json(row));
    right = right && row.wrong == 0;
  });
  if (!asked.json.empty()) write_file(asked.json, file.dump(1) + "\n");
  return right;
}

// What `why` says: the parts lie far from each other at aligned addresses, which are not accessed.
std::string why_redistribution(ShardedCase const& c, int ranks, int rank, Device const& device) {
  constexpr std::uint64_t kApart = std::uint64_t(1) << 44;
  auto const address = [](std::uint64_t part) { return reinterpret_cast<void*>((part + 1) * kApart); };
  std::vector<void*> parts;
  for (int r = 0; r < ranks; ++r) parts.push_back(address(std::uint64_t(r)));
  ShardedViews const both = views(c, ranks, rank, parts[std::size_t(rank)], address(std::uint64_t(ranks)));
  return planner::why(planner::pushes_of(transfers(both.dst, parts, both.src, rank), rank), rank, ranks, device);
}

}  // namespace

void add_bench_of_redistributions(CLI::App& bench, std::string const& typed, int& status) {
  auto* const command = bench.add_subcommand(
      "redistribute", "over all GPUs of this host, or two ranks on its only one, against their copy engine");
  auto const asked = std::make_shared<AskedSharded>();
  auto* const one = command->add_option_group("one problem");
  add_flags(*one, asked->shape);
  auto* const suite = command->add_option(
      "--suite", asked->suites, "the problems of files: names in suites/redistribute, or paths of .json files");
  suite->delimiter(',');
  command->add_option("--json", asked->json, "the file to write");
  command->callback([asked, one, suite, typed, &status] {
    for (CLI::Option const* option : one->get_options())
      if (suite->count() && option->count())
        throw UsageError(fmt::format("{} was given with --suite, which lists whole problems", option->get_name()));
    status = bench_redistributions(*asked, typed) ? 0 : 1;
  });
}

void add_why_of_redistributions(CLI::App& why) {
  auto* const command =
      why.add_subcommand("redistribute", "of a tensor that is cut over several GPUs, as a rank sees it");
  struct Options {
    ShardedCase shape;
    int ranks = 2, rank = 0;
  };
  auto const o = std::make_shared<Options>();
  add_flags(*command, o->shape);
  command->add_option("--ranks", o->ranks, "GPUs, 512 at most")->capture_default_str();
  command->add_option("--rank", o->rank, "whose stores are explained")->capture_default_str();
  DeviceOption const named(*command);
  command->callback([o, named] {
    o->shape.validate();
    if (o->ranks < 1 || o->ranks > 512)
      throw UsageError(fmt::format("--ranks is {}; it is between 1 and 512", o->ranks));
    if (o->rank < 0 || o->rank >= o->ranks)
      throw UsageError(fmt::format("--rank is {}; there are {} ranks", o->rank, o->ranks));
    Device const device = named.get(true);
    fmt::print("{}{}", why_redistribution(o->shape, o->ranks, o->rank, device), named.note(device, "planned"));
  });
}

}  // namespace inlay::lab
