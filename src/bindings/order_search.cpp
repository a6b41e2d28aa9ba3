// order_search.cpp: bounds on the rest, searches over orders, and the sets near the best network.
#include "binding.h"

#include <nanobind/stl/shared_ptr.h>

#include "../core/bounds.h"
#include "../core/cluster_bound.h"
#include "../core/near_sets.h"
#include "../core/order_search.h"

namespace topdag {

namespace {

// Bounds are shared: the largest of several holds them too.
using BoundPtr = std::shared_ptr<const Bound>;
struct PyBound {
    BoundPtr bound;
    int n;
};

std::vector<WeightedCluster> checked_clusters(int n, const Masks& members, const Offsets& ks, const DoublesIn& multipliers) {
    require(members.shape(0) == ks.shape(0) && ks.shape(0) == multipliers.shape(0), "sizes differ");
    std::vector<WeightedCluster> clusters;
    for (std::size_t i = 0; i < members.shape(0); ++i) {
        const WeightedCluster cluster{members.data()[i], static_cast<int>(ks.data()[i]), multipliers.data()[i]};
        require(is_subset(cluster.members, all_of(n)), "a cluster out of range");
        require(ks.data()[i] >= 1 && ks.data()[i] <= size_of(cluster.members), "k must be 1 to the cluster's size");
        require(cluster.multiplier >= 0.0 && std::isfinite(cluster.multiplier), "a multiplier is negative or not finite");
        clusters.push_back(cluster);
    }
    return clusters;
}

}  // namespace

void bind_order_search(nb::module_& m) {
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
    m.def("simple_bound", [](const Candidates& c) { return PyBound{std::make_shared<SimpleBound>(), c.n_variables()}; },
          "candidates"_a);
    m.def(
        "cluster_bound",
        [](const Candidates& c, const Masks& members, const Offsets& ks, const DoublesIn& multipliers) {
            return PyBound{std::make_shared<ClusterBound>(c, checked_clusters(c.n_variables(), members, ks, multipliers)),
                           c.n_variables()};
        },
        "candidates"_a, "members"_a, "ks"_a, "multipliers"_a);
    m.def(
        "largest_bound",
        [](const std::vector<PyBound>& bounds) {
            require(!bounds.empty(), "no bounds");
            std::vector<BoundPtr> all;
            for (const PyBound& bound : bounds) {
                require(bound.n == bounds.front().n, "bounds for different variables");
                all.push_back(bound.bound);
            }
            return PyBound{std::make_shared<LargestBound>(std::move(all)), bounds.front().n};
        },
        "bounds"_a);

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
    m.def(
        "search_orders",
        [](const Candidates& c, const PyBound& b, double upper, bool extend_paths, std::optional<std::size_t> memory,
           std::optional<double> seconds, nb::object on_tick) {
            require(b.n == c.n_variables(), "a bound for other variables");
            OrderQuestion question{upper, extend_paths};
            if (memory) question.memory = *memory;
            bool interrupted = false;
            OrderResult result = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) { return search_orders(c, *b.bound, question, limits); }, &interrupted);
            return std::make_pair(std::move(result), interrupted);
        },
        "candidates"_a, "bound"_a, "upper"_a, "extend_paths"_a, "memory"_a.none(), "seconds"_a.none(), "on_tick"_a.none(),
        "The result, and whether Ctrl-C stopped it.");
    m.def(
        "sets_within",
        [](const Candidates& c, const PyBound& b, double threshold, std::size_t most_sets, int threads,
           std::optional<double> seconds, nb::object on_tick) {
            require(b.n == c.n_variables(), "a bound for other variables");
            require(b.bound->is_consistent(), "a bound that is not consistent");
            NearSets near = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                return sets_within(c, *b.bound, threshold, most_sets, threads, limits);
            });
            return std::make_tuple(near.complete, give_vector<VarSet, MasksOut>(std::move(near.sets)),
                                   give_vector<double, DoublesOut>(std::move(near.forward)));
        },
        "candidates"_a, "bound"_a, "threshold"_a, "most_sets"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "complete, sets by size, F of each.");
}

}  // namespace topdag
