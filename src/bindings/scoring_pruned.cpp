// scoring_pruned.cpp: the families worth keeping, without tables over all sets.
#include "binding.h"

#include <numeric>

#include "bitset_arrays.h"
#include "pruning_checks.h"
#include "drawn/drawn_counts.h"
#include "gaussian/gaussian_families.h"
#include "scoring/pruned_scores.h"
#include "scoring/score_grid.h"

namespace topdag {

namespace {

template <class Set>
void check_must(int n, const std::vector<Set>& must, int max_parents) {
    require(must.empty() || static_cast<int>(must.size()) == n, "one set a variable");
    for (int x = 0; x < static_cast<int>(must.size()); ++x)
        require(is_subset(must[x], all_of<Set>(n) & ~only<Set>(x)) && size_of(must[x]) <= max_parents,
                "parents that must be");
}

template <class Set>
auto scores_on_grid(const Table& table, const PruningQuestion& question, const SetFormula& formula, const SetsIn& sets) {
    check_question(table, question, most_variables<Set>);
    const std::vector<Set> listed = sets_from<Set>(sets);
    for (const Set& set : listed) require(is_subset(set, all_of<Set>(table.n_variables())), "no such variable");
    int grid = 0;
    std::vector<double> scores = grid_scores(table, question, formula, listed, &grid);
    return std::make_pair(grid, give(std::move(scores)));
}

using DrawsIn = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<const std::uint32_t*> checked(const DrawsIn& draws, const Table& table) {
    require(draws.shape(0) >= 1 && draws.shape(0) <= draws_at_once, "draws at once");
    require(draws.shape(1) == table.n_distinct, "a weight for each distinct row");
    std::vector<const std::uint32_t*> weights;
    for (std::size_t d = 0; d < draws.shape(0); ++d) {
        weights.push_back(draws.data() + d * table.n_distinct);
        const std::uint64_t n_rows = std::accumulate(weights[d], weights[d] + table.n_distinct, std::uint64_t{0});
        require(n_rows == table.n_rows, "as many rows as the table");
    }
    return weights;
}

std::optional<PrunedFamilies> found_or_none(PrunedFamilies found) {
    if (!found.finished && found.memory_needed == 0.0 && !found.is_dense) return std::nullopt;
    return found;
}

// Asked from a thread without the interpreter lock; the callable raises nothing.
decltype(CountedElsewhere::sums) asked_of(const nb::object& callable) {
    const nb::handle asked = callable;  // whoever asks the question keeps it alive
    return [asked](const FixedFunction& function, const std::vector<VarSet>& sets, Limits& limits,
                   std::vector<std::int64_t>& sums) {
        nb::gil_scoped_acquire lock;
        const nb::object found = asked(static_cast<int>(function.kind), function.parameter, function.spread,
                                       function.bits, give(std::vector<std::uint64_t>(sets.begin(), sets.end())));
        if (found.is_none()) {
            limits.stop.store(true);
            return false;
        }
        const auto counted = nb::cast<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>>(found);
        require(counted.shape(0) == sets.size(), "one sum a set");
        sums.assign(counted.data(), counted.data() + counted.shape(0));
        limits.done += sets.size();
        return true;
    };
}

// A table whose rows are elsewhere: what scoring has to know of it beside counts.
struct RowsElsewhere {
    Table view;

    RowsElsewhere(const std::vector<int>& arities, std::uint64_t n_rows) {
        require(!arities.empty() && n_rows >= 1 && n_rows <= 0xffffffffULL, "a table needs a column and a row");
        view.arities = arities;
        view.n_rows = n_rows;
    }
};

void check_elsewhere(const PruningQuestion& question) {
    require(question.elsewhere.takes(0, 0), "somebody must count all sets");
}

// The rows of a table as scorers of it count them.
class SetCounter {
public:
    explicit SetCounter(const PyTable& t) : rows_(t.view, places_by_entropy(t.view)) {}

    auto sums(int kind, double parameter, bool spread, int bits, const Masks& sets_in,
              const Watch& watch) const {
        const FixedFunction function = checked_function(kind, parameter, spread, bits);
        const std::span<const VarSet> given(sets_in.data(), sets_in.shape(0));
        const std::vector<VarSet> sets(given.begin(), given.end());
        require(std::is_sorted(sets.begin(), sets.end()), "sets must stand in ascending order");
        for (VarSet set : sets) require(is_subset(set, all_of<VarSet>(rows_.n_variables())), "no such variable");
        std::vector<std::int64_t> sums;
        const bool finished = watched(watch, [&](Limits& limits) {
            return sum_over_listed(rows_, function, sets, limits, sums);
        });
        return finished ? std::make_optional(give(std::move(sums))) : std::nullopt;
    }

private:
    CountingRows rows_;
};

}  // namespace

void bind_pruned_scores(nb::module_& m) {
    nb::class_<PruningQuestion>(m, "PruningQuestion", "Which families are asked for, and what may cut them off.")
        .def(
            "__init__",
            [](PruningQuestion* self, const SetFormula& joint, std::vector<SetFormula> below, std::vector<int> below_of,
               int max_parents, double epsilon, std::uint64_t k, std::uint32_t rules, double memory, double total,
               const nb::object& elsewhere, double least_elsewhere) {
                new (self) PruningQuestion{joint, std::move(below), std::move(below_of), max_parents, epsilon, k,
                                           rules, memory,           total};
                if (!elsewhere.is_none()) self->elsewhere = {asked_of(elsewhere), least_elsewhere};
            },
            "joint"_a, "below"_a, "below_of"_a, "max_parents"_a, "epsilon"_a, "k"_a, "rules"_a, "memory"_a,
            "total"_a = 0.0, "elsewhere"_a = nb::none(), "least_elsewhere"_a = 0.0, nb::keep_alive<1, 11>(),
            "elsewhere(kind, parameter, spread, bits, sets): the sums over the cells of sets of places, or None to stop; "
            "for lists of at least so many sets times rows.");
    nb::class_<RowsElsewhere>(m, "RowsElsewhere", "A table whose rows are elsewhere: its arities and how many rows it has.")
        .def(nb::init<const std::vector<int>&, std::uint64_t>(), "arities"_a, "n_rows"_a);
    nb::class_<SetCounter>(m, "SetCounter", "Sums over the cells of sets of places, for whoever asks elsewhere.")
        .def("__init__", [](SetCounter* self, const PyTable& t) { new (self) SetCounter(t); }, "table"_a)
        .def("sums", &SetCounter::sums, "kind"_a, "parameter"_a, "spread"_a, "bits"_a, "sets"_a, "limits"_a,
             "None when stopped.");

    nb::class_<KeptLists>(m, "KeptLists", "The families kept, and what was done for them.")
        .def_ro("memory_needed", &KeptLists::memory_needed)
        .def_prop_ro("offsets", array_of<KeptLists>(&KeptLists::offsets))
        .def_prop_ro("parents",
                     [](KeptLists& f) {
                         const auto words = static_cast<std::size_t>(f.words);
                         return RowsOut<std::uint64_t>(f.parents.data(), {f.scores.size(), words});
                     })
        .def_prop_ro("scores", array_of<KeptLists>(&KeptLists::scores))
        .def_ro("grid", &KeptLists::grid)
        .def_ro("limit", &KeptLists::limit)
        .def_ro("n_scored", &KeptLists::n_scored);
    nb::class_<PrunedFamilies, KeptLists>(m, "PrunedFamilies")
        .def_ro("is_dense", &PrunedFamilies::is_dense)
        .def_ro("n_sets", &PrunedFamilies::n_sets)
        .def_prop_ro("n_cut",
                     [](const PrunedFamilies& f) { return std::vector<std::uint64_t>(f.n_cut.begin(), f.n_cut.end()); });
    nb::class_<GaussianFamilies, KeptLists>(m, "GaussianFamilies")
        .def_ro("degenerate", &GaussianFamilies::degenerate)
        .def_ro("n_cut", &GaussianFamilies::n_cut);

    m.def(
        "score_pruned",
        [](const PyTable& t, const PruningQuestion& question, bool stop_when_dense, const Watch& watch) {
            check_question(t.view, question);
            return found_or_none(watched(watch, [&](Limits& limits) {
                return score_pruned(t.view, question, stop_when_dense, limits);
            }));
        },
        "table"_a, "question"_a, "stop_when_dense"_a, "limits"_a, "None when stopped.");
    m.def(
        "score_pruned",
        [](const RowsElsewhere& t, const PruningQuestion& question, const Watch& watch) {
            check_question(t.view, question);
            check_elsewhere(question);
            return found_or_none(watched(watch, [&](Limits& limits) { return score_pruned(t.view, question, false, limits); }));
        },
        "table"_a, "question"_a, "limits"_a, "None when stopped.");
    m.def(
        "score_drawn",
        [](const PyTable& t, const DrawsIn& draws, const PruningQuestion& question, const Watch& watch) {
            check_question(t.view, question);
            std::optional<std::vector<PrunedFamilies>> found;
            if (!may_be_drawn(t.view, question)) return found;
            const std::vector<const std::uint32_t*> weights = checked(draws, t.view);
            found = watched(watch, [&](Limits& limits) { return score_drawn(t.view, weights, question, limits); });
            return found->front().finished ? found : std::nullopt;
        },
        "table"_a, "draws"_a, "question"_a, "limits"_a,
        "By draw, weights of the table's distinct rows: the families of each. None when stopped, and where draws must be "
        "scored one by one.");
    m.attr("DRAWS_AT_ONCE") = draws_at_once;
    m.def(
        "score_layers",
        [](const PyTable& t, const PruningQuestion& question, const SetsIn& must_in, const Watch& watch) {
            const int n = t.view.n_variables();
            return with_width<WideSet, VastSet>(width_of(n, must_in), [&]<class Set>() {
                check_question(t.view, question, most_variables<Set>);
                const std::vector<Set> must = sets_from<Set>(must_in);
                check_must(n, must, question.max_parents);
                require(question.k == 0, "k better subsets are not counted in layers");
                return found_or_none(watched(watch, [&](Limits& limits) {
                    return score_layers(t.view, question, must, limits);
                }));
            });
        },
        "table"_a, "question"_a, "must"_a, "limits"_a, "None when stopped.");
    m.def(
        "grid_scores",
        [](const PyTable& t, const PruningQuestion& question, const SetFormula& formula, const SetsIn& sets) {
            return with_width<VarSet, WideSet, VastSet>(width_of(t.view.n_variables(), sets), [&]<class Set>() {
                return scores_on_grid<Set>(t.view, question, formula, sets);
            });
        },
        "table"_a, "question"_a, "formula"_a, "sets"_a,
        "The grid's exponent, and the scores of sets on the grid that score_pruned uses for this question.");
    m.def(
        "grid_scores",
        [](const RowsElsewhere& t, const PruningQuestion& question, const SetFormula& formula, const SetsIn& sets) {
            check_elsewhere(question);
            return scores_on_grid<VarSet>(t.view, question, formula, sets);
        },
        "table"_a, "question"_a, "formula"_a, "sets"_a);
}

}  // namespace topdag
