#include "plan/device.h"

namespace inlay {

double datasheet_gbps(std::string const& name) {
  struct Row {
    char const* name;
    double gbps;
  };
  // Vendor datasheets. The longer names come first: the first that occurs in `name` counts.
  static constexpr Row rows[] = {{"GH200 480GB", 4000},    {"GH200", 4900},          {"H200", 4800},
                                 {"H100 PCIe", 2039},      {"H100 NVL", 3938},       {"H100", 3350},
                                 {"A100-SXM4-80GB", 2039}, {"A100 80GB PCIe", 1935}, {"A100", 1555},
                                 {"RTX 3090", 936},        {"RTX 4090", 1008}};
  for (Row const& row : rows)
    if (name.find(row.name) != std::string::npos) return row.gbps;
  return 0;
}

}  // namespace inlay
