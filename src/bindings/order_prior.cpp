// order_prior.cpp: the best networks under a prior over orders.
#include "binding.h"

#include "lattice/lattice.h"
#include "order_prior/order_prior.h"

namespace topdag {

namespace {

OrderWeight weight_of(int n, const std::vector<DoublesIn>& tables, const Precedence& precedence) {
    require(tables.empty() || tables.size() == static_cast<std::size_t>(n), "a table of weights for each variable");
    std::vector<const double*> own;
    for (const DoublesIn& table : tables) {
        require(table.shape(0) == n_sets(n - 1), "an order weight for each slot");
        own.push_back(table.data());
    }
    return OrderWeight(std::move(own), precedence);
}

}  // namespace

void bind_order_prior(nb::module_& m) {
    nb::class_<PriorResult, FoundNetworks>(m, "PriorResult", "The best first, scores with the log weights of orders.")
        .def_ro("bound", &PriorResult::bound, "No network scores more.")
        .def_ro("parts", &PriorResult::parts)
        .def_ro("sweeps", &PriorResult::sweeps)
        .def_ro("sparse_sweeps", &PriorResult::sparse_sweeps)
        .def_ro("root_families", &PriorResult::root_families)
        .def_ro("counted", &PriorResult::counted);
    m.def(
        "search_order_prior",
        [](const PyScores& scores, const std::vector<DoublesIn>& order_weights, std::size_t most, double log_factor,
           double most_bytes, const Watch& watch) {
            const int n = scores.scores->n_variables();
            require(n >= 1 && n <= Lattice::most_variables && most >= 1, "out of range");
            const OrderWeight weight = weight_of(n, order_weights, scores.scores->precedence());
            return watched(watch, [&](Limits& limits) {
                return search_order_prior(*scores.scores, weight, {most, log_factor, most_bytes}, limits);
            });
        },
        "scores"_a, "order_weights"_a, "most"_a, "log_factor"_a, "most_bytes"_a, "limits"_a,
        "The best networks when orders weigh too.");
    m.def("order_prior_bytes", &order_prior_bytes, "n"_a, "threads"_a, "Bytes of the tables beside the scores.");
}

}  // namespace topdag
