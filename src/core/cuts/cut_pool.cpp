// cut_pool.cpp
#include "cuts/cut_pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/draws.h"

namespace topdag {

template <class Set>
int CutOf<Set>::limit() const {
    if (is_clause()) return 1;
    if (local) return local->limit;
    int sum = size_of(variables);
    for (const ClusterOf<Set>& cluster : clusters) sum += cluster.k;
    return is_halved() ? (sum + 1) / 2 : sum;
}

template <class Set>
int CutOf<Set>::coefficient(int v, Set parents) const {
    if (local) return local->coefficient(v, parents);
    int sum = has(variables, v);
    for (const ClusterOf<Set>& cluster : clusters) sum += cluster.counts(v, parents);
    return is_halved() ? (sum + 1) / 2 : sum;
}

template <class Set>
void CutPoolOf<Set>::add(CutOf<Set> cut) {
    std::vector<Entry> row;
    const auto size = static_cast<std::int32_t>(families_.parents.size());
    Set touched = cut.local ? cut.local->members : cut.variables;
    for (const ClusterOf<Set>& cluster : cut.clusters) touched |= cluster.members;
    for (Set rest = touched; rest; rest &= rest - 1) {
        const int v = first_of(rest);
        for (std::int64_t i = families_.offsets[v]; i < families_.offsets[v + 1]; ++i)
            if (const int coefficient = cut.coefficient(v, families_.parents[i]))
                row.push_back({static_cast<std::int32_t>(i), coefficient});
        row.push_back({size + v, cut.coefficient(v, 0)});
    }
    cuts_.push_back(std::move(cut));
    rows_.push_back(std::move(row));
}

template <class Set>
void CutPoolOf<Set>::add_clause(std::span<const std::uint8_t> marks) {
    std::vector<Entry> row;
    const auto size = static_cast<std::int32_t>(families_.parents.size());
    for (std::int32_t i = 0; i < size; ++i)
        if (marks[static_cast<std::size_t>(i)]) row.push_back({i, 1});
    for (std::int32_t v = 0; v < families_.n_variables(); ++v) row.push_back({size + v, 1});
    cuts_.push_back({});
    rows_.push_back(std::move(row));
}

template <class Set>
void CutPoolOf<Set>::keep(std::span<const std::uint8_t> kept) {
    std::size_t end = 0;
    for (std::size_t c = 0; c < cuts_.size(); ++c)
        if (kept[c]) {
            std::swap(cuts_[end], cuts_[c]);
            std::swap(rows_[end++], rows_[c]);
        }
    cuts_.resize(end);
    rows_.resize(end);
}

template <class Set>
ReducedCosts CutPoolOf<Set>::reduced_costs(std::span<const double> costs, std::span<const std::uint8_t> allowed,
                                    std::span<const double> multipliers) const {
    ReducedCosts result{0.0, {costs.begin(), costs.end()}};
    long double bound = 0.0L;  // parts of the sum may be as many times larger as there are variables
    result.excess.resize(costs.size() + families_.n_variables());  // the further families are of no interest
    for (std::size_t c = 0; c < cuts_.size(); ++c) {
        if (multipliers[c] <= 0) continue;
        bound += cuts_[c].limit() * multipliers[c];
        for (const Entry& entry : rows_[c]) result.excess[entry.family] -= entry.coefficient * multipliers[c];
    }
    result.excess.resize(costs.size());
    for (int v = 0; v < families_.n_variables(); ++v) {
        double least = std::numeric_limits<double>::infinity();
        for (std::int64_t i = families_.offsets[v]; i < families_.offsets[v + 1]; ++i)
            if (allowed[i]) least = std::min(least, result.excess[i]);
        bound += least;
        if (least == std::numeric_limits<double>::infinity()) continue;
        for (std::int64_t i = families_.offsets[v]; i < families_.offsets[v + 1]; ++i) result.excess[i] -= least;
    }
    result.bound = static_cast<double>(bound);
    return result;
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
template <class Set>
class TightRows {
public:
    TightRows(const CutPoolOf<Set>& pool, std::span<const double> weights) : pool_(pool), weights_(weights) {
        const FamilyViewOf<Set>& families = pool.families();
        column_of_.assign(weights.size(), -1);
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (weights[i] > least_weight) column_of_[i] = static_cast<int>(n_columns_++);
        for (std::size_t c = 0; c < pool.size(); ++c)
            if (pool.cut(c).is_cluster() &&
                weight_of(pool.row(c)) < pool.cut(c).limit() + least_weight)
                tight_.push_back(c);
        n_variables_ = static_cast<std::size_t>(families.n_variables());
    }

    std::size_t n_columns() const { return n_columns_; }
    std::size_t n_rows() const { return n_variables_ + tight_.size(); }

    Sum row(std::size_t r) const {
        Sum sum{Bits(n_columns_ / 64 + 1), false, Bits(n_rows() / 64 + 1)};
        flip(sum.rows, r);
        if (r < n_variables_) {
            const auto& offsets = pool_.families().offsets;
            for (std::int64_t i = offsets[r]; i < offsets[r + 1]; ++i)
                flip_family(sum.odd, static_cast<std::size_t>(i));
            sum.has_odd_limit = true;
        } else {
            const std::size_t c = tight_[r - n_variables_];
            for (const Entry& entry : pool_.row(c)) flip_family(sum.odd, static_cast<std::size_t>(entry.family));
            sum.has_odd_limit = pool_.cut(c).limit() % 2 == 1;
        }
        return sum;
    }

    CutOf<Set> cut_of(const Sum& sum) const {
        CutOf<Set> cut;
        for (std::size_t r = 0; r < n_rows(); ++r) {
            if (!is_set(sum.rows, r)) continue;
            if (r < n_variables_)
                cut.variables |= only<Set>(static_cast<int>(r));
            else
                cut.clusters.push_back(pool_.cut(tight_[r - n_variables_]).clusters[0]);
        }
        return cut;
    }

    double violation(const CutOf<Set>& cut) const {
        double left = 0.0;
        const FamilyViewOf<Set>& families = pool_.families();
        for (int v = 0; v < families.n_variables(); ++v)
            for (std::int64_t i = families.offsets[v]; i < families.offsets[v + 1]; ++i)
                if (weights_[i] > least_weight) left += weights_[i] * cut.coefficient(v, families.parents[i]);
        return cut.limit() - left;
    }

private:
    double weight_of(const std::vector<Entry>& row) const {
        double weight = 0.0;
        for (const Entry& entry : row)
            if (static_cast<std::size_t>(entry.family) < weights_.size())
                weight += entry.coefficient * weights_[entry.family];
        return weight;
    }

    void flip_family(Bits& odd, std::size_t family) const {
        if (family < column_of_.size() && column_of_[family] >= 0)
            flip(odd, static_cast<std::size_t>(column_of_[family]));
    }

    const CutPoolOf<Set>& pool_;
    std::span<const double> weights_;
    std::vector<int> column_of_;
    std::vector<std::size_t> tight_;
    std::size_t n_columns_ = 0;
    std::size_t n_variables_ = 0;
};

// Variables' own rows come first: they make most odd coefficients even.
template <class Set>
std::vector<std::size_t> row_order(const TightRows<Set>& rows, std::size_t n_variables, Draws& draws) {
    std::vector<std::size_t> clusters;
    for (std::size_t r = n_variables; r < rows.n_rows(); ++r) clusters.push_back(r);
    draws.shuffle(clusters);
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < n_variables; ++r) order.push_back(r);
    order.insert(order.end(), clusters.begin(), clusters.end());
    return order;
}

}  // namespace

template <class Set>
std::vector<CutOf<Set>> CutPoolOf<Set>::violated_halves(std::span<const double> weights, std::size_t most_cuts,
                                          double least_violation) const {
    const TightRows<Set> rows(*this, weights);
    Draws draws(1);
    std::vector<CutOf<Set>> found;
    for (int i = 0; i < orders_tried; ++i) {
        Elimination elimination(rows.n_columns());
        for (const std::size_t r : row_order(rows, static_cast<std::size_t>(families_.n_variables()), draws)) {
            Sum sum = rows.row(r);
            if (!elimination.reduce(sum)) continue;
            CutOf<Set> cut = rows.cut_of(sum);
            if (!cut.is_halved() || rows.violation(cut) < least_violation) continue;
            if (std::find(found.begin(), found.end(), cut) == found.end()) found.push_back(std::move(cut));
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const CutOf<Set>& a, const CutOf<Set>& b) { return a.clusters.size() < b.clusters.size(); });
    if (found.size() > most_cuts) found.resize(most_cuts);
    return found;
}

template struct CutOf<VarSet>;
template struct CutOf<WideSet>;
template class CutPoolOf<VarSet>;
template class CutPoolOf<WideSet>;
template struct CutOf<BroadSet>;
template class CutPoolOf<BroadSet>;
template struct CutOf<VastSet>;
template class CutPoolOf<VastSet>;

}  // namespace topdag
