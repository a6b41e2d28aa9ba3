// margins.h: counts of the cells of all small sets of variables, added up over parts of the rows.
//
// Rows are looked at once and not kept, so there may be more of them than memory holds. Variables are put into blocks,
// and a table counts the cells of as many blocks together as sets have variables: each set is part of some table, from
// which the others are summed out. Ten blocks of two are 210 tables for the 4,845 sets of four among twenty variables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/run_limits.h"
#include "base/table.h"
#include "base/var_set.h"
#include "counting/cell_counters.h"
#include "counting/cell_tables.h"
#include "counting/counts.h"

namespace topdag {

class Margins {
public:
    // Of all sets of at most so many variables, in tables of `bytes` together, or of the least there can be. Takes them
    // with the first rows.
    Margins(std::vector<int> arities, int most_variables, double bytes);

    const std::vector<int>& arities() const { return arities_; }
    int n_variables() const { return static_cast<int>(arities_.size()); }
    int most_variables() const { return most_variables_; }
    std::uint64_t n_rows() const { return n_rows_; }
    double n_tables() const { return n_tables_; }
    double most_cells() const { return most_cells_; }  // of a table
    double bytes() const { return bytes_; }            // of all tables
    double bytes_at_work(int threads) const;           // with what is needed to fill them, and to sum out of them

    // Counts further rows, of the same variables, in so many steps of limits.done. False when a limit stopped it: then no
    // count is right any more. No table may have more than 2^32 cells.
    bool add(const Table& rows, std::uint64_t steps, Limits& limits);

    // How often each combination of states of some variables occurs, those of the first one slowest; the variables stand
    // in an order of their own. Room for what is between a table and these counts.
    struct Counts {
        std::vector<int> variables;
        std::span<const std::uint32_t> counts;
        std::vector<std::uint32_t> room[2];
    };
    void count(const std::vector<int>& variables, Counts& found) const;

    // As sum_over_listed and sum_over_cells in counting.
    bool sums(const FixedFunction& function, const std::vector<VarSet>& sets, Limits& limits,
              std::vector<std::int64_t>& sums) const;
    bool sums_of_all(const CellTables& tables, const SetLimits& wanted, Limits& limits, double* sums) const;

private:
    struct Block {
        std::vector<int> variables;
        std::size_t cells;
    };

    void choose_blocks(double bytes);
    void list_tables();
    double over_tables(const std::vector<std::size_t>& of_block) const;
    void code_block(std::size_t b, const Table& rows, std::size_t begin, std::size_t n_rows);
    void count_in_tables(std::size_t first, const std::uint32_t* weights, std::size_t n_rows,
                         std::vector<std::uint32_t>& partial);
    std::size_t table_with(const std::vector<int>& variables) const;

    std::vector<int> arities_;
    int most_variables_;
    std::uint64_t n_rows_ = 0;
    double n_tables_ = 0.0, most_cells_ = 0.0, bytes_ = 0.0;
    std::vector<Block> blocks_;
    std::vector<int> block_of_;                      // by variable
    int n_together_ = 0;                             // blocks of a table
    std::vector<std::vector<int>> together_;         // by table, ascending; those that differ in the last stand together
    std::vector<std::size_t> firsts_;                // tables that differ in more than the last from the one before
    std::vector<std::vector<std::uint32_t>> tables_;
    std::vector<std::vector<std::uint16_t>> codes_;  // by block: the states of some rows, as one number
};

// Margins for sets of at most so many variables, n_sets of them, where counting these one by one takes longer; else
// nothing.
std::optional<Margins> margins_worthwhile(const Table& table, int most_variables, double n_sets);

}  // namespace topdag
