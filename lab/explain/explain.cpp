#include "explain/explain.h"

#include <fmt/format.h>
#include <inlay/error.h>

#include <memory>

#include "commands.h"
#include "measure/gpu.h"
#include "usage_error.h"
#include "variants.h"

namespace inlay::lab {
namespace {

template <class P>
void sample(Entry<P> const& entry, P const& problem, Device const& device, Recorder& recorder) {
  if (Reason const reason = entry.info().rejects(problem, device))
    throw UsageError(fmt::format("{} does not take this problem: {}", entry.info().name, reason.sentence()));
  entry.sample(problem, device, recorder);
  for (replay::Launch const& l : recorder.launches)
    if (std::int64_t(l.shared_bytes) > device.shared_bytes)
      throw UsageError(fmt::format("{} takes {} bytes of shared memory, {} has {}", entry.info().name, l.shared_bytes,
                                   device.name, device.shared_bytes));
  if (recorder.finding_count)
    throw Error(fmt::format("{} fails in its replay: {}", entry.info().name, recorder.findings.front().sentence));
}

// "H200, H100-SXM, ...", of the table.
std::string known_devices() {
  std::string names;
  for (Device const& device : devices()) names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

Device device_asked_for(std::string const& name) {
  if (name == "here") {
    if (auto const why = why_no_gpu(); !why.empty()) throw UsageError("there is no GPU here: " + why);
    Device const device = gpu_or_table();
    // A part of a GPU has not the rates of the whole one.
    if (Device const* known = find_device(device.name); known && known->sm_count == device.sm_count) return device;
    throw UsageError(fmt::format("the GPU here, {}, is not in the table", device.name));
  }
  for (Device const& device : devices())
    if (name == device.name) return device;
  throw UsageError(fmt::format("there is no device '{}' in the table, which has {}, and here", name, known_devices()));
}

Json site_json(ExplainedSite const& x) {
  Site const& s = x.site;
  char const* const mechanisms[] = {"plain", "cp_async", "tma"};
  Json j;
  j["operand"] = s.operand;
  j["space"] = s.space == replay::Space::global ? "global" : "shared";
  j["direction"] = s.store ? "store" : "load";
  j["mechanism"] = mechanisms[int(s.mechanism)];
  j["bytes_per_lane"] = s.bytes;
  j["requests"] = s.traffic.requests;
  j["transactions"] = s.traffic.transactions;
  j["ideal"] = s.ideal;
  j["sectors"] = s.mechanism == Mechanism::tma      ? s.sectors
                 : s.space == replay::Space::global ? s.traffic.transactions
                                                    : 0;
  j["useful_bytes"] = s.useful;
  if (!x.advice.empty()) j["advice"] = x.advice;
  return j;
}

struct Options {
  std::string variant, device = "H200";
  Case move;
  GemmCase product;
  bool json = false;
};

// Throws UsageError for what the other kind of problem is asked by.
void refuse_foreign(CLI::App const& command, bool is_product) {
  for (char const* name : {"--rows", "--cols", "--pitch", "--pitch-dst", "--base-src", "--base-dst", "--elem"})
    if (is_product && command.get_option(name)->count())
      throw UsageError(fmt::format("{} was given with a product", name));
  for (char const* name :
       {"--m", "--n", "--k", "--alpha", "--beta", "--lda", "--ldb", "--ldc", "--layout", "--accuracy"})
    if (!is_product && command.get_option(name)->count())
      throw UsageError(fmt::format("{} was given with a move", name));
}

void run(Options& o, CLI::App const& command) {
  auto names = variant_names<Move>();
  for (auto const& name : variant_names<Gemm>()) names.push_back(name);
  o.variant = resolve(o.variant, names);
  bool const is_product = info_of<Gemm>(o.variant);
  refuse_foreign(command, is_product);
  Device const device = device_asked_for(o.device);
  if (is_product && !command.get_option("--layout")->count())
    o.product.layout = shown_layout(variant_named<Gemm>(o.variant).info());
  o.product.batch = o.move.batch;
  Explanation const x =
      is_product ? explain_variant(o.variant, o.product, device) : explain_variant(o.variant, o.move, device);
  if (o.json)
    fmt::print("{}\n", to_json(x).dump(1));
  else
    fmt::print("{}", to_text(x));
}

}  // namespace

Explanation explain_variant(std::string const& variant, Case const& c, Device const& device) {
  validate(c);
  auto const& entry = variant_named<Move>(variant);
  Recorder recorder;
  auto const e = std::size_t(c.elem_bytes);
  void const* src = recorder.reserve("in", std::size_t(c.source_elements()) * e, c.elem_bytes);
  void* dst = recorder.reserve("out", std::size_t(c.destination_elements()) * e, c.elem_bytes);
  sample(entry, is_copy(entry.info()) ? copy_move(c, dst, src) : transpose_move(c, dst, src), device, recorder);
  double const bytes = 2 * double(c.elements()) * c.elem_bytes;
  return explanation_of(recorder, {entry.info().name, c.sentence(), c.name(), bytes, 0}, device);
}

Explanation explain_variant(std::string const& variant, GemmCase const& c, Device const& device) {
  validate(c);
  auto const& entry = variant_named<Gemm>(variant);
  Recorder recorder;
  auto const operand = [&](char const* name, Stored const& x) {
    return static_cast<float*>(
        recorder.reserve(name, std::size_t(c.batch * x.elements()) * sizeof(float), sizeof(float)));
  };
  GemmCall const call{c.alpha, c.beta, operand("A", c.a()), operand("B", c.b()), operand("C", c.c())};
  Gemm const gemm = gemm_of(c, call);
  recorder.reserve_workspace(entry.info().workspace(gemm, device));
  sample(entry, gemm, device, recorder);
  double const m = double(gemm.M()), n = double(gemm.N()), k = double(gemm.K());
  double const elements = m * k + k * n + m * n * (c.beta != 0 ? 2 : 1);
  return explanation_of(
      recorder,
      {entry.info().name, c.sentence(), c.name(), 4 * elements * double(c.batch), 2 * m * n * k * double(gemm.L())},
      device);
}

Json to_json(Explanation const& x) {
  Counts const& c = x.totals;
  Json j;
  j["variant"] = x.work.variant;
  j["case"] = x.work.case_name;
  j["device"] = x.device.name;
  j["sites"] = Json::array();
  for (ExplainedSite const& s : x.sites) j["sites"].push_back(site_json(s));
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
  t["dram_bytes"] = x.work.dram_bytes;
  t["exposed_loads"] = std::int64_t(x.demand.exposed_loads);
  j["launches"] = Json::array();
  for (planning::Launch const& l : x.demand.launches)
    j["launches"].push_back({{"blocks", l.blocks},
                             {"threads", l.threads},
                             {"cluster", l.cluster},
                             {"shared_bytes", l.shared_bytes},
                             {"resident", resident_blocks(l, x.device)}});
  for (Resource const& r : x.resources) j["resources"][r.name] = r.seconds * 1e6;
  j["time_us"] = x.seconds * 1e6;
  j["limit"] = x.limit;
  j["advice"] = x.advice();
  return j;
}

void add_explain_command(CLI::App& app) {
  auto* const command =
      app.add_subcommand("explain", "what a variant does to memory, and how long that takes on a GPU");
  auto const o = std::make_shared<Options>();
  command->add_option("variant", o->variant, "its name or the beginning of it")->required();
  add_shape(*command, o->move);
  command->add_option("--elem", o->move.elem_bytes, "bytes of an element")->capture_default_str();
  add_shape(*command, o->product);
  add_layout(*command, o->product);
  add_batch(*command, o->move.batch);
  command->add_option("--device", o->device, known_devices() + ", or here")->capture_default_str();
  command->add_flag("--json", o->json, "as JSON; times in microseconds");
  command->callback([o, command] { run(*o, *command); });
}

}  // namespace inlay::lab
