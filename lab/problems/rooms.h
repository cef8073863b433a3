// What the lab reads of the rooms of src/.
#pragma once
#include <inlay/plan/traffic.h>

namespace inlay {
namespace problem {}
namespace planning {}
namespace replay {}
namespace explain {}
namespace registry {}
}  // namespace inlay

namespace inlay::lab {

using namespace problem;
using namespace planning;
using namespace replay;
using namespace explain;
using namespace registry;
using planning::Traffic;  // the replay has one too

}  // namespace inlay::lab
