// `inlay demo`: the ladders on one screen.
#pragma once
#include <string>

namespace inlay::lab {

std::string demo_screen();

}  // namespace inlay::lab
