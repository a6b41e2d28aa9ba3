// order_paths.cpp
#include "orders/order_paths.h"

#include <algorithm>

namespace topdag {

OrderPaths::OrderPaths(const Candidates& candidates, const ParentLookup& lookup, bool extends)
    : lookup_(lookup),
      extends_(extends),
      everyone_(all_of(candidates.n_variables())),
      free_parents_(candidates.n_variables()) {
    for (int x = 0; x < candidates.n_variables(); ++x)
        for (const Candidate& family : candidates.of(x)) {
            if (family.cost > 0.0) break;
            const auto is_inside = [&](VarSet smaller) { return is_subset(smaller, family.parents); };
            if (std::none_of(free_parents_[x].begin(), free_parents_[x].end(), is_inside))
                free_parents_[x].push_back(family.parents);
        }
}

// A variable that costs nothing next; -1 when there is none.
int OrderPaths::first_free(VarSet placed, VarSet among) const {
    for (VarSet rest = among; rest != 0; rest &= rest - 1)
        for (VarSet parents : free_parents_[first_of(rest)])
            if (is_subset(parents, placed)) return first_of(rest);
    return -1;
}

VarSet OrderPaths::extended(VarSet placed) const {
    if (!extends_) return placed;
    for (int x; (x = first_free(placed, everyone_ & ~placed)) >= 0;) placed |= only(x);
    return placed;
}

void OrderPaths::append_free(VarSet placed, VarSet goal, std::vector<int>& order) const {
    for (int x; placed != goal && (x = first_free(placed, goal & ~placed)) >= 0; placed |= only(x)) order.push_back(x);
}

int OrderPaths::branching_variable(VarSet placed, VarSet goal) const {
    int cheapest = -1;
    for (VarSet rest = goal & ~placed; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        if (extended(placed | only(x)) != goal) continue;
        if (cheapest < 0 || lookup_.least_cost(x, placed) < lookup_.least_cost(cheapest, placed)) cheapest = x;
    }
    return cheapest;
}

std::vector<int> OrderPaths::order_through(const std::vector<VarSet>& way) const {
    std::vector<int> order;
    append_free(0, way.front(), order);
    for (std::size_t i = 1; i < way.size(); ++i) {
        const int x = branching_variable(way[i - 1], way[i]);
        order.push_back(x);
        append_free(way[i - 1] | only(x), way[i], order);
    }
    return order;
}

std::vector<VarSet> OrderPaths::parents_in(const std::vector<int>& order) const {
    std::vector<VarSet> parents(order.size());
    VarSet placed = 0;
    for (int x : order) {
        parents[x] = lookup_.best_parents(x, placed);
        placed |= only(x);
    }
    return parents;
}

std::pair<double, std::vector<VarSet>> network_in_order(const Candidates& candidates, const std::vector<int>& order) {
    const ParentLookup lookup(candidates);
    double cost = 0.0;
    VarSet placed = 0;
    for (int x : order) {
        cost += lookup.least_cost(x, placed);
        placed |= only(x);
    }
    if (cost == Candidates::no_family) return {cost, {}};
    return {cost, OrderPaths(candidates, lookup, false).parents_in(order)};
}

}  // namespace topdag
