// score_grid.h: the grid that set scores are rounded to before any is known, and what a set costs by its cells.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/table.h"
#include "scoring/pruning_question.h"

namespace topdag {

// Rules of pruning hold for exact scores; so many grid steps cover what rounding can do.
inline constexpr double slack_steps = 8;

// Variables with much entropy at the highest places: they are shared by neighbours when sets are counted.
std::vector<int> places_by_entropy(const Table& table);

// Sums over cells are whole numbers of 2^-bits, scores multiples of 2^-exponent.
class ScoreGrid {
public:
    ScoreGrid(const Table& table, const PruningQuestion& question);

    int exponent() const { return exponent_; }
    int bits() const { return bits_; }
    double step() const { return step_; }
    double largest() const { return largest_; }  // no set score that matters is larger in size

    // The score of a set from its sum over cells.
    double rounded(std::int64_t sum, double penalty) const;

private:
    double largest_;
    int exponent_;
    int bits_;
    double unit_;   // 2^-bits
    double step_;   // 2^-exponent
    double steps_;  // 2^exponent
};

// What sets are charged for their cells.
class Penalties {
public:
    explicit Penalties(std::uint64_t n_rows) : n_rows_(n_rows) {}

    double of(const SetFormula& formula, double cells);

private:
    std::uint64_t n_rows_;
    std::map<double, double> regrets_;
};

}  // namespace topdag
