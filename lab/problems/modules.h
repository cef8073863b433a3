// The modules of src/ that the lab reads.
#pragma once

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

}  // namespace inlay::lab
