// order_moves.h: where in an order a variable costs least, whatever the costs are of.
#pragma once

#include <algorithm>
#include <vector>

#include "base/var_set.h"

namespace topdag {

struct BestPlace {
    int place;
    double change;  // of the cost; 0 for the place it has
};

// Follows the variable at `from` through the order by swaps of neighbours; only the two that swap change their costs.
// cost(v, before) is what v costs when these come before it; may_pass(v, w) whether they may swap, v being moved.
template <class Set, class Cost, class MayPass>
BestPlace best_place(const std::vector<int>& order, int from, Cost&& cost, MayPass&& may_pass) {
    const int n = static_cast<int>(order.size());
    const int v = order[from];
    Set before = 0;
    for (int i = 0; i < from; ++i) before |= only<Set>(order[i]);
    const double own = cost(v, before);
    BestPlace best{from, 0.0};
    const auto consider = [&](int place, double change) {
        if (change < best.change) best = {place, change};
    };
    double others = 0.0;
    Set seen = before;
    for (int i = from + 1; i < n && may_pass(v, order[i]); ++i) {
        const int w = order[i];
        others += cost(w, seen) - cost(w, seen | only<Set>(v));
        seen |= only<Set>(w);
        consider(i, others + cost(v, seen) - own);
    }
    others = 0.0;
    seen = before;
    for (int i = from - 1; i >= 0 && may_pass(v, order[i]); --i) {
        const int w = order[i];
        seen &= ~only<Set>(w);
        others += cost(w, seen | only<Set>(v)) - cost(w, seen);
        consider(i, others + cost(v, seen) - own);
    }
    return best;
}

inline void move_to(std::vector<int>& order, int from, int to) {
    if (from < to)
        std::rotate(order.begin() + from, order.begin() + from + 1, order.begin() + to + 1);
    else
        std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
}

}  // namespace topdag
