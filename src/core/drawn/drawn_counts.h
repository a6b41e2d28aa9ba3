// drawn_counts.h: sums over the cells of listed sets in several tables at once, which have the same distinct rows with
// other weights, as the draws of a bootstrap have. The rows of a cell are found once for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/table.h"
#include "base/var_set.h"
#include "counting/cell_counters.h"
#include "counting/counting_rows.h"

namespace topdag {

constexpr int draws_at_once = 32;

// A number for each draw, side by side.
template <class Number>
struct ByDraw {
    Number of[draws_at_once];
};

// The same code serves one table, whose numbers are plain, and several draws.
template <class Number>
constexpr int n_draws = 1;
template <class Number>
constexpr int n_draws<ByDraw<Number>> = draws_at_once;

template <class Number>
Number& in_draw(Number& number, int) { return number; }
template <class Number>
const Number& in_draw(const Number& number, int) { return number; }
template <class Number>
Number& in_draw(ByDraw<Number>& numbers, int draw) { return numbers.of[draw]; }
template <class Number>
const Number& in_draw(const ByDraw<Number>& numbers, int draw) { return numbers.of[draw]; }

// The rows of a table with the weights of its draws, at most `draws_at_once`; further draws are empty.
class DrawnRows : public CountingRows {
public:
    using Sum = ByDraw<std::int64_t>;
    using Score = ByDraw<double>;
    using Count = ByDraw<std::uint16_t>;

    static constexpr std::uint64_t most_rows = 0xffff;  // what a count holds

    // Each draw has as many rows as the table: a weight for each distinct row, which may be 0.
    DrawnRows(const Table& table, const std::vector<const std::uint32_t*>& draws, const std::vector<int>& order);

    const Count& drawn(std::uint32_t row) const { return drawn_[row]; }

    // A row that does not have its variable's most frequent state; the other states are numbered from 0 on.
    struct Rare { std::uint32_t row, state; };
    const std::vector<Rare>& rare(int place) const { return rare_[place]; }

private:
    std::vector<Count> drawn_;
    std::vector<std::vector<Rare>> rare_;
};

// As in sparse_counts.h, in each draw; the function is not spread.
bool sum_over_listed(const DrawnRows& rows, const FixedFunction& function, const std::vector<VarSet>& sets,
                     Limits& limits, std::vector<DrawnRows::Sum>& sums);

}  // namespace topdag
