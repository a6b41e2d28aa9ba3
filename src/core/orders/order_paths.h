// order_paths.h: ways through sets of placed variables, and the orders and networks they stand for.
#pragma once

#include <utility>
#include <vector>

#include "base/var_set.h"
#include "families/candidates.h"
#include "families/parent_lookup.h"

namespace topdag {

class OrderPaths {
public:
    OrderPaths(const Candidates& candidates, const ParentLookup& lookup, bool extends);

    // The set with every variable that can follow at no cost, those that can follow then too, and so on: placing them
    // next is best for the best network [Karan & Zola 2016]. The set itself when paths are not extended.
    VarSet extended(VarSet placed) const;

    // An order that passes through these sets, each reached from the one before by a variable and what follows at no
    // cost; of several the cheapest. The last set holds all variables.
    std::vector<int> order_through(const std::vector<VarSet>& way) const;

    // By variable, the first family with the least cost among those with parents earlier in the order.
    std::vector<VarSet> parents_in(const std::vector<int>& order) const;

private:
    int first_free(VarSet placed, VarSet among) const;
    void append_free(VarSet placed, VarSet goal, std::vector<int>& order) const;
    int branching_variable(VarSet placed, VarSet goal) const;

    const ParentLookup& lookup_;
    bool extends_;
    VarSet everyone_;
    std::vector<std::vector<VarSet>> free_parents_;  // by variable: parents of the families that cost nothing
};

// What the best network in an order costs, and its parents by variable; infinite, and no parents, when there is none.
std::pair<double, std::vector<VarSet>> network_in_order(const Candidates& candidates, const std::vector<int>& order);

}  // namespace topdag
