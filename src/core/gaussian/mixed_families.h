// mixed_families.h: families of a table with discrete and continuous variables, under a penalised likelihood.
//
// A continuous variable has a linear regression, with a variance of its own, for each state of its discrete parents; a
// discrete variable has discrete parents only.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/table.h"
#include "gaussian/scatter.h"

namespace topdag {

struct MixedTable {
    Table discrete;   // the discrete variables
    Numbers numbers;  // the continuous ones, of the same rows
    std::vector<int> discrete_places;  // where they stand among all variables
    std::vector<int> continuous_places;

    int n_variables() const { return static_cast<int>(discrete_places.size() + continuous_places.size()); }
};

// Families that have no score. Degenerate: of a continuous variable where in some state of its discrete parents that
// occurs there are too few rows, or no residual variance, so that the likelihood has no maximum. Hopeless: the penalty
// alone puts them more than 1000 nats below the variable without parents, whatever the data are.
struct MixedCounts {
    std::uint64_t degenerate = 0;
    std::uint64_t hopeless = 0;
};

// Log likelihoods less `penalty` for each free parameter; families[x * 2^(n-1) + U without bit x], minus infinity where
// a family has no score or is not allowed. False when a limit stopped it.
bool score_mixed_families(const MixedTable& table, double penalty, int max_parents, Limits& limits,
                          double* families, MixedCounts& counts);

}  // namespace topdag
