// averages.cpp: exact sums over all networks and all orders.
#include "binding.h"

#include "averages/family_weights.h"
#include "averages/network_sums.h"
#include "averages/order_averages.h"
#include "averages/ordered_paths.h"

namespace topdag {

namespace {

RowsOut<double> give_matrix(std::vector<double> values) {
    std::size_t n = 0;
    while (n * n < values.size()) ++n;
    return give_rows(std::move(values), std::max<std::size_t>(n, 1));
}

void bind_posteriors(nb::module_& m) {
    nb::class_<Posteriors>(m, "Posteriors", "What sums over all networks say, as arrays.")
        .def_ro("finished", &Posteriors::finished, "False when a limit came first.")
        .def_ro("log_total", &Posteriors::log_total)
        .def_ro("cancellation", &Posteriors::cancellation)
        .def_ro("defect", &Posteriors::defect)
        .def("edges", [](const Posteriors& p) { return give_matrix(p.edges); })
        .def("paths", [](const Posteriors& p) { return give_matrix(p.paths); })
        .def(
            "take_parent_sets",
            [](Posteriors& p, std::size_t v) {
                require(v < p.parent_sets.size() && p.parent_sets[v].size() > 0, "these were not asked for");
                return give(std::move(p.parent_sets[v]));
            },
            "variable"_a, "By slots; may be asked for once.");
}

}  // namespace

void bind_sums(nb::module_& m) {
    bind_posteriors(m);
    m.def(
        "network_sums_bytes",
        [](int n, bool posteriors, std::uint64_t parent_sets, bool extended, int threads) {
            return network_sums_bytes(n, {posteriors, extended, parent_sets}, threads);
        },
        "n_variables"_a, "posteriors"_a, "parent_sets"_a, "extended"_a, "threads"_a);
    m.def(
        "sum_networks",
        [](const PyScores& scores, bool posteriors, std::uint64_t parent_sets, bool extended, const Watch& watch) {
            const SumsWanted wanted{posteriors, extended, parent_sets};
            return watched(watch, [&](Limits& limits) { return sum_networks(*scores.scores, wanted, limits); });
        },
        "scores"_a, "posteriors"_a, "parent_sets"_a, "extended"_a, "limits"_a,
        "Every network weighs the product of its families; parent_sets: of which variables they are kept.");
    m.def("require_summable", [](double local) { weight_of(local); }, "local"_a,
          "Raises ValueError where sums cannot hold such a local score.");
    m.def("ordered_paths_bytes", &ordered_paths_bytes, "n_variables"_a, "threads"_a);
    m.def(
        "ordered_paths",
        [](const PyScores& scores, const Watch& watch) -> std::optional<std::pair<RowsOut<double>, double>> {
            OrderedPaths found = watched(watch, [&](Limits& limits) { return ordered_paths(*scores.scores, limits); });
            if (!found.finished) return std::nullopt;
            return std::make_pair(give_matrix(found.paths), found.defect);
        },
        "scores"_a, "limits"_a,
        "Paths of networks that agree with the order, and how far sums are from one; None when stopped.");
    m.def(
        "order_sums_bytes",
        [](int n, bool posteriors, bool paths, std::uint64_t parent_sets, int threads) {
            return order_sums_bytes(n, {posteriors, paths, parent_sets}, threads);
        },
        "n_variables"_a, "posteriors"_a, "paths"_a, "parent_sets"_a, "threads"_a);
    m.def(
        "sum_orders",
        [](const PyScores& scores, std::optional<DoublesIn> order_weights, bool posteriors, bool paths,
           std::uint64_t parent_sets, const Watch& watch) {
            const int n = scores.scores->n_variables();
            require(!order_weights || order_weights->shape(0) == n * n_sets(n - 1), "n * 2^(n-1) weights of orders");
            const double* log_weights = order_weights ? order_weights->data() : nullptr;
            const OrderSumsWanted wanted{posteriors, paths, parent_sets};
            return watched(watch, [&](Limits& limits) {
                return sum_orders(*scores.scores, log_weights, wanted, limits);
            });
        },
        "scores"_a, "order_weights"_a.none(), "posteriors"_a, "paths"_a, "parent_sets"_a, "limits"_a,
        "Every network weighs the product of its families once for each order that agrees with it.");
}

}  // namespace topdag
