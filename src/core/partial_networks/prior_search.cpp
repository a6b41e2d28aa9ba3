// prior_search.cpp
#include "partial_networks/prior_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/infinity.h"
#include "lattice/reading_back.h"
#include "partial_networks/path_counting.h"

namespace topdag {

namespace {

// More than rounding can move a value of such networks.
double slack_for(const Lattice& lattice) {
    const double best = lattice.forward(all_of(lattice.n_variables()));
    return 1e-9 + (std::isfinite(best) ? 1e-12 * std::abs(best) : 0.0);
}

PartialNetwork whole(const std::vector<VarSet>& parents) {
    PartialNetwork network{all_of(static_cast<int>(parents.size())), parents, parents};
    for (std::size_t middle = 0; middle < parents.size(); ++middle)
        for (VarSet& above : network.above)
            if (has(above, static_cast<int>(middle))) above |= network.above[middle];
    return network;
}

bool has(const FoundNetworks& found, const std::vector<VarSet>& network) {
    for (auto at = found.parents.begin(); at != found.parents.end(); at += static_cast<std::ptrdiff_t>(network.size()))
        if (std::equal(network.begin(), network.end(), at)) return true;
    return false;
}

using Unproved = std::vector<std::pair<double, std::vector<VarSet>>>;

// When a limit came first: of what was met the best, and the best network without the prior, behind what was proved.
void add_unproved(Unproved met, const Lattice& lattice, NetworkPrior& prior, const PriorQuestion& question,
                  SearchedNetworks& found) {
    const BestNetwork best = lattice.read_back(0.0);
    const double weight = best.score > minus_infinity ? prior.log_weight(whole(best.parents)) : minus_infinity;
    const bool is_met = std::any_of(met.begin(), met.end(), [&](const auto& own) { return own.second == best.parents; });
    if (weight > minus_infinity && !is_met && !has(found, best.parents)) met.emplace_back(best.score + weight, best.parents);
    std::sort(met.begin(), met.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [value, network] : met)
        if (found.scores.size() < question.most) found.add(value, network);
}

// Each network once, with its value.
template <class Search, class Value>
Unproved met_by(Search& search, std::size_t most, Value&& value) {
    Unproved met;
    while (met.size() < most && search.next_complete()) met.emplace_back(value(search), search.parents);
    return met;
}

// Before the search began.
SearchedNetworks stopped_early(const Lattice& lattice, NetworkPrior& prior, const PriorQuestion& question) {
    SearchedNetworks found(lattice.n_variables());
    add_unproved({}, lattice, prior, question, found);
    return found;
}

void draw(TreeSearch& search, const Lattice& lattice, NetworkPrior& prior, const PriorQuestion& question,
          Limits& limits, SearchedNetworks& found) {
    const auto begin = Limits::Clock::now();
    limits.begin(Phase::searching, question.most);
    try {
        while (found.scores.size() < question.most && search.next(limits)) {
            found.add(search.value, search.parents);
            ++limits.done;
        }
    } catch (const BrokenBound& broken) {
        found.broken = broken;
        return;
    }
    found.memory_hit = search.memory_hit();
    found.finished = found.scores.size() == question.most || (!limits.stop.load() && !found.memory_hit);
    found.floor = search.bound();
    found.counts = search.counts;
    const auto value = [](const TreeSearch& met) { return met.value; };
    if (!found.finished)
        add_unproved(met_by(search, question.most - found.scores.size(), value), lattice, prior, question, found);
    found.search_seconds = seconds_since(begin);
}

constexpr std::uint64_t steps_between_looks = 256;

template <class Count>
SearchedNetworks count_paths(const Lattice& lattice, const PriorQuestion& question, Limits& limits) {
    SearchedNetworks found(lattice.n_variables());
    auto begin = Limits::Clock::now();
    UniformOrders prior(lattice, false);
    PackedFamilies families(lattice, false);
    if (!families.fill(limits)) return stopped_early(lattice, prior, question);
    found.bound_seconds = seconds_since(begin);
    begin = Limits::Clock::now();
    limits.begin(Phase::searching, question.most);
    PathCounting<Count> search(families, lattice, question.block, slack_for(lattice), question.memory);
    found.finished = true;
    for (std::uint64_t step = 0; found.scores.size() < question.most; ++step) {
        found.memory_hit = search.takes_too_much();
        found.finished = !found.memory_hit && !(Limits::looks_at(step, steps_between_looks) && limits.reached());
        if (!found.finished) break;
        using Taken = typename PathCounting<Count>::Taken;
        const Taken taken = search.take();
        if (taken == Taken::none) break;
        if (taken == Taken::complete) found.add(search.value, search.parents);
        if (taken == Taken::partial) limits.bound.store(search.value, std::memory_order_relaxed);
        limits.done.store(found.scores.size());
    }
    found.floor = search.bound();
    found.counts = search.counts;
    // Of a network that is not proved some paths, that is orders, may not have been counted yet.
    const auto value = [&](const auto& met) { return met.score + prior.log_weight(whole(met.parents)); };
    if (!found.finished)
        add_unproved(met_by(search, question.most - found.scores.size(), value), lattice, prior, question, found);
    found.search_seconds = seconds_since(begin);
    return found;
}

}  // namespace

SearchedNetworks search_uniform_orders(const Lattice& lattice, const PriorQuestion& question, Limits& limits) {
    SearchedNetworks found(lattice.n_variables());
    const auto begin = Limits::Clock::now();
    const bool only_best = question.most == 1;
    PackedFamilies undominated(lattice, true), all(lattice, false);
    UniformOrders prior(lattice, only_best);
    if (!undominated.fill(limits) || !prior.sweep(undominated, limits) || (!only_best && !all.fill(limits)))
        return stopped_early(lattice, prior, question);
    const PackedFamilies& families = only_best ? undominated : all;
    found.bound_seconds = seconds_since(begin);
    TreeSearch search(families, prior, best_order(lattice), question.block, slack_for(lattice), question.memory);
    draw(search, lattice, prior, question, limits, found);
    return found;
}

SearchedNetworks search_with_prior(const Lattice& lattice, const PriorQuestion& question, BoundedPrior& prior,
                             Limits& limits) {
    SearchedNetworks found(lattice.n_variables());
    const auto begin = Limits::Clock::now();
    PackedFamilies families(lattice, false);
    if (!families.fill(limits)) return stopped_early(lattice, prior, question);
    found.bound_seconds = seconds_since(begin);
    TreeSearch search(families, prior, best_order(lattice), question.block, slack_for(lattice), question.memory);
    draw(search, lattice, prior, question, limits, found);
    return found;
}

SearchedNetworks count_paths(const Lattice& lattice, const PriorQuestion& question, Limits& limits) {
    return lattice.n_variables() <= 20  // 20! fits in 64 bits
               ? count_paths<std::uint64_t>(lattice, question, limits)
               : count_paths<unsigned __int128>(lattice, question, limits);
}

std::vector<Taking> takings(const Lattice& lattice, std::size_t block, std::size_t most) {
    Limits limits;
    PackedFamilies families(lattice, false);
    families.fill(limits);
    PathCounting<std::uint64_t> search(families, lattice, block, slack_for(lattice), ~std::size_t{0});
    std::vector<Taking> taken;
    while (taken.size() < most && search.take() != PathCounting<std::uint64_t>::Taken::none)
        taken.emplace_back(search.placed, search.parents, search.count, search.value, search.is_first_time);
    return taken;
}

BigArray order_bounds(const Lattice& lattice, Limits& limits) {
    PackedFamilies families(lattice, true);
    UniformOrders prior(lattice, false);
    if (!families.fill(limits) || !prior.sweep(families, limits)) return BigArray();
    BigArray bounds(n_sets(lattice.n_variables()));
    for (std::size_t placed = 0; placed < bounds.size(); ++placed) bounds[placed] = prior.rest(placed);
    return bounds;
}

}  // namespace topdag
