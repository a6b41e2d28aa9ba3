// branching.h: the best network by breaking cycles, one at a time, with a bound at any moment.
//
// Branch and bound of de Campos, Zeng & Ji 2009, section 4: cases wait in a queue, least cost first; a case whose best
// families are a network that satisfies the rules is done; another is split by one of its cycles or by what it breaks.
// In rounds of a fixed number of cases, each taken up by whichever thread is free and merged in order, so answer and
// counts do not depend on the threads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "cycles/case_rules.h"
#include "cycles/cycle_cases.h"
#include "families/candidates.h"

namespace topdag {

struct BranchingQuestion {
    double upper;              // what the network known costs; only better ones are looked for
    std::uint64_t most_steps;  // cases taken up, about
    std::size_t most_bytes;    // of waiting cases; beyond, cases are taken up depth first
};

struct BranchingResult {
    bool finished = false;  // all cases are done; false when a limit came first
    double cost;            // of the best network met, or `upper`
    double bound;           // no network costs less
    std::vector<VarSet> parents;  // of the best network met; empty when none is better than `upper`
    std::uint64_t steps = 0;      // cases taken up
    std::uint64_t made = 0;       // cases that went into the queue
    std::uint64_t networks = 0;   // cases whose best families were a network
    std::size_t bytes = 0;        // of waiting cases, at most
};

// `rules`: only networks that satisfy them are looked for; `upper` is what one of them costs.
BranchingResult branch_on_cycles(const Candidates& candidates, const CaseRules& rules,
                                 const BranchingQuestion& question, Limits& limits);

// All cases that are done when nothing is left out for its cost: every network that satisfies the rules lies in
// just one. For small lists.
std::vector<Case> finished_cases(const Candidates& candidates, const CaseRules& rules);

}  // namespace topdag
