// scoring_sets.cpp: tables, and the local scores of all their families.
#include "binding.h"
#include "candidates.h"

#include "families/local_scores.h"
#include "families/parent_sets.h"
#include "margins/margins.h"
#include "scoring/set_scores.h"

namespace topdag {

namespace {

void check_lattice(const PyTable& table) { require(table.view.n_variables() <= most_in_tables, "too many variables"); }

void round_together(std::vector<Doubles> arrays, int exponent, int threads) {
    Limits limits(threads);
    nb::gil_scoped_release released;
    for (const Doubles& array : arrays) round_to_grid(array.data(), array.shape(0), exponent, limits);
}

using LimitsIn = std::tuple<std::uint64_t, std::uint64_t, int, int>;

std::vector<ParentLimits> checked_limits(int n, const std::vector<LimitsIn>& limits) {
    require(limits.empty() || limits.size() == static_cast<std::size_t>(n), "limits of each variable, or none");
    std::vector<ParentLimits> checked;
    for (const auto& [must, may, least, most] : limits) {
        require(is_subset(must, may) && may < n_sets(n), "limits out of range");
        checked.push_back({must, may, least, most});
    }
    return checked;
}

// By variable those that come before it in any case; none at all when empty.
Precedence checked_precedence(int n, std::vector<std::uint64_t> before) {
    require(before.empty() || before.size() == static_cast<std::size_t>(n), "those before each variable, or none");
    for (std::size_t x = 0; x < before.size(); ++x) {
        require(before[x] < n_sets(n) && !has(before[x], static_cast<int>(x)), "no variable comes before itself");
        for (VarSet rest = before[x]; rest != 0; rest &= rest - 1)
            require(is_subset(before[first_of(rest)], before[x]), "what comes before those before x comes before x");
    }
    return Precedence(std::move(before));
}

// The families of a list, checked once so that the core may trust them.
AnyCandidates checked_candidates(int n, const Offsets& offsets, const SetsIn& parents, const DoublesIn& scores) {
    check_families(n, offsets, parents);
    require(parents.shape(0) == scores.shape(0), "sizes differ");
    for (int x = 0; x < n; ++x) require(offsets.data()[x] < offsets.data()[x + 1], "every variable needs a family");
    for (std::size_t i = 0; i < scores.shape(0); ++i) require(std::isfinite(scores.data()[i]), "a score out of range");
    return with_width<VarSet, WideSet, BroadSet, VastSet>(width_of(n, parents), [&]<class Set>() {
        return AnyCandidates{CandidatesOf<Set>(n, offsets.data(), sets_from<Set>(parents).data(), scores.data())};
    });
}

}  // namespace

void bind_scores(nb::module_& m) {
    nb::enum_<CellKind>(m, "CellKind")
        .value("ONE", CellKind::one)
        .value("N_LOG_N", CellKind::n_log_n)
        .value("N_LOG_N_REGRET", CellKind::n_log_n_regret)
        .value("LOG_RISING", CellKind::log_rising);
    nb::enum_<Penalty>(m, "Penalty")
        .value("NONE", Penalty::none)
        .value("PER_CELL", Penalty::per_cell)
        .value("REGRET", Penalty::regret);

    nb::class_<SetFormula>(m, "SetFormula", "What a set of variables scores: a sum over its cells minus a penalty.")
        .def(
            "__init__",
            [](SetFormula* self, CellKind kind, double parameter, bool spread, Penalty penalty, double penalty_weight) {
                new (self) SetFormula{kind, parameter, spread, penalty, penalty_weight};
            },
            "kind"_a, "parameter"_a = 0.0, "spread"_a = false, "penalty"_a = Penalty::none, "penalty_weight"_a = 0.0)
        .def_ro("parameter", &SetFormula::parameter);

    nb::class_<PyTable>(m, "CodedTable", "Coded columns of distinct rows with weights.")
        .def(nb::init<Codes, const std::vector<int>&, Weights>(), "codes"_a, "arities"_a, "weights"_a)
        .def_prop_ro("n_rows", [](const PyTable& t) { return t.view.n_rows; })
        .def_prop_ro("n_variables", [](const PyTable& t) { return t.view.n_variables(); });

    m.def(
        "score_set",
        [](const PyTable& t, const SetFormula& formula, const std::vector<int>& variables) {
            for (int v : variables) require(v >= 0 && v < t.view.n_variables(), "no such variable");
            return score_one_set(t.view, formula, variables);
        },
        "table"_a, "formula"_a, "variables"_a);
    m.def(
        "scoring_bytes",
        [](const PyTable& t, const SetFormula& formula, int max_size, int threads) {
            return scoring_bytes(t.view, formula, max_size, threads);
        },
        "table"_a, "formula"_a, "max_size"_a, "threads"_a);
    m.def(
        "margin_tables",
        [](const PyTable& t, int max_size, double sets) -> std::optional<double> {
            const auto margins = margins_worthwhile(t.view, max_size, sets);
            return margins ? std::make_optional(margins->n_tables()) : std::nullopt;
        },
        "table"_a, "max_size"_a, "sets"_a,
        "In how many tables the rows are counted at once, for so many sets; None where sets are counted one by one.");

    m.def(
        "score_all_sets",
        [](const PyTable& t, const SetFormula& formula, int max_size, const Watch& watch, int masked) {
            check_lattice(t);
            require(masked >= 0 && masked <= mask_bits, "masks do not hold so many positions");
            return filled(watch, n_sets(t.view.n_variables()), [&](Limits& limits, double* out) {
                return score_all_sets(t.view, formula, max_size, limits, out, masked);
            });
        },
        "table"_a, "formula"_a, "max_size"_a, "limits"_a, "masked"_a = mask_bits,
        "Scores of all sets, indexed by their bits; None when stopped. masked: how many variables a mask holds.");
    m.def(
        "score_all_sets_bde",
        [](const PyTable& t, double ess, DoublesIn prior, int max_size, const Watch& watch) {
            check_lattice(t);
            double cells = 1;
            for (int arity : t.view.arities) cells *= arity;
            require(static_cast<double>(prior.shape(0)) == cells, "the prior must have one entry a cell");
            return filled(watch, n_sets(t.view.n_variables()), [&](Limits& limits, double* out) {
                return score_all_sets_bde(t.view, ess, prior.data(), max_size, limits, out);
            });
        },
        "table"_a, "ess"_a, "prior"_a, "max_size"_a, "limits"_a);
    m.def(
        "score_families_bds",
        [](const PyTable& t, double ess, int max_parents, const Watch& watch) {
            check_lattice(t);
            const int n = t.view.n_variables();
            return filled(watch, n * n_sets(n - 1), [&](Limits& limits, double* out) {
                return score_families_bds(t.view, ess, max_parents, limits, out);
            });
        },
        "table"_a, "ess"_a, "max_parents"_a, "limits"_a);
    m.attr("EXACT_BITS") = exact_bits;
    m.def("coarsest_exponent", &coarsest_exponent, "n_variables"_a, "size"_a = 0.0,
          "The exponent of the coarsest grid on which an answer may be called proved; size: what networks score at "
          "least, in size.");
    m.attr("STEPS_BEHIND") = steps_behind;
    m.def("finest_exponent", &finest_exponent, "n_variables"_a, "magnitude"_a,
          "The exponent of the finest grid that sums over cells are good enough for which add up to so much.");
    m.def("grid_exponent", &grid_exponent, "n_variables"_a, "magnitude"_a, "total"_a = 0.0,
          "The exponent of the grid for values of this size; total: sums of them that must be exact, where known.");
    m.def(
        "largest_magnitude",
        [](DoublesIn values, int threads) {
            Limits limits(threads);
            nb::gil_scoped_release released;
            return largest_magnitude(values.data(), values.shape(0), limits);
        },
        "values"_a, "threads"_a = 1,
        "The largest absolute value among the finite ones.");
    m.def(
        "first_not_finite",
        [](DoublesIn values, int threads) {
            Limits limits(threads);
            nb::gil_scoped_release released;
            return first_not_finite(values.data(), values.shape(0), limits);
        },
        "values"_a, "threads"_a,
        "Where the first value stands that is not below infinity; as many as there are, when all are.");
    m.def("round_together", &round_together, "arrays"_a, "exponent"_a, "threads"_a,
          "Rounds all arrays in place to one grid.");

    nb::class_<PyScores>(m, "LocalScores", "The local score of any family, however it is stored.");
    m.def(
        "difference_scores",
        [](int n, DoublesIn joint, const std::vector<DoublesIn>& below, std::vector<std::uint64_t> before,
           const std::vector<LimitsIn>& limits) {
            require(n >= 1 && n <= most_in_tables && joint.shape(0) == n_sets(n), "joint must have 2^n scores");
            require(below.size() == static_cast<std::size_t>(n), "one array below for each variable");
            std::vector<const double*> pointers;
            PyScores result;
            result.kept.push_back(nb::cast(joint));
            for (const DoublesIn& array : below) {
                require(array.shape(0) == n_sets(n), "below must have 2^n scores");
                pointers.push_back(array.data());
                result.kept.push_back(nb::cast(array));
            }
            result.scores =
                std::make_unique<DifferenceScores>(n, joint.data(), std::move(pointers), checked_limits(n, limits));
            result.scores->set_precedence(checked_precedence(n, std::move(before)));
            return result;
        },
        "n_variables"_a, "joint"_a, "below"_a, "before"_a = std::vector<std::uint64_t>(),
        "limits"_a = std::vector<LimitsIn>(), "limits: by variable must, may, least, most; or none.");
    m.def(
        "family_scores",
        [](int n, DoublesIn families, std::vector<std::uint64_t> before) {
            require(n >= 1 && n <= most_in_tables && families.shape(0) == n * n_sets(n - 1), "n * 2^(n-1) scores");
            PyScores result;
            result.kept.push_back(nb::cast(families));
            result.scores = std::make_unique<FamilyScores>(n, families.data());
            result.scores->set_precedence(checked_precedence(n, std::move(before)));
            return result;
        },
        "n_variables"_a, "families"_a, "before"_a = std::vector<std::uint64_t>());
    m.def(
        "listed_scores",
        [](int n, Offsets offsets, Masks parents, DoublesIn scores, std::vector<std::uint64_t> before) {
            require(n >= 1 && n <= most_in_tables, "too many variables");
            require(parents.shape(0) == scores.shape(0), "sizes differ");
            check_families(n, offsets, SetsIn(parents));
            PyScores result;
            result.scores = std::make_unique<ListedScores>(n, offsets.data(), parents.data(), scores.data());
            result.scores->set_precedence(checked_precedence(n, std::move(before)));
            return result;
        },
        "n_variables"_a, "offsets"_a, "parents"_a, "scores"_a, "before"_a = std::vector<std::uint64_t>());

    nb::class_<AnyCandidates>(m, "Candidates", "The families that may be used, as costs against the best of each variable.")
        .def(
            "__init__",
            [](AnyCandidates* self, int n, const Offsets& offsets, const SetsIn& parents, const DoublesIn& scores) {
                new (self) AnyCandidates(checked_candidates(n, offsets, parents, scores));
            },
            "n_variables"_a, "offsets"_a, "parents"_a, "scores"_a)
        .def_prop_ro("n_variables", &AnyCandidates::n_variables)
        .def_prop_ro("size", [](const AnyCandidates& any) { return any.visit([](const auto& c) { return c.size(); }); });
}

}  // namespace topdag
