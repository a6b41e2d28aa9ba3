// cell_counters.h: the cells of a set of variables, refined variable by variable, and sums over them.
//
// RowCounter keeps cells as lists of weighted rows, BitCounter as bits of rows without weights. Both can split the cells
// of a set by one more variable and sum a function over the parts without making them. A set's own cells are made once
// for all sets that hold it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "counting/cell_function.h"
#include "counting/counting_rows.h"

namespace topdag {

// A cell function in whole numbers of 2^-bits, so that sums do not depend on the order of the cells.
struct FixedFunction {
    CellKind kind;
    double parameter;
    bool spread;  // the parameter is divided by the cells of the set
    int bits;
};

// f at counts below a limit, by look-up.
class CountTable {
public:
    // `cells` of the set, where the function is spread over them.
    CountTable(std::uint64_t n_looked_up, const FixedFunction& function, double cells);

    std::int64_t operator()(std::uint64_t count) const;
    const std::int64_t* values() const { return values_.data(); }

private:
    CellFunction function_;
    double scale_;
    std::vector<std::int64_t> values_;
};

// One table for all sets, or one for each number of cells, made when it is first asked for.
class CountTables {
public:
    CountTables(std::uint64_t n_looked_up, const FixedFunction& function)
        : n_looked_up_(n_looked_up), function_(function) {}

    const CountTable& of(double cells);

private:
    std::uint64_t n_looked_up_;
    FixedFunction function_;
    std::map<double, CountTable> by_cells_;
};

// Cells that are settled: all their rows are equal, so nothing splits them.
struct SettledCells {
    static constexpr std::uint32_t light_limit = 16;  // cells below this count are tallied, heavier ones listed

    std::uint64_t light[light_limit] = {};  // by count
    std::vector<std::uint64_t> heavy;

    void add(std::uint64_t count);
    std::int64_t sum(const CountTable& f) const;
};

// ---- Weighted rows: cells as lists of rows

struct RowCells {
    SettledCells settled;
    std::vector<std::uint32_t> rows;    // cell after cell, ascending in each
    std::vector<std::uint32_t> begins;  // of each cell, and the end

    std::size_t n_cells() const { return begins.size() - 1; }
};

class RowCounter {
public:
    using Cells = RowCells;

    explicit RowCounter(const CountingRows& rows) : rows_(rows) {}

    // All rows in one cell.
    void begin(RowCells& all);
    // The cells with a further variable.
    void refine(const RowCells& from, int place, RowCells& to);
    // The sum of f over the cells with a further variable.
    std::int64_t split(const RowCells& cells, int place, const CountTable& f);
    // The sum of f over the cells themselves.
    std::int64_t sum(const RowCells& cells, const CountTable& f) const;
    // As split, or something below `least` when that is; f of a whole is no less than the sum over its parts.
    std::int64_t split_down_to(std::int64_t, std::int64_t, const RowCells& cells, int place, const CountTable& f) {
        return split(cells, place, f);
    }
    void settle_down(RowCells&, int, std::size_t) {}

private:
    std::uint32_t add_cell(RowCells& to, std::uint32_t end, const std::uint32_t* first, std::uint32_t size);

    const CountingRows& rows_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> group_;
    std::vector<std::uint64_t> counts_;
};

// ---- Unweighted rows: cells as bits

// Rows in an order in which the cells of some set stand together, each in as few words as it can.
struct Frame {
    std::size_t words = 0;
    int n_places = 0;
    std::vector<std::uint32_t> row_at;               // by bit
    std::vector<std::vector<std::uint64_t>> states;  // by place: `words` for each state from 1 on
};

struct BitCells {
    struct Cell { std::uint32_t first_word, n_words, count; std::size_t at; };

    SettledCells settled;
    const Frame* frame = nullptr;
    Frame own_frame;
    std::vector<Cell> cells;
    std::vector<std::uint64_t> bits;  // may be longer than what cells use
    bool one_word_each = false;
};

class BitCounter {
public:
    using Cells = BitCells;

    explicit BitCounter(const CountingRows& rows) : rows_(rows) {}

    void begin(BitCells& all);
    void refine(const BitCells& from, int place, BitCells& to);
    std::int64_t split(const BitCells& cells, int place, const CountTable& f);
    std::int64_t sum(const BitCells& cells, const CountTable& f) const;
    // `whole`: the sum of f over the cells themselves.
    std::int64_t split_down_to(std::int64_t least, std::int64_t whole, const BitCells& cells, int place,
                               const CountTable& f);
    // Gives the cells a frame of their own, for places below `n_places`, where the words saved on `n_uses` sets pay for
    // it.
    void settle_down(BitCells& cells, int n_places, std::size_t n_uses);

private:
    void fill_states(Frame& frame, int n_places);
    void fill_few_states(Frame& frame, int block, int n_places);
    void fill_many_states(Frame& frame, int place);

    const CountingRows& rows_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint64_t> moved_;
};

}  // namespace topdag
