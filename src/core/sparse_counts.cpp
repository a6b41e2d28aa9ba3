#include "sparse_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parallel.h"
#include "simd.h"

namespace topdag {

namespace {

constexpr std::uint64_t most_apart = 1 << 16;     // rows whose counts are all looked up
constexpr std::uint64_t rows_for_one = 128;       // unweighted rows cost as much as one weighted row, at least
constexpr std::uint64_t weighted_table = 4096;    // counts of weighted rows from here on are computed when met
constexpr std::uint32_t light_limit = 16;         // settled cells below this count are tallied, heavier ones listed
constexpr std::size_t sets_per_task = 4096;

// f at counts below a limit, by look-up.
class CountTable {
public:
    CountTable(const FixedFunction& function, double cells, std::uint64_t limit)
        : function_{function.kind, function.spread ? function.parameter / cells : function.parameter},
          scale_(std::ldexp(1.0, function.bits)) {
        std::vector<double> exact(limit);
        function_.tabulate(exact.data(), exact.size());
        values_.resize(std::max<std::size_t>(exact.size(), light_limit), 0);
        for (std::size_t count = 0; count < exact.size(); ++count) values_[count] = std::llround(exact[count] * scale_);
    }

    std::int64_t operator()(std::uint64_t count) const {
        return count < values_.size() ? values_[count] : std::llround(function_(count) * scale_);
    }
    const std::int64_t* values() const { return values_.data(); }

private:
    CellFunction function_;
    double scale_;
    std::vector<std::int64_t> values_;
};

// Cells that are settled: all their rows are equal, so nothing splits them.
struct SettledCells {
    std::uint64_t light[light_limit] = {};  // by count
    std::vector<std::uint64_t> heavy;

    void add(std::uint64_t count) {
        if (count < light_limit) {
            ++light[count];
        } else {
            heavy.push_back(count);
        }
    }

    std::int64_t sum(const CountTable& f) const {
        std::int64_t total = 0;
        for (std::uint32_t count = 1; count < light_limit; ++count)
            total += static_cast<std::int64_t>(light[count]) * f.values()[count];
        for (std::uint64_t count : heavy) total += f(count);
        return total;
    }
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

    void begin(RowCells& all) {
        all.rows.resize(rows_.n_units());
        std::iota(all.rows.begin(), all.rows.end(), 0);
        all.begins = {0, static_cast<std::uint32_t>(rows_.n_units())};
    }

    void refine(const RowCells& from, int place, RowCells& to) {
        const int arity = rows_.arity(place);
        const std::uint16_t* codes = rows_.codes(place);
        to.rows.resize(from.rows.size());
        to.begins.assign(1, 0);
        to.settled = from.settled;
        std::uint32_t end = 0;
        starts_.resize(arity + 1);
        for (std::size_t c = 0; c < from.n_cells(); ++c) {
            std::fill(starts_.begin(), starts_.end(), 0);
            for (std::uint32_t i = from.begins[c]; i < from.begins[c + 1]; ++i) ++starts_[codes[from.rows[i]] + 1];
            for (int s = 0; s < arity; ++s) starts_[s + 1] += starts_[s];
            group_.resize(from.begins[c + 1] - from.begins[c]);
            ends_.assign(starts_.begin(), starts_.end() - 1);
            for (std::uint32_t i = from.begins[c]; i < from.begins[c + 1]; ++i) {
                const std::uint32_t row = from.rows[i];
                group_[ends_[codes[row]]++] = row;
            }
            for (int s = 0; s < arity; ++s)
                end = add_cell(to, end, group_.data() + starts_[s], starts_[s + 1] - starts_[s]);
        }
        to.rows.resize(end);
    }

    std::int64_t split(const RowCells& cells, int place, const CountTable& f) {
        const std::uint16_t* codes = rows_.codes(place);
        counts_.resize(rows_.arity(place));
        std::int64_t sum = cells.settled.sum(f);
        for (std::size_t c = 0; c < cells.n_cells(); ++c) {
            std::fill(counts_.begin(), counts_.end(), 0);
            for (std::uint32_t i = cells.begins[c]; i < cells.begins[c + 1]; ++i)
                counts_[codes[cells.rows[i]]] += rows_.weight(cells.rows[i]);
            for (std::uint64_t count : counts_) sum += f(count);
        }
        return sum;
    }

    void settle_down(RowCells&, int, std::size_t) {}

private:
    std::uint32_t add_cell(RowCells& to, std::uint32_t end, const std::uint32_t* first, std::uint32_t size) {
        if (size == 0) return end;
        if (size == 1) {
            to.settled.add(rows_.weight(first[0]));
            return end;
        }
        std::copy(first, first + size, to.rows.begin() + end);
        to.begins.push_back(end + size);
        return end + size;
    }

    const CountingRows& rows_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> group_;
    std::vector<std::uint64_t> counts_;
};

// ---- Unweighted rows: cells as bits

// Rows in an order in which the cells of some set stand together, each from a word's beginning on.
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

// Sums f over the parts of all cells when a variable of so many states splits them.
TOPDAG_SIMD std::int64_t sum_of_parts(const BitCells& cells, const std::uint64_t* states, std::size_t stride, int arity,
                                      const std::int64_t* f) {
    std::int64_t sum = 0;
    for (const BitCells::Cell& cell : cells.cells) {
        const std::uint64_t* own = cells.bits.data() + cell.at;
        const std::uint64_t* state = states + cell.first_word;
        std::uint32_t rest = cell.count;
        for (int s = 1; s < arity; ++s, state += stride) {
            std::uint32_t count = 0;
            for (std::uint32_t w = 0; w < cell.n_words; ++w)
                count += static_cast<std::uint32_t>(__builtin_popcountll(own[w] & state[w]));
            rest -= count;
            sum += f[count];
        }
        sum += f[rest];
    }
    return sum;
}

// As above for cells of one word each, and two states: the most frequent case.
TOPDAG_SIMD std::int64_t sum_of_halves(const BitCells& cells, const std::uint64_t* state, const std::int64_t* f) {
    std::int64_t sum = 0;
    const std::uint64_t* bits = cells.bits.data();
    for (const BitCells::Cell& cell : cells.cells) {
        const std::uint64_t part = bits[cell.at] & state[cell.first_word];
        const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcountll(part));
        sum += f[count] + f[cell.count - count];
    }
    return sum;
}

// Cells being made: each is written at room() first, then closed.
class CellWriter {
public:
    explicit CellWriter(BitCells& to) : to_(to) { to_.cells.clear(); }

    std::uint64_t* room() { return to_.bits.data() + at_; }

    // Takes what was written as a cell of so many rows; cells of one row are settled.
    void close(std::uint32_t first_word, std::uint32_t n_words, std::uint32_t count) {
        to_.settled.light[1] += count == 1;
        if (count < 2) return;
        const std::uint64_t* words = room();
        std::uint32_t begin = 0, end = n_words;
        while (words[begin] == 0) ++begin;
        while (words[end - 1] == 0) --end;
        to_.cells.push_back({first_word + begin, end - begin, count, at_ + begin});
        at_ += n_words;
        longest_ = std::max(longest_, end - begin);
    }

    bool one_word_each() const { return longest_ <= 1; }

private:
    BitCells& to_;
    std::size_t at_ = 0;
    std::uint32_t longest_ = 0;
};

// part = own & state, and what is left of rest; returns how many rows the part has.
TOPDAG_SIMD std::uint32_t take_part(const std::uint64_t* own, const std::uint64_t* state, std::uint32_t n_words,
                                    std::uint64_t* part, std::uint64_t* rest) {
    std::uint32_t count = 0;
    for (std::uint32_t w = 0; w < n_words; ++w) {
        part[w] = own[w] & state[w];
        rest[w] &= ~state[w];
        count += static_cast<std::uint32_t>(__builtin_popcountll(part[w]));
    }
    return count;
}

// Splits all cells by a variable of so many states.
void split_cells(const BitCells& from, const std::uint64_t* states, std::size_t stride, int arity, BitCells& to,
                 std::vector<std::uint64_t>& rest) {
    std::size_t room = 0;
    std::uint32_t longest = 0;
    for (const BitCells::Cell& cell : from.cells) {
        room += cell.n_words;
        longest = std::max(longest, cell.n_words);
    }
    if (to.bits.size() < room * static_cast<std::size_t>(arity)) to.bits.resize(room * static_cast<std::size_t>(arity));
    if (rest.size() < longest) rest.resize(longest);
    CellWriter writer(to);
    for (const BitCells::Cell& cell : from.cells) {
        const std::uint64_t* own = from.bits.data() + cell.at;
        const std::uint64_t* state = states + cell.first_word;
        std::copy(own, own + cell.n_words, rest.begin());
        std::uint32_t left = cell.count;
        for (int s = 1; s < arity && left > 0; ++s, state += stride) {
            const std::uint32_t count = take_part(own, state, cell.n_words, writer.room(), rest.data());
            writer.close(cell.first_word, cell.n_words, count);
            left -= count;
        }
        if (left > 1) std::copy(rest.begin(), rest.begin() + cell.n_words, writer.room());
        writer.close(cell.first_word, cell.n_words, left);
    }
    to.one_word_each = writer.one_word_each();
}

// As above for cells of one word each, and two states.
TOPDAG_SIMD void halve_cells(const BitCells& from, const std::uint64_t* state, BitCells& to) {
    if (to.bits.size() < 2 * from.cells.size()) to.bits.resize(2 * from.cells.size());
    to.cells.resize(2 * from.cells.size());
    std::size_t n_cells = 0;
    std::uint64_t singles = 0;
    for (const BitCells::Cell& cell : from.cells) {
        const std::uint64_t own = from.bits[cell.at];
        const std::uint64_t part = own & state[cell.first_word];
        const std::uint32_t count = static_cast<std::uint32_t>(__builtin_popcountll(part));
        const std::uint32_t left = cell.count - count;
        singles += (count == 1) + (left == 1);
        to.bits[n_cells] = part;
        to.cells[n_cells] = {cell.first_word, 1, count, n_cells};
        n_cells += count > 1;
        to.bits[n_cells] = own & ~part;
        to.cells[n_cells] = {cell.first_word, 1, left, n_cells};
        n_cells += left > 1;
    }
    to.cells.resize(n_cells);
    to.settled.light[1] += singles;
    to.one_word_each = true;
}

class BitCounter {
public:
    using Cells = BitCells;

    explicit BitCounter(const CountingRows& rows) : rows_(rows) {}

    void begin(BitCells& all) {
        const std::uint32_t n_units = static_cast<std::uint32_t>(rows_.n_units());
        all.own_frame.row_at.resize(n_units);
        std::iota(all.own_frame.row_at.begin(), all.own_frame.row_at.end(), 0);
        fill_states(all.own_frame, rows_.n_variables());
        all.frame = &all.own_frame;
        all.bits.assign(rows_.words(), ~std::uint64_t{0});
        if (n_units % 64 != 0) all.bits[rows_.words() - 1] = (std::uint64_t{1} << n_units % 64) - 1;
        all.cells = {{0, static_cast<std::uint32_t>(rows_.words()), n_units, 0}};
    }

    void refine(const BitCells& from, int place, BitCells& to) {
        const Frame& frame = *from.frame;
        to.frame = &frame;
        to.settled = from.settled;
        const std::uint64_t* states = frame.states[place].data();
        if (from.one_word_each && rows_.arity(place) == 2) return halve_cells(from, states, to);
        split_cells(from, states, frame.words, rows_.arity(place), to, rest_);
    }

    std::int64_t split(const BitCells& cells, int place, const CountTable& f) {
        const Frame& frame = *cells.frame;
        const std::uint64_t* states = frame.states[place].data();
        const std::int64_t sum = cells.settled.sum(f);
        if (cells.one_word_each && rows_.arity(place) == 2) return sum + sum_of_halves(cells, states, f.values());
        return sum + sum_of_parts(cells, states, frame.words, rows_.arity(place), f.values());
    }

    // Gives the cells a frame of their own where the words saved on `n_uses` sets pay for it.
    void settle_down(BitCells& cells, int n_places, std::size_t n_uses) {
        std::size_t words = 0, packed = 0, n_rows = 0;
        for (const BitCells::Cell& cell : cells.cells) {
            words += cell.n_words;
            packed += (cell.count + 63) / 64;
            n_rows += cell.count;
        }
        // Moving a row of one variable costs about as much as a word in counting, and larger sets have twice the words.
        if (2 * (words - packed) * n_uses < n_rows * static_cast<std::size_t>(n_places)) return;
        Frame& frame = cells.own_frame;
        frame.row_at.assign(packed * 64, no_row);
        std::size_t next = 0;
        for (BitCells::Cell& cell : cells.cells) {
            std::size_t bit = next * 64;
            for (std::uint32_t w = 0; w < cell.n_words; ++w)
                for (std::uint64_t rest = cells.bits[cell.at + w]; rest != 0; rest &= rest - 1)
                    frame.row_at[bit++] = cells.frame->row_at[(cell.first_word + w) * 64 + std::countr_zero(rest)];
            cell.first_word = static_cast<std::uint32_t>(next);
            cell.n_words = (cell.count + 63) / 64;
            cell.at = next;
            next += cell.n_words;
        }
        cells.bits.assign(packed, ~std::uint64_t{0});
        for (const BitCells::Cell& cell : cells.cells)
            if (cell.count % 64 != 0)
                cells.bits[cell.at + cell.n_words - 1] = (std::uint64_t{1} << cell.count % 64) - 1;
        fill_states(frame, n_places);
        cells.frame = &frame;
        cells.one_word_each = packed == cells.cells.size();
    }

private:
    static constexpr std::uint32_t no_row = 0xffffffff;

    void fill_states(Frame& frame, int n_places) {
        frame.words = (frame.row_at.size() + 63) / 64;
        frame.states.resize(rows_.n_variables());
        for (int place = 0; place < n_places; ++place) {
            const std::uint16_t* codes = rows_.codes(place);
            std::vector<std::uint64_t>& states = frame.states[place];
            states.assign(frame.words * static_cast<std::size_t>(rows_.arity(place) - 1), 0);
            for (std::size_t bit = 0; bit < frame.row_at.size(); ++bit) {
                if (frame.row_at[bit] == no_row) continue;
                const std::uint16_t code = codes[frame.row_at[bit]];
                if (code > 0)
                    states[static_cast<std::size_t>(code - 1) * frame.words + bit / 64] |= std::uint64_t{1} << bit % 64;
            }
        }
    }

    const CountingRows& rows_;
    std::vector<std::uint64_t> rest_;
};

// ---- One thread's counting: the cells of the shared part of the last set, from its highest variable down.

template <class Counter>
class Walk {
public:
    explicit Walk(const CountingRows& rows) : rows_(rows), counter_(rows), levels_(rows.n_variables() + 1) {
        counter_.begin(levels_[0]);
    }

    // The sets from `set` to `end` come next, ascending.
    std::int64_t sum(const VarSet* set, const VarSet* end, const CountTable& f) {
        if (*set == 0) return f(rows_.n_rows());
        return counter_.split(levels_[descend(set, end)], first_of(*set), f);
    }

private:
    // Makes the cells of all but the lowest member; returns their depth.
    int descend(const VarSet* set, const VarSet* end) {
        int depth = 0;
        for (VarSet shared = *set & (*set - 1); shared != 0; ++depth) {
            const int place = 63 - std::countl_zero(shared);
            shared &= ~only(place);
            if (depth < depth_ && path_[depth] == place) continue;
            counter_.refine(levels_[depth], place, levels_[depth + 1]);
            path_[depth] = place;
            depth_ = depth + 1;
            const VarSet lower = only(place) - 1;
            const VarSet* same = std::upper_bound(set, end, *set | lower);
            counter_.settle_down(levels_[depth + 1], place, static_cast<std::size_t>(same - set));
        }
        depth_ = depth;
        return depth;
    }

    const CountingRows& rows_;
    Counter counter_;
    std::vector<typename Counter::Cells> levels_;
    int path_[64] = {};
    int depth_ = 0;
};

double cells_of(const CountingRows& rows, VarSet set) {
    double cells = 1.0;
    for (; set != 0; set &= set - 1) cells *= rows.arity(first_of(set));
    return cells;
}

// One table for all sets, or one for each number of cells.
class CountTables {
public:
    CountTables(const CountingRows& rows, const FixedFunction& function, const std::vector<VarSet>& sets)
        : rows_(rows) {
        std::uint64_t limit = rows.n_rows() + 1;
        if (!rows.is_unweighted()) limit = std::min(limit, weighted_table);
        if (!function.spread) {
            single_ = std::make_unique<CountTable>(function, 1.0, limit);
            return;
        }
        for (VarSet set : sets) {
            const double cells = cells_of(rows, set);
            if (!by_cells_.count(cells)) by_cells_.emplace(cells, CountTable(function, cells, limit));
        }
    }

    const CountTable& of(VarSet set) const { return single_ ? *single_ : by_cells_.at(cells_of(rows_, set)); }

private:
    const CountingRows& rows_;
    std::unique_ptr<CountTable> single_;
    std::map<double, CountTable> by_cells_;
};

template <class Counter>
bool walk_sets(const CountingRows& rows, const CountTables& tables, const std::vector<VarSet>& sets, int threads,
               Limits& limits, std::vector<std::int64_t>& sums) {
    std::vector<std::unique_ptr<Walk<Counter>>> walks(threads);
    parallel_for((sets.size() + sets_per_task - 1) / sets_per_task, threads, limits, [&](std::size_t task, int worker) {
        if (!walks[worker]) walks[worker] = std::make_unique<Walk<Counter>>(rows);
        const std::size_t begin = task * sets_per_task;
        const std::size_t end = std::min(sets.size(), begin + sets_per_task);
        for (std::size_t i = begin; i < end; ++i)
            sums[i] = walks[worker]->sum(&sets[i], sets.data() + end, tables.of(sets[i]));
        limits.done += end - begin;
    });
    return !limits.stop.load();
}

}  // namespace

CountingRows::CountingRows(const Table& table, const std::vector<int>& order) : n_rows_(table.n_rows) {
    const int n = table.n_variables();
    std::vector<std::uint32_t> sorted(table.n_distinct);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
        for (int p = n - 1; p >= 0; --p) {
            const std::uint16_t* column = table.columns[order[p]];
            if (column[a] != column[b]) return column[a] < column[b];
        }
        return a < b;
    });
    const bool apart = n_rows_ <= most_apart && n_rows_ <= rows_for_one * table.n_distinct;
    std::vector<std::uint32_t> source;  // of each unit
    for (std::uint32_t row : sorted) {
        source.insert(source.end(), apart ? table.weights[row] : 1, row);
        if (!apart) weights_.push_back(table.weights[row]);
    }
    n_units_ = source.size();
    codes_.resize(n);
    for (int p = 0; p < n; ++p) {
        arities_.push_back(table.arities[order[p]]);
        for (std::uint32_t row : source) codes_[p].push_back(table.columns[order[p]][row]);
    }
}

bool sum_over_listed(const CountingRows& rows, const FixedFunction& function, const std::vector<VarSet>& sets,
                     int threads, Limits& limits, std::vector<std::int64_t>& sums) {
    const CountTables tables(rows, function, sets);
    sums.resize(sets.size());
    return rows.is_unweighted() ? walk_sets<BitCounter>(rows, tables, sets, threads, limits, sums)
                                : walk_sets<RowCounter>(rows, tables, sets, threads, limits, sums);
}

bool count_occurring(const CountingRows& rows, const std::vector<VarSet>& sets, int threads, Limits& limits,
                     std::vector<std::int64_t>& cells) {
    return sum_over_listed(rows, {CellKind::one, 0.0, false, 0}, sets, threads, limits, cells);
}

}  // namespace topdag
