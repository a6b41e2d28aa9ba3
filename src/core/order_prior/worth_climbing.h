// worth_climbing.h: good networks to begin with, so that much can be ruled out. No claim of completeness.
#pragma once

#include <optional>
#include <vector>

#include "base/run_limits.h"
#include "lattice/lattice.h"
#include "order_prior/shared_bounds.h"
#include "order_prior/worth_list.h"

namespace topdag {

// The families of one network; they lie in lists that must stay where they are.
using FamilyChoice = std::vector<const AllowedFamily*>;

// Those that differ from the best network of the lattice in one family whose parents stay before it in its order, as
// many as the list takes. No network weighs more than `log_most_weight`.
void count_neighbours(const Lattice& lattice, const BestNetwork& best, double log_most_weight, WorthList& found,
                      Limits& limits);

// The best allowed family of each variable in this order; nothing when a variable has none.
std::optional<FamilyChoice> best_along(const std::vector<int>& order, const AllowedFamilies& families);
double count_choice(const FamilyChoice& choice, WorthList& found);

// One family at a time for as long as that makes the network worth more.
void climb(FamilyChoice choice, double value, const AllowedFamilies& families, WorthList& found, Limits& limits);

// Those that differ from one of the list in one family, the best of the list first, while they may be worth enough.
void count_around(const AllowedFamilies& families, WorthList& found, Limits& limits);

}  // namespace topdag
