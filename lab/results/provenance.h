// Where a result comes from: the fields with which the JSON files under results/ begin. bench/provenance.py has them
// too.
#pragma once
#include <string>

namespace inlay::lab {

struct Provenance {
  std::string device, driver, cuda, commit, date, command;
};
// The current GPU and the time now are filled in. The commit is INLAY_COMMIT of the environment, or that of the
// repository in which the program was built.
Provenance provenance(std::string const& command);

}  // namespace inlay::lab
