#include "averages/suffix_sums.h"

#include "base/parallel.h"

namespace topdag {

template <class Real>
struct SuffixSums<Real>::Workspace {
    BigArrayOf<Real> values, branch;   // by subsets of the remaining variables, numbered by their places among them
    BigArrayOf<Exponent> scales;
    std::vector<int> variables;        // the remaining ones
    std::vector<Real> factors;         // z_y(U) of each
    std::vector<Exponent> exponents;
    std::vector<VarSet> sets;          // the subsets of the low remaining variables
};

template <class Real>
bool SuffixSums<Real>::fill(const TakeGamma& take, Limits& limits) {
    scales_ = BigArrayOf<Exponent>(n_sets(n_));
    values_ = BigArrayOf<Real>(n_sets(n_));
    fill_scales(limits);
    if (limits.stop.load()) return false;
    if (!precedence_.is_empty()) std::fill_n(values_.data(), n_sets(n_), Real(0.0));  // not all will be found
    values_[0] = 1.0;
    limits.begin(Phase::summing, precedence_.is_empty() ? n_sets(n_) : 0);
    std::vector<Workspace> spaces(limits.threads);
    parallel_by_size(n_, true, limits, [&](VarSet remaining, int worker) {
        if (remaining == 0 || !precedence_.is_ideal(all_of(n_) & ~remaining)) return;
        Workspace& space = spaces[worker];
        if (space.values.size() == 0) {
            space.values = BigArrayOf<Real>(n_sets(n_));
            space.branch = BigArrayOf<Real>(n_sets(n_));
            space.scales = BigArrayOf<Exponent>(n_sets(n_));
        }
        complete(remaining, take, space);
        ++limits.done;
    });
    return !limits.stop.load();
}

template <class Real>
void SuffixSums<Real>::fill_scales(Limits& limits) {
    const VarSet everything = all_of(n_);
    parallel_over_sets(n_, limits, [&](VarSet set) {
        Exponent best = set == 0 ? 0 : zero_exponent;
        for (VarSet rest = precedence_.is_ideal(everything & ~set) ? set : 0; rest != 0; rest &= rest - 1) {
            const VarSet after = set & ~only(first_of(rest));
            const Exponent first = weights_.exponent(first_of(rest), everything & ~set);
            if (first > zero_exponent && scales_[after] > zero_exponent) best = std::max(best, scales_[after] + first);
        }
        scales_[set] = best;
    });
}

// beta and scale of all subsets of the open variables with the closed ones, side by side.
template <class Real>
void SuffixSums<Real>::gather(VarSet open, VarSet closed, Workspace& space) const {
    constexpr int row_bits = 6;
    const VarSet low = open & all_of(row_bits), high = open & ~low;
    space.sets.assign(1, 0);
    for (VarSet rest = low; rest != 0; rest &= rest - 1) {
        const std::size_t width = space.sets.size();
        for (std::size_t i = 0; i < width; ++i) space.sets.push_back(space.sets[i] | (rest & -rest));
    }
    const std::size_t width = space.sets.size();
    Real* values = space.values.data();
    Exponent* scales = space.scales.data();
    for (VarSet base = 0;; base = (base - high) & high) {
        const VarSet row = base | closed;
        for (std::size_t i = 0; i < width; ++i) values[i] = values_[row | space.sets[i]];
        for (std::size_t i = 0; i < width; ++i) scales[i] = scales_[row | space.sets[i]];
        values += width;
        scales += width;
        if (base == high) break;
    }
}

// Eliminates the variable at `place`, the last of those left; `offset` is the set of those eliminated before.
template <class Real>
void SuffixSums<Real>::eliminate_one(Real* values, int place, std::size_t offset, const Workspace& space) {
    const std::size_t half = n_sets(place);
    const Exponent* scales = space.scales.data() + offset;
    subtract_terms(values, values + half, scales, scales + half, space.factors[place], space.exponents[place], half);
}

// Variables that cannot come next have no parents in U alone: they need not be eliminated.
template <class Real>
void SuffixSums<Real>::complete(VarSet remaining, const TakeGamma& take, Workspace& space) {
    const VarSet past = all_of(n_) & ~remaining;
    const VarSet open = precedence_.open(remaining, past);
    const int m = size_of(open);
    gather(open, remaining & ~open, space);
    space.variables.clear();
    space.factors.clear();
    space.exponents.clear();
    for (VarSet rest = open; rest != 0; rest &= rest - 1) {
        space.variables.push_back(first_of(rest));
        space.factors.push_back(weights_.mantissa(first_of(rest), past));
        space.exponents.push_back(weights_.exponent(first_of(rest), past));
    }
    Real* values = space.values.data();
    values[n_sets(m) - 1] = 0.0;  // beta(E), not known yet: without it the elimination ends with -beta(E)
    std::size_t offset = 0;
    for (int place = m - 1; place >= 0; --place) {
        const std::size_t half = n_sets(place);
        if (take) {
            std::copy(values, values + half, space.branch.data());
            std::size_t without = offset;  // this variable is left out
            for (int lower = place - 1; lower >= 0; without += n_sets(lower--))
                eliminate_one(space.branch.data(), lower, without, space);
            take(past, space.variables[place], space.branch[0], space.scales[without]);
        }
        eliminate_one(values, place, offset, space);
        offset += half;
    }
    values_[remaining] = -values[0];
}

template class SuffixSums<double>;
template class SuffixSums<DoubleDouble>;

}  // namespace topdag
