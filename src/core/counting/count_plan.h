// count_plan.h: the order in which variables are taken when all sets are counted, and the rows laid out for it.
//
// Positions are variables by falling arity, then falling entropy: what splits most comes first, so that the
// many sets that share a beginning share small cells. The last few positions are the *tail*: all subsets of
// the tail are counted at once from one small dense table per cell.
#pragma once

#include <cstdint>
#include <vector>

#include "base/table.h"
#include "base/var_set.h"

namespace topdag {

// A set of the last positions; the last of all is bit 0, so that subsets of the tail are the low bits.
using PositionMask = std::uint32_t;
constexpr int mask_bits = 32;

struct CountPlan {
    // tail_cells bounds the expanded size of the tail, the product of (arity + 1); 1 means no tail. Masks hold the last
    // `masked` positions, the tail always among them: fewer than they could in tests, which so see what many variables do.
    CountPlan(const Table& table, int tail_cells, int masked = mask_bits);

    int n = 0;
    int head = 0;                   // positions before the tail
    int tail = 0;                   // positions in the tail
    int first_masked = 0;           // the first position that masks hold
    std::vector<int> variable;      // by position
    std::vector<int> arity;         // by position
    std::vector<double> rest_cells; // product of the arities from a position on; rest_cells[n] = 1
    std::vector<const std::uint16_t*> column;  // by position
    const std::uint32_t* weights = nullptr;
    std::size_t n_distinct = 0;
    std::uint64_t n_rows = 0;

    // Where a row stands in a dense table over the positions from `position` on; only where that table is
    // at most `dense_filling` times as large as the data.
    std::vector<std::vector<std::uint32_t>> rest_index;

    // The tail is always counted dense; before it, a table must not be much larger than the distinct rows it counts.
    bool is_dense_worthwhile(int position, std::uint64_t rows) const {
        return position == head || rest_cells[position] <= dense_filling * static_cast<double>(rows);
    }

    // Whether masks hold all positions from this one on: before, no cell is kept by its agreements.
    bool is_masked(int position) const { return position >= first_masked; }
    PositionMask bit_of(int position) const { return is_masked(position) ? PositionMask{1} << (n - 1 - position) : 0; }

    // The positions on which two rows agree.
    PositionMask agreement(std::uint32_t a, std::uint32_t b) const;

    VarSet variables_of(PositionMask mask) const;

    static constexpr double dense_filling = 4.0;

private:
    void order_positions(const Table& table);
    void choose_tail(int tail_cells);
    void index_rests();
    void slice_bits();

    int n_slices_ = 0;
    std::vector<PositionMask> slices_;  // slices_[row * n_slices_ + b]: bit b of every position's code
};

}  // namespace topdag
