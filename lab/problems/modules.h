// The modules of src/ that the lab reads.
#pragma once
#include <inlay/planner/traffic.h>

namespace inlay {
namespace problem {}
namespace planner {}
namespace replay {}
namespace explain {}
namespace registry {}
}  // namespace inlay

namespace inlay::lab {

using namespace problem;
using namespace planner;
using namespace replay;
using namespace explain;
using namespace registry;
using planner::Traffic;  // the replay has one too

}  // namespace inlay::lab
