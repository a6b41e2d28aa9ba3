// posterior_tables.h: from the weights of networks, or orders, in which v comes right after a set, to probabilities.
#pragma once

#include <vector>

#include "averages/family_weights.h"

namespace topdag {

struct Posteriors {
    bool finished = false;
    double log_total = 0.0;       // the log of the sum over all networks
    std::vector<double> edges;    // P(p -> v) at [p * n + v]
    std::vector<double> paths;    // P(v is an ancestor of t) at [v * n + t]; empty when not asked for
    std::vector<BigArray> parent_sets;  // by variable, then by slot; empty for those not asked for
    double cancellation = 1.0;    // how much larger the terms of a sum are than the sum, at most
    double defect = 0.0;          // how far sums that must be 1 are from it, at most

    Posteriors() = default;
    Posteriors(Posteriors&&) = default;
    Posteriors& operator=(Posteriors&&) = default;
};

// Sums over all places, and over those that have each bit; `values` is used up.
struct Marginals { double total; std::vector<double> with_bit; };
Marginals marginals(BigArray& values, int bits);

// P(the parents of v are S) by slot, from g(U), the weight of the networks, but for the choice of v's parents in U, in
// which v comes right after U: w_v(S) * sum over U around S of g(U), over the total. Uses up g.
template <class Real>
BigArray parent_set_probabilities(const LocalScores& scores, int v, ScaledTable<Real>& g, Real total,
                                  Exponent exponent);

// What is below zero or above one by rounding alone is put right; true when nothing else is there.
bool clip(double* probabilities, std::size_t count);

// Puts the probabilities of v's parent sets, if they are to be kept, and of its edges where they belong; returns how
// far they are from adding up to one. Uses up `probabilities`.
double take_parent_sets(Posteriors& posteriors, int v, int n, BigArray& probabilities, bool keep);

// Rounding alone must not show in edges and paths; all else is a defect.
void clip_pairs(Posteriors& posteriors);

double as_log(double mantissa, Exponent exponent);

}  // namespace topdag
