#include "explain/explain.h"

#include <fmt/format.h>
#include <inlay/error.h>

#include <memory>

#include "commands.h"
#include "problems/kernels.h"
#include "problems/shown_case.h"
#include "results/results.h"
#include "usage_error.h"

namespace inlay::lab {
namespace {

Json site_json(explain::ExplainedSite const& x) {
  replay::Site const& s = x.site;
  char const* const mechanisms[] = {"plain", "cp_async", "tma", "atomic", "wgmma"};
  Json j;
  j["operand"] = s.operand;
  j["space"] = s.space == replay::Space::global ? "global" : "shared";
  j["direction"] = s.store ? "store" : "load";
  j["mechanism"] = mechanisms[int(s.mechanism)];
  j["bytes_per_lane"] = s.bytes;
  j["requests"] = s.traffic.requests;
  j["transactions"] = s.traffic.transactions;
  j["ideal"] = s.ideal;
  j["sectors"] = s.mechanism == replay::Mechanism::tma ? s.sectors
                 : s.space == replay::Space::global    ? s.traffic.transactions
                                                       : 0;
  j["useful_bytes"] = s.useful;
  if (!x.advice.empty()) j["advice"] = x.advice;
  return j;
}

struct ExplainOptions {
  std::string kernel;
  CopyCase copy = transpose_case();
  GemmCase gemm;
  bool json = false;
};

// The problem of the kernel's kind. Without --type, --transa and --transb a GEMM has a type and operand transposes
// that the kernel accepts.
Problem problem_of(ExplainOptions& o, CLI::App const& command) {
  refuse_ignored(command, {o.kernel}, o.gemm);
  if (!info_of<GemmCase>(o.kernel)) return o.copy;
  GemmCase const shown = shown_case(kernel_named<GemmCase>(o.kernel).info(), o.gemm.M, o.gemm.N, o.gemm.K);
  if (!command.count("--type")) o.gemm.type = shown.type;
  if (!command.count("--transa") && !command.count("--transb"))
    o.gemm.transa = shown.transa, o.gemm.transb = shown.transb;
  o.gemm.batch = o.copy.batch();
  return o.gemm;
}

void run(ExplainOptions& o, CLI::App const& command, DeviceOption const& named) {
  o.kernel = resolve(o.kernel, all_kernel_names());
  Problem const problem = problem_of(o, command);
  Device const device = named.get(true);
  Explanation const x = explain_kernel(o.kernel, problem, device);
  if (o.json)
    fmt::print("{}\n", to_json(x).dump(1));
  else
    fmt::print("{}{}{}", to_text(x), recorded_text(x, problem), named.note(device, "predicted"));
}

}  // namespace

void refuse(char const* kernel, Reason const& reason) {
  if (reason) throw UsageError(fmt::format("{} does not take this problem: {}", kernel, reason.sentence()));
}

void check_samples(char const* kernel, Recorder const& recorder, Device const& device) {
  for (replay::RecordedLaunch const& l : recorder.launches)
    if (std::int64_t(l.shared_bytes) > device.shared_bytes)
      throw UsageError(fmt::format("{} takes {} bytes of shared memory, {} has {}", kernel, l.shared_bytes, device.name,
                                   device.shared_bytes));
  if (recorder.finding_count)
    throw Error(fmt::format("{} fails in its replay: {}", kernel, recorder.findings.front().sentence));
}

Explanation explain_kernel(std::string const& kernel, Problem const& problem, Device const& device) {
  return std::visit([&]<class C>(C const& c) { return explain_entry(kernel_named<C>(kernel), c, device); }, problem);
}

std::string recorded_text(Explanation const& x, Problem const& problem) {
  Recorded const recorded = load_recorded();
  for (Results const* results : {&recorded.ours, &recorded.gemms, &recorded.tensor_gemms, &recorded.sliced_gemms}) {
    Device const* device = find_device(results->device);
    Row const* row = results->find(problem, x.work.kernel);
    if (device && device->name == x.device.name && row && row->ms_median)
      return fmt::format("  recorded: {:.4g} ms on {}, the prediction is {:.2f} of that\n", *row->ms_median,
                         results->device, 1e3 * x.seconds / *row->ms_median);
  }
  return "";
}

Json to_json(Explanation const& x) {
  model::Counts const& c = x.totals;
  Json j;
  j["kernel"] = x.work.kernel;
  j["case"] = x.work.case_name;
  j["device"] = x.device.name;
  j["sites"] = Json::array();
  for (explain::ExplainedSite const& s : x.sites) j["sites"].push_back(site_json(s));
  Json& t = j["totals"];
  t["global_load_sectors"] = c.global_load.transactions;
  t["global_store_sectors"] = c.global_store.transactions;
  t["async_copy_sectors"] = c.async_copy.transactions;
  t["tma_load_bytes"] = c.tma_load.transactions;
  t["tma_load_sectors"] = x.tma_load_sectors;
  t["tma_store_bytes"] = c.tma_store.transactions;
  t["tma_store_sectors"] = x.tma_store_sectors;
  t["shared_load_wavefronts"] = c.shared_load.transactions;
  t["shared_store_wavefronts"] = c.shared_store.transactions;
  t["fma"] = c.fma;
  t["mma_fma"] = c.mma_fma;
  t["wgmma_fma"] = c.wgmma_fma;
  t["dram_bytes"] = x.work.dram_bytes;
  t["exposed_loads"] = std::int64_t(x.demand.exposed_loads);
  j["launches"] = Json::array();
  for (model::LaunchDemand const& l : x.demand.launches)
    j["launches"].push_back({{"blocks", l.blocks},
                             {"threads", l.threads},
                             {"cluster", l.cluster},
                             {"shared_bytes", l.shared_bytes},
                             {"resident", resident_blocks(l, x.device)}});
  for (model::Resource const& r : x.resources) j["resources"][r.name] = r.seconds * 1e6;
  j["time_us"] = x.seconds * 1e6;
  j["limit"] = x.limit;
  j["advice"] = x.advice();
  return j;
}

void add_explain_command(CLI::App& app) {
  auto* const command = app.add_subcommand("explain", "a kernel's memory accesses, and its predicted time on a GPU");
  auto const o = std::make_shared<ExplainOptions>();
  command->add_option("kernel", o->kernel, "its name or the beginning of it")->required();
  add_flags(*command, o->copy);
  add_flags(*command, o->gemm, {kBatchFlag});
  DeviceOption const device(*command);
  command->add_flag("--json", o->json, "as JSON; times in microseconds");
  command->callback([o, command, device] { run(*o, *command, device); });
}

}  // namespace inlay::lab
