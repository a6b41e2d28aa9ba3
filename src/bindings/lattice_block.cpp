// lattice_block.cpp: the lattice for more variables, and the families read from it.
#include "binding.h"
#include "listing_from.h"

#include "lattice/block_lattice.h"
#include "listing/block_family_bounds.h"

namespace topdag {

inline const BlockLattice& lattice_of(const BlockLattice& held) { return held; }
inline double offset_of(const BlockLattice&) { return 0.0; }

namespace {

std::unique_ptr<BlockLattice> build_block_lattice(const PyScores& scores, bool backward, std::optional<int> block_bits,
                                                  int threads, const Watch& watch) {
    require(!block_bits || (*block_bits >= 1 && *block_bits <= lattice_limit), "no such block");
    return watched(watch, [&](Limits& limits) {
        const int bits = block_bits ? *block_bits : BlockLattice::block_bits_for(scores.scores->n_variables());
        auto lattice = std::make_unique<BlockLattice>(*scores.scores, bits);
        const bool finished =
            lattice->order(threads, limits) && (!backward || lattice->order_backward(threads, limits));
        return finished ? std::move(lattice) : nullptr;
    });
}

VarSet checked_set(const BlockLattice& lattice, std::uint64_t set) {
    require(set < n_sets(lattice.n_variables()), "no such set");
    return set;
}

double checked_best(const BlockLattice& lattice, int x, std::uint64_t within) {
    require(x >= 0 && x < lattice.n_variables() && !has(checked_set(lattice, within), x), "no such family");
    return lattice.best(x, within);
}

std::vector<std::size_t> kept_sets(const BlockLattice& lattice) {
    std::vector<std::size_t> sizes;
    for (int x = 0; x < lattice.n_variables(); ++x) sizes.push_back(lattice.parents_of(x).size());
    return sizes;
}

// By variable: parents, local scores, bounds.
using FamiliesOut = std::vector<std::tuple<MasksOut, DoublesOut, DoublesOut>>;

FamiliesOut give_families(const FamilyTable& families) {
    FamiliesOut all;
    for (const std::vector<ScoredFamily>& own : families) {
        std::vector<std::uint64_t> parents;
        std::vector<double> scores, bounds;
        for (const ScoredFamily& family : own) {
            parents.push_back(family.parents);
            scores.push_back(family.score);
            bounds.push_back(family.bound);
        }
        all.emplace_back(give_vector<std::uint64_t, MasksOut>(std::move(parents)),
                         give_vector<double, DoublesOut>(std::move(scores)),
                         give_vector<double, DoublesOut>(std::move(bounds)));
    }
    return all;
}

}  // namespace

void bind_block_lattice(nb::module_& m) {
    nb::class_<BlockLattice>(m, "BlockLattice", "Forward and backward tables over all sets; best parents as lists.")
        .def_prop_ro("best_score", [](const BlockLattice& t) { return t.forward(n_sets(t.n_variables()) - 1); })
        .def_prop_ro("best_alone",
                     [](const BlockLattice& t) {
                         std::vector<double> best;
                         for (int x = 0; x < t.n_variables(); ++x) best.push_back(t.best_alone(x));
                         return best;
                     })
        .def_prop_ro("kept_sets", &kept_sets, "By variable, how many parent sets score more than all their subsets.")
        .def_prop_rw("room_for_families", &BlockLattice::room_for_families, &BlockLattice::set_room_for_families,
                     "How many families lists may read; more raise MemoryError.")
        .def("best", &checked_best, "x"_a, "within"_a, "The best local score of x with parents among these.")
        .def(
            "forward", [](const BlockLattice& t, std::uint64_t set) { return t.forward(checked_set(t, set)); },
            "placed"_a)
        .def(
            "read_back",
            [](const BlockLattice& t, double slack) {
                BestNetwork network = t.read_back(slack);
                return std::make_pair(network.score, std::move(network.parents));
            },
            "slack"_a, "The best score, and the parents of each variable in the best network.")
        .def(
            "order_backward",
            [](BlockLattice& t, int threads, std::optional<double> seconds, nb::object on_tick) {
                return watched(watch_of(seconds, std::move(on_tick)),
                               [&](Limits& limits) { return t.order_backward(threads, limits); });
            },
            "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
            "Fills the backward table, which lists need; False when stopped.");
    m.def("block_lattice_bytes", &BlockLattice::bytes, "n_variables"_a, "with_backward"_a, "threads"_a,
          "Bytes beside the scores and the lists of parent sets.");
    m.def(
        "build_block_lattice",
        [](const PyScores& scores, bool backward, int threads, std::optional<double> seconds, nb::object on_tick,
           std::optional<int> block_bits) {
            return build_block_lattice(scores, backward, block_bits, threads, watch_of(seconds, std::move(on_tick)));
        },
        "scores"_a, "backward"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(), "block_bits"_a = nb::none(),
        nb::keep_alive<0, 1>(), "None when stopped. Lists need the backward table.");
    m.def(
        "block_families_reaching",
        [](const BlockLattice& t, double threshold, int threads, std::optional<double> seconds, nb::object on_tick) {
            return give_families(watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                return families_reaching(t, threshold, threads, limits);
            }));
        },
        "lattice"_a, "threshold"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "By variable: parents, local scores, bounds of the families in networks with such a score; empty when stopped.");
    m.def(
        "block_families_for_k_best",
        [](const BlockLattice& t, std::size_t k, bool of_classes, int threads, std::optional<double> seconds,
           nb::object on_tick) {
            const KBestFamilies found = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                return families_for_k_best(t, k, of_classes, threads, limits);
            });
            return std::make_pair(found.floor, give_families(found.families));
        },
        "lattice"_a, "k"_a, "of_classes"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none());
    bind_listing_from<BlockLattice>(m);
}

}  // namespace topdag
