// next_layers.h: what the next layer of a network can be, and how probable, when the layers before are known.
//
// In the terms of root_layers.h, with the past T, its last layer R, and U the variables left:
//
//   f(J, U) = the weight of the networks on U in which just J needs nobody of U, without the families of J
//           = sum over K in U - J of (-1)^|K| b(U - J - K) product over x in K of z(x, T)
//   P(next layer is J | T, R) is proportional to f(J, U) product over x in J of ways(x, T, R).
//
// For one past all f take |U| 2^|U| steps. If the layers after (T, R) weigh a share s of b(U), then (T, R) has at most
// the probability s: where many digits are lost, hardly any sample comes.
#pragma once

#include <cstddef>
#include <vector>

#include "base/var_set.h"
#include "sampling/root_layers.h"

namespace topdag {

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
    // No network goes on from here: rounding alone led to this place.
    bool is_dead_end() const { return !(total() > 0.0); }
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
