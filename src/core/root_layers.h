// root_layers.h: networks taken apart layer by layer, for sums and exact draws.
//
// The first layer of a network holds the variables without parents; the next one those whose parents are all in the
// layers before ("past") with at least one in the layer just before ("last"); and so on. With U the variables left
// when the past is T, and z and ways as in family_weights.h [Talvitie, Vuoksenmaa & Koivisto 2019]:
//
//   b(U)    = the weight of all networks on U when those of T come before
//           = - sum over non-empty K in U of (-1)^|K| b(U - K) product over x in K of z(x, T)
//   f(J, U) = the weight of those in which just J needs nobody of U, without the families of J
//           = sum over K in U - J of (-1)^|K| b(U - J - K) product over x in K of z(x, T)
//   P(next layer is J | past, last) is proportional to f(J, U) product over x in J of ways(x, T, last).
//
// b takes 3^n steps; for one past all f take |U| 2^|U|. Everything is relative to powers of two that bound it:
// e(U) = max over x in U of exponent(x, T) + e(U - x) for b(U). Every term of b(U) weighs some of the networks on U, so
// the terms are at most 2^|U| times their sum, and an error made in b(M) reaches b(U) at most as it is.
#pragma once

#include <cstdint>
#include <vector>

#include "family_weights.h"
#include "run_limits.h"
#include "var_set.h"

namespace topdag {

class RootLayers {
public:
    // The weights must be filled, and outlive this.
    explicit RootLayers(const FamilyWeights& weights);

    // Fills b; false when a limit stopped it.
    bool fill(int threads, Limits& limits);

    const FamilyWeights& weights() const { return weights_; }
    // b, in units of 2^exponent(left); zero when no network is allowed.
    long double sum(VarSet left) const { return sums_[left]; }
    std::int32_t exponent(VarSet left) const { return exponents_[left]; }
    // The most that terms of different sign made of a sum.
    double cancellation() const { return cancellation_; }
    // The relative error of one such sum: what rounding its terms can do.
    double error() const;

    static double bytes(int n) { return static_cast<double>(n_sets(n)) * (16 + 4); }

private:
    void fill_exponents();

    const FamilyWeights& weights_;
    int n_;
    std::vector<long double> sums_;
    std::vector<std::int32_t> exponents_;
    double cancellation_ = 1.0;
};

// What the next layer can be after one past: a room to work in, for one thread.
class NextLayers {
public:
    // Where the rounding in a layer may change more than `tolerance` of it, it is worked out again in long doubles, and
    // small ways family by family.
    NextLayers(const RootLayers& layers, double tolerance) : layers_(layers), tolerance_(tolerance) {}

    // First the past, then the last layer of it, then layers can be drawn.
    void set_past(VarSet past);
    void set_last(VarSet last);

    // The layer at which the running sum of probabilities passes this number from [0, 1).
    VarSet drawn(double at) const;
    double probability(VarSet layer) const;
    // ways(x, past, last) of the v-th variable left, as they were used, in units of 2^exponent(x, past).
    double ways(std::size_t v) const { return ways_[v]; }

    // The variables left, by growing number.
    const std::vector<int>& left() const { return left_; }
    // At most so much of the probability is wrong.
    double error() const { return error_; }
    bool is_redone() const { return is_redone_; }

private:
    void set_ways(VarSet last);
    bool is_doubtful(std::size_t v) const { return doubts_[v] * static_cast<double>(doubts_.size()) > tolerance_; }
    double settle_doubts();
    template <class Real>
    void add_up(const std::vector<Real>& rests);
    double total() const { return running_.back(); }
    double rounding(double epsilon);
    std::size_t index_of(VarSet set) const;

    const RootLayers& layers_;
    double tolerance_;
    VarSet past_ = 0;
    VarSet last_ = 0;
    std::vector<int> left_;
    std::vector<double> sums_;             // z of each variable left
    std::vector<double> folded_;           // from 2^k on: terms of b without signs, added up over all but k variables
    std::vector<double> rests_;            // by subsets of left: f when they are what is left after the layer
    std::vector<long double> long_rests_;  // likewise; empty until needed
    std::vector<double> ways_;             // by variables of left
    std::vector<double> doubts_;           // the share of each that may be wrong
    std::vector<double> running_;          // by layers as subsets of left: sums of probabilities, not normalised
    std::vector<double> room_;
    double error_ = 0.0;
    bool is_redone_ = false;
};

}  // namespace topdag
