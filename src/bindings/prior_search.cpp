// prior_search.cpp: best-first search over partial networks under priors that do not factor over families.
#include "binding.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "../core/best_lists.h"
#include "../core/path_counting.h"
#include "../core/tree_search.h"
#include "../core/uniform_orders.h"

namespace topdag {

namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

// Asks two Python functions; masks stand for sets.
class PythonPrior final : public NetworkPrior {
public:
    PythonPrior(const Lattice& lattice, nb::object log_weight, nb::object bound)
        : lattice_(lattice), log_weight_(std::move(log_weight)), bound_(std::move(bound)) {}

    double growth(VarSet placed, int) override { return log_weight_bound(placed); }
    double after(VarSet placed) override { return lattice_.backward(placed); }
    double rest(VarSet placed) override { return lattice_.backward(placed) + log_weight_bound(placed); }
    double log_weight(const PartialNetwork& network) override {
        const nb::gil_scoped_acquire acquired;
        return nb::cast<double>(log_weight_(network.placed, network.parents));
    }
    double log_weight_bound(VarSet placed) override {
        const auto known = bounds_.find(placed);
        if (known != bounds_.end()) return known->second;
        const nb::gil_scoped_acquire acquired;
        return bounds_.emplace(placed, nb::cast<double>(bound_(placed))).first->second;
    }

private:
    const Lattice& lattice_;
    nb::object log_weight_, bound_;
    std::unordered_map<VarSet, double> bounds_;
};

struct Question {
    std::size_t most;
    std::size_t block;
    std::size_t memory;
};

struct Broken {
    VarSet placed;
    std::vector<VarSet> parents;
    double bound, achieved;
};

struct Found {
    bool finished = false;
    bool memory_hit = false;
    double floor = std::numeric_limits<double>::infinity();  // no other network has a larger value
    std::vector<double> values;
    std::vector<VarSet> parents;
    std::uint64_t generated = 0, expanded = 0, re_expanded = 0, weighed = 0;
    double bound_seconds = 0.0, search_seconds = 0.0;
    std::optional<Broken> broken;

    bool has(const std::vector<VarSet>& network) const {
        for (auto at = parents.begin(); at != parents.end(); at += static_cast<std::ptrdiff_t>(network.size()))
            if (std::equal(network.begin(), network.end(), at)) return true;
        return false;
    }
    void add(double value, const std::vector<VarSet>& network) {
        values.push_back(value);
        parents.insert(parents.end(), network.begin(), network.end());
    }
};

double seconds_since(Limits::Clock::time_point begin) {
    return std::chrono::duration<double>(Limits::Clock::now() - begin).count();
}

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

using Unproved = std::vector<std::pair<double, std::vector<VarSet>>>;

// When a limit came first: of what was met the best, and the best network without the prior, behind what was proved.
void add_unproved(Unproved met, const Lattice& lattice, NetworkPrior& prior, const Question& question, Found& found) {
    const BestNetwork best = lattice.read_back(0.0);
    const double weight = best.score > nothing ? prior.log_weight(whole(best.parents)) : nothing;
    if (weight > nothing && !found.has(best.parents)) met.emplace_back(best.score + weight, best.parents);
    std::sort(met.begin(), met.end(), [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    met.erase(std::unique(met.begin(), met.end()), met.end());
    for (const auto& [value, network] : met)
        if (found.values.size() < question.most) found.add(value, network);
}

template <class Search>
Unproved met_by(Search& search, std::size_t most) {
    Unproved met;
    while (met.size() < most && search.next_complete()) met.emplace_back(search.value, search.parents);
    return met;
}

// Before the search began.
Found stopped_early(const Lattice& lattice, NetworkPrior& prior, const Question& question) {
    Found found;
    add_unproved({}, lattice, prior, question, found);
    return found;
}

void draw(TreeSearch& search, const Lattice& lattice, NetworkPrior& prior, const Question& question, Limits& limits,
          Found& found) {
    const auto begin = Limits::Clock::now();
    limits.begin(Phase::searching, question.most);
    try {
        while (found.values.size() < question.most && search.next(limits)) {
            found.add(search.value, search.parents);
            ++limits.done;
        }
    } catch (const BoundBroken& error) {
        found.broken = Broken{error.part.placed, error.part.parents, error.bound, error.achieved};
        return;
    }
    found.memory_hit = search.memory_hit();
    found.finished = !limits.stop.load() && !found.memory_hit;
    found.floor = search.bound();
    found.generated = search.counts.generated;
    found.expanded = search.counts.expanded;
    found.re_expanded = search.counts.re_expanded;
    found.weighed = search.counts.weighed;
    if (!found.finished)
        add_unproved(met_by(search, question.most - found.values.size()), lattice, prior, question, found);
    found.search_seconds = seconds_since(begin);
}

// What may be left out when only the best network is asked for.
struct LeftOut {
    bool dominated;  // families that score no more than with fewer parents
    bool posets;     // all but the best of the networks with the same paths between variables
};

Found search_uniform_orders(const Lattice& lattice, const Question& question, LeftOut left_out, int threads,
                            Limits& limits) {
    Found found;
    const auto begin = Limits::Clock::now();
    PackedFamilies undominated(lattice, true), all(lattice, false);
    UniformOrders prior(lattice, left_out.posets);
    if (!undominated.fill(threads, limits) || !prior.sweep(undominated, threads, limits) ||
        (!left_out.dominated && !all.fill(threads, limits)))
        return stopped_early(lattice, prior, question);
    const PackedFamilies& families = left_out.dominated ? undominated : all;
    found.bound_seconds = seconds_since(begin);
    TreeSearch search(families, prior, best_order(lattice), question.block, slack_for(lattice), question.memory);
    draw(search, lattice, prior, question, limits, found);
    return found;
}

Found search_python_prior(const Lattice& lattice, const Question& question, NetworkPrior& prior, int threads,
                          Limits& limits) {
    Found found;
    const auto begin = Limits::Clock::now();
    PackedFamilies families(lattice, false);
    if (!families.fill(threads, limits)) return stopped_early(lattice, prior, question);
    found.bound_seconds = seconds_since(begin);
    TreeSearch search(families, prior, best_order(lattice), question.block, slack_for(lattice), question.memory);
    draw(search, lattice, prior, question, limits, found);
    return found;
}

constexpr std::uint64_t steps_between_looks = 256;

template <class Count>
Found count_paths(const Lattice& lattice, const Question& question, bool undominated, int threads, Limits& limits) {
    Found found;
    auto begin = Limits::Clock::now();
    UniformOrders prior(lattice, false);
    PackedFamilies families(lattice, undominated);
    if (!families.fill(threads, limits)) return stopped_early(lattice, prior, question);
    found.bound_seconds = seconds_since(begin);
    begin = Limits::Clock::now();
    limits.begin(Phase::searching, question.most);
    PathCounting<Count> search(families, lattice, question.block, slack_for(lattice), question.memory);
    found.finished = true;
    for (std::uint64_t step = 0; found.values.size() < question.most; ++step) {
        found.memory_hit = search.takes_too_much();
        found.finished = !found.memory_hit && !(step % steps_between_looks == 0 && limits.reached());
        if (!found.finished) break;
        using Taken = typename PathCounting<Count>::Taken;
        const Taken taken = search.take();
        if (taken == Taken::none) break;
        if (taken == Taken::complete) found.add(search.value, search.parents);
        if (taken == Taken::partial) limits.bound.store(search.value, std::memory_order_relaxed);
        limits.done.store(found.values.size());
    }
    found.floor = search.bound();
    found.generated = search.counts.generated;
    found.expanded = search.counts.expanded;
    found.re_expanded = search.counts.re_expanded;
    if (!found.finished)
        add_unproved(met_by(search, question.most - found.values.size()), lattice, prior, question, found);
    found.search_seconds = seconds_since(begin);
    return found;
}

Found count_paths(const Lattice& lattice, const Question& question, bool undominated, int threads, Limits& limits) {
    return lattice.n_variables() <= 20  // 20! fits in 64 bits
               ? count_paths<std::uint64_t>(lattice, question, undominated, threads, limits)
               : count_paths<unsigned __int128>(lattice, question, undominated, threads, limits);
}

// What Algorithm 1 takes from its queue, in turn: placed, parents, count, place in the queue, whether for the first time.
using Taking = std::tuple<VarSet, std::vector<VarSet>, std::uint64_t, double, bool>;

std::vector<Taking> takings(const Lattice& lattice, std::size_t block, std::size_t most) {
    Limits limits;
    PackedFamilies families(lattice, false);
    families.fill(1, limits);
    PathCounting<std::uint64_t> search(families, lattice, block, slack_for(lattice), ~std::size_t{0});
    std::vector<Taking> taken;
    while (taken.size() < most && search.take() != PathCounting<std::uint64_t>::Taken::none)
        taken.emplace_back(search.placed, search.parents, search.count, search.value, search.is_first_time);
    return taken;
}

// B of every set; empty when stopped.
BigArray order_bounds(const Lattice& lattice, int threads, Limits& limits) {
    PackedFamilies families(lattice, true);
    UniformOrders prior(lattice, false);
    if (!families.fill(threads, limits) || !prior.sweep(families, threads, limits)) return BigArray();
    BigArray bounds(n_sets(lattice.n_variables()));
    for (std::size_t placed = 0; placed < bounds.size(); ++placed) bounds[placed] = prior.rest(placed);
    return bounds;
}

nb::object give_broken(const std::optional<Broken>& broken) {
    if (!broken) return nb::none();
    return nb::make_tuple(broken->placed, broken->parents, broken->bound, broken->achieved);
}

auto given(Found found, bool interrupted, int n) {
    return std::make_tuple(found.finished, interrupted, found.memory_hit, found.floor,
                           give_vector<double, DoublesOut>(std::move(found.values)),
                           give_networks(std::move(found.parents), static_cast<std::size_t>(n)),
                           std::make_tuple(found.generated, found.expanded, found.re_expanded, found.weighed),
                           std::make_pair(found.bound_seconds, found.search_seconds), give_broken(found.broken));
}

constexpr const char* what_is_given =
    "finished, interrupted, memory hit, floor, values, parents by network, (generated, expanded, re-expanded, weighed), "
    "(seconds for bounds, seconds for the search), None or (placed, parents, bound, achieved) of a bound that was too "
    "low. When not finished, what scores at most floor is not proved.";

void check(const PyLattice& held, std::size_t most, std::size_t block) {
    require(most >= 1 && block >= 1, "at least one network, and one successor in a block");
    require(held.lattice->n_variables() <= PackedFamily::most_variables, "at most 26 variables");
}

}  // namespace

void bind_prior_search(nb::module_& m) {
    m.attr("MOST_PRIOR_SEARCH_VARIABLES") = PackedFamily::most_variables;
    m.def("prior_search_bytes", [](int n) { return 2 * PackedFamilies::bytes(n) + UniformOrders::bytes(n); }, "n"_a,
          "Bytes for the families and bounds, beside the lattice and the search itself.");
    m.def(
        "order_bounds",
        [](const PyLattice& held, int threads) {
            check(held, 1, 1);
            return give(watched(watch_of(std::nullopt, nb::none()),
                                [&](Limits& limits) { return order_bounds(*held.lattice, threads, limits); }));
        },
        "lattice"_a, "threads"_a,
        "By set: how much score and log count of orders together can grow, at most, once these are placed.");
    m.def(
        "search_uniform_orders",
        [](const PyLattice& held, std::size_t most, std::size_t block, bool undominated, bool posets,
           std::size_t memory, int threads, std::optional<double> seconds, nb::object on_tick) {
            check(held, most, block);
            require(!(undominated || posets) || most == 1, "what cannot be best may be among the k best");
            bool interrupted = false;
            Found found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) {
                    return search_uniform_orders(*held.lattice, {most, block, memory}, {undominated, posets}, threads,
                                                 limits);
                },
                &interrupted);
            return given(std::move(found), interrupted, held.lattice->n_variables());
        },
        "lattice"_a, "most"_a, "block"_a, "undominated"_a, "posets"_a, "memory"_a, "threads"_a, "seconds"_a.none(),
        "on_tick"_a.none(), what_is_given);
    m.def(
        "count_paths",
        [](const PyLattice& held, std::size_t most, std::size_t block, bool undominated, std::size_t memory,
           int threads, std::optional<double> seconds, nb::object on_tick) {
            check(held, most, block);
            require(!undominated || most == 1, "what is dominated may be among the k best");
            bool interrupted = false;
            Found found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) {
                    return count_paths(*held.lattice, {most, block, memory}, undominated, threads, limits);
                },
                &interrupted);
            return given(std::move(found), interrupted, held.lattice->n_variables());
        },
        "lattice"_a, "most"_a, "block"_a, "undominated"_a, "memory"_a, "threads"_a, "seconds"_a.none(),
        "on_tick"_a.none(), what_is_given);
    m.def(
        "count_paths_takings",
        [](const PyLattice& held, std::size_t block, std::size_t most) {
            check(held, most, block);
            require(held.lattice->n_variables() <= 20, "at most 20 variables");
            return takings(*held.lattice, block, most);
        },
        "lattice"_a, "block"_a, "most"_a,
        "What Algorithm 1 takes from its queue: placed, parents, count, place in the queue, whether for the first time.");
    m.def(
        "search_python_prior",
        [](const PyLattice& held, nb::object log_weight, nb::object bound, std::size_t most, std::size_t block,
           std::size_t memory, int threads, std::optional<double> seconds, nb::object on_tick) {
            check(held, most, block);
            PythonPrior prior(*held.lattice, std::move(log_weight), std::move(bound));
            bool interrupted = false;
            Found found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) {
                    return search_python_prior(*held.lattice, {most, block, memory}, prior, threads, limits);
                },
                &interrupted);
            return given(std::move(found), interrupted, held.lattice->n_variables());
        },
        "lattice"_a, "log_weight"_a, "bound"_a, "most"_a, "block"_a, "memory"_a, "threads"_a, "seconds"_a.none(),
        "on_tick"_a.none(), what_is_given);
}

}  // namespace topdag
