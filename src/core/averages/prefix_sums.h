// prefix_sums.h: the weight of all networks on each set of variables [Robinson 1973; Tian & He 2009].
//
//   alpha(U) = sum over R in U, R not empty, of (-1)^(|R|+1) alpha(U - R) * product over v in R of z_v(U - R)
//
// R is a set of variables without children; inclusion and exclusion count each network once. 3^n steps; under a
// precedence (precedence.h) about as many as there are ideals with subsets of the variables that can come next.
//
// Values are kept relative to 2^scale(U), where scale is the best network by exponents alone:
//   scale(U) = max over v in U of scale(U - v) + exponent of z_v(U - v)
// so alpha(U) / 2^scale(U) >= 1 where there is a network at all, and no term can overflow.
#pragma once

#include "averages/family_weights.h"
#include "base/big_array.h"
#include "base/run_limits.h"
#include "base/scaled_numbers.h"

namespace topdag {

template <class Real>
class PrefixSums {
public:
    // The weights, kept to the precedence, must outlive this, and so must that. Sums are the same, bit by bit, for any
    // number of threads.
    PrefixSums(const FamilyWeights<Real>& weights, const Precedence& precedence, int threads);
    // False when a limit stopped it.
    bool fill(Limits& limits);

    // alpha(U) = mantissa * 2^exponent.
    Real mantissa(VarSet set) const { return values_[set]; }
    Exponent exponent(VarSet set) const { return scales_[set]; }
    // The terms of alpha(U) without their signs, over alpha(U): so many times is its rounding error enlarged.
    double cancellation(VarSet set) const {
        return magnitudes_[set] / std::max(1.0, static_cast<double>(values_[set]));
    }

private:
    struct Workspace;
    struct Past;

    void fill_scales(Limits& limits);
    void push_between(VarSet from, VarSet to, Workspace& space, Limits& limits);
    bool has_networks(VarSet from, VarSet middle) const;
    bool begin_columns(VarSet from, VarSet to, VarSet middle, Workspace& space) const;
    void settle(const Past& past, const Workspace& space);
    bool begin_row(const Past& past, Workspace& space) const;
    void add_rows(const Past& past, Workspace& space) const;
    void collect(VarSet from, VarSet to, const Workspace& space);

    const FamilyWeights<Real>& weights_;
    const Precedence& precedence_;
    int n_, low_, middle_, upper_, high_;  // variables of each part, from the first place on; the last two name blocks
    BigArrayOf<Exponent> scales_;
    BigArrayOf<Real> values_;
    BigArray magnitudes_;
};

}  // namespace topdag
