// gaussian_families.h: the families worth keeping of up to 64 variables with rows of a matrix, without tables over all
// sets.
//
// For each variable a walk over its parent sets, by growing sets: all subsets of a set come before it. Parents that
// tell most stand last, so that what can still be added to a set without them is weak, and a bound on it cuts early:
// regressions by leaps and bounds [Furnival & Wilson 1974].
#pragma once

#include <cstdint>

#include "base/run_limits.h"
#include "base/table.h"
#include "base/var_set.h"
#include "gaussian/gaussian_sets.h"
#include "scoring/pruning_question.h"
#include "gaussian/scatter.h"

namespace topdag {

struct GaussianQuestion {
    bool is_penalised;  // each parent costs something, whatever it explains; else nothing bounds larger sets
    int max_parents;
    double epsilon;   // as for families_worth_keeping
    std::uint64_t k;  // not 0: a family goes only when k proper subsets score more; epsilon is not used
    double slack;     // what rounding can move scores by: families so near to going stay
    double memory;    // bytes that may be taken
};

// The variables that are conditions have states, and sets of them score as a table of their own, by log likelihood less
// a penalty for each cell.
struct Conditions {
    const Table& states;
    SetFormula formula;
};

struct GaussianFamilies : KeptLists {
    VarSet degenerate = 0;    // not 0: a set with a dependent variable
    std::uint64_t n_cut = 0;  // parent sets cut off by the bound together with what was to be added to them
};

// At least the families that families_worth_keeping would keep, had all been scored. The same for any number of threads.
// `conditions`: null where no variable is one.
GaussianFamilies score_gaussian_families(const BlockScore& score, const Conditions* conditions,
                                         const GaussianQuestion& question, Limits& limits);

}  // namespace topdag
