#include "counting/tail_kernel.h"

#include <algorithm>

#include "base/simd.h"

namespace topdag {

namespace {

constexpr int batch = 8;  // cells handled side by side, each in its own lane of the processor

// All further entries of a batch of cells, each the sum of two earlier ones.
TOPDAG_SIMD void expand(const TailAddition* additions, std::size_t n, std::int32_t* counts) {
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t* a = counts + additions[i].a * batch;
        const std::int32_t* b = counts + additions[i].b * batch;
        std::int32_t sum[batch];
        for (int c = 0; c < batch; ++c) sum[c] = a[c] + b[c];
        std::int32_t* to = counts + additions[i].to * batch;
        for (int c = 0; c < batch; ++c) to[c] = sum[c];
    }
}

// partial[c] += the values at cell c's counts, entry by entry: the order of summation is fixed. lost[c] += what that
// addition rounds away: there may be a million batches.
TOPDAG_SIMD void look_up(const double* values, const std::int32_t* counts, std::size_t entries, double* partial,
                         double* lost) {
    double sum[batch] = {};
    for (std::size_t e = 0; e < entries; ++e)
        for (int c = 0; c < batch; ++c) sum[c] += values[counts[e * batch + c]];
    for (int c = 0; c < batch; ++c) {
        const double total = partial[c] + sum[c];
        const double part = total - partial[c];
        lost[c] += (partial[c] - (total - part)) + (sum[c] - part);
        partial[c] = total;
    }
}

// Adds up sums and what they have lost by halves, into the first of each.
TOPDAG_SIMD void add_up_batch(double* sums, double* lost) {
    for (int width = batch / 2; width > 0; width /= 2)
        for (int c = 0; c < width; ++c) {
            const double total = sums[c] + sums[c + width];
            const double part = total - sums[c];
            lost[c] += lost[c + width] + ((sums[c] - (total - part)) + (sums[c + width] - part));
            sums[c] = total;
        }
}

void sum_over_supersets(std::vector<std::int32_t>& counts) {
    for (std::size_t bit = 1; bit < counts.size(); bit <<= 1)
        for (std::size_t mask = 0; mask < counts.size(); ++mask)
            if (!(mask & bit)) counts[mask] += counts[mask | bit];
}

}  // namespace

TailKernel::TailKernel(const CountPlan& plan, const CellTables& tables)
    : plan_(plan),
      tables_(tables),
      n_subsets_(1 << plan.tail),
      lanes_(static_cast<std::uint32_t>(plan.rest_cells[plan.head])),
      subsets_(n_subsets_) {
    for (int mask = n_subsets_ - 1; mask >= 0; --mask) plan_subset(mask);
    plan_lane_agreements();
    values_.resize(function_classes_.size());
    common_.resize(function_classes_.size());
    counts_.assign(static_cast<std::size_t>(entries_) * batch, 0);
    partial_.resize(static_cast<std::size_t>(n_subsets_) * batch);
    lost_.resize(partial_.size());
    for (auto& counts : agreeing_) counts.resize(n_subsets_);
}

// A subset is summed out of the one that also has the last position it lacks; that one stands before it.
void TailKernel::plan_subset(int mask) {
    std::uint64_t set_class = 0;
    std::uint32_t cells = 1;
    std::uint32_t behind = 1;  // cells of the positions behind the one it lacks
    int lacking = -1;
    for (int t = plan_.tail - 1; t >= 0; --t) {
        const auto states = static_cast<std::uint32_t>(plan_.arity[plan_.head + t]);
        if ((mask >> (plan_.tail - 1 - t)) & 1) {
            cells *= states;
            if (lacking < 0) behind *= states;
            set_class += tables_.class_of(plan_.variable[plan_.head + t]);
        } else if (lacking < 0) {
            lacking = t;
        }
    }
    const auto states = lacking < 0 ? 0U : static_cast<std::uint32_t>(plan_.arity[plan_.head + lacking]);
    const std::uint32_t source = lacking < 0 ? 0U : subsets_[mask | (1 << (plan_.tail - 1 - lacking))].begin;
    if (states == 1) {  // the same cells with or without it
        subsets_[mask] = {source, source + cells, function_index(set_class)};
        return;
    }
    const std::uint32_t begin = entries_;
    entries_ += cells;
    subsets_[mask] = {begin, entries_, function_index(set_class)};
    if (lacking < 0) return;
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
        const std::uint32_t first = source + cell / behind * states * behind + cell % behind;
        const auto to = static_cast<std::uint16_t>(begin + cell);
        auto sum = static_cast<std::uint16_t>(first);
        for (std::uint32_t s = 1; s < states; ++s, sum = to)
            additions_.push_back({to, sum, static_cast<std::uint16_t>(first + s * behind)});
    }
}

std::uint32_t TailKernel::function_index(std::uint64_t set_class) {
    const auto known = std::find(function_classes_.begin(), function_classes_.end(), set_class);
    const auto index = static_cast<std::uint32_t>(known - function_classes_.begin());
    if (known == function_classes_.end()) function_classes_.push_back(set_class);
    return index;
}

void TailKernel::plan_lane_agreements() {
    lane_agreement_.assign(static_cast<std::size_t>(lanes_) * lanes_, 0);
    for (std::uint32_t a = 0; a < lanes_; ++a)
        for (std::uint32_t b = 0; b < lanes_; ++b)
            for (int t = 0; t < plan_.tail; ++t) {
                const auto behind = static_cast<std::uint32_t>(plan_.rest_cells[plan_.head + t + 1]);
                const auto states = static_cast<std::uint32_t>(plan_.arity[plan_.head + t]);
                if (a / behind % states == b / behind % states)
                    lane_agreement_[a * lanes_ + b] |= PositionMask{1} << (plan_.tail - 1 - t);
            }
}

void TailKernel::add_up(const SparseCells& sparse, const DenseCells& dense, std::uint64_t set_class, double* sums) {
    begin_set(set_class);
    for (const DenseCells::Block& block : dense.blocks)
        for (std::size_t cell = 0; cell < block.cells; ++cell) take(block.counts + cell * lanes_);
    if (filled_ > 0) finish_batch();
    add_agreements(sparse);
    for (std::uint32_t f = 0; f < common_.size(); ++f)
        common_[f] = static_cast<double>(sparse.small_rows + small_rows_) * values_[f][1] + settled_sum(sparse, f);
    for (int mask = 0; mask < n_subsets_; ++mask) {
        const std::uint32_t f = subsets_[mask].function;
        const double* v = values_[f];
        const double pair = v[2] - 2 * v[1];
        const double triple = v[3] - 3 * v[2] + 3 * v[1];
        const double four = v[4] - 4 * v[3] + 6 * v[2] - 4 * v[1];
        double *partial = &partial_[static_cast<std::size_t>(mask) * batch], *lost = &lost_[static_cast<std::size_t>(mask) * batch];
        add_up_batch(partial, lost);
        CarefulSum sum = heavy_[mask];
        for (double term : {partial[0], lost[0], common_[f], agreeing_[2][mask] * pair, agreeing_[3][mask] * triple,
                            agreeing_[4][mask] * four})
            sum.add(term);
        sums[mask] = sum.value();
    }
}

void TailKernel::begin_set(std::uint64_t set_class) {
    set_class_ = set_class;
    for (std::size_t f = 0; f < values_.size(); ++f) values_[f] = tables_.values(set_class + function_classes_[f]);
    std::fill(partial_.begin(), partial_.end(), 0.0);
    std::fill(lost_.begin(), lost_.end(), 0.0);
    heavy_.assign(n_subsets_, {});
    for (auto& counts : agreeing_) std::fill(counts.begin(), counts.end(), 0);
    small_rows_ = 0;
}

void TailKernel::take(const std::uint32_t* counts) {
    std::uint64_t total = 0;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) total += counts[lane];
    if (total <= small_limit) return total == 0 ? void() : take_small(counts);
    if (total > tables_.limit()) return take_heavy(counts);
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
        counts_[lane * batch + filled_] = static_cast<std::int32_t>(counts[lane]);
    if (++filled_ == batch) finish_batch();
}

void TailKernel::take_small(const std::uint32_t* counts) {
    std::array<std::uint32_t, small_limit> row;  // the lane each row is in
    std::size_t n = 0;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
        for (std::uint32_t copy = 0; copy < counts[lane]; ++copy) row[n++] = lane;
    small_rows_ += n;
    for_each_agreement(
        n, [&](std::size_t a, std::size_t b) { return lane_agreement_[row[a] * lanes_ + row[b]]; },
        [&](std::size_t size, PositionMask mask) { ++agreeing_[size][mask]; });
}

// A cell with counts beyond the tables; rare, so it may take its time.
void TailKernel::take_heavy(const std::uint32_t* counts) {
    std::vector<std::uint32_t> entry(counts, counts + lanes_);
    entry.resize(entries_);
    for (const TailAddition& addition : additions_) entry[addition.to] = entry[addition.a] + entry[addition.b];
    for (int mask = 0; mask < n_subsets_; ++mask) {
        const TailSubset& subset = subsets_[mask];
        for (std::uint32_t e = subset.begin; e < subset.end; ++e) heavy_[mask].add(value(subset.function, entry[e]));
    }
}

void TailKernel::finish_batch() {
    for (; filled_ < batch; ++filled_)
        for (std::uint32_t lane = 0; lane < lanes_; ++lane) counts_[lane * batch + filled_] = 0;
    expand(additions_.data(), additions_.size(), counts_.data());
    for (int mask = 0; mask < n_subsets_; ++mask) {
        const TailSubset& subset = subsets_[mask];
        look_up(values_[subset.function], &counts_[static_cast<std::size_t>(subset.begin) * batch],
                subset.end - subset.begin, &partial_[static_cast<std::size_t>(mask) * batch],
                &lost_[static_cast<std::size_t>(mask) * batch]);
    }
    filled_ = 0;
}

void TailKernel::add_agreements(const SparseCells& sparse) {
    const PositionMask tail_only = static_cast<PositionMask>(n_subsets_ - 1);
    for (std::size_t size = 2; size <= small_limit; ++size) {
        for (PositionMask mask : sparse.agreeing[size]) ++agreeing_[size][mask & tail_only];
        sum_over_supersets(agreeing_[size]);
    }
}

double TailKernel::value(std::uint32_t function, std::uint64_t count) const {
    if (count <= tables_.limit()) return values_[function][count];
    return tables_.function(set_class_ + function_classes_[function])(count);
}

double TailKernel::settled_sum(const SparseCells& sparse, std::uint32_t function) const {
    CarefulSum sum;
    for (std::uint64_t weight = 1; weight < light_limit; ++weight)
        if (sparse.light[weight] != 0) sum.add(sparse.light[weight] * value(function, weight));
    for (std::uint32_t weight : sparse.heavy) sum.add(value(function, weight));
    return sum.value();
}

}  // namespace topdag
