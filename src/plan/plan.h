// A plan says which variant answers a problem, and why. Pure: making one needs no GPU, allocates nothing and takes about a
// microsecond; the reasons are worked out when they are asked for.
#pragma once
#include <string>

#include "plan/variant.h"

namespace inlay {

struct MovePlan {
  Move move;
  Variant<Move> const* chosen = nullptr;  // null: nobody can

  // The modes, the choice, its predicted requests and transactions, and every candidate in the order of preference,
  // with its cost or its rejection. `device` is the one that the plan was made for.
  std::string why(Device const& device) const;
};

MovePlan plan_move(Move const& move, Device const& device);

}  // namespace inlay
