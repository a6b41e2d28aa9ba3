// reading_back.h: the best network from a filled lattice. Ties are broken in a fixed way that no thread can change: the
// last variable of an order is the last column that may be last, and parents are dropped from the last column on
// while the best score stays the same, up to the slack that rounding asks for.
//
// Lattice is anything with n_variables(), best(x, set), forward(set) and fewest_parents(x, set, slack).
#pragma once

#include <algorithm>
#include <vector>

#include "base/infinity.h"
#include "base/var_set.h"
#include "families/local_scores.h"

namespace topdag {

struct BestNetwork {
    double score = 0.0;            // minus infinity when no network is allowed
    std::vector<VarSet> parents;   // by variable
};

// The variable that comes last in the best order of these.
template <class Lattice>
int last_variable_of(const Lattice& lattice, VarSet placed) {
    for (int x = lattice.n_variables() - 1;; --x) {
        if (!has(placed, x)) continue;
        const VarSet before = placed & ~only(x);
        if (lattice.best(x, before) + lattice.forward(before) == lattice.forward(placed)) return x;
    }
}

// The variables in the order of the best network. The lattice has last_variable(set) of its own.
template <class Lattice>
std::vector<int> best_order(const Lattice& lattice) {
    std::vector<int> order;
    for (VarSet placed = all_of(lattice.n_variables()); placed != 0; placed &= ~only(order.back()))
        order.push_back(lattice.last_variable(placed));
    std::reverse(order.begin(), order.end());
    return order;
}

// What is left cannot lose one more variable, so no proper subset of it scores as much: it is its own best subset.
template <class Lattice>
VarSet fewest_parents_of(const Lattice& lattice, int x, VarSet available, double slack) {
    const double enough = lattice.best(x, available) - slack;
    for (int v = lattice.n_variables() - 1; v >= 0; --v) {
        if (!has(available, v)) continue;
        const VarSet fewer = available & ~only(v);
        if (lattice.best(x, fewer) >= enough) available = fewer;
    }
    return available;
}

// The same where best(x, .) is not known for all sets: from the families that score enough, in one pass over them all.
VarSet fewest_parents_by_families(const LocalScores& scores, int x, VarSet available, double enough);

// Parents that add no more than `slack` to a local score are left out.
template <class Lattice>
BestNetwork best_network_of(const Lattice& lattice, double slack) {
    VarSet placed = n_sets(lattice.n_variables()) - 1;
    BestNetwork network{lattice.forward(placed), std::vector<VarSet>(lattice.n_variables(), 0)};
    if (network.score == minus_infinity) return network;
    while (placed != 0) {
        const int x = last_variable_of(lattice, placed);
        placed &= ~only(x);
        network.parents[x] = lattice.fewest_parents(x, placed, slack);
    }
    return network;
}

}  // namespace topdag
