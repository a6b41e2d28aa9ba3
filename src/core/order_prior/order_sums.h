// order_sums.h: sums over all orders of the variables, where every variable takes its best allowed parents.
//
//   R(W) = sum over orders of W of the product of exp(best(x, before x) + q(x, before x)), B(W) likewise for the rest
//   R(W) = sum over x in W of R(W - x) exp(best(x, W - x) + q(x, W - x)),  R(V) = the sum over all orders
//
// A network is counted once for each order that agrees with it, so R(V) is at least the weight of any one network, and
// the orders that leave U before x bound those with the family (x, U): a sum over supersets of R(W) B(W + x).
//
// Everything is scaled by a potential F with F(W + x) >= F(W) + best + q, the forward table of the best network: each
// step is a number e = exp(best + q + F(W) - F(W + x)) up to 1. Products of them can underflow, but what is lost then
// is less than exp(-700) of the best order for each order: far less than any network that is looked for.
#pragma once

#include <vector>

#include "base/big_array.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "families/precedence.h"

namespace topdag {

// The best local score of x for every subset of `among`, numbered by the bits of `among` closed up.
struct BestWithin {
    VarSet among = 0;
    const double* best = nullptr;
};

class OrderSums {
public:
    // The potential by set; log weights of x after a set by slot, one table for each variable, or none at all.
    // Only orders that agree with the precedence count.
    OrderSums(int n, BigArray potential, std::vector<const double*> order_weights, Precedence precedence, int threads);

    // From here on x takes these parents. Several variables may be changed at once, each by a worker of its own.
    void choose(int x, const BestWithin& own, int worker);
    // R and B; false when a limit stopped it.
    bool sum_forward(Limits& limits);
    bool sum_backward(Limits& limits);
    // By the subsets P of `among`: the share of the orders in which just P of `among` come before x. Needs R and B.
    void share_out(int x, VarSet among, double* shares, int worker);

    // R(V) = total() * exp(scale())
    double total() const { return forward_[n_sets(n_) - 1]; }
    double scale() const { return potential_[n_sets(n_) - 1]; }
    double potential(VarSet set) const { return potential_[set]; }
    double backward(VarSet set) const { return backward_[set]; }
    const double* order_weights(int x) const { return order_weights_[x]; }
    bool can_follow(int x, VarSet placed) const { return precedence_.can_follow(x, placed); }
    // The variable that comes last in most of the orders of a set, by weight. Needs R.
    int likely_last(VarSet placed) const;
    // One that comes last in orders of a set, each as often as its share of their weight, by a number from [0, 1).
    int drawn_last(VarSet placed, double number) const;

    int n_variables() const { return n_; }
    static double bytes(int n, int threads) {
        return 8.0 * (3.0 + n / 2.0 + 0.5 * threads) * many_sets(n);
    }

private:
    // What the orders of a set weigh in which x comes last.
    double weight_of_last(int x, VarSet placed) const {
        return forward_[placed & ~only(x)] * steps_[x][without_bit(placed & ~only(x), x)];
    }

    int n_;
    BigArray potential_, forward_, backward_;
    std::vector<const double*> order_weights_;
    Precedence precedence_;
    std::vector<BigArray> steps_;    // e by variable, then by slot
    std::vector<BigArray> scratch_;  // by worker
};

// values[Y] becomes the sum over all supersets of Y.
void sum_over_supersets(double* values, int bits);

}  // namespace topdag
