// What a replay found and counted, as text.
#pragma once
#include <string>

#include "replay/recorder.h"

namespace inlay::replay {

// "NAME: ok", or how many findings there are and the sentences that were kept. Then a table of the sites: bytes of a lane,
// requests of a warp, what one takes on average and what it had to take at least: sectors of global memory or wavefronts of
// shared memory; of TMA, boxes and their bytes. Last, the share of the sectors' bytes that somebody asked for.
std::string summary(Recorder const& recorder);

}  // namespace inlay::replay
