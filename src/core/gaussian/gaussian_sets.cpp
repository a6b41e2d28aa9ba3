#include "gaussian/gaussian_sets.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

#include "base/parallel.h"

namespace topdag {

namespace {

constexpr int block_variables = 14;  // a block of sets is walked in some milliseconds

}  // namespace

std::vector<int> single_rows(int n) {
    std::vector<int> begins(static_cast<std::size_t>(n) + 1);
    std::iota(begins.begin(), begins.end(), 0);
    return begins;
}

VarSet set_at(const std::vector<int>& places, VarSet set) {
    VarSet found = 0;
    for (; set != 0; set &= set - 1) found |= only(places[first_of(set)]);
    return found;
}

std::vector<VarSet> spread_over(const std::vector<int>& places) {
    std::vector<VarSet> sets(n_sets(static_cast<int>(places.size())));
    for (VarSet set = 1; set < sets.size(); ++set) sets[set] = sets[set & (set - 1)] | only(places[first_of(set)]);
    return sets;
}

BlockScore score_of_rows(const Scatter& scatter, const MinorFormula& formula) {
    std::vector<int> places = single_rows(scatter.n);
    places.pop_back();
    return {scatter, single_rows(scatter.n), std::move(places), scatter.n, formula, 0.0, {}, 0.0, 0.0};
}

double score_of_set(const BlockScore& score, VarSet set) {
    std::vector<int> rows, begins{0}, among_squares;
    int given = 0;
    for (VarSet rest = set; rest != 0; rest &= rest - 1) {
        const int v = first_of(rest);
        given += v < score.given;
        if (v < score.squares.n) among_squares.push_back(v);
        for (int row = score.begins[v]; row < score.begins[v + 1]; ++row) rows.push_back(row);
        begins.push_back(static_cast<int>(rows.size()));
    }
    double result = std::numeric_limits<double>::quiet_NaN();
    const auto visit = [&](const Minor& minor) { result = score.of(minor); };
    const Scatter matrix = scatter_among(score.matrix, rows);
    const int n = size_of(set);
    MinorWalk(matrix, begins, given, n, visit, [](VarSet) {}).below(all_of(n), 0);
    if (!among_squares.empty()) result += score.half_rows * log_determinant(scatter_among(score.squares, among_squares));
    return result;
}

namespace {

// half_rows * ln det for each set of the variables that have squares; nothing for larger sets.
std::vector<double> scores_of_squares(const BlockScore& score, int most, Limits& limits) {
    std::vector<double> scores(n_sets(score.squares.n));
    const int n_factors = score.squares.n + 1;
    const MinorFormula formula{std::vector<double>(n_factors, 0.0), std::vector<double>(n_factors, score.half_rows)};
    VarSet degenerate = 0;
    score_all_sets_of(score_of_rows(score.squares, formula), nullptr, most, limits, scores.data(), degenerate);
    return scores;
}

}  // namespace

bool score_all_sets_of(const BlockScore& score, const double* added, int most, Limits& limits,
                       double* scores, VarSet& degenerate) {
    const int n = score.n_variables(), low = std::min(n, block_variables);
    const VarSet with_squares = all_of(score.squares.n);
    const std::vector<double> squares = score.squares.n == 0 ? std::vector<double>() : scores_of_squares(score, most, limits);
    const std::vector<VarSet> place = spread_over({score.places.begin(), score.places.begin() + low});
    std::mutex lock;
    degenerate = 0;
    if (!fill_in_parallel(scores, n_sets(n), not_scored, limits)) return false;
    limits.begin(Phase::counting, n_sets(n));
    parallel_for(n_sets(n - low), limits, [&](std::size_t block, int) {
        const VarSet high = VarSet{block} << low;
        double* const own = scores + set_at(score.places, high);
        VarSet first = 0;
        const auto visit = [&](const Minor& minor) {
            double value = score.of(minor);
            if (!squares.empty()) value += squares[minor.set & with_squares];
            if (added != nullptr) value += added[minor.set >> score.given];
            own[place[minor.set & all_of(low)]] = value;
        };
        const auto dependent = [&](VarSet set) { first = first == 0 ? set : std::min(first, set); };
        MinorWalk(score.matrix, score.begins, score.given, most, visit, dependent).below(high, low);
        limits.done.fetch_add(n_sets(low), std::memory_order_relaxed);
        if (first == 0) return;
        const std::lock_guard guard(lock);
        degenerate = degenerate == 0 ? first : std::min(degenerate, first);
    });
    return !limits.stop.load();
}

double log_determinant(const Scatter& scatter) {
    const int n_factors = scatter.n + 1;
    return score_of_set(score_of_rows(scatter, {std::vector<double>(n_factors, 0.0), std::vector<double>(n_factors, 1.0)}),
                        all_of(scatter.n));
}

}  // namespace topdag
