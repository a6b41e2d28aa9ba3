// partial_networks.cpp: best-first search over partial networks under priors that do not factor over families.
#include "binding.h"

#include <unordered_map>

#include "partial_networks/prior_search.h"

namespace topdag {

namespace {

// Asks two Python functions; masks stand for sets.
class PythonPrior final : public BoundedPrior {
public:
    PythonPrior(const Lattice& lattice, nb::object log_weight, nb::object bound)
        : BoundedPrior(lattice), log_weight_(std::move(log_weight)), bound_(std::move(bound)) {}

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
    nb::object log_weight_, bound_;
    std::unordered_map<VarSet, double> bounds_;
};

nb::object give_broken(const std::optional<BrokenBound>& broken) {
    if (!broken) return nb::none();
    return nb::make_tuple(broken->placed, broken->parents, broken->bound, broken->achieved);
}

auto given(PriorFound found, int n) {
    return std::make_tuple(found.finished, found.memory_hit, found.floor,
                           give_vector<double, DoublesOut>(std::move(found.values)),
                           give_networks(std::move(found.parents), static_cast<std::size_t>(n)),
                           std::make_tuple(found.generated, found.expanded, found.re_expanded, found.weighed),
                           std::make_pair(found.bound_seconds, found.search_seconds), give_broken(found.broken));
}

constexpr const char* what_is_given =
    "finished, memory hit, floor, values, parents by network, "
    "(generated, expanded, re-expanded, weighed), (seconds for bounds, seconds for the search), "
    "None or (placed, parents, bound, achieved) of a bound that was too "
    "low. When not finished, what scores at most floor is not proved.";

void check(const PyLattice& held, std::size_t most, std::size_t block) {
    require(most >= 1 && block >= 1, "at least one network, and one successor in a block");
    require(held.lattice->n_variables() <= PackedFamily::most_variables, "at most 26 variables");
}

}  // namespace

void bind_prior_search(nb::module_& m) {
    m.attr("MOST_PRIOR_SEARCH_VARIABLES") = PackedFamily::most_variables;
    m.def("prior_search_bytes", &prior_search_bytes, "n"_a,
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
            PriorFound found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) {
                    return search_uniform_orders(*held.lattice, {most, block, memory}, {undominated, posets}, threads,
                                                 limits);
                });
            return given(std::move(found), held.lattice->n_variables());
        },
        "lattice"_a, "most"_a, "block"_a, "undominated"_a, "posets"_a, "memory"_a, "threads"_a, "seconds"_a.none(),
        "on_tick"_a.none(), what_is_given);
    m.def(
        "count_paths",
        [](const PyLattice& held, std::size_t most, std::size_t block, bool undominated, std::size_t memory,
           int threads, std::optional<double> seconds, nb::object on_tick) {
            check(held, most, block);
            require(!undominated || most == 1, "what is dominated may be among the k best");
            PriorFound found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) {
                    return count_paths(*held.lattice, {most, block, memory}, undominated, threads, limits);
                });
            return given(std::move(found), held.lattice->n_variables());
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
        "What Algorithm 1 takes from its queue: placed, parents, count, place in the queue, whether it is expanded for "
        "the first time.");
    m.def(
        "search_python_prior",
        [](const PyLattice& held, nb::object log_weight, nb::object bound, std::size_t most, std::size_t block,
           std::size_t memory, int threads, std::optional<double> seconds, nb::object on_tick) {
            check(held, most, block);
            PythonPrior prior(*held.lattice, std::move(log_weight), std::move(bound));
            PriorFound found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) {
                    return search_with_prior(*held.lattice, {most, block, memory}, prior, threads, limits);
                });
            return given(std::move(found), held.lattice->n_variables());
        },
        "lattice"_a, "log_weight"_a, "bound"_a, "most"_a, "block"_a, "memory"_a, "threads"_a, "seconds"_a.none(),
        "on_tick"_a.none(), what_is_given);
}

}  // namespace topdag
