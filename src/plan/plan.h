// A plan says which variant answers a problem, and why. Pure: making one needs no GPU and allocates no device memory.
#pragma once
#include <string>
#include <vector>

#include "plan/variant.h"

namespace inlay {

// One variant that was considered.
struct Candidate {
  Variant<Move> const* variant;
  Reason rejected;  // empty: it could run
  bool unwanted;    // it could, but only where nothing else does
};

struct MovePlan {
  Move move;
  Device device;
  Variant<Move> const* chosen = nullptr;  // null: nobody can
  std::vector<Candidate> candidates;      // best first, as the planner prefers them

  // The modes, the choice, its predicted requests and sectors, and every candidate with its rejection.
  std::string why() const;
};

MovePlan plan_move(Move const& move, Device const& device);

}  // namespace inlay
