// lattices.cpp: lattices of every kind, and what is read from them: the best network, families, lists, counts, streams.
#include "binding.h"
#include "candidates.h"

#include "families/parent_sets.h"
#include "lattice/block_lattice.h"
#include "lattice/family_bounds.h"
#include "lattice/ideal_lattice.h"
#include "lattice/lattice.h"
#include "lattice/sparse_lattice.h"
#include "listing/best_lists.h"
#include "listing/block_family_bounds.h"
#include "listing/network_stream.h"

namespace topdag {

namespace {

struct LatticeResult {
    bool finished = false;
    double score = 0.0;
    std::vector<VarSet> parents;
    std::vector<double> best_alone;  // empty when stopped before it was known
    double sweep_seconds = 0.0;
    double order_seconds = 0.0;
};

template <class AnyLattice>
std::vector<double> best_alone(const AnyLattice& lattice) {
    std::vector<double> best;
    for (int x = 0; x < lattice.n_variables(); ++x) best.push_back(lattice.best_alone(x));
    return best;
}

LatticeResult run_lattice(const LocalScores& scores, double slack, Limits& limits) {
    auto seconds_since_last = [begin = Limits::Clock::now()]() mutable {
        const auto now = Limits::Clock::now();
        return std::chrono::duration<double>(now - std::exchange(begin, now)).count();
    };
    LatticeResult result;
    Lattice lattice(scores);
    const bool swept = lattice.sweep(limits);
    result.sweep_seconds = seconds_since_last();
    if (!swept) return result;
    result.best_alone = best_alone(lattice);
    const bool ordered = lattice.order(limits);
    result.order_seconds = seconds_since_last();
    if (!ordered) return result;
    BestNetwork best = lattice.read_back(slack);
    result.finished = true;
    result.score = best.score;
    result.parents = std::move(best.parents);
    return result;
}

// What the scores of a lattice are counted from.
template <class AnyLattice>
double offset_of(const AnyLattice&) {
    return 0.0;
}
double offset_of(const SparseLattice& lattice) { return lattice.offset(); }

// By variable: parents, local scores, bounds.
using FamiliesOut = std::vector<std::tuple<MasksOut, DoublesOut, DoublesOut>>;

std::optional<FamiliesOut> give_families(const FamilyTable& families) {
    if (families.empty()) return std::nullopt;
    FamiliesOut all;
    for (const std::vector<ScoredFamily>& own : families) {
        std::vector<std::uint64_t> parents;
        std::vector<double> scores, bounds;
        for (const ScoredFamily& family : own) {
            parents.push_back(family.parents);
            scores.push_back(family.score);
            bounds.push_back(family.bound);
        }
        all.emplace_back(give(std::move(parents)), give(std::move(scores)), give(std::move(bounds)));
    }
    return all;
}

template <class AnyLattice>
void bind_listing_from(nb::module_& m) {
    m.def(
        "families_reaching",
        [](const AnyLattice& lattice, double threshold, const Watch& watch) {
            return give_families(watched(watch, [&](Limits& limits) {
                return families_reaching(lattice, threshold - offset_of(lattice), limits);
            }));
        },
        "lattice"_a, "threshold"_a, "limits"_a,
        "By variable the families that some network scoring so much has: parents, local scores, and the scores of the "
        "best networks with them; None when stopped.");
    m.def(
        "list_best",
        [](const AnyLattice& lattice, Listed what, std::size_t most, double lowest, const Watch& watch) {
            const double offset = offset_of(lattice);
            BestList list = watched(
                watch, [&](Limits& limits) { return list_best(lattice, {what, most, lowest - offset}, limits); });
            for (double& score : list.scores) score += offset;
            list.floor += offset;
            return list;
        },
        "lattice"_a, "what"_a, "most"_a, "lowest"_a, "limits"_a);
    m.def(
        "count_above",
        [](const AnyLattice& lattice, Listed what, double lowest, const Watch& watch) {
            const Count count = watched(
                watch, [&](Limits& limits) { return count_above(lattice, what, lowest - offset_of(lattice), limits); });
            return std::make_tuple(count.finished, count.counts);
        },
        "lattice"_a, "what"_a, "lowest"_a, "limits"_a,
        "finished, counts: when not finished, of what was found so far.");
    m.def(
        "open_stream",
        [](const AnyLattice& lattice, double lowest, const Watch& watch) -> std::unique_ptr<NetworkStream> {
            const double threshold = std::max(lowest - offset_of(lattice), lattice.lowest());
            FamilyTable families =
                watched(watch, [&](Limits& limits) { return families_reaching(lattice, threshold, limits); });
            if (families.empty()) return nullptr;
            return open_stream(lattice, std::move(families), threshold, offset_of(lattice));
        },
        "lattice"_a, "lowest"_a, "limits"_a, nb::keep_alive<0, 1>(), "None when stopped.");
}

// What all lattices tell of themselves.
template <class AnyLattice>
nb::class_<AnyLattice> bind_lattice_class(nb::module_& m, const char* name, const char* what) {
    return nb::class_<AnyLattice>(m, name, what).def_prop_ro("best_score", [](const AnyLattice& t) {
        return offset_of(t) + t.forward(all_of(t.n_variables()));
    });
}

// And those with all families, whose best network is read back.
template <class AnyLattice>
nb::class_<AnyLattice> bind_whole_lattice(nb::module_& m, const char* name, const char* what) {
    return bind_lattice_class<AnyLattice>(m, name, what)
        .def_prop_ro("best_alone", &best_alone<AnyLattice>, "By variable, its best local score.")
        .def(
            "best_parents", [](const AnyLattice& t, double slack) { return t.read_back(slack).parents; }, "slack"_a,
            nb::call_guard<nb::gil_scoped_release>(),
            "The parents of each variable in the best network; parents that add no more are left out.");
}

void require_family(int n, int x, std::uint64_t set) {
    require(x >= 0 && x < n && set < n_sets(n) && !has(set, x), "no such family");
}

void bind_dense_lattice(nb::module_& m) {
    nb::class_<LatticeResult>(m, "LatticeResult")
        .def_ro("finished", &LatticeResult::finished)
        .def_ro("score", &LatticeResult::score)
        .def_ro("parents", &LatticeResult::parents)
        .def_ro("best_alone", &LatticeResult::best_alone)
        .def_ro("sweep_seconds", &LatticeResult::sweep_seconds)
        .def_ro("order_seconds", &LatticeResult::order_seconds);
    m.def(
        "best_network",
        [](const PyScores& scores, double slack, const Watch& watch) {
            return watched(watch, [&](Limits& limits) { return run_lattice(*scores.scores, slack, limits); });
        },
        "scores"_a, "slack"_a, "limits"_a);
    bind_whole_lattice<Lattice>(m, "Lattice", "Best parents, forward and backward tables over all sets.")
        .def(
            "family_bound",
            [](const Lattice& t, int x, std::uint64_t parents) {
                require_family(t.n_variables(), x, parents);
                nb::gil_scoped_release released;
                return family_bound(t, x, parents);
            },
            "x"_a, "parents"_a, "The score of the best network that has this family.");
    m.def(
        "build_lattice",
        [](const PyScores& scores, const Watch& watch) {
            require(scores.scores->n_variables() <= Lattice::most_variables, "too many variables");
            return watched(watch, [&](Limits& limits) {
                auto lattice = std::make_unique<Lattice>(*scores.scores);
                const bool ordered = lattice->sweep(limits) && lattice->order(limits);
                return ordered && lattice->order_backward(limits) ? std::move(lattice) : nullptr;
            });
        },
        "scores"_a, "limits"_a, nb::keep_alive<0, 1>(), "None when stopped.");
    m.def(
        "edge_bounds",
        [](const Lattice& t, const Watch& watch) -> std::optional<std::pair<DoublesOut, DoublesOut>> {
            EdgeBounds bounds = watched(watch, [&](Limits& limits) { return edge_bounds(t, limits); });
            if (bounds.with.empty()) return std::nullopt;
            return std::make_pair(give(std::move(bounds.with)), give(std::move(bounds.without)));
        },
        "lattice"_a, "limits"_a,
        "The best score with and without each edge parent -> child, at parent * n + child; None when stopped.");
    bind_listing_from<Lattice>(m);
}

void bind_block_lattice(nb::module_& m) {
    bind_whole_lattice<BlockLattice>(m, "BlockLattice",
                                     "Forward and backward tables over all sets; best parents as lists.")
        .def_prop_ro(
            "kept_sets",
            [](const BlockLattice& t) {
                std::vector<std::size_t> sizes;
                for (int x = 0; x < t.n_variables(); ++x) sizes.push_back(t.parents_of(x).size());
                return sizes;
            },
            "By variable, how many parent sets score more than all their subsets.")
        .def_prop_rw("room_for_families", &BlockLattice::room_for_families, &BlockLattice::set_room_for_families,
                     "How many families lists may read; more raise MemoryError.")
        .def(
            "best",
            [](const BlockLattice& t, int x, std::uint64_t within) {
                require_family(t.n_variables(), x, within);
                return t.best(x, within);
            },
            "x"_a, "within"_a, "The best local score of x with parents among these.")
        .def(
            "forward",
            [](const BlockLattice& t, std::uint64_t placed) {
                require(placed < n_sets(t.n_variables()), "no such set");
                return t.forward(placed);
            },
            "placed"_a)
        .def(
            "order_backward",
            [](BlockLattice& t, const Watch& watch) {
                return watched(watch, [&](Limits& limits) { return t.order_backward(limits); });
            },
            "limits"_a, "Fills the backward table, which lists need; False when stopped.");
    m.def("block_lattice_bytes", &BlockLattice::bytes, "n_variables"_a, "with_backward"_a, "threads"_a,
          "Bytes beside the scores and the lists of parent sets.");
    m.def(
        "build_block_lattice",
        [](const PyScores& scores, bool backward, const Watch& watch, std::optional<int> block_bits, int narrow_bits) {
            require(!block_bits || (*block_bits >= 1 && *block_bits <= BlockLattice::most_variables), "no such block");
            require(narrow_bits >= 1 && narrow_bits <= 32, "slots are looked through by 32 bits at most");
            require(scores.scores->n_variables() <= BlockLattice::most_variables, "too many variables");
            return watched(watch, [&](Limits& limits) {
                const int bits = block_bits ? *block_bits : BlockLattice::block_bits_for(scores.scores->n_variables());
                auto lattice = std::make_unique<BlockLattice>(*scores.scores, bits, narrow_bits);
                const bool finished = lattice->order(limits) && (!backward || lattice->order_backward(limits));
                return finished ? std::move(lattice) : nullptr;
            });
        },
        "scores"_a, "backward"_a, "limits"_a, "block_bits"_a = nb::none(), "narrow_bits"_a = 32, nb::keep_alive<0, 1>(),
        "None when stopped. Lists need the backward table.");
    m.def(
        "block_families_for_k_best",
        [](const BlockLattice& t, std::size_t k, bool of_classes, const Watch& watch) {
            const KBestFamilies found =
                watched(watch, [&](Limits& limits) { return families_for_k_best(t, k, of_classes, limits); });
            return std::make_pair(found.floor, give_families(found.families));
        },
        "lattice"_a, "k"_a, "of_classes"_a, "limits"_a, "A floor, and the families that reach it; None when stopped.");
    bind_listing_from<BlockLattice>(m);
}

void bind_ideal_lattice(nb::module_& m) {
    bind_whole_lattice<IdealLattice>(m, "IdealLattice",
                                     "Best parents, forward and backward tables over ideals of an order.")
        .def_prop_ro("n_sets", &IdealLattice::n_ideals);
    m.def("ideal_lattice_bytes", &IdealLattice::bytes, "n_variables"_a, "n_ideals"_a, "with_backward"_a,
          "Bytes beside the scores.");
    m.def(
        "count_ideals",
        [](const PyScores& scores, std::size_t most) {
            return Ideals::count(scores.scores->n_variables(), scores.scores->precedence(), most);
        },
        "scores"_a, "most"_a, nb::call_guard<nb::gil_scoped_release>(),
        "How many sets of variables can come first, or `most` when there are more.");
    m.def(
        "build_ideal_lattice",
        [](const PyScores& scores, bool backward, const Watch& watch) {
            require(scores.scores->n_variables() <= IdealLattice::most_variables, "too many variables");
            return watched(watch, [&](Limits& limits) {
                auto lattice = std::make_unique<IdealLattice>(*scores.scores);
                const bool finished = lattice->order(limits) && (!backward || lattice->order_backward(limits));
                return finished ? std::move(lattice) : nullptr;
            });
        },
        "scores"_a, "backward"_a, "limits"_a, nb::keep_alive<0, 1>(),
        "None when stopped. Lists need the backward table.");
    bind_listing_from<IdealLattice>(m);
}

void bind_sparse_lattice(nb::module_& m) {
    bind_lattice_class<SparseLattice>(m, "SparseLattice",
                                      "Forward and backward values on the sets that matter above a threshold.")
        .def_prop_ro("lowest", [](const SparseLattice& t) { return t.offset() + t.lowest(); })
        .def_prop_ro("n_sets", [](const SparseLattice& t) { return t.sets().size(); });
    m.def(
        "build_sparse_lattice",
        [](const Candidates& candidates, Masks sets, DoublesIn costs, double threshold, const Watch& watch,
           const std::vector<std::uint64_t>& before) {
            require(sets.shape(0) == costs.shape(0) && sets.shape(0) > 0, "a cost for every set");
            require(before.empty() || before.size() == static_cast<std::size_t>(candidates.n_variables()),
                    "those before each variable, or none");
            return watched(watch, [&](Limits& limits) {
                auto lattice = std::make_unique<SparseLattice>(
                    candidates, std::vector<VarSet>(sets.data(), sets.data() + sets.shape(0)),
                    std::vector<double>(costs.data(), costs.data() + costs.shape(0)), threshold, before);
                return lattice->order_backward(limits) ? std::move(lattice) : nullptr;
            });
        },
        "candidates"_a, "sets"_a, "costs"_a, "threshold"_a, "limits"_a, "before"_a = std::vector<std::uint64_t>(),
        "None when stopped. Sets in an order of growing size, with the least cost of each.");
    bind_listing_from<SparseLattice>(m);
}

}  // namespace

void bind_lattices(nb::module_& m) {
    nb::enum_<Listed>(m, "Listed").value("NETWORKS", Listed::networks).value("CLASSES", Listed::classes);
    nb::class_<WalkCounts>(m, "WalkCounts")
        .def_ro("found", &WalkCounts::found)
        .def_ro("expanded", &WalkCounts::expanded)
        .def_ro("dead_ends", &WalkCounts::dead_ends);
    nb::class_<FoundNetworks>(m, "FoundNetworks", "Networks, and what is known of all others.")
        .def_ro("finished", &FoundNetworks::finished)
        .def_ro("memory_hit", &FoundNetworks::memory_hit)
        .def_ro("floor", &FoundNetworks::floor, "Whatever scores more is among them.")
        .def_prop_ro("scores", array_of<FoundNetworks>(&FoundNetworks::scores))
        .def_prop_ro(
            "parents",
            [](FoundNetworks& found) {
                const auto n = static_cast<std::size_t>(found.n_variables);
                return RowsOut<VarSet>(found.parents.data(), {found.scores.size(), n});
            },
            "By network, then by variable.");
    nb::class_<BestList, FoundNetworks>(m, "BestList", "The best first.").def_ro("counts", &BestList::counts);
    nb::class_<NetworkStream>(m, "NetworkStream", "All networks above a threshold, in no particular order.")
        .def(
            "next",
            [](NetworkStream& stream, std::size_t most, const Watch& watch) {
                return watched(watch, [&](Limits& limits) { return stream.next(most, limits); });
            },
            "most"_a, "limits"_a,
            "The next ones: fewer than asked when time is up, or at the end, where it is finished.");
    m.def("lattice_bytes", &Lattice::bytes, "n_variables"_a);
    m.def(
        "count_families", [](const PyScores& scores) { return count_families(*scores.scores); }, "scores"_a,
        nb::call_guard<nb::gil_scoped_release>(), "How many families are allowed.");
    m.def(
        "families_worth_keeping",
        [](const PyScores& scores, int x, double epsilon) {
            require(x >= 0 && x < scores.scores->n_variables(), "no such variable");
            KeptFamilies kept;
            {
                nb::gil_scoped_release released;
                kept = families_worth_keeping(*scores.scores, x, epsilon);
            }
            return std::make_pair(give(std::move(kept.parents)), give(std::move(kept.scores)));
        },
        "scores"_a, "x"_a, "epsilon"_a);
    bind_dense_lattice(m);
    bind_block_lattice(m);
    bind_ideal_lattice(m);
    bind_sparse_lattice(m);
}

}  // namespace topdag
