// ideal_lattice.h: the lattice of lattice.h where variables come before others in any case: only ideals are visited.
//
// A parent set S is there for x as soon as the least ideal around it is placed, so best(x, .) over ideals is found from
// the best of those families for each ideal: one pass over the families, then one over the ideals.
#pragma once

#include <vector>

#include "base/big_array.h"
#include "base/infinity.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "families/local_scores.h"
#include "lattice/family_bounds.h"
#include "lattice/ideals.h"
#include "lattice/reading_back.h"

namespace topdag {

class IdealLattice {
public:
    static constexpr int most_variables = 40;  // 2^40 numbers take 9 TB

    // The scores must outlive the lattice.
    explicit IdealLattice(const LocalScores& scores);

    // Fills best and F; false when a limit stopped it.
    bool order(Limits& limits);
    // Fills H; false when a limit stopped it. Needs best.
    bool order_backward(Limits& limits);
    // Needs F.
    BestNetwork read_back(double slack) const { return best_network_of(*this, slack); }
    VarSet fewest_parents(int x, VarSet available, double slack) const {
        return fewest_parents_by_families(scores_, x, available, best(x, available) - slack);
    }

    int n_variables() const { return n_; }
    std::size_t n_ideals() const { return ideals_.size(); }
    // Whatever scores less is not known of: here all is.
    double lowest() const { return minus_infinity; }
    const LocalScores& scores() const { return scores_; }
    VarSet before(int x) const { return scores_.precedence().before(x); }
    int last_variable(VarSet placed) const { return last_variable_of(*this, placed); }
    // Of ideals; minus infinity for other sets.
    double best(int x, VarSet within) const { return at(best_[x], within); }
    double forward(VarSet placed) const { return at(forward_, placed); }
    double backward(VarSet placed) const { return at(backward_, placed); }
    // The best local score of x over all its parent sets.
    double best_alone(int x) const;

    // M(x, .) of family_bounds.h by slot. Needs F and H.
    AllBounds all_bounds() const {
        return {n_, [this](int x, BigArray& local, BigArray& bound) { bound_families(x, local, bound); }};
    }

    static double bytes(int n, double n_ideals, bool with_backward) {
        return Ideals::bytes(n, n_ideals) + 8.0 * (n + (with_backward ? 2 : 1)) * n_ideals;
    }

private:
    double at(const BigArray& values, VarSet set) const {
        const std::uint32_t place = ideals_.find(set);
        return place == Ideals::absent ? lowest() : values[place];
    }
    // Calls visit(first slot, number of slots, the least ideals around them) for the slots of x in pieces; pieces
    // without a family that x may have are passed over.
    template <class Visit>
    void for_each_piece(int x, Visit&& visit) const;
    VarSet least_ideal(VarSet set) const;
    void fill_best(int x);
    void bound_families(int x, BigArray& local, BigArray& bound) const;

    int n_;
    const LocalScores& scores_;
    Ideals ideals_;
    std::vector<BigArray> best_;  // by variable, then by ideal
    BigArray forward_;
    BigArray backward_;
};

// As for the dense lattice.
inline FamilyTable families_reaching(const IdealLattice& lattice, double threshold, Limits& limits) {
    return families_reaching(lattice.all_bounds(), threshold, limits);
}
inline KBestFamilies families_for_k_best(const IdealLattice& lattice, std::size_t k, bool of_classes, Limits& limits) {
    return families_for_k_best(lattice.all_bounds(), k, of_classes, limits);
}

}  // namespace topdag
