// gaussian_families.h: the families worth keeping of up to 64 continuous variables, without tables over all sets.
//
// For each variable a walk over its parent sets, by growing sets: all subsets of a set come before it. Parents that
// tell most stand last, so that what can still be added to a set without them is weak, and a bound on it cuts early:
// regressions by leaps and bounds [Furnival & Wilson 1974].
#pragma once

#include <cstdint>

#include "base/run_limits.h"
#include "base/var_set.h"
#include "gaussian/gaussian_sets.h"
#include "scoring/pruning_question.h"
#include "gaussian/scatter.h"

namespace topdag {

struct GaussianQuestion {
    MinorFormula formula;  // of sets of 0 to n variables
    double penalty;  // not 0: scores are log likelihoods less so much for each parent; 0: nothing bounds larger sets
    int max_parents;
    double epsilon;   // as for families_worth_keeping
    std::uint64_t k;  // not 0: a family goes only when k proper subsets score more; epsilon is not used
    double slack;     // what rounding can move scores by: families so near to going stay
    double memory;    // bytes that may be taken
};

struct GaussianFamilies : KeptLists {
    VarSet degenerate = 0;    // not 0: a set with a dependent variable
    std::uint64_t n_cut = 0;  // parent sets cut off by the bound together with what was to be added to them
};

// At least the families that families_worth_keeping would keep, had all been scored. The same for any number of threads.
GaussianFamilies score_gaussian_families(const Scatter& scatter, const GaussianQuestion& question, Limits& limits);

}  // namespace topdag
