#include "scoring/score_grid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/infinity.h"

namespace topdag {

namespace {

double n_log_n(double n) { return n > 0 ? n * std::log(n) : 0.0; }

// How large set scores can become, so that one grid serves all levels.
struct Magnitudes {
    double sums;    // over cells, in size
    double scores;  // with the penalty
    double cells;   // of a set that occur

    Magnitudes(const Table& table, const PruningQuestion& question) {
        const double n_rows = static_cast<double>(table.n_rows);
        std::vector<int> arities = table.arities;
        std::sort(arities.rbegin(), arities.rend());
        const int largest = std::min(table.n_variables(), question.max_parents + 1);
        const double most_cells = product(arities, largest);
        cells = std::min(most_cells, static_cast<double>(table.most_distinct()));
        sums = of_sums(question.joint, table, most_cells);
        for (const SetFormula& formula : question.below) sums = std::max(sums, of_sums(formula, table, most_cells));
        scores = sums;
        if (question.joint.penalty == Penalty::regret) scores += n_rows * std::log(most_cells);
        if (question.joint.penalty == Penalty::per_cell)
            scores += question.joint.penalty_weight * std::min(most_cells, hopeful_cells(n_rows, arities, question));
    }

private:
    static double product(const std::vector<int>& arities, int first) {
        double cells = 1.0;
        for (int i = 0; i < first && i < static_cast<int>(arities.size()); ++i) cells *= arities[i];
        return cells;
    }

    static double of_sums(const SetFormula& formula, const Table& table, double most_cells) {
        const double n_rows = static_cast<double>(table.n_rows);
        if (formula.kind != CellKind::log_rising) return n_rows * std::log(n_rows + formula.parameter + 2.0);
        const double a = formula.spread ? formula.parameter / most_cells : formula.parameter;
        return n_rows * std::log(n_rows + formula.parameter + 2.0) +
               static_cast<double>(table.most_distinct()) * std::abs(std::log(a));
    }

    // The most cells of a set that the penalty rule lets pass; see pruned_scores.cpp.
    static double hopeful_cells(double n_rows, const std::vector<int>& arities, const PruningQuestion& question) {
        const double weight = question.joint.penalty_weight;
        if (!(question.rules >> static_cast<int>(CutRule::penalty) & 1) || weight <= 0 || arities.back() < 2)
            return infinity;
        const double margin = std::max(0.0, question.epsilon) + 1.0;
        const double explainable = n_rows * std::log(arities[0]) + weight * arities[0] + margin;
        if (question.k == 0) return 2.0 * explainable / weight;
        // Where the penalty is more than twice that, all subsets score more, and only small sets have fewer than k.
        return std::max(4.0 * explainable / weight, product(arities, static_cast<int>(std::bit_width(question.k)) + 1));
    }
};

}  // namespace

std::vector<int> places_by_entropy(const Table& table) {
    std::vector<double> entropy(table.n_variables());
    for (int v = 0; v < table.n_variables(); ++v) {
        std::vector<double> count(table.arities[v], 0.0);
        for (std::size_t row = 0; row < table.n_distinct; ++row) count[table.columns[v][row]] += table.weights[row];
        for (double c : count) entropy[v] -= n_log_n(c);
    }
    std::vector<int> order(table.n_variables());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return entropy[a] < entropy[b]; });
    return order;
}

ScoreGrid::ScoreGrid(const Table& table, const PruningQuestion& question) {
    const Magnitudes magnitudes(table, question);
    largest_ = magnitudes.scores;
    bits_ = std::min(50, 61 - static_cast<int>(std::ceil(std::log2(magnitudes.sums + 1.0))));
    exponent_ = grid_exponent(table.n_variables(), magnitudes.scores, question.total);
    // Every cell is rounded to whole units; together by no more than a quarter of a step.
    const int of_cells = bits_ - 1 - static_cast<int>(std::ceil(std::log2(magnitudes.cells)));
    if (exponent_ < coarsest_exponent(table.n_variables())) exponent_ = std::min(exponent_, of_cells);
    unit_ = std::ldexp(1.0, -bits_);
    step_ = std::ldexp(1.0, -exponent_);
    steps_ = std::ldexp(1.0, exponent_);
}

double ScoreGrid::rounded(std::int64_t sum, double penalty) const {
    const double exact = static_cast<double>(sum) * unit_ - penalty;
    return std::nearbyint(exact * steps_) * step_;
}

double Penalties::of(const SetFormula& formula, double cells) {
    if (formula.penalty == Penalty::none) return 0.0;
    if (formula.penalty == Penalty::per_cell) return formula.penalty_weight * cells;
    const auto [found, is_new] = regrets_.try_emplace(cells, 0.0);
    if (is_new) found->second = regret(n_rows_, cells);
    return found->second;
}

}  // namespace topdag
