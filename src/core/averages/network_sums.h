// network_sums.h: exact sums over all networks, every network with the product of its families' weights.
//
//   total = alpha(V);  P(v's parents are S) = w_v(S) * sum over U around S of alpha(U) gamma_v(U) / total
//   P(v is an ancestor of t) = sum over U without v and t of alpha(U) z_v(U) gamma_v(U) / total
//
// where U is the set of all variables that do not descend from v [Pensar, Talvitie, Hyttinen & Koivisto 2020]. The
// parent sets of each variable must have probability one together, and alpha(V) must be beta(V): n + 1 sums along
// different ways, whose differences show the rounding error.
//
// Under a precedence (precedence.h) what comes before v counts as a parent of v, so z_v(U) is zero where U lacks it,
// and descendants are those by such parents too: paths, but nothing else, are then not those of the networks.
#pragma once

#include "averages/posterior_tables.h"
#include "base/run_limits.h"

namespace topdag {

struct SumsWanted {
    bool posteriors = true;   // or the total alone
    bool extended = false;    // with 32 digits
    VarSet parent_sets = 0;   // of these variables
};

Posteriors sum_networks(const LocalScores& scores, const SumsWanted& wanted, Limits& limits);

double network_sums_bytes(int n, const SumsWanted& wanted, int threads);

}  // namespace topdag
