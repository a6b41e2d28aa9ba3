// orders_search.cpp: bounds on the rest, searches over orders, and the sets near the best network.
#include "binding.h"
#include "candidates.h"

#include "families/components.h"
#include "orders/cluster_bound.h"
#include "orders/near_sets.h"
#include "orders/order_paths.h"
#include "orders/order_search.h"
#include "orders/pattern_bounds.h"

namespace topdag {

namespace {

std::vector<WeightedCluster> checked_clusters(int n, const Masks& members, const Offsets& ks,
                                              const DoublesIn& multipliers) {
    require(members.shape(0) == ks.shape(0) && ks.shape(0) == multipliers.shape(0), "sizes differ");
    std::vector<WeightedCluster> clusters;
    for (std::size_t i = 0; i < members.shape(0); ++i) {
        const WeightedCluster cluster{members.data()[i], static_cast<int>(ks.data()[i]), multipliers.data()[i]};
        require(is_subset(cluster.members, all_of(n)), "a cluster out of range");
        require(ks.data()[i] >= 1 && ks.data()[i] <= size_of(cluster.members), "k must be 1 to the cluster's size");
        require(cluster.multiplier >= 0.0 && std::isfinite(cluster.multiplier), "a multiplier out of range");
        clusters.push_back(cluster);
    }
    return clusters;
}

std::vector<VarSet> checked_groups(int n, const std::vector<VarSet>& groups) {
    VarSet seen = 0;
    for (VarSet group : groups) {
        require(is_subset(group, all_of(n)) && (group & seen) == 0, "groups overlap or are out of range");
        require(size_of(group) <= GroupBound::largest_group, "a group is too large");
        seen |= group;
    }
    return groups;
}

using Search = OrderResult (*)(const Candidates&, const Bound&, const OrderQuestion&, Limits&);

void bind_search(nb::module_& m, const char* name, Search search, const char* what) {
    m.def(
        name,
        [search](const Candidates& c, const PyBound& b, double upper, bool extend_paths,
                 std::optional<std::size_t> memory, const Watch& watch) {
            require(b.n == c.n_variables(), "a bound for other variables");
            require(!std::isnan(upper), "upper is not a number");
            const OrderQuestion question{upper, extend_paths, memory.value_or(std::numeric_limits<std::size_t>::max())};
            return watched(watch, [&](Limits& limits) { return search(c, *b.bound, question, limits); });
        },
        "candidates"_a, "bound"_a, "upper"_a, "extend_paths"_a, "memory"_a.none(), "limits"_a, what);
}

void bind_bounds(nb::module_& m) {
    nb::class_<PyBound>(m, "Bound", "The least that placing the other variables must still cost.")
        .def("at", [](const PyBound& b, VarSet placed) { return b.bound->at(placed & all_of(b.n)); }, "placed"_a)
        .def(
            "after_each",
            [](const PyBound& b, VarSet placed) {
                std::vector<double> after(b.n, 0.0);
                b.bound->after_each(placed, all_of(b.n) & ~placed, after.data());
                return after;
            },
            "placed"_a, "at(placed + x) for each x not placed; zero for the others.")
        .def_prop_ro("is_consistent", [](const PyBound& b) { return b.bound->is_consistent(); })
        .def_prop_ro("size", [](const PyBound& b) { return b.bound->size(); });
    m.def("simple_bound", [](const Candidates& c) { return PyBound{std::make_unique<SimpleBound>(), c.n_variables()}; },
          "candidates"_a);
    m.def(
        "cluster_bound",
        [](const Candidates& c, const Masks& members, const Offsets& ks, const DoublesIn& multipliers) {
            auto clusters = checked_clusters(c.n_variables(), members, ks, multipliers);
            return PyBound{std::make_unique<ClusterBound>(c, std::move(clusters)), c.n_variables()};
        },
        "candidates"_a, "members"_a, "ks"_a, "multipliers"_a);
    m.def(
        "group_bound",
        [](const Candidates& c, const std::vector<VarSet>& groups) {
            const std::vector<VarSet> checked = checked_groups(c.n_variables(), groups);
            nb::gil_scoped_release released;
            return PyBound{std::make_unique<GroupBound>(c, checked), c.n_variables()};
        },
        "candidates"_a, "groups"_a, "Static patterns: all subsets of each group.");
    m.def("groups_by_strongest_parents", &groups_by_strongest_parents, "candidates"_a, "most"_a);
    m.def(
        "cycle_bound",
        [](const Candidates& c, int k, bool optimal) {
            require(k >= 1 && k <= 4, "patterns of 1 to 4 variables");
            nb::gil_scoped_release released;
            const PatternChoice choice = optimal ? PatternChoice::optimal : PatternChoice::greedy;
            return PyBound{std::make_unique<CycleBound>(c, k, choice), c.n_variables()};
        },
        "candidates"_a, "k"_a, "optimal"_a, "Dynamic patterns: k-cycle conflicts.");
}

template <class Set>
auto give_families(const CandidatesOf<Set>& candidates, const ComponentOf<Set>& component) {
    require(is_subset(component.variables | component.before, all_of<Set>(candidates.n_variables())),
            "a component out of range");
    std::vector<std::int64_t> offsets{0};
    std::vector<Set> parents;
    std::vector<double> scores;
    Set rest = component.variables;
    for (const auto& families : families_of(candidates, component)) {
        for (const CandidateOf<Set>& family : families) {
            parents.push_back(family.parents);
            scores.push_back(candidates.best_score(first_of(rest)) - family.cost);
        }
        offsets.push_back(static_cast<std::int64_t>(parents.size()));
        rest &= rest - 1;
    }
    return std::make_tuple(give(std::move(offsets)), give_sets(parents, size_of(component.variables)),
                           give(std::move(scores)));
}

void bind_components(nb::module_& m) {
    m.def(
        "components",
        [](const AnyCandidates& any) {
            std::vector<std::pair<nb::int_, nb::int_>> found;
            any.visit([&](const auto& candidates) {
                for (const auto& component : components(candidates))
                    found.emplace_back(number_of(component.variables), number_of(component.before));
            });
            return found;
        },
        "candidates"_a, "Groups of variables to be placed one after another: their variables, all that come before.");
    m.def(
        "component_families",
        [](const AnyCandidates& any, const nb::int_& variables, const nb::int_& before) {
            return any.visit([&]<class Set>(const CandidatesOf<Set>& candidates) {
                return give_families<Set>(candidates, {set_of_number<Set>(variables), set_of_number<Set>(before)});
            });
        },
        "candidates"_a, "variables"_a, "before"_a, "offsets, parents within the component, scores.");
    m.def(
        "network_in_order",
        [](const Candidates& c, const std::vector<int>& order) {
            const int n = c.n_variables();
            VarSet seen = 0;
            for (int x : order) seen |= x >= 0 && x < n ? only(x) : 0;
            require(static_cast<int>(order.size()) == n && seen == all_of(n), "not an order");
            return network_in_order(c, order);
        },
        "candidates"_a, "order"_a, "The cost of the best network in an order, and its parents by variable.");
}

}  // namespace

void bind_order_search(nb::module_& m) {
    bind_bounds(m);
    bind_components(m);
    nb::class_<OrderResult>(m, "OrderResult")
        .def_ro("finished", &OrderResult::finished)
        .def_ro("memory_hit", &OrderResult::memory_hit)
        .def_ro("cost", &OrderResult::cost)
        .def_ro("bound", &OrderResult::bound)
        .def_ro("order", &OrderResult::order)
        .def_ro("parents", &OrderResult::parents)
        .def_ro("expanded", &OrderResult::expanded)
        .def_ro("generated", &OrderResult::generated)
        .def_ro("reopened", &OrderResult::reopened)
        .def_ro("bytes", &OrderResult::bytes)
        .def_prop_ro("layers", [](const OrderResult& result) {
            std::vector<std::pair<std::uint64_t, std::uint64_t>> layers;
            for (const LayerCount& layer : result.layers) layers.emplace_back(layer.expanded, layer.open);
            return layers;
        }, "By size: sets expanded, sets found and not expanded.");
    bind_search(m, "search_orders", search_orders, "Best first.");
    bind_search(m, "search_in_layers", search_in_layers, "Breadth first, two layers at a time.");
    m.def(
        "sets_within",
        [](const Candidates& c, const PyBound& b, double threshold, std::size_t most_sets, const Watch& watch) {
            require(b.n == c.n_variables(), "a bound for other variables");
            require(b.bound->is_consistent(), "a bound that is not consistent");
            NearSets near = watched(watch, [&](Limits& limits) {
                return sets_within(c, *b.bound, threshold, most_sets, limits);
            });
            return std::make_tuple(near.complete, give(std::move(near.sets)), give(std::move(near.forward)));
        },
        "candidates"_a, "bound"_a, "threshold"_a, "most_sets"_a, "limits"_a, "complete, sets by size, F of each.");
}

}  // namespace topdag
