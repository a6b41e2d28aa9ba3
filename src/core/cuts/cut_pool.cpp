// cut_pool.cpp
#include "cuts/cut_pool.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/draws.h"

namespace topdag {

int Cut::limit() const {
    if (local) return local->limit;
    if (is_clause()) return 1;
    int sum = static_cast<int>(variables.size());
    for (const Cluster& cluster : clusters) sum += cluster.k;
    return is_halved() ? (sum + 1) / 2 : sum;
}

std::vector<Entry> RowMaker::row(const Cut& cut, const Places& places) {
    if (cut.local) return local_row(*cut.local, places);
    Variables touched = cut.variables;
    for (const Cluster& cluster : cut.clusters) {
        touched.insert(touched.end(), cluster.members.begin(), cluster.members.end());
        count(cluster, places);
    }
    for (const int v : cut.variables) {
        for (const std::int32_t i : places.of(v)) ++sums_[i];
        ++sums_[further(v)];
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::vector<Entry> row;
    const auto take = [&](std::int32_t family) {
        const std::int32_t sum = std::exchange(sums_[family], 0);
        if (sum != 0) row.push_back({family, cut.is_halved() ? (sum + 1) / 2 : sum});
    };
    for (const int v : touched) {
        for (const std::int32_t i : places.of(v)) take(i);
        take(further(v));
    }
    return row;
}

std::vector<Entry> RowMaker::local_row(const LocalCut& cut, const Places& places) const {
    std::vector<Entry> row;
    for (int place = 0; place < static_cast<int>(cut.members.size()); ++place) {
        const int v = cut.members[place];
        for (const std::int32_t i : places.of(v))
            if (const int coefficient = cut.coefficient(place, families_.parents(i))) row.push_back({i, coefficient});
        row.push_back({further(v), cut.coefficient(place, {})});
    }
    return row;
}

void RowMaker::count(const Cluster& cluster, const Places& places) {
    for (const int v : cluster.members) is_member_[v] = 1;
    for (const int v : cluster.members) {
        for (const std::int32_t i : places.of(v)) sums_[i] += n_marked(families_.parents(i), is_member_) < cluster.k;
        ++sums_[further(v)];
    }
    for (const int v : cluster.members) is_member_[v] = 0;
}

void CutPool::add(Cut cut) {
    std::vector<Entry> row = keeps_rows_ ? maker_.row(cut, all_) : std::vector<Entry>{};
    cuts_.push_back(std::make_shared<const PooledCut>(std::move(cut), std::move(row)));
}

void CutPool::add_clause(std::span<const std::uint8_t> marks) {
    const auto n = static_cast<std::int32_t>(families_.size());
    std::vector<Entry> row;
    for (std::int32_t i = 0; i < n; ++i)
        if (marks[static_cast<std::size_t>(i)]) row.push_back({i, 1});
    for (int v = 0; v < families_.n_variables(); ++v) row.push_back({n + v, 1});
    cuts_.push_back(std::make_shared<const PooledCut>(Cut{}, std::move(row)));
}

void CutPool::keep(std::span<const std::uint8_t> kept) {
    std::size_t end = 0;
    for (std::size_t c = 0; c < cuts_.size(); ++c)
        if (kept[c]) std::swap(cuts_[end++], cuts_[c]);
    cuts_.resize(end);
}

ReducedCosts CutPool::reduced_costs(std::span<const double> costs, std::span<const std::uint8_t> allowed,
                                    std::span<const double> multipliers) const {
    std::vector<double> paid(costs.begin(), costs.end());
    paid.resize(costs.size() + families_.n_variables());  // the further families are of no interest
    long double given_back = 0.0L;
    const auto pay = [&](std::size_t c, const std::vector<Entry>& row) {
        given_back += cut(c).limit() * multipliers[c];
        for (const Entry& entry : row) paid[entry.family] -= entry.coefficient * multipliers[c];
    };
    std::vector<Cluster> clusters;  // of which no row is kept
    std::vector<double> cluster_multipliers;
    RowMaker maker(families_);
    for (std::size_t c = 0; c < cuts_.size(); ++c) {
        if (multipliers[c] <= 0) continue;
        if (has_row(c)) {
            pay(c, row(c));
        } else if (cut(c).is_cluster()) {
            clusters.push_back(cut(c).clusters[0]);
            cluster_multipliers.push_back(multipliers[c]);
        } else {
            pay(c, maker.row(cut(c), all_));
        }
    }
    paid.resize(costs.size());
    if (!clusters.empty()) given_back += pay_clusters(families_, clusters, cluster_multipliers, paid, 1);
    return above_cheapest(families_, allowed, std::move(paid), given_back);
}

namespace {

constexpr double least_weight = 1e-7;
constexpr int orders_tried = 8;

using Bits = std::vector<std::uint64_t>;

void flip(Bits& bits, std::size_t i) { bits[i / 64] ^= std::uint64_t{1} << (i % 64); }
bool is_set(const Bits& bits, std::size_t i) { return (bits[i / 64] >> (i % 64)) & 1; }

void add_modulo_two(Bits& to, const Bits& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] ^= from[i];
}

// A sum of rows: which of its coefficients are odd, whether its limit is, and which rows it adds up.
struct Sum {
    Bits odd;
    bool has_odd_limit;
    Bits rows;

    void add(const Sum& other) {
        add_modulo_two(odd, other.odd);
        add_modulo_two(rows, other.rows);
        has_odd_limit ^= other.has_odd_limit;
    }
};

// Rows one after the other, each freed of the odd coefficients that rows before it can take away.
class Elimination {
public:
    explicit Elimination(std::size_t n_columns) : pivot_of_(n_columns, -1) {}

    // True when nothing odd is left but the limit.
    bool reduce(Sum& sum) {
        for (std::size_t word = 0; word < sum.odd.size(); ++word)
            while (sum.odd[word]) {
                const std::size_t column = word * 64 + static_cast<std::size_t>(std::countr_zero(sum.odd[word]));
                if (pivot_of_[column] < 0) {
                    pivot_of_[column] = static_cast<int>(pivots_.size());
                    pivots_.push_back(sum);
                    return false;
                }
                sum.add(pivots_[pivot_of_[column]]);
            }
        return sum.has_odd_limit;
    }

private:
    std::vector<int> pivot_of_;
    std::vector<Sum> pivots_;
};

// The rows that hold with equality: each variable's own, then those of tight clusters.
class TightRows {
public:
    TightRows(const CutPool& pool, std::span<const double> weights) : pool_(pool), n_variables_(pool.families().n_variables()) {
        std::vector<int> column_of(weights.size() + n_variables_, -1);  // the further families have no weight
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (weights[i] > least_weight) {
                column_of[i] = static_cast<int>(weights_.size());
                weights_.push_back(weights[i]);
            }
        for (std::size_t v = 0; v < n_variables_; ++v) {
            columns_.emplace_back();
            for (std::size_t i = pool.families().begin_of(v); i < pool.families().end_of(v); ++i)
                if (column_of[i] >= 0) columns_.back().push_back(column_of[i]);
        }
        const Places with_weight(pool.families(), [&](std::size_t i) { return weights[i] != 0; });
        RowMaker maker(pool.families());
        for (std::size_t c = 0; c < pool.size(); ++c) {
            if (!pool.cut(c).is_cluster()) continue;
            double weight = 0.0;
            std::vector<int> columns;
            for (const Entry& entry : maker.row(pool.cut(c), with_weight)) {
                if (static_cast<std::size_t>(entry.family) < weights.size()) weight += weights[entry.family];
                if (column_of[entry.family] >= 0) columns.push_back(column_of[entry.family]);
            }
            if (weight >= pool.cut(c).limit() + least_weight) continue;
            tight_.push_back(c);
            columns_.push_back(std::move(columns));
        }
    }

    std::size_t n_columns() const { return weights_.size(); }
    std::size_t n_rows() const { return columns_.size(); }

    Sum row(std::size_t r) const {
        Sum sum{Bits(n_columns() / 64 + 1), r < n_variables_ || cluster(r).k % 2 == 1, Bits(n_rows() / 64 + 1)};
        flip(sum.rows, r);
        for (const int column : columns_[r]) flip(sum.odd, static_cast<std::size_t>(column));
        return sum;
    }

    Cut cut_of(const Sum& sum) const {
        Cut cut;
        for (const std::size_t r : rows_in(sum))
            if (r < n_variables_)
                cut.variables.push_back(static_cast<int>(r));
            else
                cut.clusters.push_back(cluster(r));
        return cut;
    }

    // Of the cut of a sum.
    double violation(const Sum& sum, const Cut& cut) const {
        std::vector<int> counts(n_columns(), 0);
        for (const std::size_t r : rows_in(sum))
            for (const int column : columns_[r]) ++counts[column];
        double left = 0.0;
        for (std::size_t i = 0; i < counts.size(); ++i) left += weights_[i] * ((counts[i] + 1) / 2);
        return cut.limit() - left;
    }

    // Variables' own rows come first: they make most odd coefficients even.
    std::vector<std::size_t> shuffled(Draws& draws) const {
        std::vector<std::size_t> order(n_rows());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::vector<std::size_t> clusters(order.begin() + static_cast<std::ptrdiff_t>(n_variables_), order.end());
        draws.shuffle(clusters);
        std::copy(clusters.begin(), clusters.end(), order.begin() + static_cast<std::ptrdiff_t>(n_variables_));
        return order;
    }

private:
    const Cluster& cluster(std::size_t r) const { return pool_.cut(tight_[r - n_variables_]).clusters[0]; }

    std::vector<std::size_t> rows_in(const Sum& sum) const {
        std::vector<std::size_t> rows;
        for (std::size_t r = 0; r < n_rows(); ++r)
            if (is_set(sum.rows, r)) rows.push_back(r);
        return rows;
    }

    const CutPool& pool_;
    std::size_t n_variables_;
    std::vector<double> weights_;            // by column: of a family that has any
    std::vector<std::size_t> tight_;         // cuts
    std::vector<std::vector<int>> columns_;  // by row: each has the coefficient one
};

}  // namespace

std::vector<Cut> CutPool::violated_halves(std::span<const double> weights, std::size_t most_cuts,
                                          double least_violation) const {
    const TightRows rows(*this, weights);
    Draws draws(1);
    std::vector<Cut> found;
    for (int i = 0; i < orders_tried; ++i) {
        Elimination elimination(rows.n_columns());
        for (const std::size_t r : rows.shuffled(draws)) {
            Sum sum = rows.row(r);
            if (!elimination.reduce(sum)) continue;
            Cut cut = rows.cut_of(sum);
            if (!cut.is_halved() || rows.violation(sum, cut) < least_violation) continue;
            if (std::find(found.begin(), found.end(), cut) == found.end()) found.push_back(std::move(cut));
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Cut& a, const Cut& b) { return a.clusters.size() < b.clusters.size(); });
    if (found.size() > most_cuts) found.resize(most_cuts);
    return found;
}

}  // namespace topdag
