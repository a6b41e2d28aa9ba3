// summed_orders.h: exact sums over all orders and the networks that agree with them [Koivisto & Sood 2004].
//
//   step_v(U) = q_v(U) z_v(U), q the weight of v coming right after just U: one, where orders are all alike
//   alpha(U)  = sum over v in U of alpha(U - v) step_v(U - v)         orders of U
//   beta(U)   = sum over v outside U of step_v(U) beta(U + v)         orders of the others, after U
//
// Under a precedence (precedence.h) only orders that agree with it count: the sums of sets that are no ideals are zero.
// n^2 2^n steps. Nothing is subtracted, so doubles are enough.
#pragma once

#include "averages/family_weights.h"
#include "base/run_limits.h"

namespace topdag {

// ln q_v(U) at [v * 2^(n-1) + slot]; null where orders are all alike.
using OrderLogWeights = const double*;

class SummedOrders {
public:
    SummedOrders(const LocalScores& scores, OrderLogWeights log_weights) : scores_(scores), log_weights_(log_weights) {}
    // False when a limit stopped it.
    bool fill(Limits& limits);

    int n_variables() const { return scores_.n_variables(); }
    const LocalScores& scores() const { return scores_; }
    const FamilyWeights<double>& steps() const { return steps_; }
    const ScaledTable<double>& before() const { return before_; }  // alpha
    const ScaledTable<double>& after() const { return after_; }    // beta
    // q_v by slot.
    ScaledTable<double> order_weights(int v) const;
    void free_steps() { steps_ = {}; }
    bool is_ideal(VarSet set) const { return scores_.precedence().is_ideal(set); }

private:
    template <class Sum>
    bool fill_in_layers(bool from_empty, Limits& limits, Sum&& sum);

    const LocalScores& scores_;
    OrderLogWeights log_weights_;
    FamilyWeights<double> steps_;
    ScaledTable<double> before_, after_;
};

}  // namespace topdag
