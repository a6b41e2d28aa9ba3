// lattice_sparse.cpp: the lattice on the few sets that matter, and lists from it.
#include "binding.h"
#include "listing_from.h"

#include "lattice/sparse_lattice.h"

namespace topdag {

namespace {

// Scores inside are counted from `offset`, the sum of every variable's best local score.
struct PySparseLattice {
    std::unique_ptr<SparseLattice> lattice;
    double offset = 0.0;
};

const SparseLattice& lattice_of(const PySparseLattice& held) { return *held.lattice; }
double offset_of(const PySparseLattice& held) { return held.offset; }

}  // namespace

void bind_sparse_lattice(nb::module_& m) {
    nb::class_<PySparseLattice>(m, "SparseLattice", "Forward and backward values on the sets that matter above a threshold.")
        .def_prop_ro("best_score", [](const PySparseLattice& t) {
            return t.offset + t.lattice->forward(all_of(t.lattice->n_variables()));
        })
        .def_prop_ro("lowest", [](const PySparseLattice& t) { return t.offset + t.lattice->lowest(); })
        .def_prop_ro("n_sets", [](const PySparseLattice& t) { return t.lattice->n_kept(); });
    m.def(
        "build_sparse_lattice",
        [](const Candidates& candidates, Masks sets, DoublesIn costs, double threshold, int threads,
           std::optional<double> seconds, nb::object on_tick,
           const std::vector<std::uint64_t>& before) -> std::optional<PySparseLattice> {
            require(sets.shape(0) == costs.shape(0) && sets.shape(0) > 0, "a cost for every set");
            require(before.empty() || before.size() == static_cast<std::size_t>(candidates.n_variables()),
                    "those before each variable, or none");
            PySparseLattice built;
            for (int x = 0; x < candidates.n_variables(); ++x) built.offset += candidates.best_score(x);
            const bool finished = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                built.lattice = std::make_unique<SparseLattice>(
                    candidates, std::vector<VarSet>(sets.data(), sets.data() + sets.shape(0)),
                    std::vector<double>(costs.data(), costs.data() + costs.shape(0)), threshold, before);
                return built.lattice->order_backward(threads, limits);
            });
            if (!finished) return std::nullopt;
            return built;
        },
        "candidates"_a, "sets"_a, "costs"_a, "threshold"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "before"_a = std::vector<std::uint64_t>(),
        "None when stopped. Sets in an order of growing size, with the least cost of each.");
    bind_listing_from<PySparseLattice>(m);
}

}  // namespace topdag
