// lattice.h: tables over all sets of variables, and the best network read back from them.
//
//   best(x, Y) = the best local score of x with parents inside Y
//   F(Y)       = the score of the best network on Y = max over x in Y of best(x, Y - x) + F(Y - x)
//   H(Y)       = the most that the variables outside Y can add when those of Y come first
//              = max over x outside Y of best(x, Y) + H(Y + x)
//
// [Silander & Myllymaki 2006; Yuan & Malone 2013]. How ties are broken: reading_back.h.
//
// Where variables come before others in any case (precedence.h), best(x, Y) is minus infinity for sets Y that lack one
// before x, and so are F and H of sets that are no ideals.
#pragma once

#include <vector>

#include "base/big_array.h"
#include "base/infinity.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "families/local_scores.h"
#include "lattice/reading_back.h"

namespace topdag {

class Lattice {
public:
    static constexpr int most_variables = 32;  // the tables then take 580 GB

    // The scores must outlive the lattice.
    explicit Lattice(const LocalScores& scores);

    // Fills best; false when a limit stopped it.
    bool sweep(Limits& limits);
    // Fills F; false when a limit stopped it. Needs best.
    bool order(Limits& limits);
    // Parents that add no more than `slack` to a local score are left out. Needs F.
    BestNetwork read_back(double slack) const { return best_network_of(*this, slack); }
    VarSet fewest_parents(int x, VarSet available, double slack) const;
    // Fills H; false when a limit stopped it. Needs best.
    bool order_backward(Limits& limits);

    int n_variables() const { return n_; }
    // Whatever scores less is not known of: here all is.
    double lowest() const { return minus_infinity; }
    const LocalScores& scores() const { return scores_; }
    VarSet before(int x) const { return scores_.precedence().before(x); }
    // The variable that comes last in the best order of these, ties broken as ever. Needs F.
    int last_variable(VarSet placed) const { return last_variable_of(*this, placed); }
    double best(int x, VarSet within) const { return best_[x][without_bit(within, x)]; }
    const double* best_by_slot(int x) const { return best_[x].data(); }
    double forward(VarSet placed) const { return forward_[placed]; }
    double backward(VarSet placed) const { return backward_[placed]; }

    // The best local score of x over all its parent sets. Needs best.
    double best_alone(int x) const { return best_[x][n_sets(n_ - 1) - 1]; }

    // Bytes of best and F; with H as many again as F takes.
    static double bytes(int n) { return 8.0 * (many_sets(n) + n * many_sets(n - 1)); }

private:
    void strike_out(int x);

    int n_;
    const LocalScores& scores_;
    std::vector<BigArray> best_;  // by variable, then by slot
    BigArray forward_;
    BigArray backward_;
};

}  // namespace topdag
