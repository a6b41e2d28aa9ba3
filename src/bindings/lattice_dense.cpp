// lattice_dense.cpp: the lattice and what is read from it.
#include "binding.h"

#include "families/parent_sets.h"
#include "lattice/family_bounds.h"
#include "lattice/lattice.h"

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

LatticeResult run_lattice(const LocalScores& scores, double slack, int threads, Limits& limits) {
    auto seconds_since_last = [begin = Limits::Clock::now()]() mutable {
        const auto now = Limits::Clock::now();
        return std::chrono::duration<double>(now - std::exchange(begin, now)).count();
    };
    LatticeResult result;
    Lattice lattice(scores);
    const bool swept = lattice.sweep(threads, limits);
    result.sweep_seconds = seconds_since_last();
    if (!swept) return result;
    for (int x = 0; x < scores.n_variables(); ++x) result.best_alone.push_back(lattice.best_alone(x));
    const bool ordered = lattice.order(threads, limits);
    result.order_seconds = seconds_since_last();
    if (!ordered) return result;
    BestNetwork best = lattice.read_back(slack);
    result.finished = true;
    result.score = best.score;
    result.parents = std::move(best.parents);
    return result;
}

std::optional<PyLattice> build_lattice(const PyScores& scores, int threads, const Watch& watch) {
    PyLattice built;
    const bool finished = watched(watch, [&](Limits& limits) {
        built.lattice = std::make_unique<Lattice>(*scores.scores);
        return built.lattice->sweep(threads, limits) && built.lattice->order(threads, limits) &&
               built.lattice->order_backward(threads, limits);
    });
    if (!finished) return std::nullopt;
    return built;
}

std::pair<MasksOut, DoublesOut> give_families(const std::vector<ScoredFamily>& families) {
    std::vector<std::uint64_t> masks;
    std::vector<double> scores;
    for (const ScoredFamily& family : families) {
        masks.push_back(family.parents);
        scores.push_back(family.score);
    }
    return {give_vector<std::uint64_t, MasksOut>(std::move(masks)), give_vector<double, DoublesOut>(std::move(scores))};
}

}  // namespace

void bind_lattice(nb::module_& m) {
    nb::class_<LatticeResult>(m, "LatticeResult")
        .def_ro("finished", &LatticeResult::finished)
        .def_ro("score", &LatticeResult::score)
        .def_ro("parents", &LatticeResult::parents)
        .def_ro("best_alone", &LatticeResult::best_alone)
        .def_ro("sweep_seconds", &LatticeResult::sweep_seconds)
        .def_ro("order_seconds", &LatticeResult::order_seconds);
    m.def(
        "best_network",
        [](const PyScores& scores, double slack, int threads, std::optional<double> seconds, nb::object on_tick) {
            return watched(watch_of(seconds, std::move(on_tick)),
                           [&](Limits& limits) { return run_lattice(*scores.scores, slack, threads, limits); });
        },
        "scores"_a, "slack"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none());
    m.def(
        "count_families",
        [](const PyScores& scores) {
            nb::gil_scoped_release released;
            return count_families(*scores.scores);
        },
        "scores"_a, "How many families are allowed.");
    m.def(
        "families_worth_keeping",
        [](const PyScores& scores, int x, double epsilon) {
            require(x >= 0 && x < scores.scores->n_variables(), "no such variable");
            KeptFamilies kept;
            {
                nb::gil_scoped_release released;
                kept = families_worth_keeping(*scores.scores, x, epsilon);
            }
            return std::make_pair(give_vector<std::uint64_t, MasksOut>(std::move(kept.parents)),
                                  give_vector<double, DoublesOut>(std::move(kept.scores)));
        },
        "scores"_a, "x"_a, "epsilon"_a);

    nb::class_<PyLattice>(m, "Lattice", "Best parents, forward and backward tables over all sets.")
        .def_prop_ro("best_score",
                     [](const PyLattice& t) { return t.lattice->forward(n_sets(t.lattice->n_variables()) - 1); })
        .def("best_parents", [](const PyLattice& t, double slack) { return t.lattice->read_back(slack).parents; },
             "slack"_a, "The parents of each variable in the best network; parents that add no more are left out.")
        .def("family_bound",
             [](const PyLattice& t, int x, std::uint64_t parents) {
                 const int n = t.lattice->n_variables();
                 require(x >= 0 && x < n && parents < n_sets(n) && !has(parents, x), "no such family");
                 nb::gil_scoped_release released;
                 return family_bound(*t.lattice, x, parents);
             },
             "x"_a, "parents"_a, "The score of the best network that has this family.");
    m.def(
        "build_lattice",
        [](const PyScores& scores, int threads, std::optional<double> seconds, nb::object on_tick) {
            return build_lattice(scores, threads, watch_of(seconds, std::move(on_tick)));
        },
        "scores"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(), nb::keep_alive<0, 1>(), "None when stopped.");
    m.def(
        "families_reaching",
        [](const PyLattice& t, double threshold, int threads, std::optional<double> seconds,
           nb::object on_tick) -> std::optional<std::vector<std::pair<MasksOut, DoublesOut>>> {
            const FamilyTable families = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                return families_reaching(*t.lattice, threshold, threads, limits);
            });
            if (families.empty()) return std::nullopt;
            std::vector<std::pair<MasksOut, DoublesOut>> given;
            for (const std::vector<ScoredFamily>& own : families) given.push_back(give_families(own));
            return given;
        },
        "lattice"_a, "threshold"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "By variable the families that some network scoring so much has, as masks and scores; None when stopped.");
    m.def(
        "edge_bounds",
        [](const PyLattice& t, int threads, std::optional<double> seconds,
           nb::object on_tick) -> std::optional<std::pair<DoublesOut, DoublesOut>> {
            EdgeBounds bounds = watched(watch_of(seconds, std::move(on_tick)),
                                        [&](Limits& limits) { return edge_bounds(*t.lattice, threads, limits); });
            if (bounds.with.empty()) return std::nullopt;
            return std::make_pair(give_vector<double, DoublesOut>(std::move(bounds.with)),
                                  give_vector<double, DoublesOut>(std::move(bounds.without)));
        },
        "lattice"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "The best score with and without each edge parent -> child, at parent * n + child; None when stopped.");
}

}  // namespace topdag
