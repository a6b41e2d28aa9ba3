// root_layers.h: the weight of all networks, taken apart layer by layer.
//
// The first layer of a network holds the variables without parents; the next one those whose parents are all in the
// layers before ("past") with at least one in the layer just before ("last"); and so on. With U the variables left
// when the past is T, and z and ways as in parent_weights.h [Talvitie, Vuoksenmaa & Koivisto 2019]:
//
//   b(U)    = the weight of all networks on U when those of T come before
//           = - sum over non-empty K in U of (-1)^|K| b(U - K) product over x in K of z(x, T)
//
// in 3^n steps. Everything is relative to powers of two that bound it:
// e(U) = max over x in U of exponent(x, T) + e(U - x) for b(U). Every term of b(U) weighs some of the networks on U, so
// the terms are at most 2^|U| times their sum, and an error made in b(M) reaches b(U) at most as it is.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"
#include "sampling/parent_weights.h"

namespace topdag {

class RootLayers {
public:
    // The weights must be filled, and outlive this.
    explicit RootLayers(const ParentWeights& weights);

    // Fills b; false when a limit stopped it.
    bool fill(Limits& limits);

    const ParentWeights& weights() const { return weights_; }
    // b, in units of 2^exponent(left); zero when no network is allowed.
    long double sum(VarSet left) const { return sums_[left]; }
    std::int32_t exponent(VarSet left) const { return exponents_[left]; }
    // The most that terms of different sign made of a sum.
    double cancellation() const { return cancellation_; }
    // The relative error of one such sum: what rounding its terms can do.
    double error() const;

    static double bytes(int n) { return many_sets(n) * (16 + 4); }

private:
    void fill_exponents(Limits& limits);

    const ParentWeights& weights_;
    int n_;
    std::vector<long double> sums_;
    std::vector<std::int32_t> exponents_;
    double cancellation_ = 1.0;
};

}  // namespace topdag
