// order_ancestors.h: who descends from whom, summed over all orders and the networks that agree with them.
//
// For one s the state of an order is (N, D): N has been placed and does not descend from s, D has and does, s included.
//   g(N, {s}) gets alpha(N) step_s(N) when s is placed; after that, with U = N + D placed, v joins
//   N with weight q_v(U) z_v(N), having no parent in D, or D with weight q_v(U) (z_v(U) - z_v(N)).
// P(s is an ancestor of t) = sum over D with t of g(V - D, D), over the total. n 3^n steps for each s
// [Parviainen & Koivisto 2011, ancestor relations]. Values are kept relative to the exponent of alpha(U).
#pragma once

#include <vector>

#include "averages/summed_orders.h"

namespace topdag {

// P(s is an ancestor of t) at [s * n + t]; empty when a limit stopped it. The sums must be filled, steps included.
std::vector<double> order_ancestors(const SummedOrders& sums, Limits& limits);

double order_ancestors_bytes(int n, int threads);

}  // namespace topdag
