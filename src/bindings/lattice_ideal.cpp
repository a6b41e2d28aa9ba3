// lattice_ideal.cpp: the lattice over the ideals of a precedence, and lists from it.
#include "binding.h"
#include "listing_from.h"

#include "lattice/ideal_lattice.h"

namespace topdag {

inline const IdealLattice& lattice_of(const IdealLattice& held) { return held; }
inline double offset_of(const IdealLattice&) { return 0.0; }

namespace {

std::unique_ptr<IdealLattice> build_ideal_lattice(const PyScores& scores, bool backward, int threads,
                                                  const Watch& watch) {
    return watched(watch, [&](Limits& limits) {
        auto lattice = std::make_unique<IdealLattice>(*scores.scores);
        const bool finished = lattice->order(threads, limits) && (!backward || lattice->order_backward(limits));
        return finished ? std::move(lattice) : nullptr;
    });
}

std::vector<double> best_alone(const IdealLattice& lattice) {
    std::vector<double> best;
    for (int x = 0; x < lattice.n_variables(); ++x) best.push_back(lattice.best_alone(x));
    return best;
}

}  // namespace

void bind_ideal_lattice(nb::module_& m) {
    nb::class_<IdealLattice>(m, "IdealLattice", "Best parents, forward and backward tables over ideals of an order.")
        .def_prop_ro("best_score", [](const IdealLattice& t) { return t.forward(all_of(t.n_variables())); })
        .def_prop_ro("best_alone", &best_alone)
        .def_prop_ro("n_sets", &IdealLattice::n_ideals)
        .def(
            "read_back",
            [](const IdealLattice& t, double slack) {
                nb::gil_scoped_release released;
                BestNetwork network = t.read_back(slack);
                return std::make_pair(network.score, std::move(network.parents));
            },
            "slack"_a, "The best score, and the parents of each variable in the best network.");
    m.def("ideal_lattice_bytes", &IdealLattice::bytes, "n_variables"_a, "n_ideals"_a, "with_backward"_a,
          "Bytes beside the scores.");
    m.def(
        "count_ideals",
        [](const PyScores& scores, std::size_t most) {
            nb::gil_scoped_release released;
            return Ideals::count(scores.scores->n_variables(), scores.scores->precedence(), most);
        },
        "scores"_a, "most"_a, "How many sets of variables can come first, or `most` when there are more.");
    m.def(
        "build_ideal_lattice",
        [](const PyScores& scores, bool backward, int threads, std::optional<double> seconds, nb::object on_tick) {
            return build_ideal_lattice(scores, backward, threads, watch_of(seconds, std::move(on_tick)));
        },
        "scores"_a, "backward"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(), nb::keep_alive<0, 1>(),
        "None when stopped. Lists need the backward table.");
    bind_listing_from<IdealLattice>(m);
}

}  // namespace topdag
