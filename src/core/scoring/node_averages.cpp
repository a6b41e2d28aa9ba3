#include "scoring/node_averages.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/parallel.h"

namespace topdag {

namespace {

constexpr std::size_t averages_at_once = 256;
constexpr std::uint64_t counts_in_fixed_logs = 1 << 16;
constexpr std::uint64_t averages_between_looks = 16;

using RowBits = std::vector<std::uint64_t>;

// c ln c as whole numbers of 2^-bits: sums do not depend on the order of their terms. No sum of them over the cells of a
// table is larger than N ln N, which takes at most 62 bits.
class FixedLogs {
public:
    explicit FixedLogs(std::uint64_t n_rows) {
        const double most = static_cast<double>(n_rows) * std::log(static_cast<double>(n_rows) + 1) + 1;
        bits_ = 61 - static_cast<int>(std::ceil(std::log2(most)));
        at_.resize(std::min(n_rows + 1, counts_in_fixed_logs));
        for (std::uint64_t count = 1; count < at_.size(); ++count) at_[count] = computed(count);
    }

    std::int64_t operator()(std::uint64_t count) const { return count < at_.size() ? at_[count] : computed(count); }
    double value(std::int64_t sum) const { return std::ldexp(static_cast<double>(sum), -bits_); }

private:
    std::int64_t computed(std::uint64_t count) const {
        const double c = static_cast<double>(count);
        return std::llround(std::ldexp(c * std::log(c), bits_));
    }

    int bits_;
    std::vector<std::int64_t> at_;
};

// What all workers read of the table.
struct CompleteRows {
    const Table& table;
    int x;
    FixedLogs logs;
    std::vector<RowBits> known;       // by variable, the rows in which it is; empty: in all
    std::vector<RowBits> with_weight; // by b, the rows whose weight has bit b

    CompleteRows(const Table& t, int variable) : table(t), x(variable), logs(t.n_rows), known(t.columns.size()) {
        const std::size_t n_words = (t.n_distinct + 63) / 64;
        for (std::size_t v = 0; v < known.size(); ++v) {
            const std::uint16_t* column = t.columns[v];
            if (std::find(column, column + t.n_distinct, missing(static_cast<int>(v))) == column + t.n_distinct) continue;
            known[v].resize(n_words);
            for (std::size_t row = 0; row < t.n_distinct; ++row)
                if (column[row] != missing(static_cast<int>(v))) known[v][row / 64] |= std::uint64_t{1} << row % 64;
        }
        const std::uint32_t heaviest = *std::max_element(t.weights, t.weights + t.n_distinct);
        with_weight.assign(static_cast<std::size_t>(std::bit_width(heaviest)), RowBits(n_words));
        for (std::size_t row = 0; row < t.n_distinct; ++row)
            for (std::size_t b = 0; b < with_weight.size(); ++b)
                with_weight[b][row / 64] |= std::uint64_t{t.weights[row] >> b & 1} << row % 64;
    }

    std::uint16_t missing(int v) const { return static_cast<std::uint16_t>(table.arities[v] - 1); }

    std::uint64_t weight_of(const RowBits& rows) const {
        std::uint64_t total = 0;
        for (std::size_t b = 0; b < with_weight.size(); ++b)
            for (std::size_t i = 0; i < rows.size(); ++i)
                total += static_cast<std::uint64_t>(std::popcount(rows[i] & with_weight[b][i])) << b;
        return total;
    }
};

// The rows that are complete in x and some parents. Cells in which x has one state only add nothing, nor does any part
// of them: only their weight is remembered.
struct ParentCells {
    std::vector<std::uint32_t> rows, ends;  // cell by cell; where each cell ends
    RowBits complete;                         // all rows
    std::uint64_t weight = 0;               // of all rows
    std::int64_t likelihood = 0;
};

// One worker's way from parent set to parent set: one level for each parent, from the highest variable down.
class AverageWalk {
public:
    explicit AverageWalk(const CompleteRows& rows)
        : rows_(rows), counts_(static_cast<std::size_t>(rows.missing(rows.x))), levels_(1) {
        const Table& table = rows.table;
        ParentCells& root = levels_[0];
        root.complete.assign((table.n_distinct + 63) / 64, ~std::uint64_t{0});
        if (const std::size_t rest = table.n_distinct % 64; rest != 0) root.complete.back() = (std::uint64_t{1} << rest) - 1;
        keep_known(rows.x, root, root);
        root.weight = rows.weight_of(root.complete);
        split_.clear();
        for (std::uint32_t row = 0; row < table.n_distinct; ++row)
            if (table.columns[rows.x][row] != rows.missing(rows.x)) split_.push_back(row);
        add_cell(split_.data(), split_.data() + split_.size(), root);
    }

    // The average for parents from the highest down.
    double average(const std::vector<int>& parents) {
        std::size_t shared = 0;
        while (shared < std::min(parents.size(), path_.size()) && parents[shared] == path_[shared]) ++shared;
        path_.resize(shared);
        while (path_.size() < parents.size()) {
            path_.push_back(parents[path_.size()]);
            if (levels_.size() <= path_.size()) levels_.emplace_back();
            refine(levels_[path_.size() - 1], path_.back(), levels_[path_.size()]);
        }
        const ParentCells& level = levels_[path_.size()];
        if (level.weight == 0) return -std::log(static_cast<double>(counts_.size()));
        return std::min(0.0, rows_.logs.value(level.likelihood)) / static_cast<double>(level.weight);
    }

private:
    void keep_known(int v, const ParentCells& from, ParentCells& to) const {
        const RowBits& known = rows_.known[static_cast<std::size_t>(v)];
        to.complete.resize(from.complete.size());
        for (std::size_t i = 0; i < from.complete.size(); ++i)
            to.complete[i] = known.empty() ? from.complete[i] : from.complete[i] & known[i];
    }

    void refine(const ParentCells& from, int v, ParentCells& to) {
        keep_known(v, from, to);
        to.weight = rows_.known[static_cast<std::size_t>(v)].empty() ? from.weight : rows_.weight_of(to.complete);
        to.rows.clear();
        to.ends.clear();
        to.likelihood = 0;
        const std::uint16_t* column = rows_.table.columns[v];
        const std::size_t n_states = rows_.missing(v);
        std::uint32_t begin = 0;
        for (const std::uint32_t end : from.ends) {
            places_.assign(n_states + 2, 0);
            for (std::uint32_t i = begin; i < end; ++i) ++places_[column[from.rows[i]] + std::size_t{1}];
            for (std::size_t state = 1; state <= n_states; ++state) places_[state] += places_[state - 1];
            split_.resize(end - begin);
            for (std::uint32_t i = begin; i < end; ++i) split_[places_[column[from.rows[i]]]++] = from.rows[i];
            for (std::size_t state = 0, first = 0; state < n_states; first = places_[state++])
                add_cell(split_.data() + first, split_.data() + places_[state], to);
            begin = end;
        }
    }

    void add_cell(const std::uint32_t* first, const std::uint32_t* last, ParentCells& to) {
        if (last - first < 2) return;  // one distinct row has one state of x
        const std::uint16_t* column = rows_.table.columns[rows_.x];
        std::fill(counts_.begin(), counts_.end(), 0);
        bool is_mixed = false;
        for (const std::uint32_t* row = first; row != last; ++row) {
            counts_[column[*row]] += rows_.table.weights[*row];
            is_mixed |= column[*row] != column[*first];
        }
        if (!is_mixed) return;
        std::uint64_t total = 0;
        for (const std::uint64_t count : counts_) {
            total += count;
            to.likelihood += rows_.logs(count);
        }
        to.likelihood -= rows_.logs(total);
        to.rows.insert(to.rows.end(), first, last);
        to.ends.push_back(static_cast<std::uint32_t>(to.rows.size()));
    }

    const CompleteRows& rows_;
    std::vector<std::uint64_t> counts_;  // by state of x
    std::vector<ParentCells> levels_;
    std::vector<int> path_;
    std::vector<std::uint32_t> places_, split_;
};

void members_from_the_highest(const std::uint64_t* set, int words, std::vector<int>& members) {
    members.clear();
    for (int word = words - 1; word >= 0; --word)
        for (std::uint64_t rest = set[word]; rest != 0; rest &= ~(std::uint64_t{1} << (std::bit_width(rest) - 1)))
            members.push_back(64 * word + static_cast<int>(std::bit_width(rest)) - 1);
}

}  // namespace

bool average_log_likelihoods(const Table& table, int x, const std::uint64_t* sets, std::size_t n_sets, int words,
                             Limits& limits, double* averages) {
    const CompleteRows rows(table, x);
    limits.begin(Phase::counting, n_sets);
    parallel_for((n_sets + averages_at_once - 1) / averages_at_once, limits, [&](std::size_t part, int) {
        AverageWalk walk(rows);
        std::vector<int> parents;
        const std::size_t end = std::min(n_sets, (part + 1) * averages_at_once);
        for (std::size_t i = part * averages_at_once; i < end; ++i) {
            if (Limits::looks_at(i, averages_between_looks) && limits.reached()) return;
            members_from_the_highest(sets + i * static_cast<std::size_t>(words), words, parents);
            averages[i] = walk.average(parents);
        }
        limits.done += end - part * averages_at_once;
    });
    return !limits.stop.load();
}

}  // namespace topdag
