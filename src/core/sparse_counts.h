// sparse_counts.h: sums over the cells of listed sets of variables, where tables over all sets are out of reach.
//
// Listed sets stand in ascending order, so that neighbours share their highest variables: the rows are kept grouped by
// the cells of the shared part, and only the lowest variable is counted anew. Cells of one distinct row are put aside.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cell_function.h"
#include "run_limits.h"
#include "table.h"
#include "var_set.h"

namespace topdag {

// The rows as counting reads them: variables renumbered ("places"), rows sorted by their highest places; equal rows
// stand apart while they are few, because unweighted rows can be counted by bits.
class CountingRows {
public:
    // Place p holds the variable order[p].
    CountingRows(const Table& table, const std::vector<int>& order);

    int n_variables() const { return static_cast<int>(arities_.size()); }
    int arity(int place) const { return arities_[place]; }
    std::size_t n_units() const { return identity_.size(); }
    std::uint64_t n_rows() const { return n_rows_; }
    bool is_unweighted() const { return weights_.empty(); }
    std::uint64_t weight(std::uint32_t unit) const { return weights_.empty() ? 1 : weights_[unit]; }
    // Equal units have equal identities.
    std::uint32_t identity(std::uint32_t unit) const { return identity_[unit]; }
    const std::uint16_t* codes(int place) const { return codes_[place].data(); }
    std::size_t words() const { return (n_units() + 63) / 64; }

private:
    std::vector<int> arities_;
    std::vector<std::vector<std::uint16_t>> codes_;
    std::vector<std::uint32_t> weights_;  // empty: all 1
    std::vector<std::uint32_t> identity_;
    std::uint64_t n_rows_;
};

// A cell function in whole numbers of 2^-bits, so that sums do not depend on the order of the cells.
struct FixedFunction {
    CellKind kind;
    double parameter;
    bool spread;  // the parameter is divided by the cells of the set
    int bits;
};

// Writes for each set, ascending, the sum of the function over its cells, in units of 2^-bits.
// False when a limit stopped it. Does not depend on `threads`. Adds the sets done to limits.done.
bool sum_over_listed(const CountingRows& rows, const FixedFunction& function, const std::vector<VarSet>& sets,
                     int threads, Limits& limits, std::vector<std::int64_t>& sums);

// How many cells of each set occur.
bool count_occurring(const CountingRows& rows, const std::vector<VarSet>& sets, int threads, Limits& limits,
                     std::vector<std::int64_t>& cells);

}  // namespace topdag
