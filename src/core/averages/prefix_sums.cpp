#include "averages/prefix_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/parallel.h"

namespace topdag {

// Sets are split into four parts: high, upper, middle, low. A block has all sets with the same high and upper parts. For
// a block `to`, each part `from` of it and each middle part of the past, the terms form a matrix: rows are the low part
// of the set that receives them, columns the middle variables that join the past. A row is added to others as a whole,
// times the product of z over the low variables that join: the innermost loop runs along columns.
// The high variables that join are multiplied in first, then the middle ones, then the upper ones: so upper variables
// are to the sums as middle ones are, and how many there are changes no bit of them, but how many blocks there are.
template <class Real>
struct PrefixSums<Real>::Workspace {
    std::vector<std::vector<Exponent>> stages;  // scales by row and column, with the first so many upper ones that join
    std::size_t last_stage = 0;
    std::vector<Real> sums[2];         // by row and column, and parity of the low variables that join
    std::vector<Real> row, next_row;
    std::vector<VarSet> column_sets;   // the middle part of the receiving set
    std::vector<Real> products;        // by low variables that join
    std::vector<Exponent> exponents;
    std::size_t n_columns = 0;
    VarSet joining = 0;                // the middle variables that may join
    VarSet joined_high = 0;            // the high ones that do, as variables
    std::vector<int> joined_upper;     // the upper ones

    Workspace(int low, int middle, int upper)
        : stages(upper + 1, std::vector<Exponent>(n_sets(low + middle))), row(n_sets(middle)), next_row(n_sets(middle)),
          column_sets(n_sets(middle)), products(n_sets(low)), exponents(n_sets(low)) {
        for (std::vector<Real>& half : sums) half.resize(n_sets(low + middle));
    }
    const Exponent* scales_of(VarSet low, std::size_t stage) const { return &stages[stage][low * n_columns]; }
    const Exponent* scales_of(VarSet low) const { return scales_of(low, last_stage); }
};

// The set T whose networks are extended.
template <class Real>
struct PrefixSums<Real>::Past {
    VarSet set, low;
};

template <class Real>
PrefixSums<Real>::PrefixSums(const FamilyWeights<Real>& weights, const Precedence& precedence, int threads)
    : weights_(weights), precedence_(precedence), n_(weights.n_variables()), low_(std::min(n_, 5)), upper_(0),
      high_(std::clamp(n_ - low_ - 4, 0, 4)) {
    constexpr int least_columns = 5;  // variables: shorter rows would take longer
    middle_ = n_ - low_ - high_;
    // With b variables that name blocks, 3^b steps between blocks take as long as 2^b of them, however many threads.
    while (std::pow(1.5, high_ + upper_) < 1.5 * threads && middle_ > least_columns) {
        ++upper_;
        --middle_;
    }
}

template <class Real>
bool PrefixSums<Real>::fill(Limits& limits) {
    scales_ = BigArrayOf<Exponent>(n_sets(n_));
    values_ = BigArrayOf<Real>(n_sets(n_));
    magnitudes_ = BigArray(n_sets(n_));
    fill_scales(limits);
    if (limits.stop.load()) return false;
    std::fill(values_.data(), values_.data() + n_sets(n_), Real(0.0));
    std::fill(magnitudes_.data(), magnitudes_.data() + n_sets(n_), 0.0);
    values_[0] = 1.0;
    std::uint64_t steps = n_sets(middle_);
    for (int i = 0; i < upper_ + high_; ++i) steps *= 3;
    limits.begin(Phase::summing, steps);
    std::vector<Workspace> spaces(std::min<std::size_t>(limits.threads, n_sets(upper_ + high_)),
                                  Workspace(low_, middle_, upper_));
    parallel_over_subsets(upper_ + high_, limits, [&](VarSet from, VarSet to, int worker) {
        push_between(from, to, spaces[worker], limits);
    });
    return !limits.stop.load();
}

template <class Real>
void PrefixSums<Real>::fill_scales(Limits& limits) {
    parallel_over_sets(n_, limits, [&](VarSet set) {
        Exponent best = set == 0 ? 0 : zero_exponent;
        for (VarSet rest = set; rest != 0; rest &= rest - 1) {
            const VarSet before = set & ~only(first_of(rest));
            const Exponent last = weights_.exponent(first_of(rest), before);
            if (last > zero_exponent && scales_[before] > zero_exponent) best = std::max(best, scales_[before] + last);
        }
        scales_[set] = best;
    });
}

// Adds to all sets of the block `to` what networks on sets of the block `from` give them.
template <class Real>
void PrefixSums<Real>::push_between(VarSet from, VarSet to, Workspace& space, Limits& limits) {
    for (VarSet middle = 0; middle < n_sets(middle_) && !limits.reached(); ++middle) {
        if (!has_networks(from, middle) || !begin_columns(from, to, middle, space)) continue;
        for (VarSet low = 0; low < n_sets(low_); ++low) {
            const Past past{from << (middle_ + low_) | middle << low_ | low, low};
            if (from == to) settle(past, space);
            if (begin_row(past, space)) add_rows(past, space);
        }
        collect(from, to, space);
        ++limits.done;
    }
}

// On sets of this block with this middle part.
template <class Real>
bool PrefixSums<Real>::has_networks(VarSet from, VarSet middle) const {
    const Exponent* scales = &scales_[(from << middle_ | middle) << low_];
    return std::any_of(scales, scales + n_sets(low_), [](Exponent scale) { return scale > zero_exponent; });
}

// False when an upper variable that joins cannot come next.
template <class Real>
bool PrefixSums<Real>::begin_columns(VarSet from, VarSet to, VarSet middle, Workspace& space) const {
    const VarSet most_placed = (from << middle_ | middle) << low_ | all_of(low_);
    const VarSet joined = (to & ~from) << (middle_ + low_), high = all_of(n_) & ~all_of(n_ - high_);
    const VarSet upper = joined & ~high;
    if (precedence_.open(upper, most_placed) != upper) return false;
    space.joined_high = joined & high;
    space.joined_upper.clear();
    for (VarSet rest = upper; rest != 0; rest &= rest - 1) space.joined_upper.push_back(first_of(rest));
    space.last_stage = space.joined_upper.size();
    space.joining = precedence_.open((all_of(middle_) & ~middle) << low_, most_placed) >> low_;
    space.n_columns = 1;
    space.column_sets[0] = middle;
    for (VarSet rest = space.joining; rest != 0; rest &= rest - 1) {
        for (std::size_t c = 0; c < space.n_columns; ++c)
            space.column_sets[space.n_columns + c] = space.column_sets[c] | (rest & -rest);
        space.n_columns *= 2;
    }
    for (std::vector<Real>& half : space.sums) std::fill_n(half.begin(), space.n_columns << low_, Real(0.0));
    VarSet block = (to << (middle_ + low_)) & ~upper;
    for (std::size_t stage = 0; stage <= space.last_stage; ++stage) {
        if (stage > 0) block |= only(space.joined_upper[stage - 1]);
        for (std::size_t c = 0; c < space.n_columns; ++c) {
            const Exponent* scales = &scales_[block | space.column_sets[c] << low_];
            for (VarSet low = 0; low < n_sets(low_); ++low) space.stages[stage][low * space.n_columns + c] = scales[low];
        }
    }
    return true;
}

// The sum of a set in the block itself is complete once what smaller low parts add to it is in.
template <class Real>
void PrefixSums<Real>::settle(const Past& past, const Workspace& space) {
    const std::size_t first = past.low * space.n_columns;
    const Real even = space.sums[0][first], odd = space.sums[1][first];
    values_[past.set] += odd - even;
    magnitudes_[past.set] += static_cast<double>(odd + even);
}

// The row of networks on the past, times z over all but the low variables that join; false when all is zero.
template <class Real>
bool PrefixSums<Real>::begin_row(const Past& past, Workspace& space) const {
    if (static_cast<double>(values_[past.set]) == 0.0) return false;
    const VarSet to = past.set | space.joined_high;
    Exponent exponent = scales_[past.set] - scales_[to];
    Real value = values_[past.set];
    for (VarSet rest = space.joined_high; rest != 0; rest &= rest - 1) {
        const int v = first_of(rest);
        if (weights_.exponent(v, past.set) == zero_exponent) return false;
        value = value * weights_.mantissa(v, past.set);
        exponent += weights_.exponent(v, past.set);
    }
    space.row[0] = without_dust(scaled(value, power_of_two(exponent)));
    if (static_cast<double>(space.row[0]) == 0.0) return false;
    const Exponent* scales = space.scales_of(past.low, 0);
    std::size_t width = 1;
    for (VarSet rest = space.joining; rest != 0; rest &= rest - 1, width *= 2) {
        const int v = low_ + first_of(rest);
        multiply_terms(&space.row[width], &space.row[0], scales, scales + width, weights_.mantissa(v, past.set),
                       weights_.exponent(v, past.set), width);
    }
    for (std::size_t stage = 0; stage < space.last_stage; ++stage) {
        const int v = space.joined_upper[stage];
        multiply_terms(space.next_row.data(), space.row.data(), space.scales_of(past.low, stage),
                       space.scales_of(past.low, stage + 1), weights_.mantissa(v, past.set),
                       weights_.exponent(v, past.set), space.n_columns);
        std::swap(space.row, space.next_row);
    }
    return true;
}

// The row to every row whose low part contains the past's.
template <class Real>
void PrefixSums<Real>::add_rows(const Past& past, Workspace& space) const {
    const VarSet free = all_of(low_) & ~past.low;
    const std::size_t n_columns = space.n_columns;
    const Exponent* from = space.scales_of(past.low);
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
                      space.scales_of(row), space.products[joined], space.exponents[joined], n_columns);
        if (joined == free) break;
    }
}

// Adds the matrix to the sums of the sets it speaks of. The first column inside a block is settled already.
template <class Real>
void PrefixSums<Real>::collect(VarSet from, VarSet to, const Workspace& space) {
    for (std::size_t c = from == to ? 1 : 0; c < space.n_columns; ++c) {
        const bool negative = (size_of(to & ~from) + size_of(c)) % 2 == 1;  // all but the low variables that join
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
