#include "averages/prefix_sums.h"

#include <algorithm>
#include <vector>

#include "base/parallel.h"

namespace topdag {

// Sets are split into three parts: high, middle, low. A task fills all sets with the same high part `to`. For each
// part `from` of it and each middle part of the past, the terms form a matrix: rows are the low part of the set that
// receives them, columns the middle variables that join the past. A row is added to others as a whole, times the
// product of z over the low variables that join: the innermost loop runs along columns.
template <class Real>
struct PrefixSums<Real>::Workspace {
    std::vector<Exponent> scales;      // by row and column
    std::vector<Real> sums[2];         // likewise; by parity of the low variables that join
    std::vector<Real> row;
    std::vector<VarSet> column_sets;   // the middle part of the receiving set
    std::vector<Real> products;        // by low variables that join
    std::vector<Exponent> exponents;
    std::size_t n_columns = 0;
    VarSet joining = 0;                // the middle variables that may join

    Workspace(int low, int middle)
        : scales(n_sets(low + middle)), row(n_sets(middle)), column_sets(n_sets(middle)), products(n_sets(low)),
          exponents(n_sets(low)) {
        for (std::vector<Real>& half : sums) half.resize(n_sets(low + middle));
    }
};

// The set T whose networks are extended.
template <class Real>
struct PrefixSums<Real>::Past {
    VarSet set, low;
};

template <class Real>
PrefixSums<Real>::PrefixSums(const FamilyWeights<Real>& weights, const Precedence& precedence)
    : weights_(weights), precedence_(precedence), n_(weights.n_variables()), low_(std::min(n_, 5)),
      high_(std::clamp(n_ - low_ - 4, 0, 4)) {
    middle_ = n_ - low_ - high_;
}

template <class Real>
bool PrefixSums<Real>::fill(Limits& limits) {
    scales_ = BigArrayOf<Exponent>(n_sets(n_));
    values_ = BigArrayOf<Real>(n_sets(n_));
    magnitudes_ = BigArray(n_sets(n_));
    fill_scales();
    std::fill(values_.data(), values_.data() + n_sets(n_), Real(0.0));
    std::fill(magnitudes_.data(), magnitudes_.data() + n_sets(n_), 0.0);
    values_[0] = 1.0;
    std::uint64_t steps = n_sets(middle_);
    for (int i = 0; i < high_; ++i) steps *= 3;
    limits.begin(Phase::summing, steps);
    std::vector<std::vector<VarSet>> layers(high_ + 1);
    for (VarSet block = 0; block < n_sets(high_); ++block) layers[size_of(block)].push_back(block);
    std::size_t most_at_once = 1;
    for (const std::vector<VarSet>& layer : layers) most_at_once = std::max(most_at_once, layer.size());
    std::vector<Workspace> spaces(std::min<std::size_t>(limits.threads, most_at_once), Workspace(low_, middle_));
    for (const std::vector<VarSet>& layer : layers)
        parallel_for(layer.size(), limits, [&](std::size_t i, int worker) {
            const VarSet to = layer[i];
            for (VarSet from = 0; from != to; from = (from - to) & to) push_between(from, to, spaces[worker], limits);
            push_between(to, to, spaces[worker], limits);
        });
    return !limits.stop.load();
}

template <class Real>
void PrefixSums<Real>::fill_scales() {
    scales_[0] = 0;
    for (VarSet set = 1; set < n_sets(n_); ++set) {
        Exponent best = zero_exponent;
        for (VarSet rest = set; rest != 0; rest &= rest - 1) {
            const VarSet before = set & ~only(first_of(rest));
            const Exponent last = weights_.exponent(first_of(rest), before);
            if (last > zero_exponent && scales_[before] > zero_exponent) best = std::max(best, scales_[before] + last);
        }
        scales_[set] = best;
    }
}

// Adds to all sets with the high part `to` what networks on sets with the high part `from` give them.
template <class Real>
void PrefixSums<Real>::push_between(VarSet from, VarSet to, Workspace& space, Limits& limits) {
    for (VarSet middle = 0; middle < n_sets(middle_) && !limits.reached(); ++middle) {
        if (!has_networks(from, middle)) continue;
        begin_columns(from, to, middle, space);
        for (VarSet low = 0; low < n_sets(low_); ++low) {
            const Past past{from << (middle_ + low_) | middle << low_ | low, low};
            if (from == to) settle(past, space);
            if (begin_row(past, to, space)) add_rows(past, space);
        }
        collect(from, to, space);
        ++limits.done;
    }
}

// On sets with these high and middle parts.
template <class Real>
bool PrefixSums<Real>::has_networks(VarSet from, VarSet middle) const {
    const Exponent* scales = &scales_[(from << middle_ | middle) << low_];
    return std::any_of(scales, scales + n_sets(low_), [](Exponent scale) { return scale > zero_exponent; });
}

template <class Real>
void PrefixSums<Real>::begin_columns(VarSet from, VarSet to, VarSet middle, Workspace& space) const {
    const VarSet most_placed = (from << middle_ | middle) << low_ | all_of(low_);
    space.joining = precedence_.open((all_of(middle_) & ~middle) << low_, most_placed) >> low_;
    space.n_columns = 1;
    space.column_sets[0] = middle;
    for (VarSet rest = space.joining; rest != 0; rest &= rest - 1) {
        const VarSet joined = rest & -rest;
        for (std::size_t c = 0; c < space.n_columns; ++c)
            space.column_sets[space.n_columns + c] = space.column_sets[c] | joined;
        space.n_columns *= 2;
    }
    for (std::vector<Real>& half : space.sums) std::fill_n(half.begin(), space.n_columns << low_, Real(0.0));
    for (std::size_t c = 0; c < space.n_columns; ++c) {
        const Exponent* scales = &scales_[(to << middle_ | space.column_sets[c]) << low_];
        for (VarSet low = 0; low < n_sets(low_); ++low) space.scales[low * space.n_columns + c] = scales[low];
    }
}

// The sum of a set in the block itself is complete once what smaller low parts add to it is in.
template <class Real>
void PrefixSums<Real>::settle(const Past& past, const Workspace& space) {
    const std::size_t first = past.low * space.n_columns;
    const Real even = space.sums[0][first], odd = space.sums[1][first];
    values_[past.set] += odd - even;
    magnitudes_[past.set] += static_cast<double>(odd + even);
}

// The row of networks on the past, times z over the high and middle variables that join; false when all is zero.
template <class Real>
bool PrefixSums<Real>::begin_row(const Past& past, VarSet to_high, Workspace& space) const {
    if (static_cast<double>(values_[past.set]) == 0.0) return false;
    const VarSet to = past.set | to_high << (middle_ + low_);
    Exponent exponent = scales_[past.set] - scales_[to];
    Real value = values_[past.set];
    for (VarSet rest = to & ~past.set; rest != 0; rest &= rest - 1) {
        const int v = first_of(rest);
        if (weights_.exponent(v, past.set) == zero_exponent) return false;
        value = value * weights_.mantissa(v, past.set);
        exponent += weights_.exponent(v, past.set);
    }
    space.row[0] = without_dust(scaled(value, power_of_two(exponent)));
    if (static_cast<double>(space.row[0]) == 0.0) return false;
    const Exponent* scales = &space.scales[past.low * space.n_columns];
    std::size_t width = 1;
    for (VarSet rest = space.joining; rest != 0; rest &= rest - 1, width *= 2) {
        const int v = low_ + first_of(rest);
        multiply_terms(&space.row[width], &space.row[0], scales, scales + width, weights_.mantissa(v, past.set),
                       weights_.exponent(v, past.set), width);
    }
    return true;
}

// The row to every row whose low part contains the past's.
template <class Real>
void PrefixSums<Real>::add_rows(const Past& past, Workspace& space) const {
    const VarSet free = all_of(low_) & ~past.low;
    const std::size_t n_columns = space.n_columns;
    const Exponent* from = &space.scales[past.low * n_columns];
    space.products[0] = 1.0;
    space.exponents[0] = 0;
    for (VarSet joined = 0;; joined = (joined - free) & free) {
        if (joined != 0) {
            const int v = first_of(joined);
            const VarSet others = joined & (joined - 1);
            const Exponent own = weights_.exponent(v, past.set);
            const bool is_zero = own == zero_exponent || space.exponents[others] == zero_exponent;
            space.products[joined] = space.products[others] * weights_.mantissa(v, past.set);
            space.exponents[joined] = is_zero ? zero_exponent : space.exponents[others] + own;
        }
        const VarSet row = past.low | joined;
        if (space.exponents[joined] > zero_exponent)
            add_terms(&space.sums[size_of(joined) % 2][row * n_columns], space.row.data(), from,
                      &space.scales[row * n_columns], space.products[joined], space.exponents[joined], n_columns);
        if (joined == free) break;
    }
}

// Adds the matrix to the sums of the sets it speaks of. The first column inside a block is settled already.
template <class Real>
void PrefixSums<Real>::collect(VarSet from, VarSet to, const Workspace& space) {
    for (std::size_t c = from == to ? 1 : 0; c < space.n_columns; ++c) {
        const bool negative = (size_of(to & ~from) + size_of(c)) % 2 == 1;  // high and middle variables that join
        const VarSet base = (to << middle_ | space.column_sets[c]) << low_;
        for (VarSet low = 0; low < n_sets(low_); ++low) {
            const Real even = space.sums[0][low * space.n_columns + c], odd = space.sums[1][low * space.n_columns + c];
            values_[base | low] += negative ? even - odd : odd - even;
            magnitudes_[base | low] += static_cast<double>(odd + even);
        }
    }
}

template class PrefixSums<double>;
template class PrefixSums<DoubleDouble>;

}  // namespace topdag
