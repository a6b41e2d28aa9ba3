// order_climbing.cpp
#include "cuts/order_climbing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/draws.h"
#include "families/order_moves.h"

namespace topdag {

namespace {

// Climbs with finite numbers: a variable without a family that fits costs more than any network.
template <class Set>
class Climber {
public:
    explicit Climber(const CandidatesOf<Set>& candidates) : candidates_(candidates) {
        for (int v = 0; v < candidates.n_variables(); ++v) missing_ += candidates.of(v).back().cost;
    }

    double cost_of(const std::vector<int>& order) const {
        double total = 0.0;
        Set placed = 0;
        for (const int v : order) {
            total += cost(v, placed);
            placed |= only<Set>(v);
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
    double cost(int v, Set within) const {
        const double found = candidates_.least_cost(v, within);
        return found == CandidatesOf<Set>::no_family ? missing_ : found;
    }

    bool move_to_best(std::vector<int>& order, int v) const {
        const int from = static_cast<int>(std::find(order.begin(), order.end(), v) - order.begin());
        const auto own_cost = [this](int w, Set before) { return cost(w, before); };
        const BestPlace best = best_place<Set>(order, from, own_cost, [](int, int) { return true; });
        if (best.place == from) return false;
        move_to(order, from, best.place);
        return true;
    }

    const CandidatesOf<Set>& candidates_;
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
template <class Set>
bool put_in_place(std::vector<int>& order, const CandidatesOf<Set>& candidates) {
    Set placed = 0;
    for (auto place = order.begin(); place != order.end(); ++place) {
        const auto fits = [&](int v) { return candidates.least_cost(v, placed) < CandidatesOf<Set>::no_family; };
        const auto next = std::find_if(place, order.end(), fits);
        if (next == order.end()) return false;
        std::rotate(place, next, next + 1);
        placed |= only<Set>(*place);
    }
    return true;
}

}  // namespace

template <class Set>
CandidatesOf<Set> undominated(const CandidatesOf<Set>& candidates) {
    std::vector<std::int64_t> offsets{0};
    std::vector<Set> parents;
    std::vector<double> scores;
    for (int v = 0; v < candidates.n_variables(); ++v) {
        for (const CandidateOf<Set>& family : candidates.of(v)) {
            const auto cheaper = parents.begin() + offsets.back();
            const auto dominates = [&](Set other) { return is_subset(other, family.parents); };
            if (std::any_of(cheaper, parents.end(), dominates)) continue;
            parents.push_back(family.parents);
            scores.push_back(-family.cost);
        }
        offsets.push_back(static_cast<std::int64_t>(parents.size()));
    }
    return CandidatesOf<Set>(candidates.n_variables(), offsets.data(), parents.data(), scores.data());
}

template <class Set>
OrderedNetworkOf<Set> network_of_order(const CandidatesOf<Set>& candidates, std::vector<int> order) {
    OrderedNetworkOf<Set> network{0.0, std::vector<Set>(order.size(), 0), std::move(order)};
    Set placed = 0;
    for (const int v : network.order) {
        network.cost += candidates.least_cost(v, placed);
        for (const CandidateOf<Set>& family : candidates.of(v))
            if (is_subset(family.parents, placed)) {
                network.parents[v] = family.parents;
                break;
            }
        placed |= only<Set>(v);
    }
    return network;
}

template <class Set>
OrderedNetworkOf<Set> climb_from(const CandidatesOf<Set>& candidates, std::vector<int> order, Limits& limits) {
    Climber<Set>(candidates).climb(order, limits);
    return network_of_order(candidates, std::move(order));
}

template <class Set>
OrderedNetworkOf<Set> climb_orders(const CandidatesOf<Set>& candidates, std::int64_t climbs, std::uint64_t seed, Limits& limits) {
    const Climber<Set> climber(candidates);
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

template <class Set>
OrderedNetworkOf<Set> sample_orders(const CandidatesOf<Set>& candidates, std::int64_t orders, std::uint64_t seed, Limits& limits) {
    const int n = candidates.n_variables();
    OrderedNetworkOf<Set> best{CandidatesOf<Set>::no_family, std::vector<Set>(n, 0), first_order(n)};
    Draws draws(seed);
    limits.begin(Phase::searching, static_cast<std::uint64_t>(orders));
    for (std::int64_t i = 0; i < orders && !(i > 0 && limits.reached()); ++i) {
        std::vector<int> order = first_order(n);
        draws.shuffle(order);
        if (!put_in_place(order, candidates)) return best;
        OrderedNetworkOf<Set> found = network_of_order(candidates, std::move(order));
        if (found.cost < best.cost) best = std::move(found);
        limits.done.fetch_add(1);
    }
    return best;
}

template <class Set>
std::vector<int> order_of_weights(const CandidatesOf<Set>& candidates, const SupportOf<Set>& support) {
    const int n = candidates.n_variables();
    std::vector<int> order;
    Set placed = 0;
    while (static_cast<int>(order.size()) < n) {
        int next = -1;
        double most = 0.0, least = 0.0;
        for (int v = 0; v < n; ++v) {
            if (has(placed, v)) continue;
            double weight = 0.0;
            for (const WeightedFamilyOf<Set>& family : support[v])
                if (is_subset(family.parents, placed)) weight += family.weight;
            const double cost = candidates.least_cost(v, placed);
            if (next < 0 || weight > most || (weight == most && cost < least)) {
                next = v;
                most = weight;
                least = cost;
            }
        }
        order.push_back(next);
        placed |= only<Set>(next);
    }
    return order;
}

template CandidatesOf<VarSet> undominated(const CandidatesOf<VarSet>&);
template OrderedNetworkOf<VarSet> network_of_order(const CandidatesOf<VarSet>&, std::vector<int>);
template OrderedNetworkOf<VarSet> climb_from(const CandidatesOf<VarSet>&, std::vector<int>, Limits&);
template OrderedNetworkOf<VarSet> climb_orders(const CandidatesOf<VarSet>&, std::int64_t, std::uint64_t, Limits&);
template OrderedNetworkOf<VarSet> sample_orders(const CandidatesOf<VarSet>&, std::int64_t, std::uint64_t, Limits&);
template std::vector<int> order_of_weights(const CandidatesOf<VarSet>&, const SupportOf<VarSet>&);

template CandidatesOf<WideSet> undominated(const CandidatesOf<WideSet>&);
template OrderedNetworkOf<WideSet> network_of_order(const CandidatesOf<WideSet>&, std::vector<int>);
template OrderedNetworkOf<WideSet> climb_from(const CandidatesOf<WideSet>&, std::vector<int>, Limits&);
template OrderedNetworkOf<WideSet> climb_orders(const CandidatesOf<WideSet>&, std::int64_t, std::uint64_t, Limits&);
template OrderedNetworkOf<WideSet> sample_orders(const CandidatesOf<WideSet>&, std::int64_t, std::uint64_t, Limits&);
template std::vector<int> order_of_weights(const CandidatesOf<WideSet>&, const SupportOf<WideSet>&);

template CandidatesOf<BroadSet> undominated(const CandidatesOf<BroadSet>&);
template OrderedNetworkOf<BroadSet> network_of_order(const CandidatesOf<BroadSet>&, std::vector<int>);
template OrderedNetworkOf<BroadSet> climb_from(const CandidatesOf<BroadSet>&, std::vector<int>, Limits&);
template OrderedNetworkOf<BroadSet> climb_orders(const CandidatesOf<BroadSet>&, std::int64_t, std::uint64_t, Limits&);
template OrderedNetworkOf<BroadSet> sample_orders(const CandidatesOf<BroadSet>&, std::int64_t, std::uint64_t, Limits&);
template std::vector<int> order_of_weights(const CandidatesOf<BroadSet>&, const SupportOf<BroadSet>&);

template CandidatesOf<VastSet> undominated(const CandidatesOf<VastSet>&);
template OrderedNetworkOf<VastSet> network_of_order(const CandidatesOf<VastSet>&, std::vector<int>);
template OrderedNetworkOf<VastSet> climb_from(const CandidatesOf<VastSet>&, std::vector<int>, Limits&);
template OrderedNetworkOf<VastSet> climb_orders(const CandidatesOf<VastSet>&, std::int64_t, std::uint64_t, Limits&);
template OrderedNetworkOf<VastSet> sample_orders(const CandidatesOf<VastSet>&, std::int64_t, std::uint64_t, Limits&);
template std::vector<int> order_of_weights(const CandidatesOf<VastSet>&, const SupportOf<VastSet>&);

}  // namespace topdag
