// scoring_gaussian.cpp: scores of continuous variables.
#include "binding.h"

#include <algorithm>

#include "gaussian/gaussian_families.h"
#include "gaussian/gaussian_sets.h"
#include "gaussian/mixed_families.h"
#include "gaussian/scatter.h"

namespace topdag {

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Columns of numbers, checked once so that the core may trust them.
Numbers checked_numbers(const Matrix& values, const Weights& weights) {
    require(values.shape(0) <= 64 && values.shape(1) >= 1 && weights.shape(0) == values.shape(1), "sizes differ");
    Numbers numbers{{}, weights.data(), values.shape(1)};
    for (std::size_t v = 0; v < values.shape(0); ++v) numbers.columns.push_back(values.data() + v * values.shape(1));
    return numbers;
}

void check_square(const Matrix& matrix, std::size_t n) {
    require(matrix.shape(0) == n && matrix.shape(1) == n, "a square matrix, one row a variable");
}

void check_formula(const MinorFormula& formula, int n) {
    const std::size_t sizes = static_cast<std::size_t>(n) + 1;
    require(formula.constants.size() >= sizes && formula.factors.size() >= sizes, "a constant and a factor a size");
}

BlockScore checked_score(Scatter matrix, std::vector<int> begins, std::vector<int> places, int given, double factor,
                         double per_pair, const std::optional<Scatter>& squares, double half_rows, double floor) {
    const int n = static_cast<int>(places.size());
    require(n >= 1 && n <= 64 && begins.size() == places.size() + 1, "1 to 64 variables");
    require(begins.front() == 0 && begins.back() == matrix.n && std::is_sorted(begins.begin(), begins.end()),
            "the rows of each variable, one after another");
    std::vector<int> sorted = places;
    std::sort(sorted.begin(), sorted.end());
    for (int v = 0; v < n; ++v) require(sorted[v] == v, "a place for each variable");
    require(given >= 0 && given <= n && (!squares || squares->n <= given), "conditions come last");
    const std::size_t sizes = static_cast<std::size_t>(matrix.n) + 1;
    MinorFormula formula{std::vector<double>(sizes, 0.0), std::vector<double>(sizes, factor)};
    return {std::move(matrix), std::move(begins), std::move(places), given, std::move(formula), per_pair,
            squares.value_or(Scatter{}), half_rows, floor};
}

MaybeArray all_sets(const BlockScore& score, const double* added, int most, const Watch& watch, VarSet& degenerate) {
    require(score.n_variables() >= 1 && score.n_variables() <= most_in_tables, "too many variables");
    return filled(watch, n_sets(score.n_variables()), [&](Limits& limits, double* out) {
        return score_all_sets_of(score, added, most, limits, out, degenerate);
    });
}

std::optional<GaussianFamilies> families_of(const BlockScore& score, const Conditions* conditions,
                                            const GaussianQuestion& question, const Watch& watch) {
    GaussianFamilies found = watched(watch, [&](Limits& limits) {
        return score_gaussian_families(score, conditions, question, limits);
    });
    if (!found.finished && found.memory_needed == 0.0 && found.degenerate == 0) return std::nullopt;
    return found;
}

}  // namespace

void bind_gaussian_sets(nb::module_& m) {
    nb::class_<MinorFormula>(m, "MinorFormula", "Of a set: constants[size] + factors[size] * ln det of its matrix.")
        .def(
            "__init__",
            [](MinorFormula* self, std::vector<double> constants, std::vector<double> factors) {
                new (self) MinorFormula{std::move(constants), std::move(factors)};
            },
            "constants"_a, "factors"_a)
        .def_ro("constants", &MinorFormula::constants)
        .def_ro("factors", &MinorFormula::factors);

    nb::class_<Scatter>(m, "Scatter", "How columns of numbers vary together, to 32 digits.")
        .def(
            "__init__",
            [](Scatter* self, const Matrix& values, const Weights& weights) {
                new (self) Scatter(scatter_of(checked_numbers(values, weights)));
            },
            "values"_a, "weights"_a)
        .def_static(
            "of_rows",
            [](const Matrix& values, const Weights& weights, const std::vector<std::uint32_t>& rows) {
                const Numbers numbers = checked_numbers(values, weights);
                for (std::uint32_t row : rows) require(row < numbers.n_distinct, "no such row");
                return scatter_of_rows(numbers, rows, least_variances(numbers));
            },
            "values"_a, "weights"_a, "rows"_a, "Of these rows only, with means of their own.")
        .def_static(
            "posterior",
            [](const Matrix& values, const Weights& weights, const Matrix& precision, const DoublesIn& mean,
               double rows) {
                check_square(precision, values.shape(0));
                require(mean.shape(0) == values.shape(0), "a mean for each variable");
                return posterior_scatter(checked_numbers(values, weights), precision.data(), mean.data(), rows);
            },
            "values"_a, "weights"_a, "precision"_a, "mean"_a, "rows"_a)
        .def_static(
            "plain",
            [](const Matrix& matrix) {
                check_square(matrix, matrix.shape(0));
                return plain_scatter(matrix.data(), static_cast<int>(matrix.shape(0)));
            },
            "matrix"_a)
        .def(
            "log_determinant",
            [](const Scatter& scatter, const std::vector<int>& variables) {
                require(variables.size() <= 64, "at most 64 variables");
                for (int v : variables) require(v >= 0 && v < scatter.n, "no such variable");
                return log_determinant(scatter_among(scatter, variables));
            },
            "variables"_a, "Of the matrix of these variables; not a number where one depends on others.");

    m.def(
        "score_gaussian_families",
        [](const Scatter& scatter, const MinorFormula& formula, bool is_penalised, int max_parents,
           double epsilon, std::uint64_t k, double slack, double memory, const Watch& watch) -> std::optional<GaussianFamilies> {
            require(scatter.n >= 1 && scatter.n <= 64, "1 to 64 variables");
            check_formula(formula, scatter.n);
            const GaussianQuestion question{is_penalised, max_parents, epsilon, k, slack, memory};
            return families_of(score_of_rows(scatter, formula), nullptr, question, watch);
        },
        "scatter"_a, "formula"_a, "is_penalised"_a, "max_parents"_a, "epsilon"_a, "k"_a, "slack"_a, "memory"_a, "limits"_a,
        "None when stopped.");
    m.def(
        "score_mixed_families",
        [](const PyTable& discrete, const Matrix& values, const std::vector<int>& continuous_places, double penalty,
           int max_parents, const Watch& watch) {
            const Numbers numbers = checked_numbers(values, discrete.weights);
            MixedTable table{discrete.view, numbers, {}, continuous_places};
            const int n = discrete.view.n_variables() + static_cast<int>(values.shape(0));
            require(n <= most_in_tables && continuous_places.size() == values.shape(0), "too many variables");
            for (int v : continuous_places) require(v >= 0 && v < n, "no such place");
            for (int v = 0; v < n; ++v)
                if (std::find(continuous_places.begin(), continuous_places.end(), v) == continuous_places.end())
                    table.discrete_places.push_back(v);
            require(table.discrete_places.size() == discrete.view.columns.size(), "a place for each column");
            MixedCounts counts;
            const auto fill = [&](Limits& limits, double* out) {
                return score_mixed_families(table, penalty, max_parents, limits, out, counts);
            };
            MaybeArray families = filled(watch, n * n_sets(n - 1), fill);
            return std::tuple(std::move(families), counts.degenerate, counts.hopeless);
        },
        "discrete"_a, "values"_a, "continuous_places"_a, "penalty"_a, "max_parents"_a, "limits"_a,
        "Scores of all families, None when stopped; how many are degenerate, and hopeless.");
    m.def(
        "score_minors",
        [](const Scatter& scatter, const MinorFormula& formula, int most, const Watch& watch) {
            require(scatter.n >= 1 && scatter.n <= most_in_tables, "too many variables");
            check_formula(formula, scatter.n);
            VarSet degenerate = 0;
            MaybeArray scores = all_sets(score_of_rows(scatter, formula), nullptr, most, watch, degenerate);
            return std::pair(std::move(scores), degenerate);
        },
        "scatter"_a, "formula"_a, "most"_a, "limits"_a,
        "Scores of all sets, by their bits, None when stopped; the first set with a dependent variable, or 0.");

    nb::class_<BlockScore>(m, "BlockScore", "What sets of variables score that are blocks of rows of a matrix.")
        .def(
            "__init__",
            [](BlockScore* self, const Scatter& matrix, std::vector<int> begins, std::vector<int> places, int given,
               double factor, double per_pair, const std::optional<Scatter>& squares, double half_rows, double floor) {
                new (self) BlockScore(checked_score(matrix, std::move(begins), std::move(places), given, factor,
                                                    per_pair, squares, half_rows, floor));
            },
            "matrix"_a, "begins"_a, "places"_a, "given"_a, "factor"_a, "per_pair"_a, "squares"_a.none(), "half_rows"_a,
            "floor"_a)
        .def(
            "of",
            [](const BlockScore& score, const std::vector<int>& variables) {
                VarSet places = 0, set = 0;
                for (int v : variables) {
                    require(v >= 0 && v < score.n_variables(), "no such variable");
                    places |= only(v);
                }
                for (int v = 0; v < score.n_variables(); ++v)
                    if (has(places, score.places[v])) set |= only(v);
                return score_of_set(score, set);
            },
            "variables"_a, "The score of a set, without what is added for conditions.");
    m.def(
        "score_block_sets",
        [](const BlockScore& score, const DoublesIn& added, int most, const Watch& watch) {
            const bool has_any = added.shape(0) > 0;
            require(!has_any || added.shape(0) == n_sets(score.n_variables() - score.given), "a number for each set");
            VarSet degenerate = 0;
            return all_sets(score, has_any ? added.data() : nullptr, most, watch, degenerate);
        },
        "score"_a, "added"_a, "most"_a, "limits"_a,
        "Scores of all sets, by their bits, None when stopped. added: nothing, or what each set of conditions adds.");
    m.def(
        "score_block_families",
        [](const BlockScore& score, const PyTable* conditions, const SetFormula* formula, int max_parents,
           double epsilon, std::uint64_t k, double slack, double memory, const Watch& watch) {
            require((conditions == nullptr) == (formula == nullptr), "conditions score by a formula");
            const GaussianQuestion question{true, max_parents, epsilon, k, slack, memory};
            if (conditions == nullptr) return families_of(score, nullptr, question, watch);
            require(conditions->view.n_variables() == score.n_variables() - score.given, "a column for each condition");
            const Conditions as_table{conditions->view, *formula};
            return families_of(score, &as_table, question, watch);
        },
        "score"_a, "conditions"_a.none(), "formula"_a.none(), "max_parents"_a, "epsilon"_a, "k"_a, "slack"_a,
        "memory"_a, "limits"_a, "None when stopped.");
}

}  // namespace topdag
