// order_climbing.cpp
#include "cuts/order_climbing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/draws.h"
#include "base/infinity.h"
#include "base/parallel.h"
#include "families/order_moves.h"

namespace topdag {

namespace {

constexpr std::size_t few_families = 1'000;  // with fewer, starting threads takes longer than climbing
constexpr int fewest_swaps = 2, most_swaps = 9;
// A climb may end above where it began by a draw of up to this share of how climbs of its time spread, at first; by less
// and less later. With 100 variables that finds networks up to four nats better than going on from the best only.
constexpr double first_allowance = 0.5;

// Climbs with finite numbers: a variable without a family that fits costs more than any network.
//
// Of every variable the family it has in the order at hand is known. Moving v past w can change what w has only where
// that family holds v, or a better one may; so most steps look at no family at all.
template <class Set>
class Climber {
public:
    explicit Climber(const CandidatesOf<Set>& candidates)
        : candidates_(candidates), used_(candidates.n_variables(), 0), chosen_(candidates.n_variables(), 0) {
        for (int v = 0; v < candidates.n_variables(); ++v) {
            missing_ += candidates.of(v).back().cost;
            for (const CandidateOf<Set>& family : candidates.of(v)) used_[v] |= family.parents;
        }
    }

    // Moves one variable at a time to its best place until none has a better one; what the order costs then.
    double climb(std::vector<int>& order, Limits& limits) {
        const int n = static_cast<int>(order.size());
        choose(order, 0, n);
        for (int since_change = 0, v = 0; since_change < n && !limits.reached(); v = (v + 1) % n)
            since_change = move_to_best(order, v) ? 0 : since_change + 1;
        double total = 0.0;
        for (const int v : order) total += cost(v, chosen_[v]);
        return total;
    }

private:
    // The first family from `begin` on, and before `end`, that fits; else `end`.
    std::size_t first_inside(int v, const Set& within, std::size_t begin, std::size_t end) const {
        const std::vector<CandidateOf<Set>>& families = candidates_.of(v);
        while (begin < end && !is_subset(families[begin].parents, within)) ++begin;
        return begin;
    }
    std::size_t none(int v) const { return candidates_.of(v).size(); }

    double cost(int v, std::size_t family) const {
        return family == none(v) ? missing_ : candidates_.of(v)[family].cost;
    }
    bool holds(int v, std::size_t family, int parent) const {
        return family != none(v) && has(candidates_.of(v)[family].parents, parent);
    }

    // The families of the variables from one place of the order to another.
    void choose(const std::vector<int>& order, int begin, int end) {
        Set before = 0;
        for (int i = 0; i < end; ++i) {
            const int v = order[i];
            if (i >= begin) chosen_[v] = first_inside(v, before, 0, none(v));
            before |= only<Set>(v);
        }
    }

    bool move_to_best(std::vector<int>& order, int v) {
        const int from = static_cast<int>(std::find(order.begin(), order.end(), v) - order.begin());
        const int to = best_place(order, from);
        if (to == from) return false;
        move_to(order, from, to);
        choose(order, std::min(from, to), std::max(from, to) + 1);
        return true;
    }

    // Follows the variable through the order by swaps of neighbours; only the two that swap change their costs.
    int best_place(const std::vector<int>& order, int from) const {
        const int n = static_cast<int>(order.size());
        const int v = order[from];
        Set before = 0;
        for (int i = 0; i < from; ++i) before |= only<Set>(order[i]);
        const double own = cost(v, chosen_[v]);
        int best = from;
        double best_change = 0.0;
        const auto consider = [&](int place, double change) {
            if (change < best_change) {
                best = place;
                best_change = change;
            }
        };
        double others = 0.0;
        Set seen = before;
        std::size_t family = chosen_[v];
        for (int i = from + 1; i < n; ++i) {
            const int w = order[i];
            if (const std::size_t now = chosen_[w]; holds(w, now, v))
                others += cost(w, first_inside(w, seen, now + 1, none(w))) - cost(w, now);
            seen |= only<Set>(w);
            if (has(used_[v], w)) family = first_inside(v, seen, 0, family);
            consider(i, others + cost(v, family) - own);
        }
        others = 0.0;
        seen = before;
        family = chosen_[v];
        for (int i = from - 1; i >= 0; --i) {
            const int w = order[i];
            seen &= ~only<Set>(w);
            if (has(used_[w], v))
                others += cost(w, first_inside(w, seen | only<Set>(v), 0, chosen_[w])) - cost(w, chosen_[w]);
            if (holds(v, family, w)) family = first_inside(v, seen, family + 1, none(v));
            consider(i, others + cost(v, family) - own);
        }
        return best;
    }

    const CandidatesOf<Set>& candidates_;
    std::vector<Set> used_;            // by variable: in any of its families
    std::vector<std::size_t> chosen_;  // by variable: its family in the order at hand
    double missing_ = 1.0;
};

std::vector<int> first_order(int n) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

// A few swaps.
void disturb(std::vector<int>& order, Draws draws) {
    const int n = static_cast<int>(order.size());
    const int swaps = fewest_swaps + draws.below(most_swaps - fewest_swaps + 1);
    for (int i = 0; i < swaps; ++i) std::swap(order[draws.below(n)], order[draws.below(n)]);
}

// How far their mean is from the least.
double spread_of(const std::vector<double>& costs) {
    const double sum = std::accumulate(costs.begin(), costs.end(), 0.0);
    return sum / static_cast<double>(costs.size()) - *std::min_element(costs.begin(), costs.end());
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

// The network of an order.
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
OrderedNetworkOf<Set> climb_from(const CandidatesOf<Set>& candidates, std::vector<int> order, Limits& limits) {
    Climber<Set>(candidates).climb(order, limits);
    return network_of_order(candidates, std::move(order));
}

template <class Set>
OrderedNetworkOf<Set> climb_orders(const CandidatesOf<Set>& candidates, std::int64_t climbs, std::uint64_t seed, Limits& limits) {
    // So many begin near the same order, whatever the number of threads: the network found must not depend on it.
    constexpr std::int64_t at_once = 8;
    const int threads = candidates.size() < few_families ? 1 : limits.threads;
    std::vector<Climber<Set>> climbers(threads, Climber<Set>(candidates));
    std::vector<int> now = first_order(candidates.n_variables());
    double cost_now = climbers[0].climb(now, limits);
    std::vector<int> best = now;
    double best_cost = cost_now;
    limits.begin(Phase::searching, static_cast<std::uint64_t>(climbs));
    for (std::int64_t begin = 0; begin < climbs && !limits.reached(); begin += at_once) {
        const std::size_t size = static_cast<std::size_t>(std::min(at_once, climbs - begin));
        std::vector<std::vector<int>> orders(size, now);
        std::vector<double> costs(size, infinity);
        parallel_for(size, threads, limits, [&](std::size_t i, int worker) {
            disturb(orders[i], Draws(mixed(seed + begin + i)));
            costs[i] = climbers[worker].climb(orders[i], limits);
            limits.done.fetch_add(1);
        });
        const double left = 1.0 - static_cast<double>(begin) / static_cast<double>(climbs);
        const double allowance = limits.reached() ? 0.0 : first_allowance * left * spread_of(costs);
        for (std::size_t i = 0; i < size; ++i) {
            // Where it costs the same, what is near it is new.
            if (costs[i] > cost_now + drawn(seed, begin + i, 0) * allowance) continue;
            cost_now = costs[i];
            now = std::move(orders[i]);
            if (cost_now < best_cost) {
                best_cost = cost_now;
                best = now;
            }
        }
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

template <class Set>
std::vector<int> order_of_weights(const CandidatesOf<Set>& candidates, const Support& support) {
    const int n = candidates.n_variables();
    std::vector<int> order;
    std::vector<char> is_placed(n, 0);
    Set placed = 0;
    while (static_cast<int>(order.size()) < n) {
        int next = -1;
        double most = 0.0, least = 0.0;
        for (int v = 0; v < n; ++v) {
            if (is_placed[v]) continue;
            double weight = 0.0;
            for (const WeightedFamily& family : support[v])
                if (are_marked(family.parents, is_placed)) weight += family.weight;
            const double cost = candidates.least_cost(v, placed);
            if (next < 0 || weight > most || (weight == most && cost < least)) {
                next = v;
                most = weight;
                least = cost;
            }
        }
        order.push_back(next);
        is_placed[next] = 1;
        placed |= only<Set>(next);
    }
    return order;
}

#define TOPDAG_CLIMBING(Set)                                                                                          \
    template CandidatesOf<Set> undominated(const CandidatesOf<Set>&);                                                \
    template OrderedNetworkOf<Set> climb_from(const CandidatesOf<Set>&, std::vector<int>, Limits&);                  \
    template OrderedNetworkOf<Set> climb_orders(const CandidatesOf<Set>&, std::int64_t, std::uint64_t, Limits&);     \
    template std::vector<int> order_of_weights(const CandidatesOf<Set>&, const Support&);
TOPDAG_CLIMBING(VarSet)
TOPDAG_CLIMBING(WideSet)
TOPDAG_CLIMBING(BroadSet)
TOPDAG_CLIMBING(VastSet)
#undef TOPDAG_CLIMBING

}  // namespace topdag
