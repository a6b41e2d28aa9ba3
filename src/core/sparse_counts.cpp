#include "sparse_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parallel.h"
#include "simd.h"

namespace topdag {

namespace {

constexpr std::uint64_t few_rows = 4096;          // so many may stand apart although some are equal
constexpr std::uint64_t most_apart = 1 << 16;
constexpr int most_states_in_bits = 16;
constexpr std::uint64_t longest_table = 1 << 16;  // counts from here on are computed when met
constexpr std::uint32_t light_limit = 16;         // settled cells below this count are tallied, heavier ones listed
constexpr std::size_t sets_per_task = 1024;

// f at counts below a limit, by look-up.
class CountTable {
public:
    CountTable(const FixedFunction& function, double cells, std::uint64_t n_rows)
        : function_{function.kind, function.spread ? function.parameter / cells : function.parameter},
          scale_(std::ldexp(1.0, function.bits)) {
        std::vector<double> exact(std::min(n_rows + 1, longest_table));
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

// The rows grouped by the cells of a set. Only cells of several distinct rows are kept as rows.
struct Partition {
    struct CellBits { std::uint32_t first_word, n_words; std::size_t at; };

    std::vector<std::uint32_t> rows;    // cell after cell, ascending in each
    std::vector<std::uint32_t> begins;  // of each cell, and the end
    std::uint64_t light[light_limit] = {};
    std::vector<std::uint64_t> heavy;
    std::size_t total_words = 0;  // of the cells as bits, each from its first to its last row
    bool has_bits = false;
    std::vector<CellBits> cell_bits;
    std::vector<std::uint64_t> bits;

    std::size_t n_cells() const { return begins.size() - 1; }
};

// Sums f over the parts into which the last variable splits the cells, all counts being below the table's limit.
TOPDAG_SIMD std::int64_t sum_by_bits(const Partition& cells, const CountingRows& rows, int place, const std::int64_t* f) {
    std::int64_t sum = 0;
    const int arity = rows.arity(place);
    const std::size_t stride = rows.words();
    const std::uint64_t* states = rows.units_with(place, 1);
    for (std::size_t c = 0; c < cells.n_cells(); ++c) {
        const Partition::CellBits& cell = cells.cell_bits[c];
        const std::uint64_t* own = cells.bits.data() + cell.at;
        std::uint32_t rest = cells.begins[c + 1] - cells.begins[c];
        const std::uint64_t* state = states + cell.first_word;
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

// As above, row by row; two states.
std::int64_t sum_two_states(const Partition& cells, const std::uint16_t* codes, const std::int64_t* f) {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < cells.n_cells(); ++c) {
        std::uint32_t ones = 0;
        for (std::uint32_t i = cells.begins[c]; i < cells.begins[c + 1]; ++i) ones += codes[cells.rows[i]];
        sum += f[ones] + f[cells.begins[c + 1] - cells.begins[c] - ones];
    }
    return sum;
}

// Any number of states, any weights.
template <class Weight>
std::int64_t sum_by_rows(const Partition& cells, const std::uint16_t* codes, const CountTable& f, Weight&& weight,
                         std::vector<std::uint64_t>& counts) {
    std::int64_t sum = 0;
    for (std::size_t c = 0; c < cells.n_cells(); ++c) {
        std::fill(counts.begin(), counts.end(), 0);
        for (std::uint32_t i = cells.begins[c]; i < cells.begins[c + 1]; ++i) counts[codes[cells.rows[i]]] += weight(cells.rows[i]);
        for (std::uint64_t count : counts) sum += f(count);
    }
    return sum;
}

// One thread's counting: the partitions of the shared part of the last set, from its highest variable down.
class Walk {
public:
    explicit Walk(const CountingRows& rows) : rows_(rows), levels_(rows.n_variables() + 1) {
        Partition& all = levels_[0];
        all.rows.resize(rows.n_units());
        std::iota(all.rows.begin(), all.rows.end(), 0);
        all.begins = {0};
        const std::uint32_t end = static_cast<std::uint32_t>(rows.n_units());
        if (rows.identity(0) == rows.identity(end - 1)) {
            all.rows.clear();
            settle(all, rows.n_rows());
        } else {
            close_cell(all, 0, end);
        }
    }

    std::int64_t sum(VarSet set, const CountTable& f) {
        if (set == 0) return f(rows_.n_rows());
        const int place = first_of(set);
        Partition& cells = levels_[descend(set & (set - 1))];
        return settled(cells, f) + split(cells, place, f);
    }

private:
    // Makes the partition of these variables; returns its depth.
    int descend(VarSet variables) {
        int depth = 0;
        while (variables != 0) {
            const int place = 63 - std::countl_zero(variables);
            variables &= ~only(place);
            if (depth == depth_ || path_[depth] != place) {
                refine(levels_[depth], place, levels_[depth + 1]);
                path_[depth] = place;
                depth_ = depth + 1;
            }
            ++depth;
        }
        depth_ = depth;
        return depth;
    }

    void refine(const Partition& from, int place, Partition& to) {
        const int arity = rows_.arity(place);
        const std::uint16_t* codes = rows_.codes(place);
        to.rows.resize(from.rows.size());
        to.begins.assign(1, 0);
        std::copy(std::begin(from.light), std::end(from.light), std::begin(to.light));
        to.heavy = from.heavy;
        to.total_words = 0;
        to.has_bits = false;
        to.cell_bits.clear();
        std::uint32_t end = 0;
        starts_.resize(arity + 1);
        for (std::size_t c = 0; c < from.n_cells(); ++c) {
            std::fill(starts_.begin(), starts_.end(), 0);
            for (std::uint32_t i = from.begins[c]; i < from.begins[c + 1]; ++i) ++starts_[codes[from.rows[i]] + 1];
            group_.resize(from.begins[c + 1] - from.begins[c]);
            for (int s = 0; s < arity; ++s) starts_[s + 1] += starts_[s];
            ends_.assign(starts_.begin(), starts_.end() - 1);
            for (std::uint32_t i = from.begins[c]; i < from.begins[c + 1]; ++i) {
                const std::uint32_t row = from.rows[i];
                group_[ends_[codes[row]]++] = row;
            }
            for (int s = 0; s < arity; ++s) end = add_cell(to, end, group_.data() + starts_[s], starts_[s + 1] - starts_[s]);
        }
        to.rows.resize(end);
    }

    std::uint32_t add_cell(Partition& to, std::uint32_t end, const std::uint32_t* first, std::uint32_t size) {
        if (size == 0) return end;
        if (rows_.identity(first[0]) == rows_.identity(first[size - 1])) {  // equal rows are neighbours
            std::uint64_t count = 0;
            for (std::uint32_t i = 0; i < size; ++i) count += rows_.weight(first[i]);
            settle(to, count);
            return end;
        }
        std::copy(first, first + size, to.rows.begin() + end);
        close_cell(to, end, end + size);
        return end + size;
    }

    static void settle(Partition& to, std::uint64_t count) {
        if (count < light_limit) {
            ++to.light[count];
        } else {
            to.heavy.push_back(count);
        }
    }

    static void close_cell(Partition& to, std::uint32_t begin, std::uint32_t end) {
        const std::uint32_t first = to.rows[begin] / 64;
        const std::uint32_t words = to.rows[end - 1] / 64 - first + 1;
        to.cell_bits.push_back({first, words, to.total_words});
        to.total_words += words;
        to.begins.push_back(end);
    }

    static std::int64_t settled(const Partition& cells, const CountTable& f) {
        std::int64_t sum = 0;
        for (std::uint32_t count = 1; count < light_limit; ++count)
            sum += static_cast<std::int64_t>(cells.light[count]) * f.values()[count];
        for (std::uint64_t count : cells.heavy) sum += f(count);
        return sum;
    }

    std::int64_t split(Partition& cells, int place, const CountTable& f) {
        const int arity = rows_.arity(place);
        const std::uint16_t* codes = rows_.codes(place);
        counts_.resize(arity);
        if (!rows_.is_unweighted())
            return sum_by_rows(cells, codes, f, [&](std::uint32_t row) { return rows_.weight(row); }, counts_);
        // A word costs about as much as a row.
        if (rows_.units_with(place, 1) != nullptr && cells.total_words * (arity - 1) <= cells.rows.size()) {
            set_bits(cells);
            return sum_by_bits(cells, rows_, place, f.values());
        }
        if (arity == 2) return sum_two_states(cells, codes, f.values());
        return sum_by_rows(cells, codes, f, [](std::uint32_t) { return 1; }, counts_);
    }

    static void set_bits(Partition& cells) {
        if (cells.has_bits) return;
        cells.has_bits = true;
        cells.bits.assign(cells.total_words, 0);
        for (std::size_t c = 0; c < cells.n_cells(); ++c) {
            const Partition::CellBits& cell = cells.cell_bits[c];
            for (std::uint32_t i = cells.begins[c]; i < cells.begins[c + 1]; ++i) {
                const std::uint32_t row = cells.rows[i];
                cells.bits[cell.at + row / 64 - cell.first_word] |= std::uint64_t{1} << row % 64;
            }
        }
    }

    const CountingRows& rows_;
    std::vector<Partition> levels_;
    int path_[64] = {};
    int depth_ = 0;
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> group_;
    std::vector<std::uint64_t> counts_;
};

double cells_of(const CountingRows& rows, VarSet set) {
    double cells = 1.0;
    for (; set != 0; set &= set - 1) cells *= rows.arity(first_of(set));
    return cells;
}

// One table for all sets, or one for each number of cells.
class CountTables {
public:
    CountTables(const CountingRows& rows, const FixedFunction& function, const std::vector<VarSet>& sets) : rows_(rows) {
        if (!function.spread) {
            single_ = std::make_unique<CountTable>(function, 1.0, rows.n_rows());
            return;
        }
        for (VarSet set : sets) {
            const double cells = cells_of(rows, set);
            if (!by_cells_.count(cells)) by_cells_.emplace(cells, CountTable(function, cells, rows.n_rows()));
        }
    }

    const CountTable& of(VarSet set) const { return single_ ? *single_ : by_cells_.at(cells_of(rows_, set)); }

private:
    const CountingRows& rows_;
    std::unique_ptr<CountTable> single_;
    std::map<double, CountTable> by_cells_;
};

}  // namespace

CountingRows::CountingRows(const Table& table, const std::vector<int>& order) : n_rows_(table.n_rows) {
    const int n = table.n_variables();
    std::vector<std::uint32_t> sorted(table.n_distinct);
    std::iota(sorted.begin(), sorted.end(), 0);
    const auto differ_at = [&](std::uint32_t a, std::uint32_t b) {
        for (int p = n - 1; p >= 0; --p)
            if (table.columns[order[p]][a] != table.columns[order[p]][b]) return p;
        return -1;
    };
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
        const int p = differ_at(a, b);
        return p < 0 ? a < b : table.columns[order[p]][a] < table.columns[order[p]][b];
    });
    const bool apart = n_rows_ <= most_apart && (n_rows_ <= few_rows || n_rows_ <= 2 * table.n_distinct);
    std::vector<std::uint32_t> source;  // of each unit
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const bool is_new = i == 0 || differ_at(sorted[i - 1], sorted[i]) >= 0;
        const std::uint32_t identity = identity_.empty() ? 0 : identity_.back() + is_new;
        const std::uint32_t copies = apart ? table.weights[sorted[i]] : 1;
        source.insert(source.end(), copies, sorted[i]);
        identity_.insert(identity_.end(), copies, identity);
        if (!apart) weights_.push_back(table.weights[sorted[i]]);
    }
    codes_.resize(n);
    bits_.resize(n);
    for (int p = 0; p < n; ++p) {
        arities_.push_back(table.arities[order[p]]);
        for (std::uint32_t row : source) codes_[p].push_back(table.columns[order[p]][row]);
        if (!apart || arities_[p] > most_states_in_bits) continue;
        bits_[p].assign(static_cast<std::size_t>(arities_[p] - 1) * words(), 0);
        for (std::size_t unit = 0; unit < codes_[p].size(); ++unit)
            if (codes_[p][unit] > 0)
                bits_[p][static_cast<std::size_t>(codes_[p][unit] - 1) * words() + unit / 64] |= std::uint64_t{1} << unit % 64;
    }
}

bool sum_over_listed(const CountingRows& rows, const FixedFunction& function, const std::vector<VarSet>& sets,
                     int threads, Limits& limits, std::vector<std::int64_t>& sums) {
    const CountTables tables(rows, function, sets);
    sums.resize(sets.size());
    std::vector<std::unique_ptr<Walk>> walks(threads);
    parallel_for((sets.size() + sets_per_task - 1) / sets_per_task, threads, limits, [&](std::size_t task, int worker) {
        if (!walks[worker]) walks[worker] = std::make_unique<Walk>(rows);
        const std::size_t begin = task * sets_per_task;
        const std::size_t end = std::min(sets.size(), begin + sets_per_task);
        for (std::size_t i = begin; i < end; ++i) sums[i] = walks[worker]->sum(sets[i], tables.of(sets[i]));
        limits.done += end - begin;
    });
    return !limits.stop.load();
}

bool count_occurring(const CountingRows& rows, const std::vector<VarSet>& sets, int threads, Limits& limits,
                     std::vector<std::int64_t>& cells) {
    return sum_over_listed(rows, {CellKind::one, 0.0, false, 0}, sets, threads, limits, cells);
}

}  // namespace topdag
