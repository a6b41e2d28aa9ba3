// parent_sets.h: per variable the parent sets worth keeping.
#pragma once

#include <vector>

#include "base/var_set.h"
#include "families/local_scores.h"

namespace topdag {

struct KeptFamilies {
    std::vector<VarSet> parents;
    std::vector<double> scores;
};

// The families of x that may occur in a network within epsilon of the best. A family goes when a proper subset of
// its parents scores more than epsilon better; with epsilon below zero also when one scores as well, which keeps
// enough for one best network and no more. With epsilon infinite all allowed families are kept.
KeptFamilies families_worth_keeping(const LocalScores& scores, int x, double epsilon);

// How many families are allowed, of all variables together.
std::size_t count_families(const LocalScores& scores);

}  // namespace topdag
