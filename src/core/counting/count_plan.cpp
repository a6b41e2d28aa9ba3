#include "counting/count_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace topdag {

namespace {

double entropy(const Table& table, int v) {
    std::vector<double> counts(table.arities[v], 0.0);
    for (std::size_t row = 0; row < table.n_distinct; ++row) counts[table.columns[v][row]] += table.weights[row];
    double sum = 0.0;
    for (double count : counts)
        if (count > 0) sum -= count * std::log(count / static_cast<double>(table.n_rows));
    return sum;
}

}  // namespace

CountPlan::CountPlan(const Table& table, int tail_cells, int masked)
    : n(table.n_variables()), weights(table.weights), n_distinct(table.n_distinct), n_rows(table.n_rows) {
    order_positions(table);
    choose_tail(tail_cells);
    first_masked = std::clamp(n - masked, 0, head);
    index_rests();
    slice_bits();
}

void CountPlan::order_positions(const Table& table) {
    std::vector<double> spread(n);
    for (int v = 0; v < n; ++v) spread[v] = entropy(table, v);
    variable.resize(n);
    std::iota(variable.begin(), variable.end(), 0);
    std::stable_sort(variable.begin(), variable.end(), [&](int a, int b) {
        if (table.arities[a] != table.arities[b]) return table.arities[a] > table.arities[b];
        return spread[a] > spread[b];
    });
    rest_cells.assign(n + 1, 1.0);
    for (int v : variable) {
        arity.push_back(table.arities[v]);
        column.push_back(table.columns[v]);
    }
    for (int p = n - 1; p >= 0; --p) rest_cells[p] = rest_cells[p + 1] * arity[p];
}

void CountPlan::choose_tail(int tail_cells) {
    int expanded = 1;
    while (tail < n && expanded * (arity[n - 1 - tail] + 1) <= tail_cells) expanded *= arity[n - 1 - tail++] + 1;
    head = n - tail;
}

void CountPlan::index_rests() {
    rest_index.resize(n + 1);
    std::vector<std::uint32_t> index(n_distinct, 0);
    if (head == n) rest_index[n] = index;
    for (int p = n - 1; p >= 0; --p) {
        if (p < head && !is_dense_worthwhile(p, n_distinct)) break;
        const auto step = static_cast<std::uint32_t>(rest_cells[p + 1]);
        for (std::size_t row = 0; row < n_distinct; ++row) index[row] += column[p][row] * step;
        if (p <= head) rest_index[p] = index;
    }
}

void CountPlan::slice_bits() {
    const int widest = n == 0 ? 1 : *std::max_element(arity.begin(), arity.end());
    n_slices_ = std::bit_width(static_cast<unsigned>(widest - 1));
    slices_.assign(n_distinct * n_slices_, 0);
    for (int p = first_masked; p < n; ++p)
        for (std::size_t row = 0; row < n_distinct; ++row)
            for (int b = 0; b < n_slices_; ++b)
                if ((column[p][row] >> b) & 1) slices_[row * n_slices_ + b] |= bit_of(p);
}

PositionMask CountPlan::agreement(std::uint32_t a, std::uint32_t b) const {
    PositionMask differ = 0;
    for (int s = 0; s < n_slices_; ++s) differ |= slices_[a * n_slices_ + s] ^ slices_[b * n_slices_ + s];
    return ~differ;
}

VarSet CountPlan::variables_of(PositionMask mask) const {
    VarSet set = 0;
    for (int p = first_masked; p < n; ++p)
        if ((mask & bit_of(p)) != 0) set |= only(variable[p]);
    return set;
}

}  // namespace topdag
