// counting_rows.h: the rows of a table as they are read where sets of variables are counted one by one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/table.h"

namespace topdag {

constexpr int most_bits = 8;  // of a code

// How many bits the codes of so many states take.
constexpr int bits_for(int arity) { return std::bit_width(static_cast<unsigned>(arity - 1)); }

constexpr std::uint64_t most_apart = 1 << 16;  // rows whose counts are all looked up, where equal ones stand apart

// Below this, what a count of so many rows adds to a score is looked up.
constexpr std::uint64_t counts_looked_up(std::uint64_t n_rows, bool are_apart) {
    constexpr std::uint64_t of_weighted = 4096;  // beyond, counts of weighted rows are computed when met
    return are_apart ? n_rows + 1 : std::min(n_rows + 1, of_weighted);
}

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
    // The places as variables.
    Table as_table() const;
    // Below this, what a count adds to a score is looked up.
    std::uint64_t n_looked_up() const { return n_looked_up_; }
    const std::uint16_t* codes(int place) const { return codes_[place].data(); }
    // The low bits of a row's codes, for rows without weights: 64 places in a word, then by bit.
    const std::uint64_t* bits_of(std::uint32_t unit, int block) const {
        return &bits_[(unit * n_blocks() + static_cast<std::size_t>(block)) * static_cast<std::size_t>(n_bits_)];
    }
    int n_bits() const { return n_bits_; }
    std::size_t words() const { return (n_units() + 63) / 64; }

private:
    std::size_t n_blocks() const { return (arities_.size() + 63) / 64; }

    std::vector<int> arities_;
    std::vector<std::vector<std::uint16_t>> codes_;
    std::vector<std::uint64_t> bits_;
    int n_bits_ = 1;
    std::vector<std::uint32_t> weights_;  // empty: all 1
    std::vector<std::uint32_t> sources_;
    std::uint64_t n_looked_up_;
    std::size_t n_units_ = 0;
    std::uint64_t n_rows_;
};

}  // namespace topdag
