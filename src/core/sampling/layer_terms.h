// layer_terms.h: the terms that sums over layers are made of, shared by root_layers and next_layers.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/var_set.h"
#include "sampling/root_layers.h"

namespace topdag {

constexpr double long_epsilon = static_cast<double>(std::numeric_limits<long double>::epsilon());

inline std::vector<int> members_of(VarSet set) {
    std::vector<int> members;
    for (; set != 0; set &= set - 1) members.push_back(first_of(set));
    return members;
}

// What b(M) counts for in b(left), for all M inside left: without the sums z of the variables taken out, but with their
// exponents. None is above b(M).
class Terms {
public:
    Terms(const RootLayers& layers, VarSet past, const std::vector<int>& left) : layers_(layers) {
        for (int x : left) {
            const std::int64_t exponent = layers.weights().exponent(x, past);
            all_ |= only(x);
            steps_.push_back(unit_ - exponent);
            unit_ += exponent;
            last_exponent_ = exponent;
        }
        unit_ -= layers.exponent(all_);
    }

    template <class Real>
    void gather(Real* terms) const {
        for_each(all_, [&](std::size_t i, VarSet subset, std::int64_t unit) { terms[i] = term<Real>(subset, unit); });
    }

    // The first step of adding them up, with signs and without: each M without the last variable beside M with it.
    void gather_pairs(long double last_sum, long double* differences, double* sums) const {
        const VarSet last = std::bit_floor(all_);
        for_each(all_ & ~last, [&](std::size_t i, VarSet subset, std::int64_t unit) {
            const long double taken = last_sum * term<long double>(subset, unit);
            const auto kept = term<long double>(subset | last, unit - last_exponent_);
            differences[i] = kept - taken;
            sums[i] = static_cast<double>(kept + taken);
        });
    }

private:
    template <class Real>
    Real term(VarSet subset, std::int64_t unit) const {
        const double scale = power_of_two(layers_.exponent(subset) + unit);
        return static_cast<Real>(layers_.sum(subset)) * static_cast<Real>(scale);
    }

    // Counting up sets one bit and clears those below: that variable is no longer taken out, these are again.
    template <class Use>
    void for_each(VarSet among, Use&& use) const {
        const std::size_t size = n_sets(size_of(among));
        std::int64_t unit = unit_;
        VarSet subset = 0;
        for (std::size_t i = 0;;) {
            use(i, subset, unit);
            if (++i == size) return;
            unit += steps_[std::countr_zero(i)];
            subset = (subset - among) & among;
        }
    }

    const RootLayers& layers_;
    VarSet all_ = 0;
    std::vector<std::int64_t> steps_;  // of the unit, when a variable is the first not to be taken out
    std::int64_t unit_ = 0;            // when all are taken out
    std::int64_t last_exponent_ = 0;
};

template <class Real>
void read_sums(const ParentWeights& weights, VarSet past, const std::vector<int>& left, std::vector<Real>& sums) {
    sums.clear();
    for (int x : left) sums.push_back(static_cast<Real>(weights.sum(x, past)));
}

// Adds up without signs: each half of `levels`, from the upper ones down, becomes the sum of the two halves of the next
// level with the factor of one variable. The last level, the upper half, is given; the value at 1 is the whole sum.
void fold_levels(double* levels, int bits, const double* factors);

}  // namespace topdag
