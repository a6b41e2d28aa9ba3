// suffix_sums.h: the weight of all ways to complete networks on each set of variables.
//
//   beta(E)    = all networks on E when the others, U, come before; beta of the empty set is 1
//   gamma_v(U) = those networks on E, without the choice of v's parents in U, in which all of E - v descend from v
//              = sum over R in E - v of (-1)^|R| beta(E - v - R) * product over y in R of z_y(U)
//
// Both come from one pass for each U: variables of E are eliminated one after another,
//   c(M) <- c(M + y) - z_y(U) c(M),   c = beta at first,
// after which c(M) is the weight of networks on M and the eliminated in which none of the eliminated has all its
// parents in U. No c is negative, so all that can be lost is what is subtracted. 3^n steps for beta, as many again for
// all gamma.
// Under a precedence (precedence.h) U must be an ideal, and only variables that can come next are eliminated.
// Values are kept relative to 2^scale(E), the best completion by exponents alone (see prefix_sums.h).
#pragma once

#include <functional>

#include "averages/family_weights.h"
#include "base/big_array.h"
#include "base/run_limits.h"
#include "base/scaled_numbers.h"

namespace topdag {

template <class Real>
class SuffixSums {
public:
    // Takes gamma_v(U) as mantissa and exponent; called from several threads, never twice for one (U, v).
    using TakeGamma = std::function<void(VarSet past, int v, Real mantissa, Exponent exponent)>;

    // The weights, kept to the precedence, must outlive this, and so must that.
    SuffixSums(const FamilyWeights<Real>& weights, const Precedence& precedence)
        : weights_(weights), precedence_(precedence), n_(weights.n_variables()) {}
    // With no `take` only beta is found. False when a limit stopped it.
    bool fill(const TakeGamma& take, Limits& limits);

    // beta(E) = mantissa * 2^exponent.
    Real mantissa(VarSet remaining) const { return values_[remaining]; }
    Exponent exponent(VarSet remaining) const { return scales_[remaining]; }

private:
    struct Workspace;

    void fill_scales(Limits& limits);
    void complete(VarSet remaining, const TakeGamma& take, Workspace& space);
    void gather(VarSet open, VarSet closed, Workspace& space) const;
    static void eliminate_one(Real* values, int place, std::size_t offset, const Workspace& space);

    const FamilyWeights<Real>& weights_;
    const Precedence& precedence_;
    int n_;
    BigArrayOf<Exponent> scales_;  // by the set of variables that remain
    BigArrayOf<Real> values_;
};

}  // namespace topdag
