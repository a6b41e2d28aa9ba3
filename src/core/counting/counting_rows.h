// counting_rows.h: the rows of a table as they are read where sets of variables are counted one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/table.h"

namespace topdag {

// The rows as counting reads them: variables renumbered ("places"), rows sorted by their highest places; equal rows
// stand apart while they are few, because rows without weights can be counted by bits.
class CountingRows {
public:
    using Sum = std::int64_t;
    using Score = double;

    // Place p holds the variable order[p]. `distinct`: equal rows stay together, and every count is looked up.
    CountingRows(const Table& table, const std::vector<int>& order, bool distinct = false);

    int n_variables() const { return static_cast<int>(arities_.size()); }
    int arity(int place) const { return arities_[place]; }
    std::size_t n_units() const { return n_units_; }
    std::uint64_t n_rows() const { return n_rows_; }
    bool is_unweighted() const { return weights_.empty(); }
    std::uint64_t weight(std::uint32_t unit) const { return weights_.empty() ? 1 : weights_[unit]; }
    // The distinct row of the table that a unit is.
    std::uint32_t source(std::uint32_t unit) const { return sources_[unit]; }
    // Below this, what a count adds to a score is looked up.
    std::uint64_t n_looked_up() const { return n_looked_up_; }
    const std::uint16_t* codes(int place) const { return codes_[place].data(); }
    // The low bytes of a row's codes, eight places in a word; for rows without weights.
    const std::uint64_t* bytes_of(std::uint32_t unit) const { return &bytes_[unit * bytes_stride()]; }
    std::size_t bytes_stride() const { return (arities_.size() + 7) / 8; }
    std::size_t words() const { return (n_units() + 63) / 64; }

private:
    std::vector<int> arities_;
    std::vector<std::vector<std::uint16_t>> codes_;
    std::vector<std::uint64_t> bytes_;
    std::vector<std::uint32_t> weights_;  // empty: all 1
    std::vector<std::uint32_t> sources_;
    std::uint64_t n_looked_up_;
    std::size_t n_units_ = 0;
    std::uint64_t n_rows_;
};

}  // namespace topdag
