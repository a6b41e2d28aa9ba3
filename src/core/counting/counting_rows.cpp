#include "counting/counting_rows.h"

#include <algorithm>
#include <numeric>

namespace topdag {

namespace {

constexpr std::uint64_t rows_for_one = 128;  // unweighted rows cost as much as one weighted row, at least

}  // namespace

CountingRows::CountingRows(const Table& table, const std::vector<int>& order, bool distinct) : n_rows_(table.n_rows) {
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
    const bool apart = !distinct && n_rows_ <= most_apart && n_rows_ <= rows_for_one * table.n_distinct;
    n_looked_up_ = counts_looked_up(n_rows_, apart || distinct);
    for (std::uint32_t row : sorted) {
        sources_.insert(sources_.end(), apart ? table.weights[row] : 1, row);
        if (!apart) weights_.push_back(table.weights[row]);
    }
    n_units_ = sources_.size();
    codes_.resize(n);
    for (int p = 0; p < n; ++p) {
        arities_.push_back(table.arities[order[p]]);
        for (std::uint32_t row : sources_) codes_[p].push_back(table.columns[order[p]][row]);
        codes_[p].push_back(0);  // a row behind the last, for places without one
    }
    if (!is_unweighted()) return;
    for (int arity : arities_) n_bits_ = std::max(n_bits_, std::min(most_bits, bits_for(arity)));
    bits_.assign((n_units_ + 1) * n_blocks() * static_cast<std::size_t>(n_bits_), 0);
    for (int p = 0; p < n; ++p)
        for (std::size_t unit = 0; unit < n_units_; ++unit) {
            std::uint64_t* words = &bits_[(unit * n_blocks() + static_cast<std::size_t>(p) / 64) * static_cast<std::size_t>(n_bits_)];
            for (int k = 0; k < n_bits_; ++k) words[k] |= std::uint64_t{codes_[p][unit] >> k & 1u} << p % 64;
        }
}

Table CountingRows::as_table() const {
    Table table;
    for (const auto& codes : codes_) table.columns.push_back(codes.data());
    table.arities = arities_;
    table.weights = is_unweighted() ? nullptr : weights_.data();
    table.n_distinct = n_units_;
    table.n_rows = n_rows_;
    return table;
}

}  // namespace topdag
