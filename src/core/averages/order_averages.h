// order_averages.h: probabilities when a network weighs the product of its families once for each order that agrees.
//
//   P(v's parents are S) = w_v(S) * sum over U around S of alpha(U) q_v(U) beta(U + v) / alpha(V)
//
// [Koivisto & Sood 2004; Koivisto 2006], with the sums of summed_orders.h; paths by order_ancestors.h.
#pragma once

#include "averages/posterior_tables.h"
#include "averages/summed_orders.h"

namespace topdag {

struct OrderSumsWanted {
    bool posteriors = true;  // or the total alone
    bool paths = false;      // which take far longer than the rest: order_ancestors.h
    VarSet parent_sets = 0;  // of these variables
};

Posteriors sum_orders(const LocalScores& scores, OrderLogWeights log_weights, const OrderSumsWanted& wanted,
                      Limits& limits);

double order_sums_bytes(int n, const OrderSumsWanted& wanted, int threads);

}  // namespace topdag
