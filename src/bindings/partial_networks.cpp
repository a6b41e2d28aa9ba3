// partial_networks.cpp: best-first search over partial networks, with and without priors that do not factor.
#include "binding.h"
#include "candidates.h"

#include <limits>
#include <unordered_map>

#include "partial_networks/network_search.h"
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

void check(std::size_t most, std::size_t block) {
    require(most >= 1 && block >= 1, "at least one network, and one successor in a block");
}

void check_prior(const Lattice& lattice, std::size_t most, std::size_t block) {
    check(most, block);
    require(lattice.n_variables() <= PackedFamily::most_variables, "at most 26 variables");
}

void bind_results(nb::module_& m) {
    nb::class_<SearchCounts>(m, "SearchCounts")
        .def_ro("generated", &SearchCounts::generated)
        .def_ro("expanded", &SearchCounts::expanded)
        .def_ro("re_expanded", &SearchCounts::re_expanded)
        .def_ro("oracle_calls", &SearchCounts::oracle_calls)
        .def_ro("weighed", &SearchCounts::weighed);
    nb::class_<BrokenBound>(m, "BrokenBound", "A partial network from which more was gained than its bound allows.")
        .def_ro("placed", &BrokenBound::placed)
        .def_ro("parents", &BrokenBound::parents)
        .def_ro("bound", &BrokenBound::bound)
        .def_ro("achieved", &BrokenBound::achieved);
    nb::class_<SearchedNetworks, FoundNetworks>(
        m, "SearchedNetworks", "The best first; when not finished, what scores at most floor is not proved.")
        .def_ro("counts", &SearchedNetworks::counts)
        .def_ro("bound_seconds", &SearchedNetworks::bound_seconds)
        .def_ro("search_seconds", &SearchedNetworks::search_seconds)
        .def_ro("broken", &SearchedNetworks::broken, "None but for a prior whose bound was too low.");
}

void bind_network_search(nb::module_& m) {
    m.def(
        "search_networks",
        [](const Lattice& lattice, std::size_t most, std::size_t block, const Watch& watch) {
            check(most, block);
            return watched(watch, [&](Limits& limits) { return search_networks(lattice, most, block, limits); });
        },
        "lattice"_a, "most"_a, "block"_a, "limits"_a);
    m.def(
        "search_listed_networks",
        [](const Candidates& c, const PyBound& b, std::size_t most, double epsilon, std::size_t block,
           std::size_t memory, const Watch& watch) {
            check(most, block);
            require(b.n == c.n_variables(), "a bound for other variables");
            return watched(watch, [&](Limits& limits) {
                return search_listed(c, *b.bound, {most, epsilon, block, memory}, limits);
            });
        },
        "candidates"_a, "bound"_a, "most"_a, "epsilon"_a, "block"_a, "memory"_a, "limits"_a,
        "None is further than epsilon behind the best; what is left scores at most floor.");
    m.def(
        "completion_values",
        [](const Candidates& c, const PyBound& b, double epsilon, const Masks& sets) {
            require(b.n == c.n_variables(), "a bound for other variables");
            std::vector<double> values;
            const std::uint64_t calls = watched({}, [&](Limits& limits) {
                OrderOracle oracle(c, *b.bound, epsilon, std::numeric_limits<std::size_t>::max(), limits);
                for (std::size_t i = 0; i < sets.shape(0); ++i) values.push_back(oracle.value(sets.data()[i]));
                return oracle.calls();
            });
            return std::make_tuple(give(std::move(values)), calls);
        },
        "candidates"_a, "bound"_a, "epsilon"_a, "sets"_a,
        "By set, what the others must cost when these come first, negated, or minus infinity where this leads to no "
        "network within epsilon of the best; and how many sets had to be searched for.");
}

}  // namespace

void bind_partial_networks(nb::module_& m) {
    bind_results(m);
    bind_network_search(m);
    m.attr("MOST_PRIOR_SEARCH_VARIABLES") = PackedFamily::most_variables;
    m.def("prior_search_bytes", &prior_search_bytes, "n"_a,
          "Bytes for the families and bounds, beside the lattice and the search itself.");
    m.def(
        "order_bounds",
        [](const Lattice& lattice, const Watch& watch) {
            check_prior(lattice, 1, 1);
            return give(watched(watch, [&](Limits& limits) { return order_bounds(lattice, limits); }));
        },
        "lattice"_a, "limits"_a,
        "By set: how much score and log count of orders together can grow, at most, once these are placed.");
    m.def(
        "search_uniform_orders",
        [](const Lattice& lattice, std::size_t most, std::size_t block, std::size_t memory, const Watch& watch) {
            check_prior(lattice, most, block);
            return watched(watch, [&](Limits& limits) {
                return search_uniform_orders(lattice, {most, block, memory}, limits);
            });
        },
        "lattice"_a, "most"_a, "block"_a, "memory"_a, "limits"_a);
    m.def(
        "count_paths",
        [](const Lattice& lattice, std::size_t most, std::size_t block, std::size_t memory, const Watch& watch) {
            check_prior(lattice, most, block);
            return watched(watch, [&](Limits& limits) { return count_paths(lattice, {most, block, memory}, limits); });
        },
        "lattice"_a, "most"_a, "block"_a, "memory"_a, "limits"_a);
    m.def(
        "count_paths_takings",
        [](const Lattice& lattice, std::size_t block, std::size_t most) {
            check(most, block);
            require(lattice.n_variables() <= 20, "at most 20 variables");
            return takings(lattice, block, most);
        },
        "lattice"_a, "block"_a, "most"_a,
        "What Algorithm 1 takes from its queue: placed, parents, count, place in the queue, whether it is expanded for "
        "the first time.");
    m.def(
        "search_python_prior",
        [](const Lattice& lattice, nb::object log_weight, nb::object bound, std::size_t most, std::size_t block,
           std::size_t memory, const Watch& watch) {
            check_prior(lattice, most, block);
            PythonPrior prior(lattice, std::move(log_weight), std::move(bound));
            return watched(watch, [&](Limits& limits) {
                return search_with_prior(lattice, {most, block, memory}, prior, limits);
            });
        },
        "lattice"_a, "log_weight"_a, "bound"_a, "most"_a, "block"_a, "memory"_a, "limits"_a);
}

}  // namespace topdag
