// order_climbing.cpp
#include "order_climbing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "draws.h"

namespace topdag {

namespace {

// Climbs with finite numbers: a variable without a family that fits costs more than any network.
class Climber {
public:
    explicit Climber(const Candidates& candidates) : candidates_(candidates) {
        for (int v = 0; v < candidates.n_variables(); ++v) missing_ += candidates.of(v).back().cost;
    }

    double cost_of(const std::vector<int>& order) const {
        double total = 0.0;
        VarSet placed = 0;
        for (const int v : order) {
            total += cost(v, placed);
            placed |= only(v);
        }
        return total;
    }

    // Moves one variable at a time to its best place until none has a better one.
    void climb(std::vector<int>& order, Limits& limits) const {
        const int n = static_cast<int>(order.size());
        for (int since_change = 0, v = 0; since_change < n && !limits.reached(); v = (v + 1) % n)
            since_change = move_to_best(order, v) ? 0 : since_change + 1;
    }

private:
    double cost(int v, VarSet within) const {
        const double found = candidates_.least_cost(v, within);
        return found == Candidates::no_family ? missing_ : found;
    }

    // Follows v through the order by swaps of neighbours; only the two that swap change their costs.
    bool move_to_best(std::vector<int>& order, int v) const {
        const int n = static_cast<int>(order.size());
        const int from = static_cast<int>(std::find(order.begin(), order.end(), v) - order.begin());
        VarSet before = 0;
        for (int i = 0; i < from; ++i) before |= only(order[i]);
        const double own = cost(v, before);
        int best_place = from;
        double best_change = 0.0;
        const auto consider = [&](int place, double change) {
            if (change < best_change) {
                best_change = change;
                best_place = place;
            }
        };
        double others = 0.0;
        VarSet seen = before;
        for (int i = from + 1; i < n; ++i) {
            const int w = order[i];
            others += cost(w, seen) - cost(w, seen | only(v));
            seen |= only(w);
            consider(i, others + cost(v, seen) - own);
        }
        others = 0.0;
        seen = before;
        for (int i = from - 1; i >= 0; --i) {
            const int w = order[i];
            seen &= ~only(w);
            others += cost(w, seen | only(v)) - cost(w, seen);
            consider(i, others + cost(v, seen) - own);
        }
        if (best_place == from) return false;
        move(order, from, best_place);
        return true;
    }

    static void move(std::vector<int>& order, int from, int to) {
        if (from < to)
            std::rotate(order.begin() + from, order.begin() + from + 1, order.begin() + to + 1);
        else
            std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
    }

    const Candidates& candidates_;
    double missing_ = 1.0;
};

std::vector<int> first_order(int n) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

void disturb(std::vector<int>& order, Draws& draws) {
    const int n = static_cast<int>(order.size());
    const int swaps = 2 + draws.below(3 + n / 8);
    for (int i = 0; i < swaps; ++i) std::swap(order[draws.below(n)], order[draws.below(n)]);
}

// At each place comes the first variable left that has a family that fits; false when there is none.
bool put_in_place(std::vector<int>& order, const Candidates& candidates) {
    VarSet placed = 0;
    for (auto place = order.begin(); place != order.end(); ++place) {
        const auto fits = [&](int v) { return candidates.least_cost(v, placed) < Candidates::no_family; };
        const auto next = std::find_if(place, order.end(), fits);
        if (next == order.end()) return false;
        std::rotate(place, next, next + 1);
        placed |= only(*place);
    }
    return true;
}

}  // namespace

Candidates undominated(const Candidates& candidates) {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint64_t> parents;
    std::vector<double> scores;
    for (int v = 0; v < candidates.n_variables(); ++v) {
        for (const Candidate& family : candidates.of(v)) {
            const auto cheaper = parents.begin() + offsets.back();
            const auto dominates = [&](VarSet other) { return is_subset(other, family.parents); };
            if (std::any_of(cheaper, parents.end(), dominates)) continue;
            parents.push_back(family.parents);
            scores.push_back(-family.cost);
        }
        offsets.push_back(static_cast<std::int64_t>(parents.size()));
    }
    return Candidates(candidates.n_variables(), offsets.data(), parents.data(), scores.data());
}

OrderedNetwork network_of_order(const Candidates& candidates, std::vector<int> order) {
    OrderedNetwork network{0.0, std::vector<VarSet>(order.size(), 0), std::move(order)};
    VarSet placed = 0;
    for (const int v : network.order) {
        network.cost += candidates.least_cost(v, placed);
        for (const Candidate& family : candidates.of(v))
            if (is_subset(family.parents, placed)) {
                network.parents[v] = family.parents;
                break;
            }
        placed |= only(v);
    }
    return network;
}

OrderedNetwork climb_from(const Candidates& candidates, std::vector<int> order, Limits& limits) {
    Climber(candidates).climb(order, limits);
    return network_of_order(candidates, std::move(order));
}

OrderedNetwork climb_orders(const Candidates& candidates, std::int64_t climbs, std::uint64_t seed, Limits& limits) {
    const Climber climber(candidates);
    Draws draws(seed);
    std::vector<int> best = first_order(candidates.n_variables());
    climber.climb(best, limits);
    double best_cost = climber.cost_of(best);
    limits.begin(Phase::searching, static_cast<std::uint64_t>(climbs));
    for (std::int64_t i = 0; i < climbs && !limits.reached(); ++i) {
        std::vector<int> order = best;
        if (i % 10 == 9)
            draws.shuffle(order);
        else
            disturb(order, draws);
        climber.climb(order, limits);
        const double cost = climber.cost_of(order);
        if (cost <= best_cost) {
            best_cost = cost;
            best = std::move(order);
        }
        limits.done.fetch_add(1);
    }
    return network_of_order(candidates, std::move(best));
}

OrderedNetwork sample_orders(const Candidates& candidates, std::int64_t orders, std::uint64_t seed, Limits& limits) {
    const int n = candidates.n_variables();
    OrderedNetwork best{Candidates::no_family, std::vector<VarSet>(n, 0), first_order(n)};
    Draws draws(seed);
    limits.begin(Phase::searching, static_cast<std::uint64_t>(orders));
    for (std::int64_t i = 0; i < orders && !(i > 0 && limits.reached()); ++i) {
        std::vector<int> order = first_order(n);
        draws.shuffle(order);
        if (!put_in_place(order, candidates)) return best;
        OrderedNetwork found = network_of_order(candidates, std::move(order));
        if (found.cost < best.cost) best = std::move(found);
        limits.done.fetch_add(1);
    }
    return best;
}

std::vector<int> order_of_weights(const Candidates& candidates, const Support& support) {
    const int n = candidates.n_variables();
    std::vector<int> order;
    VarSet placed = 0;
    while (static_cast<int>(order.size()) < n) {
        int next = -1;
        double most = 0.0, least = 0.0;
        for (int v = 0; v < n; ++v) {
            if (has(placed, v)) continue;
            double weight = 0.0;
            for (const WeightedFamily& family : support[v])
                if (is_subset(family.parents, placed)) weight += family.weight;
            const double cost = candidates.least_cost(v, placed);
            if (next < 0 || weight > most || (weight == most && cost < least)) {
                next = v;
                most = weight;
                least = cost;
            }
        }
        order.push_back(next);
        placed |= only(next);
    }
    return order;
}

}  // namespace topdag
