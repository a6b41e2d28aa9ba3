// lattice.h: tables over all sets of variables, and the best network read back from them.
//
//   best(x, Y) = the best local score of x with parents inside Y
//   F(Y)       = the score of the best network on Y = max over x in Y of best(x, Y - x) + F(Y - x)
//
// [Silander & Myllymaki 2006; Yuan & Malone 2013]. Ties are broken in a fixed way that no thread can change: the
// last variable of an order is the last column that may be last, and parents are dropped from the last column on
// while the score stays the same.
#pragma once

#include <cstdint>
#include <vector>

#include "big_array.h"
#include "local_scores.h"
#include "run_limits.h"
#include "var_set.h"

namespace topdag {

struct BestNetwork {
    double score = 0.0;            // minus infinity when no network is allowed
    std::vector<VarSet> parents;   // by variable
};

class Lattice {
public:
    Lattice(const LocalScores& scores, int threads, Limits& limits);

    // Fills best; false when a limit stopped it.
    bool sweep();
    // Fills F; false when a limit stopped it. Needs best.
    bool order();
    BestNetwork read_back() const;

    // The best local score of x over all its parent sets. Needs best.
    double best_alone(int x) const { return best_[x][n_sets(n_ - 1) - 1]; }

    static double bytes(int n) { return 8.0 * (static_cast<double>(n_sets(n)) + n * static_cast<double>(n_sets(n - 1))); }

private:
    void order_block(VarSet block);
    VarSet fewest_parents(int x, VarSet available) const;

    int n_;
    const LocalScores& scores_;
    int threads_;
    Limits& limits_;
    std::vector<BigArray> best_;  // by variable, then by slot
    BigArray forward_;
};

}  // namespace topdag
